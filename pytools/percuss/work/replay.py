"""Rebuild every table from the events alone."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.designs.design import read_design
from percuss.execution.records import runs_table
from percuss.ledger.projections import state_tables
from percuss.session import Session

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Replayed:
    """The tables by name, and how many events are of kinds that this percuss does not know."""

    tables: dict[str, pl.DataFrame]
    skipped: int


def replay(session: Session) -> Replayed:
    """Drop the cache and rebuild every table from the original files."""
    place = session.ledger.place
    shutil.rmtree(place.real(place.cache), ignore_errors=True)
    state = session.begin_from(session.ledger.events(cached=False))
    tables = state_tables(state)
    for design, event in state.designs.items():
        if state.batches.get(design):
            tables[f"runs-{design}"] = runs_table(session, read_design(session, event))
    return Replayed(tables, state.skipped)
