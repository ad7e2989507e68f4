"""Bodies that were computed again, held against those of events: tables may be right, and what is said of them not."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from typing import Any

from percuss.kinds.body import Body
from percuss.kinds.table import KINDS, plain
from percuss.kinds.trusted import Result
from percuss.ledger.canonical import canonical_json
from percuss.ledger.event import Event
from percuss.trust import Trust

# Numbers below this part of the largest beside them are compared as if they were as large.
CANCELLED = 1e-6


def other_fields(
    event: Event, again: Body, left_out: Collection[str] = (), *, same_code: bool = False, words: float = math.inf
) -> dict[str, float]:
    """Fields of the body that come out otherwise, each with the largest relative distance of its numbers; infinite
    where more differs than numbers. Verdicts are for `hidden_failures`.

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
    """Gates that the result fails by what was computed again, and of which its verdicts say otherwise or nothing."""
    body = event.content
    if not isinstance(body, Result):
        return []
    failed = {verdict.gate for verdict in body.trust if not verdict.passed}
    return sorted({verdict.gate for verdict in own if not verdict.passed} - failed)


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
