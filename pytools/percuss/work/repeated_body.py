"""Bodies that were computed again, held against those of events: tables may be right, and what is said of them not."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from percuss.kinds.body import Body
from percuss.kinds.table import KINDS, plain
from percuss.kinds.trusted import Result
from percuss.ledger.canonical import canonical_json
from percuss.ledger.event import Event
from percuss.trust import Trust


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
