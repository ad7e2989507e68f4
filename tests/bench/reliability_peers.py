"""Evaluations of `percuss reliability` beside OpenTURNS and UQpy, in one run, on problems with known answers.

    pip install openturns UQpy
    python -m tests.bench.reliability_peers [repetitions]

A peer may state less error than it has, and so stop sooner. Three figures stand side by side: evaluations that were
spent when 0.1 was asked for (subset simulation of the peers is not asked, but given samples a level), what 0.1 takes as
each program states it, and as the errors of its own estimates over all repetitions show it. Of UQpy only subset
simulation has an error to be told: with modified Metropolis-Hastings, as its first paper has it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import ndtr
from tests.bench.reliability import FOUR, branches

from percuss.reliability.estimate import Settings
from percuss.reliability.limit import Limit
from percuss.reliability.methods import method_module

ASKED = 0.1
# Samples a level, or in all, of the peer's passes: about what 0.1 needs, so that little is scaled.
PEER_SIZE = {"subset": 10_000, "importance": 1000, "directional": 2000}
# Samples a level of UQpy, whose loops over pairs of chains take long for more.
UQPY_SIZE = 2000
# Probability, stated coefficient of variation, evaluations.
Once = tuple[float, float, int]


def plane(d: int, beta: float) -> Callable[[Any], Any]:
    return lambda x: beta - x.sum(axis=1) / math.sqrt(d)


PROBLEMS = {
    "plane, 100 variables, 1e-4": (100, plane(100, 3.719), float(ndtr(-3.719)), ("subset", "importance")),
    "plane, 2 variables, 1e-7": (2, plane(2, 5.2), float(ndtr(-5.2)), ("subset", "importance", "directional")),
    "four branches": (2, lambda x: branches(x).min(axis=1), FOUR, ("subset", "directional")),
}


def ours(d: int, function: Callable[[Any], Any], method: str, seed: int) -> Once:
    limit = Limit.of(d, function)
    found = method_module(method).estimate(limit, Settings(500_000, cv=ASKED, seed=seed))
    assert found.cv is not None
    return found.probability, found.cv, limit.runs


def openturns(ot: Any, d: int, function: Callable[[Any], Any], method: str, seed: int) -> Once:
    runs = 0

    def counted(x: Any) -> Any:
        nonlocal runs
        points = np.asarray(x)
        runs += len(points)
        return function(points)[:, None]

    ot.Log.Show(ot.Log.NONE)
    ot.RandomGenerator.SetSeed(seed + 1)
    vector = ot.CompositeRandomVector(ot.PythonFunction(d, 1, func_sample=counted), ot.RandomVector(ot.Normal(d)))
    event = ot.ThresholdEvent(vector, ot.LessOrEqual(), 0.0)
    size = PEER_SIZE[method]
    if method == "subset":
        algorithm = ot.SubsetSampling(event)
        algorithm.setBlockSize(1000)
        algorithm.setMaximumOuterSampling(size // 1000)
    elif method == "directional":
        algorithm = ot.DirectionalSampling(event)
        algorithm.setMaximumOuterSampling(size)
        algorithm.setMaximumCoefficientOfVariation(ASKED)
    else:
        form = ot.FORM(ot.Cobyla(), event, [0.1] * d) if d <= 10 else ot.FORM(ot.AbdoRackwitz(), event, [0.1] * d)
        form.run()
        algorithm = ot.PostAnalyticalImportanceSampling(form.getResult())
        algorithm.setMaximumOuterSampling(size)
        algorithm.setMaximumCoefficientOfVariation(ASKED)
    algorithm.run()
    result = algorithm.getResult()
    return result.getProbabilityEstimate(), result.getCoefficientOfVariation(), runs


def uqpy(d: int, function: Callable[[Any], Any], seed: int) -> Once:
    from UQpy.distributions import Normal
    from UQpy.reliability import SubsetSimulation
    from UQpy.run_model import RunModel
    from UQpy.sampling import ModifiedMetropolisHastings

    class Vectorised(RunModel):  # type: ignore[misc]
        """All samples in one call: theirs is one by one."""

        def run(self, samples: Any = None, append_samples: bool = True) -> None:
            self.qoi_list.extend(function(np.atleast_2d(samples)).tolist())

    model = Vectorised(model=None)
    chains = ModifiedMetropolisHastings(
        dimension=d, log_pdf_target=[Normal().log_pdf] * d, n_chains=UQPY_SIZE // 10, random_state=seed
    )
    first = np.random.default_rng(seed).standard_normal((UQPY_SIZE, d))
    found = SubsetSimulation(model, chains, first, nsamples_per_subset=UQPY_SIZE)
    return float(found.failure_probability), float(found.dependent_chains_CoV), len(model.qoi_list)


def told(rows: list[Once], exact: float) -> tuple[float, float, float, float]:
    """Mean evaluations, as they are and scaled to a stated and to a real coefficient of variation of 0.1; mean over the
    exact one.
    """
    p, cv, runs = (np.array(column, float) for column in zip(*rows, strict=True))
    # About the exact value, not about the mean: an estimate that is always too small is no good one.
    error = float(np.sqrt(np.mean((p / exact - 1) ** 2)))
    real = float(runs.mean()) * (error / ASKED) ** 2
    return float(runs.mean()), float((runs * (cv / ASKED) ** 2).mean()), real, float(p.mean()) / exact


def main(repetitions: int = 20) -> None:
    """Print a line for each problem, method and program."""
    peers = [name for name in ("openturns", "UQpy") if find_spec(name)]
    if not peers:
        print("Neither OpenTURNS nor UQpy is installed: nothing to compare with (pip install openturns UQpy)")
        return
    known = 100 * math.sqrt(2 / (repetitions - 1))
    print(f"{repetitions} repetitions: evaluations for a real cv are known to {known:.0f} % themselves")
    print("| problem | method | program | spent | for a stated cv of 0.1 | for a real one | mean p over exact |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (d, function, exact, methods) in PROBLEMS.items():
        for method in methods:
            rows = {"percuss": [ours(d, function, method, seed) for seed in range(repetitions)]}
            if "openturns" in peers:
                ot = import_module("openturns")
                rows[f"OpenTURNS {ot.__version__}"] = [
                    openturns(ot, d, function, method, seed) for seed in range(repetitions)
                ]
            if "UQpy" in peers and method == "subset":
                rows[f"UQpy {version('UQpy')}"] = [uqpy(d, function, seed) for seed in range(repetitions)]
            for program, found in rows.items():
                spent, stated, real, mean = told(found, exact)
                cells = (name, method, program, f"{spent:.0f}", f"{stated:.0f}", f"{real:.0f}", f"{mean:.3f}")
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:]))
