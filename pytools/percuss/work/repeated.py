"""What was computed again, held against an event: its tables, and what its body says of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.kinds.body import Body
from percuss.kinds.table import KINDS, plain
from percuss.kinds.trusted import Result
from percuss.ledger.blobs import table_digest
from percuss.ledger.canonical import canonical_json
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.trust import Trust
from percuss.work.repetition import Elsewhere, Repetition, elsewhere, judged

if TYPE_CHECKING:
    import polars as pl

# Where only rounding differs, sums and quantiles do not make more of it than this, of the largest number of a column
# among the rows of the same names: columns hold numbers of one unit, but for tables with a row for each output.
NEAR = 1e-6
# What no rounding makes of a table that is computed without a search: resampling by the generator of another numpy
# moves an interval, and not by this much.
FAR = 0.25
# What is said of tables that are the same but for rounding: some of it is found by a search, and ends where that ends.
SAID = 1e-3


def judged_tables(
    session: Session,
    event: Event,
    what: str,
    tables: Mapping[str, pl.DataFrame],
    left_out: tuple[str, ...] = (),
    far: float | Callable[[], str | None] | None = FAR,
    body: Body | None = None,
    not_computed: tuple[str, ...] = (),
    own: Trust = (),
) -> Repetition:
    """The verdict on a result that was computed again: to the bit, or within `NEAR` where it was made elsewhere.

    `body`: what is said of the tables, but for the fields that are `not_computed`; `own`: the verdicts it comes to.
    `far`: what is a fault even of another environment, as a distance, or asked for where it is needed; None where a
    search may go quite another way. Tables with other rows are no nearer or farther than that.
    """
    tables = {role: _of_its_columns(session, event, role, table) for role, table in tables.items()}
    other = other_tables(event, tables, left_out)
    same_code = not elsewhere(session, event).code
    fields = other_fields(event, body, not_computed, same_code=same_code) if body is not None else {}
    of_tables = [farthest(session, event, role, tables[role]) if role in tables else float("inf") for role in other]
    # Verdicts, and what is said of tables, follow from these: where they are the same but for rounding, so are those,
    # and no claim excuses anything else. In words there may be numbers that were rounded otherwise.
    if max([*of_tables, 0.0]) <= NEAR:
        if hidden := hidden_failures(event, own):
            return Repetition("differs", 1, f"{what}: it fails {', '.join(hidden)}, and its verdicts do not say so")
        body_apart = other_fields(event, body, not_computed, words=0.0) if fields and body is not None else {}
        if wrong := [name for name, apart in body_apart.items() if apart > SAID]:
            return Repetition("differs", 1, f"{what}: differs when computed again: {', '.join([*other, *wrong])}")
    distance = max([*of_tables, *fields.values(), 0.0])

    def near() -> tuple[str | None, str]:
        return (f"{distance:.2g} apart" if distance > NEAR else None), f"{NEAR:g}"

    def beyond(makings: Elsewhere) -> str | None:
        if callable(far):
            return far()
        return f"{distance:.2g} apart" if far is not None and far < distance < float("inf") else None

    return judged(
        session,
        event,
        f"{what}: differs when computed again: {', '.join([*other, *fields])}",
        same=not other and not fields,
        near=near,
        far=beyond,
    )


def other_tables(event: Event, tables: Mapping[str, pl.DataFrame], left_out: tuple[str, ...] = ()) -> list[str]:
    """Roles of the tables that are not, to the bit, those of the event, or that only one of them has."""
    stored = {blob.role: blob.digest for blob in event.blobs if blob.role not in left_out}
    computed = {role: table_digest(table) for role, table in tables.items()}
    return sorted(role for role in stored.keys() | computed.keys() if stored.get(role) != computed.get(role))


def _of_its_columns(session: Session, event: Event, role: str, now: pl.DataFrame) -> pl.DataFrame:
    """A table without the columns that other code, which made the event, did not write yet: nothing is said in them."""
    if event.blob(role) is None or not elsewhere(session, event).code:
        return now
    then = session.table(event, role).columns
    return now.select(name for name in now.columns if name in then)


def farthest(session: Session, event: Event, role: str, now: pl.DataFrame) -> float:
    """The largest distance between numbers of two tables, over the largest number of their column among the rows that
    have the same names (text); infinite for tables that are otherwise not alike.
    """
    import polars as pl

    if event.blob(role) is None:
        return float("inf")
    then, now = session.table(event, role), _of_its_columns(session, event, role, now)
    if then.schema != now.schema or then.height != now.height:
        return float("inf")
    floats = [name for name, type in then.schema.items() if type.is_float()]
    if not then.drop(floats).equals(now.drop(floats), null_equal=True):
        return float("inf")
    names = [name for name, type in then.schema.items() if type == pl.String]
    groups = np.zeros(then.height, np.int64)
    if names:
        groups = then.select(pl.struct(names).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    apart = 0.0
    for name in floats:
        old, new = (table[name].fill_null(float("nan")).to_numpy() for table in (then, now))
        alike = (old == new) | (np.isnan(old) & np.isnan(new))
        if not np.all(np.isfinite(old[~alike]) & np.isfinite(new[~alike])):
            return float("inf")
        # By what came out, not by what was recorded: one huge number of a forger makes no others small.
        size = np.zeros(int(np.max(groups, initial=-1)) + 1)
        np.maximum.at(size, groups, np.where(np.isfinite(new), np.abs(new), 0.0))
        gap = np.abs(old - new, out=np.zeros_like(old), where=~alike)
        with np.errstate(divide="ignore", over="ignore"):
            ratio = np.divide(gap, size[groups], out=np.zeros_like(gap), where=gap > 0)
        apart = max(apart, float(np.max(ratio, initial=0.0)))
    return apart


# Numbers below this part of the largest beside them are compared as if they were as large.
CANCELLED = 1e-6


def other_fields(
    event: Event, again: Body, left_out: Collection[str] = (), *, same_code: bool = False, words: float = math.inf
) -> dict[str, float]:
    """Fields of the body that differ when computed again, each with the largest relative distance of its numbers:
    infinite where more differs than numbers. Verdicts are for `hidden_failures`.

    Only what the event itself says is compared: a body of an older version is read through an upcaster, and fields may
    have come since. What is said to be made by the `same_code` has them all: one that is missing was taken out.
    `words`: how far texts that differ are apart.
    """
    if event.version != KINDS[event.kind].version:
        return {}
    recorded, computed = json.loads(event.body), json.loads(canonical_json(plain(again)))
    return {
        name: apart
        for name in (computed.keys() | recorded.keys() if same_code else recorded)
        if name != "trust" and name not in left_out and (apart := _apart(recorded.get(name), computed.get(name), words))
    }


def hidden_failures(event: Event, own: Trust) -> list[str]:
    """Gates that the result fails by what was computed again, as a whole or in what it names, and of which its verdicts
    say otherwise or nothing.
    """
    body = event.content
    if not isinstance(body, Result):
        return []
    failed = [verdict for verdict in body.trust if not verdict.passed]
    reported = {(verdict.gate, name) for verdict in failed for name in verdict.about or ("",)}
    hidden: set[str] = set()
    for gate, about in ((verdict.gate, verdict.about) for verdict in own if not verdict.passed):
        if (gate, "") in reported:  # of the whole
            continue
        if not about and gate not in {verdict.gate for verdict in failed}:
            hidden.add(gate)
        hidden |= {f"{gate} ({name})" for name in about if (gate, name) not in reported}
    return sorted(hidden)


def _apart(then: Any, now: Any, words: float) -> float:
    """The largest distance of two numbers in the same place, over what came out there, or a small part of the largest
    beside it where that is more: a sum that cancels leaves rounding of what it is of.
    """
    apart = 0.0
    for a, b, beside in _leaves(then, now, 0.0):
        if a == b and isinstance(a, bool) == isinstance(b, bool):
            continue
        if isinstance(a, str) and isinstance(b, str):
            apart = max(apart, words)
            continue
        if not (_is_number(a) and _is_number(b) and math.isfinite(a) and math.isfinite(b)):
            return math.inf
        size = max(abs(b), CANCELLED * beside)
        apart = max(apart, abs(a - b) / size if size else math.inf)
    return apart


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _leaves(then: Any, now: Any, beside: float) -> Iterator[tuple[Any, Any, float]]:
    """What stands in the same place of two bodies, with the largest number beside what came out there; where they are
    not alike, the two as they are. A key that was not there, and has nothing in it now, has come since.
    """
    if (
        isinstance(then, dict)
        and isinstance(now, dict)
        and then.keys() == {k for k in now if k in then or now[k] is not None}
    ):
        pairs = [(then[key], now[key]) for key in then]
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = list(zip(then, now, strict=True))
    else:
        yield then, now, beside
        return
    numbers = (abs(b) for _, b in pairs if _is_number(b) and math.isfinite(b))
    largest = max(numbers, default=0.0)
    for a, b in pairs:
        yield from _leaves(a, b, largest)
