"""The verdict on a posterior's fit: does the model explain the data, with parameters that were thought possible?

Two questions, and one rate of false alarms for both together, FALSE_ALARMS: bounds that hold for every model, prior
and number of data, if model, errors and prior are right (`inference/predictive.py` has the argument for p-values).

Was the surrogate fitted where the posterior lies? Draws against the hull of the points it was fitted to.

Everything is measured in quantiles of the prior, so that the whole prior is the unit cube. In more than a few
dimensions much of the cube lies outside the hull of any design that can be afforded: 44 % of it for 300 points of five
parameters, 90 % for eight. That is no fault of a design, so distances from the hull are held against those from the
hulls of designs of as many points that are spread over the whole prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from percuss.calibration.problem import Problem
from percuss.inference.arrays import Floats
from percuss.inference.predictive import MASSES, Fit, check_fit
from percuss.inference.target import Target
from percuss.kinds.posterior_sampled import CoverageFacts, PriorDistance
from percuss.study.priors.prior import Prior
from percuss.trust import Trust, Verdict

# Least posterior predictive p-value, shared out between all data and their groups: false alarms in at most twice that.
LEAST_P = 0.02
# Prior probability, in both tails together and shared out between the parameters, of values as far out as the median
# of the posterior. At least half of the posterior lies out there then, which right models give in at most twice that
# (Markov's inequality: on average a posterior has as much mass out there as the prior has).
LEAST_TAIL = 0.005
FALSE_ALARMS = 2 * LEAST_P + 2 * LEAST_TAIL


@dataclass(frozen=True)
class Check:
    """How all data fit, how each group does, and how far parameters had to go for it."""

    all: Fit
    groups: Mapping[str, Fit]
    distances: tuple[PriorDistance, ...]


def check(problem: Problem, draws: Floats, seed: int) -> Check:
    """Check the fit at draws (n, d) of the posterior."""
    everything, groups = check_fit(problem.likelihood, draws, np.random.default_rng(seed))
    return Check(everything, groups, distances(problem.target, draws))


def distances(target: Target, draws: Floats) -> tuple[PriorDistance, ...]:
    """How far each parameter went from its prior."""
    shifts = []
    for j, (name, prior) in enumerate(zip(target.names, target.priors, strict=True)):
        below = float(prior.cdf(np.median(draws[:, j])))
        away = (float(np.mean(draws[:, j])) - prior.mean()) / prior.std()
        shifts.append(PriorDistance(name=name, deviations=away, tail=2 * min(below, 1 - below)))
    return tuple(shifts)


def verdicts(checked: Check) -> Trust:
    """Whether the model explains the data, and whether with parameters that the prior held possible."""
    tests = {"all data": checked.all} | (dict(checked.groups) if len(checked.groups) > 1 else {})
    least = LEAST_P / len(tests)
    worst = min(tests, key=lambda name: tests[name].p_value)
    p_value = tests[worst].p_value
    where = "" if worst == "all data" or p_value >= least else f" in group {worst}"
    counts = ", ".join(
        f"{checked.all.inside[mass]} of {checked.all.entries} data in their {100 * mass:g} % bands" for mass in MASSES
    )
    which = "least posterior predictive p-value" if len(tests) > 1 else "posterior predictive p-value"
    does = "explains" if p_value >= least else "does not explain"
    sentence = (
        f"the model {does} the data{where}: {which} {tests[worst].p_text()}, and at least {least:.2g} is asked for; "
        f"{counts}"
    )
    fit = Verdict("fit", p_value >= least, sentence, p_value, least)
    bound = LEAST_TAIL / len(checked.distances)
    far = [item for item in checked.distances if item.tail < bound]
    if not far:
        return (fit,)
    sentence = ", ".join(f"{item.name} {item.deviations:+.1f}" for item in far)
    sentence = f"the data pull parameters to where the prior hardly reaches (in its standard deviations): {sentence}"
    names = tuple(item.name for item in far)
    return (fit, Verdict("fit", False, sentence, min(item.tail for item in far), bound, names))


# Draws that are looked at, and designs they are held against.
DRAWS = 200
DESIGNS = 4
# So much farther from the hull than from that of a design over the whole prior, in quantiles of the prior.
FARTHER = 0.1
# The share of draws that may lie there.
MOST = 0.05


def coverage(priors: Sequence[Prior], points: Floats, draws: Floats) -> CoverageFacts:
    """Where draws (n, d) lie, as seen from the points (m, d) of a design."""
    from scipy.stats import qmc

    cube = np.stack([prior.cdf(points[:, j]) for j, prior in enumerate(priors)], axis=1)
    at = np.stack([prior.cdf(draws[:, j]) for j, prior in enumerate(priors)], axis=1)
    own = hull_distances(np.unique(cube, axis=0), at)
    # Latin hypercubes: designs of any number of points.
    others = [
        hull_distances(qmc.LatinHypercube(len(priors), rng=seed).random(len(cube)), at) for seed in range(DESIGNS)
    ]
    beyond = own > np.max(others, axis=0) + FARTHER
    return CoverageFacts(outside=float(np.mean(own > 1e-6)), beyond=float(np.mean(beyond)))


def hull_distances(points: Floats, at: Floats) -> Floats:
    """Distance of each row of `at` from the convex hull of the points: least squares over convex combinations."""
    from scipy.optimize import nnls

    # The last row makes the weights sum to one: heavy, so that it is met to the last digits that matter here.
    heavy = 1e3
    matrix = np.vstack([points.T, np.full(len(points), heavy)])
    return np.array([nnls(matrix, np.append(row, heavy))[1] for row in at])


def coverage_verdict(covered: CoverageFacts, surrogate: str) -> Verdict:
    """Whether a surrogate was fitted where the posterior lies."""
    sentence = (
        f"{100 * covered.beyond:.0f} % of the posterior lies far outside the points that surrogate {surrogate} was "
        f"fitted to, and up to {100 * MOST:.0f} % is tolerated"
    )
    return Verdict("coverage", covered.beyond <= MOST, sentence, covered.beyond, MOST)
