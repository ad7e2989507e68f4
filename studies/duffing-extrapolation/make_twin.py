"""Twin data of Green et al., Eq. 26: x'' + c x' + k x + k* x^3 = force, unit mass, noise on the displacement.

    python make_twin.py [SEED]          # 3 by default; writes observations/low.csv and observations/high.csv

Force: standard normal samples, straight lines between them; `high` is twice as strong and lasts a quarter as long.
Runge-Kutta steps of 0.01 s from rest with the mean of two samples in the middle of each.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

K, C, CUBIC, STEP_S, NOISE_VARIANCE = 10.0, 0.1, 50.0, 0.01, 1e-5


def respond(force: np.ndarray) -> np.ndarray:
    """Displacement at the samples."""

    def rate(x: float, v: float, f: float) -> tuple[float, float]:
        return v, f - C * v - K * x - CUBIC * x**3

    x, v, found = 0.0, 0.0, [0.0]
    h = STEP_S
    for before, after in pairwise(force.tolist()):
        middle = (before + after) / 2
        a = rate(x, v, before)
        b = rate(x + h / 2 * a[0], v + h / 2 * a[1], middle)
        c = rate(x + h / 2 * b[0], v + h / 2 * b[1], middle)
        d = rate(x + h * c[0], v + h * c[1], after)
        x, v = (s + h / 6 * (p + 2 * q + 2 * r + t) for s, p, q, r, t in zip((x, v), a, b, c, d, strict=True))
        found.append(x)
    return np.array(found)


def write(path: Path, force: np.ndarray, displacement: np.ndarray) -> None:
    """Three columns; ten digits are far below the noise."""
    rows = (f"{i * STEP_S:.2f},{f:.10g},{x:.10g}" for i, (f, x) in enumerate(zip(force, displacement, strict=True)))
    path.write_text("\n".join(["t_s,force_n,u1_m", *rows, ""]))


def main(seed: int, folder: Path) -> None:
    """Low excitation first, so that its data are those of the seed whatever comes after."""
    random = np.random.default_rng(seed)
    for name, samples, strength in (("low", 20_000, 1.0), ("high", 5_000, 2.0)):
        force = strength * random.standard_normal(samples)
        displacement = respond(force) + np.sqrt(NOISE_VARIANCE) * random.standard_normal(samples)
        write(folder / f"{name}.csv", force, displacement)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, Path(__file__).parent / "observations")
