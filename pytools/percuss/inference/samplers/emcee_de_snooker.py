"""Ensemble with differential evolution (ter Braak, 2006) and, one move in five, snooker moves (ter Braak, Vrugt, 2008),
by emcee.

The snooker move is ours: that of emcee up to 3.1.6 does not normalise its direction and samples a distribution with a
third of the variance missing in five dimensions (corrected upstream in dfm/emcee pull request 531).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from emcee.moves import DEMove
from emcee.moves.red_blue import RedBlueMove

from percuss.inference.arrays import Floats
from percuss.inference.modes import Modes
from percuss.inference.samplers import ensemble
from percuss.inference.samplers.sample import Report, Run, Stopping
from percuss.inference.target import Target

SETTINGS = ensemble.SETTINGS


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Run the ensemble."""
    moves = [(DEMove(), 0.8), (SnookerMove(), 0.2)]
    return ensemble.run_ensemble(target, moves, settings, stopping, seed, report, modes)


class SnookerMove(RedBlueMove):  # type: ignore[misc]
    """Move along the line to another walker z by 1.7 times the difference of two more, projected on that line.

    Acceptance carries (|proposal - z| / |position - z|)^(d - 1): the line is sampled from polar coordinates about z.
    """

    def __init__(self) -> None:
        super().__init__(nsplits=4)

    def get_proposal(self, s: Floats, c: list[Floats], random: Any) -> tuple[Floats, Floats]:
        """Propose for all walkers of one part, with partners from the three others."""
        picked = [part[random.randint(len(part), size=len(s))] for part in c]
        z, first, second = (picked[i] for i in random.permutation(3))
        away = s - z
        distance = np.sqrt(np.sum(away * away, axis=1))
        along = away / distance[:, None]
        stretch = 1.7 * np.sum(along * (first - second), axis=1)
        # On the line, the proposal lies at distance + stretch from z.
        log_ratio = (s.shape[1] - 1.0) * np.log(np.abs(1.0 + stretch / distance))
        return s + along * stretch[:, None], log_ratio
