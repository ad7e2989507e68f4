"""What comes of computing an event again, for `audit`.

A kind of event names in `Kind.repeat` a function `repeat(session, event, sample) -> Repetition`, which computes what
the event holds once more, from its inputs, and appends nothing. `sample` says which part of an event of many parts is
computed: drawn by it where it is a generator, all of them where it is None. An event that is one computation, as a
posterior, takes no notice of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from percuss.ledger.event import Event
    from percuss.session import Session

    Repeat = Callable[[Session, Event, random.Random | None], "Repetition"]

Verdict = Literal["same", "within", "cannot", "differs"]


@dataclass(frozen=True)
class Repetition:
    """What came of it.

    - `same`: every number to the bit.
    - `within`: made by another build or another processor, and as near as these can come to each other; `sentence`
      says by how far they are apart, or how near they had to come.
    - `cannot`: was not computed here, and `sentence` says why: a program that needs consent, a plugin that is not
      installed, runs that came from a file. Neither proof nor fault.
    - `differs`: `sentence` says what was recorded and what came out. A fault.

    `checked` is how many results were compared (runs, posteriors); zero where it `cannot`.
    """

    verdict: Verdict
    checked: int
    sentence: str
