"""Climbs to a mode in few runs of a simulator: by outputs that are affine in the parameters, corrected run by run.

A step takes the outputs G of the forward models for affine in the unbounded parameters z, G(z) + J dz, and climbs the
very posterior that this gives, with its priors and its discrepancies: that costs no run. It goes there as far as a
trust radius allows and runs the simulator once. J starts as differences and is corrected by each run (Broyden, 1965);
the radius grows and shrinks by whether the step kept its promise (Conn, Gould, Toint, 2000). For Gaussian errors of
known size this is the Gauss-Newton method. Unknowns of the discrepancy cost no runs: they are climbed for given
outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.climbing import climb, curvature
from percuss.inference.likelihood import Forward, Likelihood
from percuss.inference.target import Target, Transform

# First differences, in the unbounded space, whose unit is about a standard deviation of the prior.
DIFFERENCE = 0.02
RADIUS = 1.0
LEAST_RADIUS = 0.02
MOST_STEPS = 25
# A step that promises less of the log density than this is not worth its run.
PROMISE = 0.3


class Evaluates(Protocol):
    """Log density at unbounded points (n, d); parameters of the model that are new are a run."""

    def evaluate(self, z: Floats) -> Floats: ...


@dataclass(eq=False)
class Climber:
    """Where a climb is: point, log density, outputs by forward model and their derivatives (outputs, parameters)."""

    z: Floats
    f: float
    outputs: dict[str, Floats]
    slopes: dict[str, Floats]
    radius: float = RADIUS
    going: bool = True


def affine_climb(target: Target, known: Evaluates, starts: Floats, f: Floats) -> list[Climber]:
    """Climb from starts (n, d) of log density (n,), all side by side; the highest first."""
    likelihood = target.log_likelihood
    assert isinstance(likelihood, Likelihood)
    p = len(likelihood.parameters)
    shifted = np.repeat(starts[:, None], p, axis=1)
    shifted[:, np.arange(p), np.arange(p)] += DIFFERENCE
    known.evaluate(shifted.reshape(-1, starts.shape[1]))
    climbers = []
    for z, value, around in zip(starts, f, shifted, strict=True):
        here, there = _outputs(target, likelihood, z[None]), _outputs(target, likelihood, around)
        slopes = {name: ((there[name] - here[name]) / DIFFERENCE).T for name in here}
        good = all(np.isfinite(item).all() for item in slopes.values())
        climbers.append(Climber(z, float(value), {n: g[0] for n, g in here.items()}, slopes, going=good))
    for _ in range(MOST_STEPS):
        going = [climber for climber in climbers if climber.going]
        steps = [_planned(target, likelihood, climber, p) for climber in going]
        live = [(climber, step) for climber, step in zip(going, steps, strict=True) if climber.going]
        if not live:
            break
        values = known.evaluate(np.array([step[0] for _, step in live]))
        for (climber, (z, promise)), value in zip(live, values, strict=True):
            _taken(target, likelihood, climber, z, float(value), promise, p)
        # Unknowns of the discrepancy have moved: no runs, but points to learn from.
        known.evaluate(np.array([climber.z for climber, _ in live]))
    return sorted(climbers, key=lambda climber: -climber.f)


def spread_at(target: Target, climber: Climber) -> Floats:
    """Cholesky factor of the inverse Hessian that affine outputs give where a climb is."""
    likelihood = target.log_likelihood
    assert isinstance(likelihood, Likelihood)
    near = _affine(target, likelihood, climber, len(likelihood.parameters))
    end = climb(near.log_density, climber.z[None], near.log_density(climber.z[None]))
    return curvature(near.log_density, end.ends[0], end.spread[0])[0]


def _outputs(target: Target, likelihood: Likelihood, z: Floats) -> dict[str, Floats]:
    return likelihood.means(target.transform.values(z))


def _affine(target: Target, likelihood: Likelihood, climber: Climber, p: int) -> Target:
    """The posterior with outputs that are affine about where a climb is."""
    transform = Transform.of(target.priors[:p])

    def forward(name: str) -> Forward:
        def affine(theta: Floats) -> tuple[Floats, Floats]:
            away = transform.unbounded(theta) - climber.z[:p]
            mean = climber.outputs[name] + np.einsum("ni,ji->nj", away, climber.slopes[name])
            return mean, np.zeros(mean.shape[1])

        return affine

    near = replace(likelihood, forwards={name: forward(name) for name in climber.outputs})
    return replace(target, log_likelihood=near)


def _planned(target: Target, likelihood: Likelihood, climber: Climber, p: int) -> tuple[Floats, float]:
    """Where affine outputs lead within the radius, and by how much higher that should be."""
    near = _affine(target, likelihood, climber, p)
    end = climb(near.log_density, climber.z[None], np.array([climber.f])).ends[0]
    step = end - climber.z
    farthest = float(np.max(np.abs(step[:p])))
    if farthest > climber.radius:
        step = step * (climber.radius / farthest)
    z = climber.z + step
    promise = float(near.log_density(z[None])[0]) - climber.f
    climber.going = bool(promise > PROMISE)
    return z, promise


def _taken(
    target: Target, likelihood: Likelihood, climber: Climber, z: Floats, f: float, promise: float, p: int
) -> None:
    """Correct the derivatives by what a run gave, set the radius by what came of the promise, go if it is higher."""
    outputs = {name: item[0] for name, item in _outputs(target, likelihood, z[None]).items()}
    away = (z - climber.z)[:p]
    square = float(np.sum(away * away))
    if all(np.isfinite(item).all() for item in outputs.values()):
        for name, item in outputs.items():
            missed = item - climber.outputs[name] - climber.slopes[name] @ away
            climber.slopes[name] = climber.slopes[name] + np.outer(missed, away) / square
        z, f = _unknowns(target, z, f, p)
    kept = (f - climber.f) / promise if np.isfinite(f) else -np.inf
    reached = np.sqrt(square) if kept > 0 else min(np.sqrt(square), climber.radius)
    climber.radius = max(climber.radius, 2 * reached) if kept > 0.75 else climber.radius
    climber.radius = 0.4 * min(climber.radius, float(np.max(np.abs(away)))) if kept < 0.25 else climber.radius
    climber.going = climber.radius > LEAST_RADIUS
    if f > climber.f:
        climber.z, climber.f, climber.outputs = z, f, outputs


def _unknowns(target: Target, z: Floats, f: float, p: int) -> tuple[Floats, float]:
    """Climb the unknowns of the discrepancy for given outputs: the simulator is not run again."""
    if p == len(z) or not np.isfinite(f):
        return z, f

    def density(rest: Floats) -> Floats:
        if not len(rest):
            return np.empty(0)
        return target.log_density(np.concatenate([np.tile(z[:p], (len(rest), 1)), rest], axis=1))

    end = climb(density, z[None, p:], np.array([f]))
    return np.concatenate([z[:p], end.ends[0]]), float(end.log_density[0])
