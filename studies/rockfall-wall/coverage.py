"""How often intervals hold the truth of a twin: many twins, without a ledger's worth of events.

python studies/rockfall-wall/coverage.py [REPEATS...]

The last 60 points of the campaign, which the surrogates have not seen, with new noise, each output measured once or
more often. Twice: with the error of a surrogate as a new one of each datum (`per-datum`), and as one error of an output
(`common`).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from twins import CASES, NOISE_CM, OUTPUTS, PARAMETERS, SEED, unseen

from percuss.calibration.surrogate_errors import common_errors
from percuss.inference.compiled import compiled_target
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping

TWINS = 60
MASSES = (0.5, 0.9)


def main(repeats: list[int], place: Path) -> None:
    runs, _, _, surrogates, kept = unseen(TWINS, place)
    by_case = dict(zip(CASES, surrogates, strict=True))
    priors = {name: item.prior for name, item in surrogates[0].study.parameters.items()}
    forwards = {case: surrogate.predict for case, surrogate in by_case.items()}
    errors = dict(zip(CASES, common_errors(list(zip(surrogates, kept, strict=True))), strict=True))
    for case, error in errors.items():
        print(f"{case}: scales {error.scales.tolist()}, shares {np.round(error.shares, 3).tolist()}")
    for count in repeats:
        for label, given in (("per-datum", {}), ("common", errors)):
            ranks, missed, slow = [], [], 0
            for twin in range(TWINS):
                noise = np.random.default_rng((SEED, twin))
                groups = []
                for case, own in zip(CASES, kept, strict=True):
                    true = np.repeat([runs[case][f"{name} [cm]"][twin - TWINS] for name in OUTPUTS], count)
                    data = 0.01 * (true + noise.normal(0.0, NOISE_CM, len(true)))
                    groups.append(Group(case, data, np.repeat(own, count), Gaussian(0.01 * NOISE_CM), case))
                likelihood = Likelihood(tuple(priors), forwards, tuple(groups), given)
                target, _ = compiled_target(likelihood, priors, by_case)
                sample = sample_posterior(target, seed=twin, stopping=Stopping(ess=400))
                slow += not sample.converged
                truth = np.array([factor * runs["e520"][name][twin - TWINS] for name, factor in PARAMETERS.items()])
                draws = sample.flat()
                ranks.append(np.mean(draws < truth, axis=0))
                missed.append((truth - draws.mean(axis=0)) / draws.std(axis=0))
            apart = np.abs(np.array(ranks) - 0.5)
            print(f"{label}, {count} of each output; {slow} twins not converged")
            for mass in MASSES:
                held = np.sum(apart < mass / 2, axis=0)
                names = [name.split(" ")[0] for name in PARAMETERS]
                each = dict(zip(names, held.tolist(), strict=True))
                print(f"  {mass:.0%} intervals hold {held.sum()} of {apart.size}, {held.sum() / apart.size:.1%}", each)
            size = np.sqrt(np.mean(np.square(missed), axis=0))
            print("  root mean square of (truth - mean) / std", np.round(size, 2), flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main([int(word) for word in sys.argv[1:]] or [1], Path(folder))
