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
            help="What to draw; several runs, designs, campaigns or validations go into one figure.",
            autocompletion=complete_events,
        ),
    ],
    to: Annotated[Path, typer.Option(help="File to write: .svg, .png or .pdf.", metavar="FILE")],
    curve: Annotated[
        list[str] | None,
        typer.Option(help="Quantity to draw, one panel each; may be repeated.", show_default="those of the outputs"),
    ] = None,
    title: Annotated[str, typer.Option(help="Title above the figure.")] = "",
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Largest number of runs of each event and case.",
            show_default="all that kept their curves, 8 of others",
        ),
    ] = None,
    window: Annotated[
        tuple[float, float] | None, typer.Option(help="For validations: time window, in s.", metavar="FROM TO")
    ] = None,
    ladder: Annotated[bool, typer.Option("--ladder", help="For a validation: draw every drift of its ladder.")] = False,
    style: Annotated[
        Look, typer.Option(help="For a screen, or for print: two columns wide, small type.")
    ] = Look.SCREEN,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Draw an event: curves of runs, or the figure for its kind.

    Up to 8 runs are drawn as lines, more as a band: median, 25 to 75 % and 5 to 95 % of the runs. Impact peaks between
    samples are marked if an output of the study is that peak. Runs that did not store their curves are computed again.
    Numbers are in the units of the study.
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
