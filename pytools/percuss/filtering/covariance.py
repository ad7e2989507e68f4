"""How large the error of an observation is: the covariance M_t that a filter is given, or searches.

| mode | standard deviation of a variable at a step |
| --- | --- |
| constant | as given, of each variable |
| relative | scale x the size of the observation at that step |
| maximum | scale x the largest size of the variable over all steps |

Sizes are magnitudes: signs do not matter. An observation of zero has no relative error, so a relative one is never
less than FLOOR times what `maximum` gives; a variable that is zero throughout has no scale at all and is refused.
`scale` multiplies standard deviations, not variances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.filtering.weights import Misfits, filter_weights

Array = NDArray[Any]

MODES = ("constant", "relative", "maximum")
FLOOR = 1e-3
SMALLEST, LARGEST = 1e-150, 1e150
HALVINGS = 200


@dataclass(frozen=True)
class ObservationError:
    """The mode, its scale, and for `constant` the standard deviation of each variable (SI)."""

    mode: str
    scale: float = 1.0
    stds: Mapping[str, float] = field(default_factory=dict)


def roots(error: ObservationError, variables: Sequence[Sequence[str]], observed: Sequence[Array]) -> list[Array]:
    """Roots (m, m) of the covariance at every step, without the scale; `variables` names what each step observes."""
    largest: dict[str, float] = {}
    for names, values in zip(variables, observed, strict=True):
        for name, value in zip(names, values, strict=True):
            largest[name] = max(largest.get(name, 0.0), abs(float(value)))
    if error.mode == "constant":
        for name in largest:
            if not 0 < error.stds.get(name, 0.0) < math.inf:
                raise InputError(
                    f"the observation error of {name}: constant needs a standard deviation above 0",
                    hint=f"--noise {name}=STD",
                )
        return [np.diag([error.stds[name] for name in names]) for names in variables]
    for name, size in largest.items():
        if size == 0:
            raise InputError(
                f"the observation error of {name}: every observation is 0, so none is relative to them",
                hint=f"--covariance constant --noise {name}=STD",
            )
    roots_of_groups = []
    for names, values in zip(variables, observed, strict=True):
        top = np.array([largest[name] for name in names])
        sizes = np.maximum(np.abs(values), FLOOR * top) if error.mode == "relative" else top
        roots_of_groups.append(np.diag(sizes))
    return roots_of_groups


def scale_for(misfits: Misfits, log_start: Array, share: float) -> float:
    """The scale at which the effective sample size after the last step is this share of the ensemble.

    Raises InputError for a share that no scale gives.
    """
    last = misfits.last()
    size = len(log_start)

    def reached(log_scale: float) -> float:
        return float(filter_weights(last, log_start, math.exp(log_scale)).effective[0]) / size

    low, high = math.log(SMALLEST), math.log(LARGEST)
    least, most = reached(low), reached(high)
    if not least < share < most:
        raise InputError(
            f"--ess {share}: with these {size} samples it can lie between {least:.3g} and {most:.3g} of their number"
        )
    # Bisection finds a crossing whether or not the share grows with the scale everywhere.
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):  # neighbours among the numbers: nothing moves any more
            break
        if reached(middle) < share:
            low = middle
        else:
            high = middle
    return math.exp(0.5 * (low + high))
