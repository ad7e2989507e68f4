"""Runs of the ledger, made again from their events: to the same bits, with what was not kept the first time.

The ledger keeps the outputs of runs and, if asked to, their time histories. A run can be repeated, and whether the
repetition is the run is told by its outputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from percuss.errors import AnswerIsNo
from percuss.ledger.event import Event
from percuss.session import Session


def difference(recorded: Mapping[str, float], outputs: Mapping[str, float]) -> float:
    """By how much outputs differ from those recorded, relative; 0: to the bit."""
    return max((_difference(recorded[name], value) for name, value in outputs.items()), default=0.0)


def _difference(a: float, b: float) -> float:
    if a == b or (a != a and b != b):  # NaN stands for "does not apply", as the peak force of a rigid impact
        return 0.0
    size = max(abs(a), abs(b))
    return abs(a - b) / size if math.isfinite(size) else math.inf


def check_same(session: Session, differences: Sequence[tuple[Event, float]]) -> None:
    """Raise AnswerIsNo if runs made again by the build that made them differ; of another build it is said, once."""
    for event, largest in differences:
        if largest and event.software.core == session.ledger.core:
            raise AnswerIsNo(f"event {event.id}: made again, its outputs differ by up to {largest:.3g} (relative)")
    if worst := max((largest for _, largest in differences), default=0.0):
        session.voice.say(f"made by another build of the core: outputs differ by up to {worst:.3g} (relative)")
