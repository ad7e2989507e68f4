"""How often intervals hold the truth of a twin: many twins, without a ledger's worth of events.

python studies/rockfall-wall/coverage.py [--importance] [REPEATS...]

`--importance`: weighted draws of kernel mixtures instead of chains, a tenth of their time, and only with the error of a
surrogate as one of an output. On nine twins that were done both ways the ranks of the truth agreed to 0.02.

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
from percuss.inference.arrays import Floats
from percuss.inference.compiled import compiled_target
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.inference.target import Target

TWINS = 60
MASSES = (0.5, 0.9)
# Rounds of importance sampling and their draws; kernels of a mixture, their width in that of the posterior (centres
# shrink to make up for it: West, 1993) and degrees of freedom; what the weights of a round must be worth, flattened if
# they are not.
ROUNDS = (6000, 6000, 6000, 16000)
KERNELS, WIDTH, DEGREES, WORTH = 60, 0.5, 6, 60


def draw(target: Target, seed: int, importance: bool) -> tuple[Floats, Floats, float]:
    """Parameters (n, d), their weights, and what these are worth; by chains 0 if they have not converged."""
    if importance:
        return weighted(target, seed)
    sample = sample_posterior(target, seed=seed, stopping=Stopping(ess=400))
    flat = sample.flat()
    return flat, np.full(len(flat), 1 / len(flat)), float(np.min(sample.diagnostics.ess_bulk)) * sample.converged


def weighted(target: Target, seed: int) -> tuple[Floats, Floats, float]:
    """Population Monte Carlo: each round draws from kernels about draws of the last, weighted (Cappe et al., 2004)."""
    generator = np.random.default_rng((SEED, seed, 1))
    z = target.draw_prior(2**14, generator)
    log_weights = flattened(target.log_parts(z)[0])
    d = z.shape[1]
    for n in ROUNDS:
        weights = np.exp(log_weights - np.max(log_weights))
        weights /= weights.sum()
        mean = weights @ z
        covariance = (z - mean).T @ ((z - mean) * weights[:, None]) + 1e-9 * np.eye(d)
        centres = mean + np.sqrt(1 - WIDTH**2) * (z[generator.choice(len(z), KERNELS, p=weights)] - mean)
        factor = WIDTH * np.linalg.cholesky(covariance)
        tails = np.sqrt(generator.chisquare(DEGREES, n) / DEGREES)
        own = generator.integers(KERNELS, size=n)
        z = centres[own] + (generator.standard_normal((n, d)) / tails[:, None]) @ factor.T
        away = np.stack([np.sum(np.linalg.solve(factor, (z - c).T) ** 2, axis=0) for c in centres], axis=1)
        proposal = np.logaddexp.reduce(-0.5 * (DEGREES + d) * np.log1p(away / DEGREES), axis=1)
        exact = np.nan_to_num(target.log_density(z) - proposal, nan=-np.inf)
        log_weights = flattened(exact)
    weights = np.exp(exact - np.max(exact))
    weights /= weights.sum()
    return target.transform.values(z), weights, 1 / float(np.sum(weights**2))


def flattened(log_weights: Floats) -> Floats:
    """Raised to the largest power up to one at which they are worth enough."""
    power = 1.0
    while True:
        weights = np.exp(power * (log_weights - np.max(log_weights)))
        if weights.sum() ** 2 / np.sum(weights**2) >= WORTH:
            return power * log_weights
        power *= 0.7


def main(repeats: list[int], place: Path, importance: bool) -> None:
    runs, _, _, surrogates, kept = unseen(TWINS, place)
    by_case = dict(zip(CASES, surrogates, strict=True))
    priors = {name: item.prior for name, item in surrogates[0].study.parameters.items()}
    forwards = {case: surrogate.predict for case, surrogate in by_case.items()}
    errors = dict(zip(CASES, common_errors(list(zip(surrogates, kept, strict=True))), strict=True))
    for case, error in errors.items():
        print(f"{case}: scales {error.scales.tolist()}, shares {np.round(error.shares, 3).tolist()}")
    for count in repeats:
        for label, given in (("common", errors),) if importance else (("per-datum", {}), ("common", errors)):
            ranks, missed, worth = [], [], []
            for twin in range(TWINS):
                noise = np.random.default_rng((SEED, twin))
                groups = []
                for case, own in zip(CASES, kept, strict=True):
                    true = np.repeat([runs[case][f"{name} [cm]"][twin - TWINS] for name in OUTPUTS], count)
                    data = 0.01 * (true + noise.normal(0.0, NOISE_CM, len(true)))
                    groups.append(Group(case, data, np.repeat(own, count), Gaussian(0.01 * NOISE_CM), case))
                likelihood = Likelihood(tuple(priors), forwards, tuple(groups), given)
                target, _ = compiled_target(likelihood, priors, by_case)
                draws, weights, effective = draw(target, twin, importance)
                worth.append(effective)
                truth = np.array([factor * runs["e520"][name][twin - TWINS] for name, factor in PARAMETERS.items()])
                ranks.append(weights @ (draws < truth))
                mean = weights @ draws
                missed.append((truth - mean) / np.sqrt(weights @ (draws - mean) ** 2))
            apart = np.abs(np.array(ranks) - 0.5)
            least, middle = np.min(worth), np.median(worth)
            print(f"{label}, {count} of each output; effective draws {least:.0f} at least, {middle:.0f} in the median")
            for mass in MASSES:
                held = np.sum(apart < mass / 2, axis=0)
                names = [name.split(" ")[0] for name in PARAMETERS]
                each = dict(zip(names, held.tolist(), strict=True))
                # Parameters of a twin go together: the error is that of the twins.
                error = np.std(np.mean(apart < mass / 2, axis=1), ddof=1) / np.sqrt(TWINS)
                share = held.sum() / apart.size
                print(f"  {mass:.0%} intervals hold {held.sum()} of {apart.size}, {share:.1%} +- {error:.1%}", each)
            size = np.sqrt(np.mean(np.square(missed), axis=0))
            print("  root mean square of (truth - mean) / std", np.round(size, 2), flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        words = [word for word in sys.argv[1:] if word != "--importance"]
        main([int(word) for word in words] or [1], Path(folder), "--importance" in sys.argv)
