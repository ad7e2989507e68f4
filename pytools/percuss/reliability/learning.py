"""Active learning of a limit function: a Gaussian process of it, run where its sign is least certain.

    U(u) = |mean(u)| / std(u)      (Echard, Gayton and Lemaire, 2011), the next run where U is least

The process is the suite's own (`percuss.surrogates.kernel_process`), over u itself. With Phi(-U) the chance that a
candidate is on the wrong side, the expected weight on the wrong side is sum w Phi(-U) and its variance at most what it
is for signs that are wrong together. Learning stops (`STEADY` times in a row) when what is expected wrong, plus twice
its standard deviation for independent signs, is below a share `tolerance` of the probability (after Wang and
Shafieezadeh, 2019): the criterion min U >= 2 asks for runs that no longer change the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from percuss.designs.latin_hypercube import latin_hypercube
from percuss.errors import AnswerIsNo
from percuss.reliability.estimate import Array
from percuss.reliability.limit import Limit
from percuss.settings import Setting
from percuss.surrogates.kernel_process import Process, fit_process

STEADY = 3
TOLERANCE = Setting(
    "tolerance", "bare", 0.02, low=0, low_open=True, doc="of the probability, what may be on the wrong side"
)
# Hyperparameters are searched again from all starts at these numbers of points, from the last ones between.
FRESH = 10
BLOCK = 20_000


@dataclass(eq=False)
class Learner:
    """The runs so far, and the process through them."""

    limit: Limit
    u: Array
    values: Array
    process: Process | None = None

    @classmethod
    def begun(cls, limit: Limit, first: Array) -> Learner:
        """From a first design."""
        return cls(limit, first, learnt_values(limit, first)).fitted()

    def fitted(self) -> Learner:
        """Fit the process to all runs."""
        start = None if self.process is None or len(self.u) % FRESH == 0 else self.process.hyper
        try:
            self.process = fit_process(self.u, self.values, start=start).process
        except np.linalg.LinAlgError:
            raise AnswerIsNo("no Gaussian process fits the limit function", hint="--method subset") from None
        return self

    def add(self, u: Array) -> None:
        """Run one more point."""
        self.u = np.concatenate([self.u, u[None]])
        self.values = np.concatenate([self.values, learnt_values(self.limit, u[None])])
        self.fitted()

    def least_sure(self, candidates: Array, u_function: Array) -> Array:
        """The candidate whose sign is least certain, of those that were not run.

        A process with a nugget is not certain where it was run, and would ask for the same run again and again.
        """
        order = np.argsort(u_function, kind="stable")
        fresh = (row for row in order if not (self.u == candidates[row]).all(axis=1).any())
        return np.asarray(candidates[next(fresh, order[0])])

    def mean(self, u: Array) -> Array:
        """Of the process."""
        assert self.process is not None
        blocks = [u[i : i + BLOCK] for i in range(0, len(u), BLOCK)]
        return np.concatenate([self.process.mean(b, np.ones((len(b), 1))) for b in blocks])

    def std(self, u: Array) -> Array:
        """Of the process, without its nugget: what a run would tell."""
        assert self.process is not None
        process = self.process
        blocks = [u[i : i + BLOCK] for i in range(0, len(u), BLOCK)]
        variance = np.concatenate([process.prediction_variance(b, np.ones((len(b), 1))) for b in blocks])
        return np.sqrt(np.maximum(variance - process.variance * process.hyper.nugget, 1e-300))


def learnt_values(limit: Limit, u: Array) -> Array:
    """The limit function itself: a system is learnt as one function."""
    return np.asarray(limit.combine(limit.finite(u)), float)


@dataclass(frozen=True, eq=False)
class Doubt:
    """What the process says of candidates: U, what is failing by its mean, and the probability in doubt."""

    u_function: Array
    probability: float
    expected_wrong: float
    wrong_at_most: float

    @property
    def share(self) -> float:
        """What may be wrong, of the probability."""
        return self.wrong_at_most / self.probability if self.probability > 0 else np.inf


def doubt(learner: Learner, candidates: Array, weights: Array) -> Doubt:
    """Judge candidates that carry weights."""
    mean = learner.mean(candidates)
    u_function = np.abs(mean) / learner.std(candidates)
    wrong = ndtr(-u_function)
    expected = float(weights @ wrong)
    spread = float(np.sqrt((weights**2) @ (wrong * (1 - wrong))))
    return Doubt(u_function, float(weights[mean <= 0].sum()), expected, expected + 2 * spread)


def first_points(limit: Limit, seed: int) -> Array:
    """Twelve points, or two a variable: a Latin hypercube over five standard deviations to each side."""
    n = max(12, 2 * limit.dimension)
    unit = latin_hypercube(limit.dimension, n, np.random.default_rng((seed, 3)))
    return np.asarray(10.0 * unit - 5.0)
