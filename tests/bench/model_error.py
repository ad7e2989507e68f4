"""Do predictions of wrong models hold? Twins of right physics under a wrong model, with its error and without.

    python -m tests.bench.model_error [TWINS]

Models are linear in their parameters, so that the posterior is exact on a grid of std and length of the error: 90 %
bands of new data between the data and beyond them, and parameters against those that fit the noise-free truth best, and
against those of nature where the wrong model has the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.model_error import ModelError

DRAWS = 400
MASS = 0.9
NOISE = 0.02
STDS, LENGTHS = np.geomspace(0.01, 1.0, 13), np.geomspace(0.15, 2.0, 9)
DATA, INSIDE, OUTSIDE = np.linspace(0.05, 1.0, 14), np.linspace(0.1, 0.95, 9), np.linspace(1.15, 1.6, 4)


class Physics(NamedTuple):
    """Truth at places, drawn by a generator, and its parameters where the wrong model has the same; basis of the wrong
    model (places, parameters).
    """

    name: str
    truth: Callable[[np.random.Generator], tuple[Callable[[Floats], Floats], list[float]]]
    basis: Callable[[Floats], Floats]


def cubic(rng: np.random.Generator) -> tuple[Callable[[Floats], Floats], list[float]]:
    k, hard = rng.uniform(0.8, 1.2), rng.uniform(0.2, 0.6)
    return lambda u: k * u + hard * u**3, [k]


def hertz(rng: np.random.Generator) -> tuple[Callable[[Floats], Floats], list[float]]:
    """No stiffness of a line is that of this law."""
    k = rng.uniform(0.8, 1.2)
    return lambda d: k * np.abs(d) ** 1.5, []


def stiffer(rng: np.random.Generator) -> tuple[Callable[[Floats], Floats], list[float]]:
    a, b = rng.uniform(0.7, 1.3), rng.uniform(-0.5, 0.5)
    omega = 7.0 * np.sqrt(1.1)
    return lambda t: a * np.cos(omega * t) + b * np.sin(omega * t), [a, b]


def line(x: Floats) -> Floats:
    return x[:, None]


PHYSICS = (
    Physics("cubic spring", cubic, line),
    Physics("Hertz contact", hertz, line),
    Physics("frame 10 % stiffer", stiffer, lambda t: np.stack([np.cos(7.0 * t), np.sin(7.0 * t)], axis=1)),
)


def errors(kind: str, basis: Floats) -> Iterator[ModelError]:
    orthogonal, anchored = kind == "orthogonal", kind == "anchored"
    for std in STDS:
        for length in LENGTHS:
            yield ModelError(
                std=std, places=DATA, length=length, orthogonal=orthogonal, slopes=basis, anchored=anchored
            )


def calibrate(physics: Physics, observed: Floats, kind: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draws of the parameters (n, d), and of new data inside and outside (n, places)."""
    basis, more = physics.basis(DATA), np.concatenate([INSIDE, OUTSIDE])
    variance, new = np.full(len(DATA), NOISE**2), physics.basis(more)
    grid: list[ModelError | None] = [None] if kind == "without" else list(errors(kind, basis))
    logs, means, covariances = [], [], []
    for error in grid:
        sigma = np.diag(variance) if error is None else error.covariance(variance, {})
        solved = np.linalg.solve(sigma, np.column_stack([basis, observed]))
        # Prior of the parameters: standard deviation 3.
        covariance = np.linalg.inv(basis.T @ solved[:, :-1] + np.eye(basis.shape[1]) / 9)
        pull = basis.T @ solved[:, -1]
        logs.append(
            0.5 * (np.linalg.slogdet(covariance)[1] + pull @ covariance @ pull)
            - 0.5 * (np.linalg.slogdet(sigma)[1] + observed @ solved[:, -1])
        )
        means.append(covariance @ pull)
        covariances.append(covariance)
    weight = np.exp(np.array(logs) - np.max(logs))
    chosen = rng.choice(len(grid), DRAWS, p=weight / weight.sum())
    theta, data = np.empty((DRAWS, basis.shape[1])), np.empty((DRAWS, len(more)))
    for k in np.unique(chosen):
        rows, error = np.flatnonzero(chosen == k), grid[k]
        theta[rows] = rng.multivariate_normal(means[k], covariances[k], len(rows))
        data[rows] = theta[rows] @ new.T + NOISE * rng.standard_normal((len(rows), len(more)))
        if error is not None:
            residual = observed - theta[rows] @ basis.T
            data[rows] += error.draw_given(residual, more, variance, {}, rng)[:, len(DATA) :]
    return theta, data


class Twins(NamedTuple):
    """Of twins: bands inside and outside that hold, parameters against the best fit and against nature."""

    inside: float
    outside: float
    best_off: float
    best_held: float
    true_off: float
    true_held: float


def tried(physics: Physics, kind: str, twins: int) -> Twins:
    """Means over twins; NaN where nature has no such parameter."""
    ends = [(1 - MASS) / 2, (1 + MASS) / 2]
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(twins):
        truth, parameters = physics.truth(rng)
        observed = truth(DATA) + NOISE * rng.standard_normal(len(DATA))
        theta, data = calibrate(physics, observed, kind, rng)
        new = truth(np.concatenate([INSIDE, OUTSIDE])) + NOISE * rng.standard_normal(data.shape[1])
        low, high = np.quantile(data, ends, axis=0)
        within = (low <= new) & (new <= high)
        row = [within[: len(INSIDE)].mean(), within[len(INSIDE) :].mean()]
        best = np.linalg.lstsq(physics.basis(DATA), truth(DATA), rcond=None)[0]
        low, high = np.quantile(theta, ends, axis=0)
        for true in (best, np.array(parameters or [np.nan] * len(best))):
            row += [np.mean(np.abs(theta.mean(axis=0) - true)), np.mean((low <= true) & (true <= high))]
        rows.append(row)
    figures = Twins(*np.mean(rows, axis=0))
    return figures if physics.truth(rng)[1] else figures._replace(true_held=np.nan)


def main() -> None:
    """Print a table."""
    twins = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("| physics | error of the model | inside | outside | off the best fit by | held | off nature by | held |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for physics in PHYSICS:
        for kind in ("without", "free", "orthogonal", "anchored"):
            figures = tried(physics, kind, twins)
            cells = [f"{100 * figures.inside:.0f} %", f"{100 * figures.outside:.0f} %"]
            for off, held in ((figures.best_off, figures.best_held), (figures.true_off, figures.true_held)):
                cells += ["", ""] if np.isnan(off) else [f"{off:.3f}", f"{100 * held:.0f} %"]
            print(f"| {physics.name} | {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
