"""`python -m tests.bench.fit_alarms`: how often the verdict on fit is right, the table of docs/trust.md.

Two frames that pound (`studies/pounding-twin`), truths drawn from the prior, data from the simulator with noise. Right
models: the share of twins that are called badly fitting, which is at most FALSE_ALARMS if the claim holds. Wrong ones:
data from a simulator with one thing changed, calibrated with the study's own: the share that is seen.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from tests.bench.twins import changed, pounding, simulate

from percuss.calibration.fit import FALSE_ALARMS, Check, distances, verdicts
from percuss.calibration.surrogate_errors import common_errors
from percuss.inference.compiled import compiled_target
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.predictive import check_fit
from percuss.inference.samplers.registry import sample_posterior
from percuss.study.study import Study
from percuss.surrogates.shrinkage import shrunk
from percuss.surrogates.surrogate import Surrogate

STD_M = 0.3e-3
WRONG: dict[str, Mapping[str, str]] = {
    "frame 2 stiffer by 2 %": {'"330.278 N/m"': '"336.88 N/m"'},
    "frame 2 stiffer by 10 %": {'"330.278 N/m"': '"363.306 N/m"'},
    "contact 100 times softer": {'"2000 N/mm"': '"20 N/mm"'},
    "contact 1000 times softer": {'"2000 N/mm"': '"2 N/mm"'},
    "errors three times as large": {},
}


def judged(surrogate: Surrogate, study: Study, observed: NDArray[np.float64], seed: int) -> bool:
    """Whether the posterior of data (outputs, repeats) passes the gate."""
    outputs, repeats = observed.shape
    surrogate = shrunk(surrogate, range(outputs))
    group = Group("all", observed.ravel(), np.repeat(np.arange(outputs), repeats), Gaussian(0.0), "model", STD_M)
    errors = {"model": common_errors([(surrogate, dict.fromkeys(range(outputs), STD_M**2 / repeats))]).errors[0]}
    likelihood = Likelihood(tuple(study.parameters), {"model": surrogate.predict}, (group,), errors)
    priors = {name: item.prior for name, item in study.parameters.items()}
    target = compiled_target(likelihood, priors, {"model": surrogate}).target
    sample = sample_posterior(target, "adaptive-metropolis", seed=seed, settings={"chains": 20})
    found = check_fit(likelihood, sample.flat(), np.random.default_rng(seed))
    return all(verdict.passed for verdict in verdicts(Check(*found, distances(target, sample.flat()))))


def main(twins: int = 60) -> None:
    """Print the table."""
    study, surrogate = pounding(64)
    print(f"right models: at most {FALSE_ALARMS:.0%} are to be called badly fitting")
    print("| data | repeats | called badly fitting |")
    print("| --- | --- | --- |")
    for repeats in (1, 10):
        for name, change in {"right model": {}, **WRONG}.items():
            source = changed(change) if change else study
            noise = STD_M * (3 if name == "errors three times as large" else 1)
            rng = np.random.default_rng([7, repeats])
            failed = 0
            for number in range(twins):
                clean = simulate(source, surrogate.outputs, rng.random(len(study.parameters)))
                observed = clean[:, None] + noise * rng.standard_normal((len(clean), repeats))
                failed += not judged(surrogate, study, observed, number)
            print(f"| {name} | {repeats} | {failed} of {twins} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
