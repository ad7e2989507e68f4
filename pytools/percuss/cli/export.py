"""`percuss export`: tables of an event as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import EventArgument, IntervalOption, JsonOption, LedgerOption, SampleOption, open_at

if TYPE_CHECKING:
    import polars as pl

app = typer.Typer(no_args_is_help=True, add_completion=False)

TableOption = Annotated[
    str | None, typer.Option(help="Which table, as design, runs or curves.", show_default="the one there is")
]


@app.callback()
def export() -> None:
    """Write the table of an event, or a run of a scene. Of a campaign: parameters and outputs of every run."""


@app.command(epilog="Example: percuss export csv @last:campaign --to runs.csv")
def csv(
    event: EventArgument,
    to: Annotated[Path | None, typer.Option(help="File to write.", show_default="stdout", metavar="FILE")] = None,
    table: TableOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write CSV, with every digit and the SI unit of each column in its name. With --json: say what was written."""
    from percuss.errors import InputError
    from percuss.export.tables import write_csv

    if json and to is None:
        raise InputError("--json: says what was written to a file, so it needs --to FILE")
    found = _table(event, table, ledger)
    write_csv(found, to)
    _tell(found, to, json)


@app.command(epilog="Example: percuss export parquet @last:design --to design.parquet")
def parquet(
    event: EventArgument,
    to: Annotated[Path, typer.Option(help="File to write.", metavar="FILE")],
    table: TableOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write Parquet, with the SI unit of each column in its name. With --json: say what was written."""
    from percuss.export.tables import write_parquet

    found = _table(event, table, ledger)
    write_parquet(found, to)
    _tell(found, to, json)


@app.command(epilog="Example: percuss export vtk @last:runs --to frames")
def vtk(
    event: EventArgument,
    to: Annotated[Path, typer.Option(help="Folder to write to.", metavar="FOLDER")],
    sample: SampleOption = None,
    interval: IntervalOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write a run of a scene for ParaView: .vtp files of bodies and contact forces, a .pvd for each series.

    The run is made again from its event, to the same bits.
    """
    from percuss.cli.drawing import drawn, tell_written
    from percuss.errors import InputError
    from percuss.export.vtk import write_vtk
    from percuss.ledger.place import check_outside

    check_outside(to / "frame")
    if to.exists() and not to.is_dir():
        raise InputError(f"{to}: is a file, and a folder is to be written")
    run = drawn(*open_at(ledger, event), sample, interval)
    tell_written(run, write_vtk(run.film, to, run.study), json)


def _tell(table: pl.DataFrame, path: Path | None, as_json: bool) -> None:
    from percuss.cli.output import give_json, say

    if as_json:
        give_json({"file": str(path), "rows": table.height, "columns": table.columns})
    elif path:
        say(f"{path}: {table.height} rows, {table.width} columns")


def _table(text: str, table: str | None, ledger: str | None) -> pl.DataFrame:
    from percuss.errors import InputError
    from percuss.execution.imports import parse_table
    from percuss.execution.records import load_design, runs_table
    from percuss.export.tables import with_unit_names
    from percuss.ledger.blobs import FILE_ROLE
    from percuss.ledger.projections import fold

    book, event = open_at(ledger, text)
    roles = [blob.role for blob in event.blobs]
    state = fold(book.events())
    if event.kind == "campaign.completed" and table is None:
        record = load_design(book, state, event)
        return with_unit_names(record.study, runs_table(book, state, record))
    if table is None and len(roles) == 1:
        table = roles[0]
    if table is None or table not in roles:
        said = f"has no table {table!r}" if table else "has several tables" if roles else "has no table"
        raise InputError(
            f"event {event.id} ({event.kind}): {said}", hint=f"--table {' or '.join(roles)}" if roles else None
        )
    if table.startswith(FILE_ROLE):
        name = table.removeprefix(FILE_ROLE)
        return parse_table(Path(name), book.files(event)[name])
    found = book.table(event, table)
    if not event.inputs_as("design") and event.kind != "design.created":
        return found
    return with_unit_names(load_design(book, state, event).study, found)
