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
import polars as pl

from percuss.calibration.problem import Problem
from percuss.designs.latin_hypercube import latin_hypercube
from percuss.inference.arrays import Floats
from percuss.inference.predictive import MASSES, Fit, Neighbours, Places, check_fit, check_neighbours
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
# Samples of a record at least: with fewer, neighbours say little.
SHORTEST = 8


@dataclass(frozen=True)
class Check:
    """How all data fit, how each group does, and how far parameters had to go for it."""

    all: Fit
    groups: Mapping[str, Fit]
    distances: tuple[PriorDistance, ...]
    # Of groups with records.
    neighbours: Mapping[str, Neighbours]


def check(problem: Problem, draws: Floats, seed: int) -> Check:
    """Check the fit at draws (n, d) of the posterior."""
    everything, groups = check_fit(problem.likelihood, draws, np.random.default_rng(seed))
    # A key of its own: numbers of the other checks do not depend on whether there are records.
    generator = np.random.default_rng((seed, 1))
    quantities = {name: problem.study.observable(name).quantity for name in problem.data["output"].unique()}
    lasting = {
        name: check_neighbours(problem.likelihood, draws, generator, name, own)
        for name, own in records(problem.data, quantities).items()
    }
    return Check(everything, groups, distances(problem.target, draws), lasting)


def records(data: pl.DataFrame, quantities: Mapping[str, str]) -> dict[str, list[Places]]:
    """Where each record stands among the entries of its group, in the order of its instants: data of one quantity, of
    one case, point, axis and specimen. Not where an instant is there twice, as in repeated measurements.
    """
    keys = ["group", "case", "point", "axis", *(["specimen"] if "specimen" in data.columns else []), "quantity"]
    rows = data.with_columns(
        quantity=pl.col("output").replace_strict(quantities, return_dtype=pl.String),
        place=pl.int_range(pl.len()).over("group"),
    )
    by_group: dict[str, list[Places]] = {}
    for record in rows.drop_nulls("instant").partition_by(keys, maintain_order=True):
        if record.height >= SHORTEST and record["instant"].is_unique().all():
            places = record.sort("instant")["place"].to_numpy().astype(np.int64)
            by_group.setdefault(record["group"][0], []).append(places)
    return by_group


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
    least = LEAST_P / (len(tests) + len(checked.neighbours))
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
    together = tuple(_together(name, item, least) for name, item in checked.neighbours.items() if item.p_value < least)
    bound = LEAST_TAIL / len(checked.distances)
    far = [item for item in checked.distances if item.tail < bound]
    if not far:
        return (fit, *together)
    sentence = ", ".join(f"{item.name} {item.deviations:+.1f}" for item in far)
    sentence = f"the data pull parameters to where the prior hardly reaches (in its standard deviations): {sentence}"
    names = tuple(item.name for item in far)
    return (fit, *together, Verdict("fit", False, sentence, min(item.tail for item in far), bound, names))


def _together(name: str, residuals: Neighbours, least: float) -> Verdict:
    p_value, correlation = residuals.p_text(), residuals.correlation
    sentence = (
        f"errors last from one sample of a record to the next in group {name} (correlation {correlation:.2f}), longer "
        f"than its discrepancy says: posterior predictive p-value {p_value}, and at least {least:.2g} is asked for; "
        'intervals are too narrow: see kind = "correlated", or the model misses a part of the record'
    )
    return Verdict("fit", False, sentence, residuals.p_value, least)


# Draws that are looked at, and designs they are held against.
DRAWS = 200
DESIGNS = 4
# So much farther from the hull than from that of a design over the whole prior, in quantiles of the prior.
FARTHER = 0.1
# The share of draws that may lie there.
MOST = 0.05


def coverage(priors: Sequence[Prior], points: Floats, draws: Floats) -> CoverageFacts:
    """Where draws (n, d) lie, as seen from the points (m, d) of a design."""
    cube = np.stack([prior.cdf(points[:, j]) for j, prior in enumerate(priors)], axis=1)
    at = np.stack([prior.cdf(draws[:, j]) for j, prior in enumerate(priors)], axis=1)
    own = hull_distances(np.unique(cube, axis=0), at)
    # Latin hypercubes: designs of any number of points.
    others = [
        hull_distances(latin_hypercube(len(priors), len(cube), np.random.default_rng(seed)), at)
        for seed in range(DESIGNS)
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
