"""`python -m tests.bench.coverage`: the table of band coverage in docs/surrogates.md.

Known functions, several designs each: the share of 2000 fresh points whose value lies within the band of the surrogate,
averaged over the designs. `python -m tests.bench.coverage families` prints CPU times and errors of the families on 300
points of one of the functions.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("RAYON_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from percuss.surrogates.fit import Group, _fit_group
from percuss.surrogates.model import Data, Settings

Array = NDArray[np.float64]
FRESH = 2000
LEVELS = (0.5, 0.9, 0.95)
PROBES = 4096


def ishigami(x: Array) -> Array:
    x = np.pi * x
    return np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])


def gfunction(x: Array) -> Array:
    a = np.array([0, 1, 4.5, 9, 99])
    return np.prod((np.abs(2 * x) + a) / (1 + a), axis=1)


def kink(x: Array) -> Array:
    """A block that slides once the drive overcomes friction, and stops at a wall."""
    drive = 1 + 0.5 * x[:, 0] + 0.3 * x[:, 1] - 0.4 * x[:, 2]
    slide = np.maximum(drive**2 - 0.8 - 0.3 * x[:, 2] + 0.2 * x[:, 3], 0)
    return np.minimum(slide, 1.2 + 0.4 * x[:, 4]) + 0.1 * x[:, 1] * x[:, 3]


def step(x: Array) -> Array:
    """A jump, which no family follows."""
    return np.where(x[:, 0] + 0.3 * x[:, 1] > 0.2, 1.0, 0.0) + 0.1 * x[:, 2]


FUNCTIONS: dict[str, tuple[Callable[[Array], Array], int, int]] = {
    "ishigami": (ishigami, 3, 100),
    "gfunction": (gfunction, 5, 200),
    "kink": (kink, 5, 200),
    "step": (step, 3, 150),
}


def coverage(name: str, family: str, designs: int, seed: int = 0) -> tuple[list[float], float]:
    """Coverage at every level and the mean validation error, over several designs."""
    function, d, n = FUNCTIONS[name]
    hits, errors = [], []
    for k in range(designs):
        rng = np.random.default_rng([seed, k])
        points = rng.uniform(-1, 1, (n, d))
        group = Group(0, (0,), Data([("legendre", [])] * d, points, function(points)[:, None]), np.arange(n), 0)
        settings = Settings(family=family, search="early", degrees=tuple(range(1, 13)), seed=k)
        fits = _fit_group(group, settings, np.random.default_rng(29).uniform(-1, 1, (PROBES, d)), None, None)
        model, band = fits.parts[0].model, fits.bands[0]
        fresh = rng.uniform(-1, 1, (FRESH, d))
        off = np.abs(model.mean(fresh)[:, 0] - function(fresh))
        hits.append([float((off <= band.width(model, 0, fresh, level)).mean()) for level in LEVELS])
        errors.append(float((off**2).mean() / function(fresh).var()))
    return list(np.mean(hits, axis=0)), float(np.mean(errors))


def families() -> None:
    """Print CPU times, full search and no bands, and errors at fresh points, for 300 points of the kinks."""
    rng = np.random.default_rng(0)
    points, fresh = rng.uniform(-1, 1, (300, 5)), rng.uniform(-1, 1, (20_000, 5))
    group = Group(0, (0,), Data([("legendre", [])] * 5, points, kink(points)[:, None]), np.arange(300), 0)
    print("| family | CPU time | error |\n| --- | --- | --- |")
    for family in ("chaos", "gp", "chaos-plus-gp", "auto"):
        start = time.process_time()
        probes = np.random.default_rng(29).uniform(-1, 1, (PROBES, 5))
        # Nothing is kept of what an earlier family has found.
        own = Group(0, (0,), Data(group.data.families, points, group.data.values), group.rows, 0)
        (part,) = _fit_group(own, Settings(family=family, bootstrap=0), probes, None, None).parts
        took = time.process_time() - start
        wrong = part.model.mean(fresh)[:, 0] - kink(fresh)
        print(f"| {family} ({part.family}) | {took:.1f} s | {np.mean(wrong**2) / kink(fresh).var():.1e} |", flush=True)


def main() -> None:
    """Print the table."""
    print("| function | points | family | error | " + " | ".join(f"{level:.0%}" for level in LEVELS) + " |")
    print("| --- | --- | --- | --- | " + " | ".join("---" for _ in LEVELS) + " |")
    for name, (_, _, n) in FUNCTIONS.items():
        for family in ("chaos", "gp", "chaos-plus-gp", "auto"):
            found, error = coverage(name, family, 6)
            shown = " | ".join(f"{share:.1%}" for share in found)
            print(f"| {name} | {n} | {family} | {error:.1e} | {shown} |", flush=True)


if __name__ == "__main__":
    families() if sys.argv[1:] == ["families"] else main()
