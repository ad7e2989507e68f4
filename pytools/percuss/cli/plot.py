"""`percuss plot`: the picture of an event, as a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import AllowCommandOption, JsonOption, LedgerOption, complete_events, open_session, reference

app = typer.Typer(add_completion=False)


class Look(StrEnum):
    """For what a picture is made."""

    SCREEN = "screen"
    PAPER = "paper"


@app.command(epilog="Example: percuss plot @last --curve u2 --curve a2 --to response.svg")
def plot(
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="EVENT...",
            help="What to draw; several runs, designs, campaigns or validations go into one picture.",
            autocompletion=complete_events,
        ),
    ],
    to: Annotated[Path, typer.Option(help="File to write: .svg, .png or .pdf.", metavar="FILE")],
    curve: Annotated[
        list[str] | None, typer.Option(help="Which quantities; one panel each.", show_default="those of the outputs")
    ] = None,
    title: Annotated[str, typer.Option(help="A line above it.")] = "",
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="At most so many runs of each event and case.",
            show_default="all that kept their curves, 8 of others",
        ),
    ] = None,
    window: Annotated[
        tuple[float, float] | None, typer.Option(help="Of validations: from and to, in s.", metavar="FROM TO")
    ] = None,
    ladder: Annotated[bool, typer.Option("--ladder", help="Of a validation: every drift of its ladder.")] = False,
    style: Annotated[
        Look, typer.Option(help="For a screen, or for print: the width of two columns, small type.")
    ] = Look.SCREEN,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Draw an event: curves of runs, or the picture of its kind.

    Up to 8 runs are lines, more are a band: median, 25 to 75 % and 5 to 95 % of the runs. Peaks of impacts that fall
    between samples are marked where an output of the study is that peak. Runs that did not keep their curves are made
    again from their events. Numbers are in the units of the study.
    """
    from percuss.cli.output import give_json, say, tell_trust, unkept_on_interrupt
    from percuss.plots.subject import Request
    from percuss.work import plot as work
    from percuss.work.show import marks

    references = [reference(text) for text in events]
    session = open_session(ledger, allow_command=allow_command)
    drawn_events = [session.event(text) for text in references]
    tell_trust([verdict for event in drawn_events for verdict in marks(session, event)])
    request = Request(curve or (), title, samples, window, ladder)
    with unkept_on_interrupt():
        drawn = work.plot(
            session,
            drawn_events,
            to,
            request,
            style="paper" if style is Look.PAPER else "screen",
        )
    if json:
        give_json({"file": str(to), "panels": drawn.panels, "alt": drawn.alt})
    else:
        say(f"{to}: {drawn.panels} panel{'' if drawn.panels == 1 else 's'}. {drawn.alt}")
