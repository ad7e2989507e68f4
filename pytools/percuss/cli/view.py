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
    overlay: Annotated[
        str | None, typer.Option(help="Another run, drawn transparently over this one.", metavar="EVENT")
    ] = None,
    overlay_sample: Annotated[int | None, typer.Option(help="Sample of --overlay.", show_default="the first")] = None,
    interval: IntervalOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write one HTML page that plays a run: bodies, grains or storeys, with contact forces and curves.

    The run is computed again from its event, to the same bits. The page needs no other file and no network.
    """
    from percuss.cli.drawing import filmed, tell_written
    from percuss.errors import InputError
    from percuss.export.player import write_page
    from percuss.export.tables import check_target

    check_target(to)
    if overlay_sample is not None and overlay is None:
        raise InputError("--overlay-sample: needs --overlay EVENT")
    runs = [filmed(ledger, event, sample, interval)]
    if overlay is not None:
        runs.append(filmed(ledger, overlay, overlay_sample, interval))
    write_page([run.shown() for run in runs], to)
    tell_written(runs[0], [to], json)
