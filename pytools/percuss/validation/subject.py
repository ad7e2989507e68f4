"""What is validated when an event is named: the study of a posterior, with that posterior as the start."""

from __future__ import annotations

import re

import numpy as np

from percuss.calibration.records import POSTERIOR, load_posterior
from percuss.errors import InputError
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.study.study import Study


def is_reference(text: str) -> bool:
    """Whether a word names an event: `-`, `@last...`, or the hexadecimal of an id."""
    return text == "-" or text.startswith("@") or re.fullmatch(r"[0-9a-f][0-9a-f-]{5,35}", text) is not None


def from_posterior(ledger: Ledger, state: State, event: Event) -> tuple[Study, dict[str, tuple[float, float]], Event]:
    """The study of a posterior and, for each parameter, mean and standard deviation of its draws."""
    if event.kind != POSTERIOR:
        raise InputError(
            f"event {event.id} is of the kind {event.kind}: validate takes a study or a {POSTERIOR}",
            hint="percuss calibrate makes one",
        )
    posterior = load_posterior(ledger, state, event)
    posterior.trusted_summary()
    flat = posterior.flat()
    start = {name: (float(np.mean(x)), float(np.std(x))) for name, x in zip(posterior.names, flat.T, strict=True)}
    return posterior.study, start, event
