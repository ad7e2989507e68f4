"""Tables that were computed again, held against those of an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from percuss.kinds.body import Body
from percuss.ledger.blobs import table_digest
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.trust import Trust
from percuss.work.repeated_body import hidden_failures, other_fields
from percuss.work.repetition import Elsewhere, Repetition, judged

if TYPE_CHECKING:
    import polars as pl

# Where only rounding differs, sums and quantiles do not make more of it than this, of the largest number of a column.
NEAR = 1e-6
# What no rounding makes of a table that is computed without a search, of the largest number of a column: resampling by
# the generator of another numpy moves an interval, and not by this much.
FAR = 0.25


def judged_tables(
    session: Session,
    event: Event,
    what: str,
    tables: Mapping[str, pl.DataFrame],
    left_out: tuple[str, ...] = (),
    far: float | None = FAR,
    body: Body | None = None,
    not_computed: tuple[str, ...] = (),
    own: Trust = (),
) -> Repetition:
    """The verdict on a result that was computed again: to the bit, or within `NEAR` where it was made elsewhere.

    `body`: what is said of the tables, but for the fields that are `not_computed`; `own`: the verdicts it comes to.
    `far`: what is a fault even of another environment; None where a search or a chain may go quite another way. Tables
    with other rows are no nearer or farther than that: a search may have ended elsewhere.
    """
    other = other_tables(event, tables, left_out)
    fields = other_fields(event, body, not_computed) if body is not None else {}
    if not other and (hidden := hidden_failures(event, own)):
        return Repetition("differs", 1, f"{what}: it fails {', '.join(hidden)}, and its verdicts do not say so")

    def apart() -> float:
        of_tables = (farthest(session, event, role, tables[role]) if role in tables else float("inf") for role in other)
        return max(*of_tables, *fields.values(), 0.0)

    def near() -> tuple[str | None, str]:
        return (f"{apart():.2g} apart" if apart() > NEAR else None), f"{NEAR:g}"

    def beyond(makings: Elsewhere) -> str | None:
        distance = apart()
        return f"{distance:.2g} apart" if far is not None and far < distance < float("inf") else None

    return judged(
        session,
        event,
        f"{what}: comes out otherwise: {', '.join([*other, *fields])}",
        same=not other and not fields,
        near=near,
        far=beyond,
    )


def other_tables(event: Event, tables: Mapping[str, pl.DataFrame], left_out: tuple[str, ...] = ()) -> list[str]:
    """Roles of the tables that are not, to the bit, those of the event, or that only one of them has."""
    stored = {blob.role: blob.digest for blob in event.blobs if blob.role not in left_out}
    computed = {role: table_digest(table) for role, table in tables.items()}
    return sorted(role for role in stored.keys() | computed.keys() if stored.get(role) != computed.get(role))


def farthest(session: Session, event: Event, role: str, now: pl.DataFrame) -> float:
    """The largest distance between numbers of two tables, over the largest number of their column; infinite for tables
    that are otherwise not alike.
    """
    if event.blob(role) is None:
        return float("inf")
    then = session.table(event, role)
    if then.schema != now.schema or then.height != now.height:
        return float("inf")
    apart = 0.0
    for name, type in then.schema.items():
        if not type.is_float():
            if not then[name].equals(now[name], null_equal=True):
                return float("inf")
            continue
        old, new = (table[name].fill_null(float("nan")).to_numpy() for table in (then, now))
        gap = np.where((old == new) | (np.isnan(old) & np.isnan(new)), 0.0, np.abs(old - new))
        size = float(np.nanmax(np.abs(old), initial=0.0))
        largest = float(np.max(gap, initial=0.0))
        if np.isnan(largest) or (largest > 0 and size == 0):
            return float("inf")
        apart = max(apart, largest / size if size > 0 else 0.0)
    return apart
