"""Tables of events, for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from percuss.designs.design import load_design
from percuss.errors import InputError
from percuss.execution.records import runs_table
from percuss.export.tables import column_name, with_unit_names
from percuss.kinds.table import kind_of
from percuss.ledger.event import FILE_ROLE, Event
from percuss.measured import parse_measured
from percuss.session import Session
from percuss.work.curves import curves_table

if TYPE_CHECKING:
    import polars as pl

RUNS, CURVES = "runs", "curves"


def tables_of(event: Event) -> list[str]:
    """The names of the tables of an event: those it carries, and those that its runs amount to."""
    carried = [blob.role for blob in event.blobs]
    match event.kind:
        case "campaign.completed":
            return [RUNS, CURVES]
        case "design.created" | "runs.completed":
            return list(dict.fromkeys([*carried, CURVES]))
    return carried


def export_table(session: Session, event: Event, name: str | None = None) -> pl.DataFrame:
    """A table of an event, with the SI unit of each column in its name; without a name, the one there is.

    Of a campaign: parameters and outputs of every run, or every curve.
    """
    names = tables_of(event)
    carried = [blob.role for blob in event.blobs]
    if name is None and event.kind == "campaign.completed":
        name = RUNS
    if name is None and len(carried) == 1:
        name = carried[0]
    if name is None or name not in names:
        complaint = f"has no table {name!r}" if name else "has several tables" if names else "has no table"
        raise InputError(
            f"event {event.id} ({event.kind}): {complaint}", hint=f"--table {' or '.join(names)}" if names else None
        )
    if name.startswith(FILE_ROLE):
        file = name.removeprefix(FILE_ROLE)
        return parse_measured(file, session.ledger.files(event)[file]).frame
    if event.kind != "design.created" and not event.inputs_as("design"):
        return _with_declared_units(session, event, name)
    design = load_design(session, event)
    if name == CURVES and event.kind != "runs.completed":
        table = curves_table(session, event)
    elif name == CURVES:
        # Of one case: its name would say nothing.
        table = curves_table(session, event).drop("case")
    elif event.kind == "campaign.completed":
        table = runs_table(session, design)
    else:
        table = session.table(event, name)
    return with_unit_names(design.study, table)


def _with_declared_units(session: Session, event: Event, name: str) -> pl.DataFrame:
    """A table with the units that its kind declares, and those of the study's own columns, in its names."""
    table = session.table(event, name)
    kind = kind_of(event.kind)
    declared = kind.tables.get(name) if kind else None
    if declared is None:
        return table
    if declared.more and event.inputs_as("study"):
        table = with_unit_names(session.study(event), table)
    units = {column: unit for column, unit in declared.columns.items() if column in table.columns}
    return table.rename({column: column_name(column, unit) for column, unit in units.items()})
