"""How often intervals hold the truth of a twin: many twins, without a ledger's worth of events.

python studies/rockfall-wall/coverage.py [--importance] [--folds | --fresh] [REPEATS...]

The last 60 points of the campaign, which the surrogates have not seen, with new noise, each output measured once or
more often. Twice: with the error of a surrogate as a new one of each datum (`per-datum`), and as one error of an output
(`common`).

`--importance`: weighted draws of kernel mixtures instead of chains, a tenth of their time, and only with the error of a
surrogate as one of an output. On nine twins that were done both ways the ranks of the truth agreed to 0.02.

`--folds`: five times as many twins. Every 60 points of the campaign are left out in turn, and surrogates fitted again.

`--fresh`: the twins are runs that belong to no campaign, and surrogates are fitted to all 300 points.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from twins import CASES, NOISE_CM, OUTPUTS, PARAMETERS, SEED, Runs, fitted, fresh, left_out

from percuss.calibration.surrogate_errors import common_errors
from percuss.inference.arrays import Floats
from percuss.inference.common_error import CommonError
from percuss.inference.compiled import compiled_target
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.inference.target import Target
from percuss.surrogates.shrinkage import shrunk

TWINS = 60
FOLDS = 5
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


class Fold:
    """Twins that the surrogates have not seen, and where the random numbers of the first begin."""

    def __init__(self, seen: Runs, runs: Runs, first: int, place: Path) -> None:
        self.first, self.runs, self.count = first, runs, len(runs["e520"])
        _, _, surrogates, self.kept = fitted(seen, place)
        self.plain = dict(zip(CASES, surrogates, strict=True))
        self.by_case = {case: shrunk(self.plain[case], own) for case, own in zip(CASES, self.kept, strict=True)}
        self.priors = {name: item.prior for name, item in surrogates[0].study.parameters.items()}

    def errors(self, count: int) -> dict[str, CommonError]:
        """The errors of the surrogates beside data of so many measurements of each output."""
        known = (0.01 * NOISE_CM) ** 2 / count
        parts = [(self.by_case[case], dict.fromkeys(own, known)) for case, own in zip(CASES, self.kept, strict=True)]
        found = common_errors(parts)
        for one in found.left_out:
            print(f"growth {one.growth:.2f}; of {one.twins} left-out runs 90 % intervals hold {one.held.tolist()}")
        return dict(zip(CASES, found.errors, strict=True))

    def misses(self) -> tuple[Floats, Floats]:
        """Of every twin: how far it lies from the middle of the prior, as the mean square over parameters of places
        from -1 to 1, and the mean square of the surrogates' errors, in units of what they claim.
        """
        theta = np.array([self.truth(twin) for twin in range(self.count)])
        places = np.array([prior.cdf(theta[:, j]) for j, prior in enumerate(self.priors.values())])
        squares = []
        for (case, surrogate), own in zip(self.by_case.items(), self.kept, strict=True):
            mean, variance = (part[..., own] for part in surrogate.predict(theta))
            true = 0.01 * self.runs[case].select(f"{name} [cm]" for name in OUTPUTS).to_numpy()
            squares.append((true - mean) ** 2 / variance)
        return np.mean((2 * places - 1) ** 2, axis=0), np.mean(np.concatenate(squares, axis=1), axis=1)

    def truth(self, twin: int) -> Floats:
        """Its parameters, in SI."""
        return np.array([factor * self.runs["e520"][name][twin] for name, factor in PARAMETERS.items()])

    def target(self, twin: int, count: int, errors: Mapping[str, CommonError]) -> Target:
        """The posterior of a twin, each output measured `count` times."""
        noise = np.random.default_rng((SEED, self.first + twin))
        groups = []
        for case, own in zip(CASES, self.kept, strict=True):
            true = np.repeat([self.runs[case][f"{name} [cm]"][twin] for name in OUTPUTS], count)
            data = 0.01 * (true + noise.normal(0.0, NOISE_CM, len(true)))
            groups.append(Group(case, data, np.repeat(own, count), Gaussian(0.01 * NOISE_CM), case))
        surrogates = self.by_case if errors else self.plain
        forwards = {case: surrogate.predict for case, surrogate in surrogates.items()}
        likelihood = Likelihood(tuple(self.priors), forwards, tuple(groups), errors)
        return compiled_target(likelihood, self.priors, surrogates)[0]


def main(repeats: list[int], folds: list[Fold], importance: bool) -> None:
    away, squares = np.concatenate([fold.misses() for fold in folds], axis=1)
    thirds = np.digitize(away, np.quantile(away, [1 / 3, 2 / 3]))
    told = [f"{squares[thirds == third].mean():.2f}" for third in range(3)]
    print(f"squares of errors, in units of what is claimed: {' / '.join(told)} from the middle of the prior outwards")
    for count in repeats:
        for label in ("common",) if importance else ("per-datum", "common"):
            ranks, missed, worth = [], [], []
            for fold in folds:
                errors = fold.errors(count) if label == "common" else {}
                for twin in range(fold.count):
                    target = fold.target(twin, count, errors)
                    draws, weights, effective = draw(target, fold.first + twin, importance)
                    worth.append(effective)
                    ranks.append(weights @ (draws < fold.truth(twin)))
                    mean = weights @ draws
                    missed.append((fold.truth(twin) - mean) / np.sqrt(weights @ (draws - mean) ** 2))
            tell(f"{label}, {count} of each output", np.array(ranks), np.array(missed), np.array(worth), len(folds))


def tell(label: str, ranks: Floats, missed: Floats, worth: Floats, folds: int) -> None:
    """Shares held, by parameter and in all, with their error."""
    apart = np.abs(ranks - 0.5)
    print(f"{label}; effective draws {np.min(worth):.0f} at least, {np.median(worth):.0f} in the median")
    for mass in MASSES:
        held = np.sum(apart < mass / 2, axis=0)
        each = dict(zip([name.split(" ")[0] for name in PARAMETERS], held.tolist(), strict=True))
        # Parameters of a twin go together: the error is that of the twins.
        error = np.std(np.mean(apart < mass / 2, axis=1), ddof=1) / np.sqrt(len(apart))
        print(
            f"  {mass:.0%} intervals hold {held.sum()} of {apart.size}, {held.sum() / apart.size:.1%} +- {error:.1%}",
            each,
        )
        if folds > 1:
            print("    by fold", np.mean(apart < mass / 2, axis=1).reshape(folds, -1).mean(axis=1).round(3).tolist())
    size = np.sqrt(np.mean(np.square(missed), axis=0))
    print("  root mean square of (truth - mean) / std", np.round(size, 2), flush=True)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    parts = (
        [fresh()]
        if "--fresh" in sys.argv
        else [left_out(TWINS, i) for i in range(FOLDS if "--folds" in sys.argv else 1)]
    )
    with ExitStack() as stack:
        places = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in parts]
        made = [
            Fold(*part, number * TWINS, place) for number, (part, place) in enumerate(zip(parts, places, strict=True))
        ]
        main([int(word) for word in words] or [1], made, "--importance" in sys.argv)
