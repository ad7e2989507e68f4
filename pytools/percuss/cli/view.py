"""`percuss view`: a page that plays a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import EventArgument, IntervalOption, JsonOption, LedgerOption, SampleOption

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss view @last:runs --to run.html")
def view(
    event: EventArgument,
    to: Annotated[Path, typer.Option(help="File to write.", metavar="FILE")] = Path("run.html"),
    sample: SampleOption = None,
    interval: IntervalOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write one HTML page that plays a run of a scene: time, orbit, contact forces, colour by speed.

    The run is made again from its event, to the same bits. The page needs no other file and fetches nothing.
    """
    from percuss.cli.drawing import filmed, tell_written
    from percuss.export.player import write_page
    from percuss.export.tables import check_target

    check_target(to)
    run = filmed(ledger, event, sample, interval)
    title = f"{run.study}, {run.case}, sample {run.sample}"
    write_page(run.film, to, title, {name: str(value) for name, value in run.point.items()})
    tell_written(run, [to], json)
