"""The posterior of a rough simulator by its smooth part: learnt from runs, frozen, and then walked on without any.

Roughness says nothing about the parameters: two runs with parameters that differ by rounding have the same smooth part
and each a roughness of its own, as the data have theirs. With the smooth part m and roughness of covariance S of
`percuss.inference.smooth_part`, and errors of covariance N, data are taken to be

    y = m(theta) + roughness + error,   p(y | theta) = N(y; m(theta), N + S + C)

with C the mean covariance to which the runs know m at draws of the posterior. The likelihood of single runs,
N(y; m(theta) + r, N), has the same average over their roughness r, up to C: this is the posterior of the simulator
itself with its teeth smoothed.

Runs are made in rounds: fit, draw, run the simulator at the draws. They end when what is not yet known of m could move
no posterior mean by more than a stated part of its standard deviation, and no standard deviation by more than that part
of itself. With g = (N + S + C)^-1 (y - m) the log-likelihood changes by g' dm if m changes by dm, and to first order
the mean of a parameter by cov(theta, g' dm) over the posterior (delta method). The variance of that follows from the
covariance of the error of m between draws. New runs are compared with what the fit before them claims.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.common_error import CommonError
from percuss.inference.known_runs import Known, drawn, few, find, outputs_alone
from percuss.inference.learnt_density import standardised, trend_terms
from percuss.inference.likelihood import Likelihood
from percuss.inference.samplers.sample import Progress, Report, Stopping
from percuss.inference.smooth_part import LENGTHS, SmoothPart, fit_smooth_part
from percuss.inference.target import BETWEEN, Target, Transform

# The smooth part is used as far as this many times the distance of the farthest run.
REACH = 1.6
# Runs of a round, as a part of those there are: each fit costs the cube of their number.
GROWTH = 0.25
# Part of a round that is drawn from the density at this heat, so that it is known about the posterior, too.
WARM, HEAT = 0.25, 3.0
# Points of the prior to begin with, in times of those that delayed acceptance begins with.
START = 2
# Share of the outputs' own error in the variance of the whole error up to which single runs say where the posterior is.
TRUSTED = 0.1
# Runs that are fitted: down to this far below the top, and this much farther for each unknown; and at most.
NEAR, NEAR_EACH = 8.0, 1.5
MOST_RUNS = 2000
# Draws at which the error of what was learnt is found.
DRAWS = 300
# New runs that the check of the claimed scatter asks for, and by how much of the whole error's variance they may
# scatter more than claimed, beside three standard errors.
NEW_RUNS = 100
EXCESS = 0.05
# Part of new runs at draws of the posterior that may fail: a smooth part knows nothing of failure.
FAILED = 0.02


class NewRuns(NamedTuple):
    """The last runs at draws of the posterior, which the fit before them had not seen: how many, how many of them
    failed, and by how much of the whole error's variance they scatter more than that fit claims, with its error.
    """

    made: int = 0
    failed: int = 0
    excess: float = math.inf
    excess_error: float = math.inf


@dataclass(frozen=True, eq=False)
class Smooth:
    """What was learnt from `runs`, of which `fitted` are where the posterior is. `target` is the posterior, of the
    smooth part; `draws` (n, d) some of it, unbounded. What is not known of the smooth part is, for each output, a
    standard deviation `unlearnt` (q,) in SI, and for each unknown of the posterior an error of its mean and of its
    standard deviation, (d,), in standard deviations. `reasons` are those for which more runs are needed.
    """

    target: Target
    draws: Floats
    runs: int
    fitted: int
    part: SmoothPart
    unlearnt: Floats
    mean_errors: Floats
    std_errors: Floats
    new_runs: NewRuns
    reasons: tuple[str, ...]


class _Coordinates:
    """Points of the model's parameters in coordinates in which the fitted ones have about unit covariance. Outputs are
    functions of the parameters: of those with two bounds themselves, not of the unbounded numbers that chains walk in.
    """

    def __init__(self, transform: Transform, theta: Floats) -> None:
        self.transform = transform
        self.w, self.centre, self.factor, self.farthest = standardised(self._natural(theta))

    def _natural(self, theta: Floats) -> Floats:
        between = self.transform.kind == BETWEEN
        inside = (theta - self.transform.origin) / self.transform.scale
        return np.where(between, inside, self.transform.unbounded(theta))

    def __call__(self, theta: Floats) -> Floats:
        return np.asarray(np.linalg.solve(self.factor, (self._natural(theta) - self.centre).T).T)


def learn_smooth(target: Target, settings: dict[str, float], stopping: Stopping, seed: int, report: Report) -> Smooth:
    """Run the simulator until its smooth part is known where the posterior is, or `stopping.evaluations` are spent."""
    if not outputs_alone(target):
        raise InputError("roughness: needs data that are outputs of a simulator")
    start = int(settings["start"]) or START * few(target)
    stopping.require(start + NEW_RUNS)
    generator = np.random.default_rng([seed, 6])
    known = Known(target, stopping.evaluations)
    known.evaluate(target.draw_prior(start, generator))
    find(target, known, generator)
    report(Progress("found a mode", known.used))
    learning = _Learning(target, known, settings["error"], generator)
    smooth = learning.fit()
    if learning.share(smooth) > TRUSTED:
        # The top was chosen for its roughness, and nothing says that the posterior is near it.
        smooth = learning.begin_again(start)
    while True:
        worst = float(np.max([smooth.mean_errors, smooth.std_errors]))
        report(Progress(f"learning, error {worst:.2f} (to {settings['error']:g})", known.used))
        if not smooth.reasons or smooth.fitted >= MOST_RUNS or known.left < 1:
            return smooth
        learning.run()
        smooth = learning.fit()


class _Learning:
    """Rounds of fitting and running."""

    def __init__(self, target: Target, known: Known, error: float, generator: np.random.Generator) -> None:
        likelihood = outputs_alone(target)
        assert likelihood
        self.target, self.likelihood, self.known, self.error = target, likelihood, known, error
        self.generator = generator
        (self.name,) = likelihood.forwards
        self.transform = Transform.of(target.priors[: known.columns])
        self.smooth: Smooth | None = None
        self.lengths: tuple[float, ...] = LENGTHS
        # Of new runs: what they scatter over the whole error, and what was claimed; NaN where they failed.
        self.scatter: list[Floats] = []

    def begin_again(self, first: int) -> Smooth:
        """Fit the first runs alone, which are those of points of the prior."""
        good = np.isfinite(self.known.f[:first])
        self.lengths = LENGTHS
        return self._fitted(self.known.z[:first][good])

    def fit(self) -> Smooth:
        """Fit the runs that matter, and say what is known by them."""
        z, f = self._one_each()
        near = int(np.count_nonzero(f > f[0] - NEAR - NEAR_EACH * z.shape[1]))
        z = z[: max(near, 2 * trend_terms(self.known.columns))]
        if len(z) > MOST_RUNS:
            z = z[np.linspace(0, len(z) - 1, MOST_RUNS).astype(np.int64)]
        return self._fitted(z)

    def _fitted(self, z: Floats) -> Smooth:
        theta = self.target.transform.values(z)[:, : self.known.columns]
        coordinates = _Coordinates(self.transform, theta)
        outputs = self.likelihood.means(self.target.transform.values(z))[self.name]
        part = fit_smooth_part(coordinates.w, outputs, self.lengths)
        best = LENGTHS.index(part.length)
        self.lengths = LENGTHS[max(best - 1, 0) : best + 2]
        # Twice: what is not known of the smooth part is found at draws, which depend on it a little.
        unlearnt = np.mean(part.errors(coordinates.w) ** 2, axis=0)
        frozen = self._frozen(part, coordinates, unlearnt)
        draws = drawn(frozen, z, frozen.log_density(z), DRAWS, self.generator)
        at = coordinates(self.target.transform.values(draws)[:, : self.known.columns])
        unlearnt = np.mean(part.errors(at) ** 2, axis=0)
        frozen = self._frozen(part, coordinates, unlearnt)
        means, stds = self._errors(frozen, part, draws, at)
        new = self._new_runs()
        self.smooth = Smooth(
            frozen,
            draws,
            self.known.used,
            len(z),
            part,
            np.sqrt(unlearnt),
            means,
            stds,
            new,
            self._reasons(means, stds, new),
        )
        self.coordinates = coordinates
        return self.smooth

    def _one_each(self) -> tuple[Floats, Floats]:
        """Every run that did not fail once, the highest first, and the log density there: of the smooth part as far as
        it is known, since runs that are chosen for agreeing with the data by their roughness would hide it.
        """
        known = self.known
        f = self.smooth.target.log_density(known.z) if self.smooth else known.f
        order = np.argsort(-f, kind="stable")
        order = order[np.isfinite(f[order]) & np.isfinite(known.f[order])]
        _, first = np.unique(known.z[order][:, : known.columns], axis=0, return_index=True)
        order = order[np.sort(first)]
        return known.z[order], f[order]

    def _frozen(self, part: SmoothPart, coordinates: _Coordinates, unlearnt: Floats) -> Target:
        """The posterior of the smooth part."""
        variance = part.roughness**2 + unlearnt
        reach = REACH * coordinates.farthest

        def forward(theta: Floats) -> tuple[Floats, Floats]:
            w = coordinates(theta)
            mean = part.mean(w)
            # Out there a polynomial means nothing.
            mean[np.sum(w * w, axis=1) > reach**2] = np.nan
            return mean, variance

        names = tuple(f"{self.name}-{j}" for j in range(len(variance)))
        error = CommonError(part.together, np.ones(1), np.ones(1), names)
        likelihood = replace(self.likelihood, forwards={self.name: forward}, errors={self.name: error})
        if likelihood.inferred_errors:
            raise InputError("roughness: needs Gaussian errors of the data", hint='discrepancy = { kind = "gaussian" }')
        return replace(self.target, log_likelihood=likelihood)

    def share(self, smooth: Smooth) -> float:
        """Of roughness, and of what is not learnt yet, in the variance of the whole error at draws of the posterior."""
        likelihood = smooth.target.log_likelihood
        assert isinstance(likelihood, Likelihood)
        used = likelihood.columns(self.name)
        std = np.sqrt(smooth.part.roughness[used] ** 2 + smooth.unlearnt[used] ** 2)
        rough = std[:, None] * smooth.part.together[np.ix_(used, used)] * std
        _, whole = likelihood.misses(smooth.target.transform.values(smooth.draws), self.name)
        return float(np.mean(np.einsum("...ii->...", np.linalg.solve(whole, rough)))) / len(used)

    def _errors(self, frozen: Target, part: SmoothPart, draws: Floats, at: Floats) -> tuple[Floats, Floats]:
        """What is not known of the smooth part, in means and standard deviations of the unknowns: (d,), (d,)."""
        likelihood = frozen.log_likelihood
        assert isinstance(likelihood, Likelihood)
        used = likelihood.columns(self.name)
        misses, covariance = likelihood.misses(frozen.transform.values(draws), self.name)
        pull = np.linalg.solve(covariance, misses[..., None])[..., 0]
        stated = frozen.transform.stated(draws)
        away = (stated - stated.mean(axis=0)) / np.maximum(stated.std(axis=0), 1e-300)
        spread = 0.5 * (away**2 - 1.0)
        moved = np.concatenate([away, spread], axis=1)
        values, axes = np.linalg.eigh(part.covariances(at)[used])
        roots = axes * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        # By draws of the error of each output: (u, draws, 2 d).
        by = np.einsum("jkl,kj,km->jlm", roots, pull, moved, optimize=True) / len(draws)
        variance = np.einsum("ij,ilm,jlm->m", part.together[np.ix_(used, used)], by, by, optimize=True)
        d = draws.shape[1]
        error = np.sqrt(np.maximum(variance, 0.0))
        return error[:d], error[d:]

    def run(self) -> None:
        """Run new draws of what was learnt, and of a warmer density about it."""
        smooth, known, generator = self.smooth, self.known, self.generator
        assert smooth
        z, f = self._one_each()
        batch = min(max(math.ceil(GROWTH * known.used), few(self.target)), known.left)
        warm = math.floor(WARM * batch)
        some = generator.permutation(len(smooth.draws))[: batch - warm]
        cold = smooth.draws[some]
        if len(cold) < batch - warm:
            cold = np.concatenate([cold, drawn(smooth.target, z, f, batch - warm - len(cold), generator)])
        hot = drawn(smooth.target, z, f, warm, generator, HEAT) if warm else cold[:0]
        known.evaluate(np.concatenate([cold, hot]))
        self.scatter.append(self._scatter(cold))

    def _scatter(self, z: Floats) -> Floats:
        """How new runs (n, d) scatter about the smooth part, squared and in parts of the whole error's variance; and
        what of that was claimed: (n, 2).
        """
        smooth = self.smooth
        assert smooth
        theta = self.target.transform.values(z)
        likelihood = smooth.target.log_likelihood
        assert isinstance(likelihood, Likelihood)
        used = likelihood.columns(self.name)
        run = self.likelihood.means(theta)[self.name][:, used]
        off = run - likelihood.means(theta)[self.name][:, used]
        _, whole = likelihood.misses(theta, self.name)
        whole = np.broadcast_to(whole, (len(z), len(used), len(used)))
        unlearnt = smooth.part.errors(self.coordinates(theta[:, : self.known.columns]))[:, used]
        std = np.sqrt(smooth.part.roughness[used] ** 2 + unlearnt**2)
        claimed = std[:, :, None] * smooth.part.together[np.ix_(used, used)] * std[:, None, :]
        seen = np.einsum("ni,ni->n", off, np.linalg.solve(whole, off[..., None])[..., 0])
        expected = np.einsum("nii->n", np.linalg.solve(whole, claimed))
        return np.stack([seen, expected], axis=1) / len(used)

    def _new_runs(self) -> NewRuns:
        """What the runs of the last rounds say of the fits before them."""
        last: list[Floats] = []
        for part in reversed(self.scatter):
            last.append(part)
            if sum(map(len, last)) >= NEW_RUNS:
                break
        if not last:
            return NewRuns()
        rows = np.concatenate(last)
        good = np.isfinite(rows[:, 0])
        failed = int(np.count_nonzero(~good))
        more = (rows[:, 0] - rows[:, 1])[good]
        if len(more) < 2:
            return NewRuns(len(rows), failed)
        return NewRuns(len(rows), failed, float(more.mean()), float(more.std(ddof=1) / math.sqrt(len(more))))

    def _reasons(self, means: Floats, stds: Floats, new: NewRuns) -> tuple[str, ...]:
        """Why the smooth part is not known well enough yet."""
        sentences = []
        for words, errors in (("mean", means), ("standard deviation", stds)):
            worst = int(np.argmax(errors))
            if not errors[worst] <= self.error:
                sentences.append(
                    f"the smooth part of the outputs is not learnt: the {words} of {self.target.names[worst]} is known "
                    f"to {errors[worst]:.2g} standard deviations of the posterior, not to {self.error:g}"
                )
        if new.made < NEW_RUNS:
            sentences.append(f"{new.made} new runs have checked what was learnt, not {NEW_RUNS}")
        elif not new.excess <= EXCESS + 3.0 * new.excess_error:
            sentences.append(
                "new runs scatter about the smooth part more than claimed, by "
                f"{100 * new.excess:.2g} ± {100 * new.excess_error:.2g} % of the variance of all errors"
            )
        if new.failed > FAILED * new.made:
            sentences.append(f"{new.failed} of {new.made} new runs at draws of the posterior failed")
        return tuple(sentences)
