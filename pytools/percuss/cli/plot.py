"""`percuss plot`: curves of runs, regions of them, or paths of parameters in validations, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import AllowCommandOption, JsonOption, LedgerOption, complete_events, open_session, reference
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss plot @last --curve u2 --curve a2 --to response.svg")
def plot(
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="EVENT...",
            help="Runs, their design or campaign, a region, or validations.",
            autocompletion=complete_events,
        ),
    ],
    to: Annotated[Path, typer.Option(help="File to write: .svg, .png or .pdf.", metavar="FILE")],
    curve: Annotated[list[str] | None, typer.Option(help="Which quantities; one panel each.")] = None,
    title: Annotated[str, typer.Option(help="A line above it.")] = "",
    samples: Annotated[int, typer.Option(min=1, help="At most so many runs of each event and case.")] = 8,
    window: Annotated[
        tuple[float, float] | None, typer.Option(help="Of validations: from and to, in s.", metavar="FROM TO")
    ] = None,
    ladder: Annotated[bool, typer.Option("--ladder", help="Of a validation: every drift of its ladder.")] = False,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Draw curves of one or more runs against their axis, one panel a quantity, one line a run.

    Runs that did not keep their curves are made again from their events.

    Of a region: mean, pointwise and simultaneous region, a row a case and a column a curve.

    Of validations: what was measured and the path of each parameter, with three standard deviations of the filter.
    """
    from percuss.cli.output import give_json, say, unkept_on_interrupt
    from percuss.work import plot as work

    event_ids = [reference(text) for text in events]
    session = open_session(ledger, allow_command=allow_command)
    request = work.Request(curve or (), title, samples, window, ladder)
    with unkept_on_interrupt():
        plotted = work.plot(session, [session.event(text) for text in event_ids], request, to)
    if json:
        lines = {} if plotted.lines is None else {"lines": plotted.lines}
        give_json({"file": str(to), "panels": plotted.panels, **lines})
    else:
        say(
            f"{to}: {counted(plotted.panels, 'panel')}"
            + ("" if plotted.lines is None else f", {counted(plotted.lines, 'line')}")
        )
