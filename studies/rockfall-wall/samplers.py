"""Effective draws a second of processor time on the wall's posterior: 24 outputs of twins the surrogates have not seen.

python studies/rockfall-wall/samplers.py

One thread. Bulk ESS, the least of the five parameters; search for modes, burn-in and diagnostics are counted.
"""

from __future__ import annotations

import os

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tempfile
import time
from pathlib import Path

import numpy as np
from twins import CASES, NOISE_CM, OUTPUTS, SEED, fitted, left_out

from percuss.calibration.surrogate_errors import common_errors
from percuss.inference.compiled import compiled_target
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.surrogates.shrinkage import shrunk

COUNT, TWINS = 60, (0, 30)
SAMPLERS = ("adaptive-metropolis", "hamiltonian-monte-carlo", "independence-metropolis")


def main(place: Path) -> None:
    seen, runs = left_out(COUNT)
    _, _, surrogates, kept = fitted(seen, place)
    steady = [shrunk(surrogate, own) for surrogate, own in zip(surrogates, kept, strict=True)]
    parts = list(zip(CASES, steady, kept, strict=True))
    priors = {name: item.prior for name, item in surrogates[0].study.parameters.items()}
    forwards = {case: surrogate.predict for case, surrogate, _ in parts}
    known = (0.01 * NOISE_CM) ** 2
    every = common_errors([(surrogate, dict.fromkeys(own, known)) for _, surrogate, own in parts]).errors
    errors = {case: error for (case, _, _), error in zip(parts, every, strict=True)}
    for twin in TWINS:
        noise = np.random.default_rng((SEED, twin))
        groups = []
        for case, _, own in parts:
            true = np.array([runs[case][f"{name} [cm]"][twin - COUNT] for name in OUTPUTS])
            observed = 0.01 * (true + noise.normal(0.0, NOISE_CM, len(OUTPUTS)))
            groups.append(Group(case, observed, np.array(own), Gaussian(0.01 * NOISE_CM), case))
        likelihood = Likelihood(tuple(priors), forwards, tuple(groups), errors)
        target = compiled_target(likelihood, priors, dict(zip(CASES, surrogates, strict=True))).target
        for wanted in (400.0, 10_000.0):
            for sampler in SAMPLERS:
                start = time.process_time()
                sample = sample_posterior(target, sampler, seed=1, stopping=Stopping(ess=wanted))
                seconds = time.process_time() - start
                effective = float(np.min(sample.diagnostics.ess_bulk[: len(priors)]))
                print(
                    f"twin {twin}, ess {wanted:g}, {sampler}: {effective / seconds:.0f} a second, {seconds:.2f} s, "
                    f"{'converged' if sample.converged else '; '.join(sample.reasons)}",
                    flush=True,
                )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
