"""`percuss export`: tables of an event as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AllowCommandOption,
    EventArgument,
    IntervalOption,
    JsonOption,
    LedgerOption,
    SampleOption,
    open_session,
    reference,
)
from percuss.spelling import counted

if TYPE_CHECKING:
    import polars as pl

app = typer.Typer(no_args_is_help=True, add_completion=False)

TableOption = Annotated[
    str | None, typer.Option(help="Which table, such as design, runs or curves.", show_default="the one there is")
]


@app.callback()
def export() -> None:
    """Write the table of an event (for a campaign: parameters and outputs of every run), or a run of a scene."""


@app.command(
    short_help="Write CSV, with SI units in the column names.",
    epilog="Example: percuss export csv @last:campaign --to runs.csv",
)
def csv(
    event: EventArgument,
    to: Annotated[Path | None, typer.Option(help="File to write.", show_default="stdout", metavar="FILE")] = None,
    table: TableOption = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write CSV, with all digits and the SI unit of each column in its name. --json reports what was written."""
    from percuss.errors import InputError
    from percuss.export.tables import write_csv

    if json and to is None:
        raise InputError("--json: says what was written to a file, so it needs --to FILE")
    rows = _table(event, table, ledger, allow_command)
    write_csv(rows, to)
    _tell(rows, to, json)


@app.command(
    short_help="Write Parquet, with SI units in the column names.",
    epilog="Example: percuss export parquet @last:design --to design.parquet",
)
def parquet(
    event: EventArgument,
    to: Annotated[Path, typer.Option(help="File to write.", metavar="FILE")],
    table: TableOption = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write Parquet, with the SI unit of each column in its name. --json reports what was written."""
    from percuss.export.tables import write_parquet

    rows = _table(event, table, ledger, allow_command)
    write_parquet(rows, to)
    _tell(rows, to, json)


@app.command(
    short_help="Write a run of a scene for ParaView.",
    epilog="Example: percuss export vtk @last:runs --to frames",
)
def vtk(
    event: EventArgument,
    to: Annotated[Path, typer.Option(help="Folder to write to.", metavar="FOLDER")],
    sample: SampleOption = None,
    interval: IntervalOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write a run of a scene for ParaView: .vtp files of bodies and contact forces, a .pvd for each series.

    The run is computed again from its event, to the same bits.
    """
    from percuss.cli.drawing import filmed, tell_written
    from percuss.errors import InputError
    from percuss.export.vtk import write_vtk
    from percuss.ledger.place import check_outside

    check_outside(to / "frame")
    if to.exists() and not to.is_dir():
        raise InputError(f"{to}: is a file, and a folder is to be written")
    run = filmed(ledger, event, sample, interval)
    tell_written(run, write_vtk(run.film, to, run.study.name), json)


@app.command(
    short_help="Write an event and all it was made from as an RO-Crate.",
    epilog="Example: percuss export crate @last:posterior --to posterior.zip --licence CC-BY-4.0",
)
def crate(
    event: EventArgument,
    to: Annotated[Path, typer.Option(help="Folder or .zip to write; must not exist.", metavar="PATH")],
    licence: Annotated[str, typer.Option(help="SPDX identifier or URL.", show_default="none stated")] = "",
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write an event and everything it depends on as an RO-Crate (Process Run Crate), which needs no ledger.

    Prints the hash of the event, which covers the whole crate except the text of its description. Send the hash
    separately, so that the crate can be checked against it.
    """
    from percuss.cli.output import give_json, say
    from percuss.work.crate import write_crate

    event_id = reference(event)
    session = open_session(ledger)
    done = write_crate(session, session.event(event_id), to, licence)
    if json:
        give_json({"file": str(to), "hash": done.root.hash, "events": len(done.events), "payloads": len(done.paths)})
        return
    say(f"{to}: {len(done.events)} events, {len(done.paths)} payloads")
    print(done.root.hash)


def _tell(table: pl.DataFrame, path: Path | None, as_json: bool) -> None:
    from percuss.cli.output import give_json, say

    if as_json:
        give_json({"file": str(path), "rows": table.height, "columns": table.columns})
    elif path:
        say(f"{path}: {counted(table.height, 'row')}, {counted(table.width, 'column')}")


def _table(text: str, table: str | None, ledger: str | None, allow_command: bool) -> pl.DataFrame:
    from percuss.cli.output import tell_trust, unkept_on_interrupt
    from percuss.work.export import export_table
    from percuss.work.show import marks

    event_id = reference(text)
    session = open_session(ledger, allow_command=allow_command)
    event = session.event(event_id)
    tell_trust(marks(session, event))
    with unkept_on_interrupt():
        return export_table(session, event, table)
