"""Coverage of the intervals of `percuss reliability`: how often they hold the true probability, and at what cost.

    python -m tests.bench.reliability [repetitions] [repetitions of methods that learn]

Problems with known answers, from 1e-2 to 1e-7: the series of four branches, the noisy limit and the oscillator of
Rackwitz, problems RP22, 24, 28, 54, 75 and 107 of the reliability benchmark of TNO, and planes in 2 to 1000 variables.
RP31, 53 and 110 are held out: no method and no constant was chosen by looking at them, but for `directional` by RP53.
Parameters go through the priors of the suite. References are quadratures in one variable, the gamma distribution, or
(noisy limit, oscillator) twenty million draws.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import gammainc, ndtr

from percuss.reliability.estimate import OneSidedError, Settings
from percuss.reliability.limit import Limit, only_column
from percuss.reliability.methods import method_module
from percuss.study.joint import Joint
from percuss.study.priors.registry import read_prior

Array = Any


@dataclass(frozen=True)
class Problem:
    """A limit over parameters, its priors, its probability, and which methods it is a problem for."""

    name: str
    priors: tuple[dict[str, object], ...]
    function: Callable[[Array], Array]
    reference: float
    methods: tuple[str, ...]
    combine: Callable[[Array], Array] = only_column
    cv: float = 0.1

    def limit(self) -> Limit:
        """In standard normal space."""
        joint = Joint(tuple(read_prior(prior, "1") for prior in self.priors))

        def evaluate(u: Array) -> Array:
            columns = np.asarray(self.function(joint.values(u)), float)
            return columns if columns.ndim == 2 else columns[:, None]

        return Limit(len(self.priors), evaluate, self.combine)


def normal(mean: float, std: float) -> dict[str, object]:
    return {"kind": "normal", "mean": mean, "std": std}


def lognormal(mean: float, std: float) -> dict[str, object]:
    return {"kind": "lognormal", "mean": mean, "std": std}


def expectation(function: Callable[[float], float]) -> float:
    """Over a standard normal."""
    density = 1 / math.sqrt(2 * math.pi)
    return quad(lambda t: density * math.exp(-t * t / 2) * function(t), -9, 9, limit=400, epsabs=0, epsrel=1e-10)[0]


def branches(x: Array) -> Array:
    along, across = (x[:, 0] + x[:, 1]) / math.sqrt(2), x[:, 0] - x[:, 1]
    bent, straight = 3 + 0.1 * across**2, 6 / math.sqrt(2)
    return np.column_stack([bent - along, bent + along, straight + across, straight - across])


def noisy(x: Array) -> Array:
    return x @ [1, 2, 2, 1, -5, -5] + 0.001 * np.sin(100 * x).sum(axis=1)


def oscillator(x: Array) -> Array:
    mass, c1, c2, reach, force, duration = x.T
    frequency = np.sqrt((c1 + c2) / mass)
    return 3 * reach - np.abs(2 * force / (mass * frequency**2) * np.sin(frequency * duration / 2))


def two_slopes(x: Array) -> Array:
    """What falls fastest at first does not fail first: levels lead to the branch that hardly counts."""
    first = np.where(x[:, 0] > 3.5, 4 - x[:, 0], 0.85 - 0.1 * x[:, 0])
    return np.column_stack([first, np.where(x[:, 1] > 2, 0.5 - 0.1 * x[:, 1], 2.3 - x[:, 1])])


STANDARD = normal(0, 1)
NOISY = (*[lognormal(120, 12)] * 4, lognormal(50, 15), lognormal(40, 12))
OSCILLATOR = (normal(1, 0.05), normal(1, 0.1), normal(0.1, 0.01), normal(0.5, 0.05), normal(1, 0.2), normal(1, 0.2))
FOUR = 2 * float(ndtr(-3)) + 2 * expectation(lambda b: float(ndtr(-(3 + 0.2 * b * b))) if abs(b) < 3 else 0.0)
PLAIN = ("monte-carlo", "quasi-monte-carlo", "importance", "subset", "directional")
RARE = ("importance", "subset")
# Evaluations at most, where the default is too few for the coefficient of variation.
MOST = {"monte-carlo": 500_000, "importance": 40_000, "subset": 500_000}


def drawn(priors: tuple[dict[str, object], ...], function: Callable[[Array], Array], n: int) -> float:
    """The share that fails of many draws."""
    joint = Joint(tuple(read_prior(prior, "1") for prior in priors))
    random = np.random.default_rng(12345)
    failures = sum(
        int((function(joint.values(random.standard_normal((500_000, len(priors))))) <= 0).sum())
        for _ in range(n // 500_000)
    )
    return failures / n if n else math.nan


def plane(d: int, beta: float, methods: tuple[str, ...], cv: float = 0.1) -> Problem:
    def function(x: Array) -> Array:
        return beta - x.sum(axis=1) / math.sqrt(d)

    return Problem(f"plane, d = {d}", (STANDARD,) * d, function, float(ndtr(-beta)), methods, cv=cv)


def problems(references: bool = True) -> list[Problem]:
    """All of them, likeliest last in each family; without `references` those that need draws have none."""
    many = 20_000_000 if references else 0
    root = 3 * math.sqrt(2)
    rp28 = expectation(lambda t: float(ndtr((146.14 / (78064.4 + 11709.7 * t) - 0.0104) / 0.00156)))
    return [
        Problem("four branches", (STANDARD,) * 2, branches, FOUR, PLAIN, lambda c: c.min(axis=1)),
        Problem("noisy limit", NOISY, noisy, drawn(NOISY, noisy, many), ("monte-carlo", "quasi-monte-carlo", "subset")),
        Problem("oscillator", OSCILLATOR, oscillator, drawn(OSCILLATOR, oscillator, many), PLAIN),
        Problem(
            "RP22",
            (STANDARD,) * 2,
            lambda x: 2.5 - (x[:, 0] + x[:, 1]) / math.sqrt(2) + 0.1 * (x[:, 0] - x[:, 1]) ** 2,
            expectation(lambda b: float(ndtr(-(2.5 + 0.2 * b * b)))),
            PLAIN,
        ),
        Problem(
            "RP24",
            (normal(10, 3),) * 2,
            lambda x: 2.5 - 0.2357 * (x[:, 0] - x[:, 1]) + 0.00463 * (x[:, 0] + x[:, 1] - 20) ** 4,
            expectation(lambda a: float(ndtr(-(2.5 + 0.00463 * (root * a) ** 4) / (0.2357 * root)))),
            PLAIN,
        ),
        Problem(
            "RP28", (normal(78064.4, 11709.7), normal(0.0104, 0.00156)), lambda x: x.prod(axis=1) - 146.14, rp28, RARE
        ),
        Problem(
            "RP54",
            ({"kind": "gamma", "shape": 1, "scale": 1},) * 20,
            lambda x: x.sum(axis=1) - 8.951,
            float(gammainc(20, 8.951)),
            ("monte-carlo", "importance", "subset"),
        ),
        Problem(
            "RP75",
            (STANDARD,) * 2,
            lambda x: 3 - x[:, 0] * x[:, 1],
            2 * expectation(lambda t: float(ndtr(-3 / t)) if t > 0 else 0.0),
            PLAIN,
        ),
        Problem(
            "RP31",
            (STANDARD,) * 2,
            lambda x: 2 - x[:, 1] + 256 * x[:, 0] ** 4,
            expectation(lambda t: float(ndtr(-(2 + 256 * t**4)))),
            PLAIN,
        ),
        Problem(
            "RP53",
            (normal(1.5, 1), normal(2.5, 1)),
            lambda x: np.sin(2.5 * x[:, 0]) + 2 - (x[:, 0] ** 2 + 4) * (x[:, 1] - 1) / 20,
            expectation(lambda t: float(ndtr(1.5 - 20 * (math.sin(2.5 * (1.5 + t)) + 2) / ((1.5 + t) ** 2 + 4)))),
            PLAIN,
        ),
        Problem(
            "RP110",
            (STANDARD,) * 2,
            two_slopes,
            1 - float(ndtr(4.0) * ndtr(5.0)),
            RARE,
            lambda c: c.min(axis=1),
        ),
        plane(10, 5.0, RARE),  # RP107
        plane(2, 2.326, PLAIN),
        plane(2, 5.2, ("importance", "subset")),
        plane(100, 3.719, RARE),
        plane(1000, 2.326, ("subset",), cv=0.2),
        plane(1000, 5.2, ("subset",), cv=0.4),
    ]  # fmt: skip


def covered(problem: Problem, method: str, repetitions: int) -> tuple[int, int, float, float]:
    """How many of how many intervals hold the reference, mean evaluations, mean of p over the reference."""
    module = method_module(method)
    inside, done, runs, ratio = 0, 0, 0, 0.0
    for seed in range(repetitions):
        limit = problem.limit()
        try:
            result = module.estimate(limit, Settings(MOST.get(method, module.DEFAULT_N), cv=problem.cv, seed=seed))
        except OneSidedError:
            continue
        assert result.interval is not None
        inside += result.interval[0] <= problem.reference <= result.interval[1]
        done, runs, ratio = done + 1, runs + limit.runs, ratio + result.probability / problem.reference
    return inside, done, runs / max(done, 1), ratio / max(done, 1)


# Methods that learn or extrapolate, with what they are asked for: too dear for hundreds of repetitions.
LEARNT: tuple[tuple[str, str, Settings], ...] = (
    ("active", "four branches", Settings(200, cv=0.03, options={"population": 300_000})),
    ("active", "RP22", Settings(200, cv=0.05)),
    ("active-subset", "plane, d = 2", Settings(200)),
    ("extrapolation", "RP22", Settings(20_000, cv=0.5)),
    ("extrapolation", "plane, d = 10", Settings(20_000, cv=0.5)),
)


def learnt(repetitions: int) -> None:
    """Runs, errors and intervals of methods that learn or extrapolate; those that have not converged are told apart."""
    for method, name, settings in LEARNT:
        problem, module = cheap_problem(name), method_module(method)
        runs, errors, inside, unmet = [], [], 0, 0
        for seed in range(repetitions):
            limit = problem.limit()
            result = module.estimate(limit, replace(settings, seed=seed))
            assert result.interval is not None
            unmet += not result.converged
            runs.append(limit.runs)
            errors.append(abs(result.probability / problem.reference - 1))
            inside += result.interval[0] <= problem.reference <= result.interval[1]
        print(
            f"{method}, {name} ({problem.reference:.3g}): {np.mean(runs):.0f} runs ({min(runs)} to {max(runs)}), error "
            f"{100 * float(np.median(errors)):.1f} % (median), {100 * float(np.quantile(errors, 0.9)):.1f} % (nine in "
            f"ten), interval holds {inside} of {repetitions}, not converged {unmet}",
            flush=True,
        )


def cheap_problem(name: str) -> Problem:
    """One problem, without the draws that others need for their reference."""
    if name.startswith("plane"):
        d = int(name.rsplit(" ", 1)[1])
        return plane(d, 5.2 if d == 2 else 3.719, ())
    return next(problem for problem in problems(references=False) if problem.name == name)


def main(repetitions: int = 200, learnt_repetitions: int = 20) -> None:
    """Print a line for each problem and method."""
    print("| problem | p | method | interval holds | evaluations | mean of p over exact | s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    total = {}
    for problem in problems():
        for method in problem.methods:
            began = time.perf_counter()
            inside, done, runs, ratio = covered(problem, method, repetitions)
            total.setdefault(method, []).append((inside, done))
            spent = time.perf_counter() - began
            share = f"{inside} of {done} ({100 * inside / max(done, 1):.1f} %)"
            cells = (
                problem.name,
                f"{problem.reference:.3g}",
                method,
                share,
                f"{runs:.0f}",
                f"{ratio:.3f}",
                f"{spent:.0f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)
    for method, rows in total.items():
        inside, done = (sum(column) for column in zip(*rows, strict=True))
        print(f"{method}: {inside} of {done} intervals hold ({100 * inside / done:.1f} %)")
    if learnt_repetitions:
        learnt(learnt_repetitions)


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:]))
