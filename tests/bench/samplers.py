"""Samplers on the size of a calibration of a wall (Gupta et al., 2023): five parameters with uniform priors, 24
displacements with a standard deviation of 2 cm and the surrogate's own error, polynomial chaos as forward model.

The default sampler is held against one second of processor time for 10 000 effective draws (bulk, the least of all
parameters; R-hat below 1.01), and against 15 times the effective draws a second of emcee's stretch moves; proposals
from a fitted mixture against three times those of the default.
"""

from __future__ import annotations

import os

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from typing import Any, cast

import numpy as np
from tests.bench.measure import Line
from tests.bench.surrogates import reference

from percuss._core import chaos_fit
from percuss.inference.compiled import compiled_target
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.inference.target import Target
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.surrogate import LoadedPart, Surrogate

NAMES = ("d_z", "v_p", "mu_cc", "mu_cs", "e")
WANTED = 10_000.0
SEEDS = range(5)


def wall(x: np.ndarray) -> np.ndarray:
    """24 displacements in metres that grow, saturate and bend with the parameters; some places far from the truth come
    near the data too, so that a few chains are caught there at first.
    """
    generator = np.random.default_rng(3)
    growth, bend = generator.normal(size=(5, 24)), generator.normal(size=(5, 24))
    return np.asarray(0.5 * np.exp(0.4 * x @ growth) + 0.2 * np.sin(x @ bend))


def posterior() -> Target:
    """A surrogate from 300 points, data at a known place with noise of 2 cm."""
    points, _ = reference("gfunction", 5)
    priors = dict.fromkeys(NAMES, Uniform({"low": -1.0, "high": 1.0}))
    canonical = Canonical.of(list(priors.values()))
    values = wall(points)
    core, facts = chaos_fit(canonical.families, points, values, threads=1)
    variance = facts["corrected_loo"] * values.var(axis=0)
    nothing = cast(Any, None)
    part = LoadedPart("chaos", tuple(range(24)), Expansions(core))
    surrogate = Surrogate(nothing, nothing, NAMES, (), canonical, (part,), {})
    truth = np.array([[0.3, -0.2, 0.1, 0.4, -0.3]])
    observed = wall(truth)[0] + 0.02 * np.random.default_rng(0).standard_normal(24)
    groups = (Group("all", observed, np.arange(24), Gaussian(0.02)),)
    likelihood = Likelihood(NAMES, {"model": lambda x: (surrogate.mean(x), variance)}, groups)
    target, why_not = compiled_target(likelihood, priors, {"model": surrogate})
    assert why_not is None, why_not
    return target


def timed(target: Target, sampler: str, seed: int, ess: float) -> tuple[float, Sample]:
    """Seconds of processor time, all threads, diagnostics and burn-in included."""
    start = time.process_time()
    sample = sample_posterior(target, sampler, seed=seed, stopping=Stopping(ess=ess))
    return time.process_time() - start, sample


def bulk(sample: Sample) -> float:
    """Least bulk ESS of the parameters."""
    return float(np.min(sample.diagnostics.ess_bulk[: len(NAMES)]))


def bench() -> list[Line]:
    """All lines; the slowest of five seeds counts for the first, sums over them for the others."""
    target = posterior()
    ours = [timed(target, "adaptive-metropolis", seed, WANTED) for seed in SEEDS]
    for _, sample in ours:
        assert sample.converged and bulk(sample) >= WANTED, sample.reasons
    theirs = timed(target, "emcee-stretch", 0, 1000.0)
    fitted = [timed(target, "independence-metropolis", seed, WANTED) for seed in SEEDS]
    for _, sample in fitted:
        assert sample.converged and bulk(sample) >= WANTED, sample.reasons
    slowest = max(seconds for seconds, _ in ours)
    rate, quick = (sum(bulk(s) for _, s in runs) / sum(seconds for seconds, _ in runs) for runs in (ours, fitted))
    peer = bulk(theirs[1]) / theirs[0]
    return [
        Line("10 000 effective draws, against 1 s", f"{slowest:.2f} s, R-hat < 1.01", slowest, 1.0),
        Line("effective draws a second, emcee against ours", f"{peer:.0f} / {rate:.0f}", peer / rate, 1 / 15),
        Line("effective draws a second, default against mixture", f"{rate:.0f} / {quick:.0f}", rate / quick, 1 / 3),
    ]
