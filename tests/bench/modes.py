"""Posteriors of two to four modes: are all found, is the sample refused, or is it called converged all the same?

`python -m tests.bench.modes [SAMPLER [SEEDS [DIMENSION...]]]` prints a table for the default sampler, or another, in 2
to 8 dimensions, of so many seeds, or of those from 3 on and below 5 (`3:5`): first without looking for modes, as it was
before there was a search, then with it. Gaussian modes in a unit box, one of its own width and mass, the others of
another width and equal masses. A line is split by whether the search can be expected to see all modes: whether the
basin of each has ten or more of the points that the search looks at.

Sequential Monte Carlo starts from the prior, whatever the search has found: one run tells both, with what the search
says against its draws and without. It has 2 000 000 evaluations instead of 400 000, with which its pilot refuses nearly
every target before a draw is made.

The benchmark holds samples that are called converged and lack a mode against one in a hundred, and the cost of the
search on posteriors with one mode against half of what they cost without.
"""

from __future__ import annotations

import os

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tests.bench.measure import Line

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.modes import SCREENED
from percuss.inference.samplers.registry import DEFAULT, sample_posterior
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.inference.target import Target
from percuss.study.priors.uniform import Uniform

DIMENSIONS = (2, 3, 5, 8)
# Standard deviation of one mode and of the others, in parts of the prior's width.
WIDTHS = ((0.01, 0.01), (0.01, 0.1), (0.03, 0.1), (0.1, 0.1), (0.05, 0.2), (0.1, 0.5))
MASSES = (0.1, 0.5, 0.7, 0.9)
STOPPING = Stopping(evaluations=400_000)
TEMPERING = "sequential-monte-carlo"
TEMPERING_STOPPING = Stopping(evaluations=2_000_000)
# Points of the search that the least basin must have for a mode to be seen.
SEEN = 10
VERDICTS = ("found", "refused", "falsely converged")


@dataclass(frozen=True, eq=False)
class Hills:
    """Gaussian modes: centres (k, d), standard deviations and masses; what share of the posterior lies where each is
    the highest, and what share of the prior.
    """

    target: Target
    centres: Floats
    stds: Floats
    masses: Floats
    shares: Floats
    basins: Floats

    def nearest(self, x: Floats) -> Floats:
        """The mode whose density is the highest at points (n, d)."""
        return np.argmax(_log_parts(x, self.centres, self.stds, self.masses), axis=1)

    def verdict(self, sample: Sample, look: bool = True) -> str:
        """Whether the modes were found; one is not, if half of it is missing or its share is off by a tenth. Without
        `look`, what the search says against the draws does not count.
        """
        if set(sample.reasons) - set(sample.modes.reasons if sample.modes and not look else ()):
            return "refused"
        drawn = np.bincount(self.nearest(sample.flat()), minlength=len(self.stds)) / len(sample.flat())
        wrong = (np.abs(drawn - self.shares) > 0.1) | ((drawn < 0.5 * self.shares) & (self.shares > 0.05))
        return "falsely converged" if wrong.any() else "found"


def hills(dimension: int, stds: Sequence[float], masses: Sequence[float], seed: int) -> Hills:
    """Modes at places drawn by lot, at least 0.35 apart."""
    generator = np.random.default_rng((7, dimension, seed))
    count = len(stds)
    while True:
        centres = generator.uniform(0.15, 0.85, (count, dimension))
        apart = np.linalg.norm(centres[:, None] - centres[None], axis=2) + 9 * np.eye(count)
        if apart.min() > 0.35:
            break
    std, mass = np.array(stds), np.array(masses)
    which = generator.choice(count, 20_000, p=mass)
    x = centres[which] + std[which, None] * generator.standard_normal((len(which), dimension))
    x = x[((x > 0) & (x < 1)).all(axis=1)]
    shares, basins = (
        np.bincount(np.argmax(_log_parts(points, centres, std, mass), axis=1), minlength=count) / len(points)
        for points in (x, generator.random((100_000, dimension)))
    )
    target = Target(
        tuple(f"x{j}" for j in range(dimension)),
        (Uniform({"low": 0.0, "high": 1.0}),) * dimension,
        lambda points: np.asarray(np.logaddexp.reduce(_log_parts(points, centres, std, mass), axis=1)),
    )
    return Hills(target, centres, std, mass, shares, basins)


def _log_parts(x: Floats, centres: Floats, stds: Floats, masses: Floats) -> Floats:
    height = np.log(masses) - x.shape[1] * np.log(stds * np.sqrt(2 * np.pi))
    away = np.stack([np.sum(((x - c) / s) ** 2, axis=1) for c, s in zip(centres, stds, strict=True)], axis=1)
    return np.asarray(height - 0.5 * away)


def family(dimension: int, widths: tuple[float, float], mass: float, seed: int) -> Hills:
    """Two to four modes."""
    others = 1 + seed % 3
    return hills(dimension, (widths[0], *[widths[1]] * others), (mass, *[(1 - mass) / others] * others), seed)


def verdicts(case: Hills, sampler: str, seed: int) -> tuple[str, str]:
    """Before there was a search, and with it."""
    if sampler != TEMPERING:
        before, after = (
            case.verdict(sample_posterior(case.target, sampler, seed=seed, stopping=STOPPING, look=look))
            for look in (False, True)
        )
        return before, after
    try:
        sample = sample_posterior(case.target, sampler, seed=seed, stopping=TEMPERING_STOPPING)
    except InputError:  # its pilot has seen that the budget is too small
        return "refused", "refused"
    return case.verdict(sample, look=False), case.verdict(sample)


def tally(
    dimension: int, widths: tuple[float, float], sampler: str, seeds: range
) -> dict[tuple[str, bool], Counter[str]]:
    """Verdicts over masses and seeds, by when and whether the search can be expected to see all modes."""
    found = {(name, seen): Counter[str]() for name in ("before", "after") for seen in (True, False)}
    for number, mass in enumerate(MASSES):
        for seed in seeds:
            case = family(dimension, widths, mass, 10 * number + seed)
            seen = bool(np.min(case.basins) * SCREENED >= SEEN)
            for name, verdict in zip(("before", "after"), verdicts(case, sampler, seed), strict=True):
                found[name, seen][verdict] += 1
    return found


def table(sampler: str, seeds: range, shapes: Sequence[tuple[int, tuple[float, float]]]) -> dict[str, Counter[str]]:
    """Print a line a shape; return the sums of what could be seen, before and after."""
    sums = {(name, seen): Counter[str]() for name in ("before", "after") for seen in (True, False)}
    print("| d | widths | seen | before: found / refused / falsely converged | after |")
    print("| --- | --- | --- | --- | --- |")
    for dimension, widths in shapes:
        own = tally(dimension, widths, sampler, seeds)
        for key, count in own.items():
            sums[key].update(count)
        for seen in (True, False):
            told = [" / ".join(str(own[name, seen][word]) for word in VERDICTS) for name in ("before", "after")]
            if sum(own["after", seen].values()):
                print(
                    f"| {dimension} | {widths[0]}, {widths[1]} | {'yes' if seen else 'no'} | {' | '.join(told)} |",
                    flush=True,
                )
    for (name, seen), sum_ in sums.items():
        print(f"{'' if seen else 'not '}seen, {name}: " + ", ".join(f"{word} {sum_[word]}" for word in VERDICTS))
    return {name: sums[name, True] for name in ("before", "after")}


def easy(look: bool) -> tuple[int, float]:
    """Evaluations and processor time on the posterior of a wall and a Gaussian one in three dimensions."""
    from tests.bench.samplers import posterior

    targets = [posterior(), hills(3, [0.1], [1.0], 0).target]
    evaluations, start = 0, time.process_time()
    for target in targets:
        for seed in range(5):
            sample = sample_posterior(target, seed=seed, look=look)
            evaluations += sample.evaluations + (sample.modes.searched if sample.modes else 0)
    return evaluations, time.process_time() - start


def bench() -> list[Line]:
    """False convergence where modes can be seen, and the cost where there is one mode."""
    shapes = [(d, widths) for d in (2, 5) for widths in ((0.01, 0.01), (0.03, 0.1))]
    after = table(DEFAULT, range(3), shapes)["after"]
    false = after["falsely converged"] / sum(after.values())
    easy(True)
    (plain, plain_s), (looked, looked_s) = easy(False), easy(True)
    return [
        Line(
            "falsely converged, against 1 in 100", f"{after['falsely converged']} of {sum(after.values())}", false, 0.01
        ),
        Line("evaluations with a search for modes", f"{looked} / {plain}", looked / plain, 1.5),
        Line("processor time with it", f"{looked_s:.2f} s / {plain_s:.2f} s", looked_s / plain_s, 1.5),
    ]


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[3:]]
    table(
        sys.argv[1] if len(sys.argv) > 1 else DEFAULT,
        range(*(int(word) for word in sys.argv[2].split(":"))) if len(sys.argv) > 2 else range(1),
        [(d, widths) for d in asked or DIMENSIONS for widths in WIDTHS],
    )
