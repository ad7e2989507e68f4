"""How often the error that `trend` tells is smaller than the true one: python -m tests.bench.refinement

Sequences with a known limit: of an order, with errors at random below the step (impacts that fall into steps by
chance), and noise that never settles. `quoted` is the share that `percuss converge` would quote at 1 %, `wrong` the
share that it would quote although the study's own step is farther off than that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from percuss.execution.convergence import NOISE
from percuss.execution.refinement import trend

LIMIT, TOLERANCE, COUNT, LEVELS = 1.0, 0.01, 20_000, 4
STEPS = 0.5 ** np.arange(LEVELS)
Array = NDArray[np.float64]

FAMILIES: dict[str, Callable[[np.random.Generator, float], Array]] = {
    "order 1": lambda rng, size: LIMIT + size * STEPS,
    "order 2": lambda rng, size: LIMIT + size * STEPS**2,
    "order 1 and a half of order 2": lambda rng, size: LIMIT + size * (STEPS - 0.5 * STEPS**2),
    "random below the step": lambda rng, size: LIMIT + size * STEPS * rng.uniform(0, 1, LEVELS),
    "random sign below the step": lambda rng, size: LIMIT + size * STEPS * rng.uniform(-1, 1, LEVELS),
    "noise": lambda rng, size: LIMIT + size * rng.normal(size=LEVELS),
    "grows as 1 / step": lambda rng, size: LIMIT + size / STEPS,
    "grows as log(1 / step)": lambda rng, size: LIMIT - size * np.log2(STEPS),
}


def rates(family: str, size: float, count: int = COUNT, seed: int = 0) -> tuple[float, float, float]:
    """Shares of sequences: error told too small, quoted, quoted and wrong."""
    rng = np.random.default_rng([seed, *family.encode()])
    low = quoted = wrong = 0
    for _ in range(count):
        values = FAMILIES[family](rng, size)
        found = trend(values.tolist(), 2)
        low += abs(values[-1] - LIMIT) > found.error
        allowed = TOLERANCE * abs(values[-1])
        settled = found.shrinks or found.largest_change <= NOISE * allowed
        yes = settled and abs(values[0] - values[-1]) + found.error <= allowed
        quoted += yes
        wrong += yes and abs(values[0] - LIMIT) > TOLERANCE * LIMIT
    return low / count, quoted / count, wrong / count


def main() -> None:
    print("family,size,error_told_too_small,quoted,quoted_and_wrong")
    for family in FAMILIES:
        for size in (0.003, 0.01, 0.03, 0.1):
            count = COUNT if "random" in family or family == "noise" else 1
            print(f"{family},{size:g}," + ",".join(f"{rate:.4f}" for rate in rates(family, size, count)))


if __name__ == "__main__":
    main()
