"""How often intervals contain the truth if the simulator is rough: with roughness as an error of the outputs, and
without (delayed acceptance, which takes every run at its word).

The simulator is cheap and its smooth part known: six outputs, nonlinear in three parameters, and on top a
deterministic ripple of a wavelength of about 1e-4 of the prior, correlated between outputs, as large as the noise.
Truths are drawn from the prior. Data have the ripple of the simulator itself, or another one, as a real structure
would.

    python -m tests.bench.roughness [TWINS]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import ROUGH, clean_settings, sample_posterior
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.inference.samplers.smooth_part import sample as walked
from percuss.inference.smooth_posterior import learn_smooth
from percuss.inference.target import Target
from percuss.study.priors.prior import Prior
from percuss.study.priors.uniform import Uniform

Array = NDArray[Any]

PRIORS: dict[str, Prior] = {name: Uniform({"low": 0.0, "high": 1.0}) for name in ("a", "b", "c")}
OUTPUTS = 6
NOISE = 0.08
MASSES = (0.5, 0.9)
RUNS = 1000


def smooth(x: Array) -> Array:
    """The smooth part (n, outputs)."""
    a, b, c = x.T
    return np.stack(
        [a + 0.5 * b**2, np.sin(2.0 * a) + c, np.exp(0.8 * b) - c, a * c + b, np.cos(1.5 * c) - 0.4 * a, b * c + a**2],
        axis=1,
    )


def ripple(generator: np.random.Generator) -> Callable[[Array], Array]:
    """A deterministic function of standard deviation `NOISE`, of neighbouring outputs correlated by about a half."""
    waves = 6e4 * generator.standard_normal((3, 40))
    phases = 2.0 * np.pi * generator.random(40)
    mix = generator.standard_normal((40, OUTPUTS))
    mix[:, 1:] += 0.7 * mix[:, :-1]
    mix *= NOISE * np.sqrt(2.0) / np.sqrt(np.sum(mix**2, axis=0))
    return lambda x: np.asarray(np.sin(x @ waves + phases) @ mix)


def posterior(data: Array, own: Callable[[Array], Array]) -> Target:
    """What is to be sampled, by a simulator with a ripple of its own."""
    group = Group("g", data, np.arange(OUTPUTS), Gaussian(NOISE))
    forward = {"model": lambda x: (smooth(x) + own(x), np.zeros(OUTPUTS))}
    return Likelihood(tuple(PRIORS), forward, (group,)).posterior(PRIORS)


def with_roughness(target: Target, seed: int) -> Sample:
    """With roughness as an error."""
    settings, stopping = clean_settings(ROUGH, {"error": 0.1}), Stopping(evaluations=RUNS)
    learnt = learn_smooth(target, settings, stopping, seed, lambda _: None)
    return walked(learnt, settings, stopping, seed)


def without(target: Target, seed: int) -> Sample:
    """Every run at its word."""
    stopping = Stopping(evaluations=RUNS)
    return sample_posterior(target, "delayed-acceptance", seed=seed, stopping=stopping, look=False)


def main() -> None:
    """Print the table."""
    twins = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{twins} twins of 3 parameters, 6 data; noise {NOISE}, ripple {NOISE}; at most {RUNS} runs")
    print(
        "ripple of the data   roughness   converged   runs   50 % intervals   90 % intervals   ESS (median, smallest)"
    )
    for name, method in (("counted", with_roughness), ("ignored", without)):
        for which in ("own", "another"):
            inside = np.zeros((twins, 2, 3), bool)
            converged, runs, sizes = 0, [], []
            for twin in range(twins):
                generator = np.random.default_rng([11, twin])
                own, other = ripple(generator), ripple(generator)
                truth = generator.random((1, 3))
                real = own if which == "own" else other
                data = (smooth(truth) + real(truth))[0] + NOISE * generator.standard_normal(OUTPUTS)
                sample = method(posterior(data, own), twin)
                converged += sample.converged
                runs.append(sample.evaluations)
                sizes.append(sample.diagnostics.least_ess)
                for k, mass in enumerate(MASSES):
                    low, high = np.quantile(sample.flat(), [0.5 - mass / 2, 0.5 + mass / 2], axis=0)
                    inside[twin, k] = (low <= truth[0]) & (truth[0] <= high)
            # Parameters of one twin depend on each other: the error is that of means of twins.
            shares = 100 * inside.mean(axis=2).mean(axis=0)
            errors = 100 * inside.mean(axis=2).std(axis=0, ddof=1) / np.sqrt(twins)
            cells = "   ".join(f"{share:5.1f} ± {error:3.1f} %  " for share, error in zip(shares, errors, strict=True))
            print(
                f"{which:20} {name:11} {converged:3} of {twins}  {np.median(runs):5.0f}   {cells} "
                f"{np.median(sizes):.0f}, {np.min(sizes):.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
