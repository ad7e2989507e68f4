"""What comes of computing an event again, for `audit`.

A kind of event names in `Kind.repeat` a function `repeat(session, event, part) -> Repetition`, which computes what the
event holds once more, from its inputs, and appends nothing. Of an event with several results (`Kind.parts`) it is the
one with the number `part`, from 0; an event that is one computation, as a posterior, takes no notice of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from percuss.ledger.event import Event
    from percuss.session import Session

    Repeat = Callable[[Session, Event, int], "Repetition"]


@dataclass(frozen=True)
class Repetition:
    """What came of it.

    - `same`: every number to the bit.
    - `within`: made by another build or another program, and as near as these can come to each other.
    - `cannot`: was not computed here: a program that is not there, a plugin that is not installed. Neither proof nor
      fault.
    - `differs`: a fault.

    `checked` is how many results were compared (runs, posteriors); zero where it `cannot`. `sentence` is empty where it
    is the same; says what was recorded and what came out where it differs, after the id of the event; and goes on from
    a number where it is within or cannot, so that it can be counted: `made by another build, compared within 1e-09`.
    """

    verdict: Literal["same", "within", "cannot", "differs"]
    checked: int
    sentence: str = ""
