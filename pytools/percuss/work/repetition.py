"""What comes of computing an event again, for `audit` and `reproduce`.

A kind of event names in `Kind.repeat` a function `repeat(session, event, part) -> Repetition`, which computes what the
event holds once more, from its inputs, and appends nothing. Of an event with several results (`Kind.parts`) it is the
one with the number `part`, from 0; an event that is one computation, as a posterior, takes no notice of it.

Bodies that were computed again are held against those of events, and so are tables: tables may be right, and what is
said of them not.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from percuss.errors import LedgerError, PercussError
from percuss.kinds.body import Body
from percuss.kinds.table import KINDS, plain
from percuss.kinds.trusted import Result
from percuss.ledger.blobs import table_digest
from percuss.ledger.canonical import canonical_json
from percuss.ledger.event import Event
from percuss.maker import environment, numerics, software
from percuss.session import Session
from percuss.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Callable

    from percuss.ledger.event import Event
    from percuss.session import Session

    Repeat = Callable[[Session, Event, int], "Repetition"]
    import polars as pl


# What a stranger's events can make of a computation.
STRANGE = (PercussError, KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class Repetition:
    """What came of it.

    - `same`: every number to the bit.
    - `within`: made by another build, in another environment or by another program, and within the bound that is said.
    - `cannot`: cannot be compared here: a program that is not there, a plugin that is not installed; or made in another
      environment, in which rounding may take another way, and not within the bound. Neither proof nor fault.
    - `differs`: a fault.

    `checked` is how many results were compared (runs, posteriors); zero where it `cannot`. `sentence` is empty where it
    is the same; says what was recorded and what came out where it differs, after the id of the event; and goes on from
    a number where it is within or cannot, so that it can be counted: `made by another build, compared within 1e-09`.
    `by_claim`: it was computed here, came out otherwise, and `cannot` only because of the environment it claims.
    """

    verdict: Literal["same", "within", "cannot", "differs"]
    checked: int
    sentence: str = ""
    by_claim: bool = False


@dataclass(frozen=True)
class Elsewhere:
    """In what the making of an event differed from what is here: the build of the core, and parts of the environment.

    An environment that was not recorded (events of format 1) may have been any.
    """

    build: bool
    environment: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.build or bool(self.environment)

    @property
    def generators(self) -> bool:
        """Whether seeds may give other numbers: numpy and scipy are of another version, or it is not known of which."""
        same = ("another polars", "another emcee", "another BLAS", "another CPU", "another machine", "another C ")
        return not all(part.startswith(same) for part in self.environment)

    @property
    def words(self) -> str:
        """How it was made, as what follows `made`."""
        parts = ["by another build"] if self.build else []
        parts += [f"with {', '.join(self.environment)}"] if self.environment else []
        return " and ".join(parts)


def elsewhere(session: Session, event: Event) -> Elsewhere:
    """In what the making of an event differed from what is here."""
    build = event.software.core != (session.ledger.core or software().core)
    try:
        record = session.ledger.environment(event)
    except LedgerError as fault:
        return Elsewhere(build, (f"an environment that cannot be read ({fault})",))
    if record is None:
        return Elsewhere(build, ("an environment that was not recorded",))
    here = numerics(environment())
    other = {name: value for name, value in numerics(record).items() if value != here[name]}
    return Elsewhere(build, tuple(f"another {name} ({value}, here {here[name]})" for name, value in other.items()))


def judged(
    session: Session,
    event: Event,
    what: str,
    *,
    same: bool,
    near: Callable[[], tuple[str | None, str]],
    far: Callable[[Elsewhere], str | None] = lambda makings: None,
) -> Repetition:
    """The verdict on a result that was computed again.

    `same`: to the bit. `near` is asked where it is not, and was made elsewhere: what lies outside the bound, None if
    nothing does, and the bound in words. With the same build in the same environment nothing but the same bits will do.
    Of another build what lies outside is a fault. Of another environment it is none: rounding may have led another way,
    through a sampler, a search or an impact, and an intact ledger is not called broken for it. But an environment is
    only a claim: `far` is asked what lies beyond all that rounding can do there, None if nothing does, and that is a
    fault wherever it is said to have been made.
    """
    if same:
        return Repetition("same", 1)
    makings = elsewhere(session, event)
    if not makings:
        return Repetition("differs", 1, what)
    outside, bound = near()
    if outside is None:
        return Repetition("within", 1, f"made {makings.words}, compared within {bound}")
    if makings.environment:
        if beyond := far(makings):
            return Repetition("differs", 1, f"{what}: {beyond}, which no rounding explains (made {makings.words})")
        return Repetition("cannot", 0, f"made {makings.words}, and not within {bound}", by_claim=True)
    return Repetition("differs", 1, f"{what}: {outside}")


def other_fields(event: Event, again: Body, left_out: Collection[str] = ()) -> dict[str, float]:
    """Fields of the body that come out otherwise, each with the largest distance of its numbers over their largest;
    infinite where more differs than numbers. Verdicts are for `hidden_failures`.

    Only what the event itself says is compared: a body of an older version is read through an upcaster, and fields may
    have come since.
    """
    if event.version != KINDS[event.kind].version:
        return {}
    recorded, computed = json.loads(event.body), json.loads(canonical_json(plain(again)))
    return {
        name: apart
        for name in recorded
        if name != "trust" and name not in left_out and (apart := _apart(recorded[name], computed.get(name)))
    }


def hidden_failures(event: Event, own: Trust) -> list[str]:
    """Gates that the result fails by what was computed again, and of which its verdicts say otherwise or nothing."""
    body = event.content
    if not isinstance(body, Result):
        return []
    failed = {verdict.gate for verdict in body.trust if not verdict.passed}
    return sorted({verdict.gate for verdict in own if not verdict.passed} - failed)


def _apart(then: Any, now: Any) -> float:
    pairs = list(_leaves(then, now))
    numbers = [(a, b) for a, b in pairs if _is_number(a) and _is_number(b)]
    if any(a != b for a, b in pairs if not (_is_number(a) and _is_number(b))):
        return float("inf")
    gap = max((abs(a - b) for a, b in numbers), default=0.0)
    largest = max((abs(a) for a, _ in numbers), default=0.0)
    return gap / largest if largest else float("inf") if gap else 0.0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _leaves(then: Any, now: Any) -> Iterator[tuple[Any, Any]]:
    """What stands in the same place of two bodies; where they are not alike, the two as they are."""
    if isinstance(then, dict) and isinstance(now, dict) and then.keys() == now.keys():
        for key in then:
            yield from _leaves(then[key], now[key])
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for pair in zip(then, now, strict=True):
            yield from _leaves(*pair)
    else:
        yield then, now


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
