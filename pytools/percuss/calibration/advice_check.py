"""Is advice true? Twins of the advised test: predicted against achieved contraction, and the verdicts on advice.

A truth is drawn from the posterior, data of the test are made with it, and all data, old and new, are calibrated on
again. By how much the variance of a quantity falls there is held against what was foreseen for the very same data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from percuss.calibration.advice import Advice, Ahead, Foreseen, outlook, quantities
from percuss.calibration.calibrate import Sampling
from percuss.calibration.problem import forward_name
from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.compiled import compiled_target
from percuss.inference.diagnostics import mcse_std
from percuss.inference.information import weighted_variances
from percuss.inference.likelihood import Group
from percuss.inference.predictive import spread_draws
from percuss.inference.samplers.registry import sample_posterior
from percuss.spelling import counted
from percuss.study.joint import normal_correlation
from percuss.trust import Trust, Verdict

# The largest part by which another candidate may be better than the advised one, within two standard errors; and that
# bias correction and smoothing may move a gain by, of the advised one's.
TOLERATED = 0.1
# Draws that must carry a density, at the 5 % of the outer draws where they are fewest: each such density is known to a
# third then.
LEAST_EFFECTIVE = 10
# By how much of what was predicted the achieved contraction may miss it, beyond two standard errors.
MISSED = 0.1
# Fewer twins say nothing about a mean.
LEAST_TWINS = 4
# Draws of a twin's posterior at which outputs are predicted.
PREDICTED = 2000
# Standard errors that an estimate may be off by.
ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Tried:
    """Variances (twins, quantities) left by the data of each twin, over those there are now, foreseen and achieved; NaN
    where a posterior did not converge. `now_error` (quantities,): to what part the variances of now are known.
    """

    foreseen: Floats
    achieved: Floats
    now_error: Floats

    @property
    def converged(self) -> Floats:
        """Which twins have a posterior."""
        return np.asarray(np.isfinite(self.achieved).all(axis=1))

    def contractions(self) -> tuple[Floats, Floats, Floats]:
        """Means over the twins of what was foreseen for their data, of what was achieved, and the standard error of the
        difference: between twins, and of the variances that there are now, which all twins share.
        """
        good = self.converged
        foreseen, achieved = 1 - self.foreseen[good], 1 - self.achieved[good]
        apart = np.var(achieved - foreseen, axis=0, ddof=1) / max(int(good.sum()), 1)
        shared = (1 - achieved.mean(axis=0)) * self.now_error
        return foreseen.mean(axis=0), achieved.mean(axis=0), np.sqrt(apart + shared**2)


def try_twins(
    ahead: Ahead,
    advice: Advice,
    best: Foreseen,
    twins: int,
    how: Sampling,
    advance: Callable[[int, str], None] = lambda count, note: None,
) -> Tried:
    """Make the test on so many twins, and calibrate on each."""
    if not LEAST_TWINS <= twins <= len(advice.draws.outer):
        raise InputError(f"twins = {twins}: must be from {LEAST_TWINS} to {len(advice.draws.outer)}")
    rows = advice.draws.outer[:twins]
    look = outlook(ahead, best.groups, advice.points, advice.drawn)
    data = look.draw(rows, np.random.default_rng([how.seed, 3]))
    foreseen = weighted_variances(look, advice.draws, data)
    achieved = []
    for number, values in enumerate(data):
        achieved.append(_variances(ahead, best.groups, values, number, how))
        advance(1, "")
    own = advice.draws.quantities
    now, now_error = _now(ahead, own)
    return Tried(foreseen / own[advice.draws.inner].var(axis=0), np.array(achieved) / now, now_error)


def _now(ahead: Ahead, own: Floats) -> tuple[Floats, Floats]:
    """Variances (quantities,) that there are now, by as many draws as can be had, and to what part they are known."""
    variances, errors = [], []
    for j, name in enumerate(ahead.about):
        if name in ahead.posterior.names:
            draws = ahead.posterior.draws[:, :, ahead.posterior.names.index(name)]
            variances.append(float(np.var(draws)))
            errors.append(2 * mcse_std(draws) / float(np.std(draws)))
        else:
            away = np.square(own[:, j] - own[:, j].mean())
            variances.append(float(np.mean(away)))
            errors.append(float(np.std(away) / np.mean(away)) / math.sqrt(len(away)))
    return np.array(variances), np.array(errors)


def _variances(ahead: Ahead, groups: Sequence[Group], values: Floats, number: int, how: Sampling) -> Floats:
    """Variances of the quantities, calibrated on the data there are and those of one twin."""
    sizes = np.cumsum([len(group.observed) for group in groups])[:-1]
    new = [replace(group, observed=own) for group, own in zip(groups, np.split(values, sizes), strict=True)]
    likelihood = replace(ahead.likelihood, groups=(*ahead.likelihood.groups, *new))
    study = ahead.problem.study
    priors = {name: item.prior for name, item in study.parameters.items()}
    surrogates = {forward_name(i): surrogate for i, surrogate in enumerate(ahead.problem.surrogates)}
    target = compiled_target(likelihood, priors, {**surrogates, **ahead.further}, normal_correlation(study)).target
    seed = int(np.random.SeedSequence([how.seed, 4, number]).generate_state(1)[0])
    sample = sample_posterior(target, how.sampler, seed=seed, stopping=how.stopping, settings=how.settings)
    if not sample.converged:
        return np.full(len(ahead.about), np.nan)
    points = sample.flat()
    drawn: Mapping[str, Floats] = {}
    if not set(ahead.about) <= set(sample.names):
        points = spread_draws(points, PREDICTED)
        drawn = likelihood.draw_outputs(points, np.random.default_rng(seed), given_data=True)
    return np.asarray(quantities(ahead, points, drawn).var(axis=0))


def ranking_verdicts(advice: Advice) -> Trust:
    """Whether the candidates can be ranked: by Monte Carlo error, by bias and smoothing."""
    best = advice.best
    name, size = best.candidate.name, best.per_cost
    if best.gain.gain.value <= ERRORS * best.gain.gain.error:
        sentence = (
            f"no candidate is known to tell anything: {name} is expected to tell most, "
            f"{best.gain.gain.value:.2g} ± {best.gain.gain.error:.2g} nats"
        )
        return (Verdict("advice", False, sentence, best.gain.gain.value, ERRORS * best.gain.gain.error),)
    rivals: list[tuple[float, str]] = [(0.0, name)]
    for other in advice.foreseen:
        if other is not best:
            apart = other.gain.gain.less(best.gain.gain, 1 / other.candidate.cost, 1 / best.candidate.cost)
            rivals.append(((apart.value + ERRORS * apart.error) / size, other.candidate.name))
    share, rival = max(rivals)
    fine = share <= TOLERATED
    within = f"up to {100 * TOLERATED:g} % is tolerated"
    if fine:
        others = f"another may tell at most {100 * share:.2g} % more, and {within}"
        sentence = f"{name} tells most for its cost: {others if share > 0 else 'no other comes within its error'}"
    else:
        sentence = (
            f"the candidates cannot be ranked: {rival} may tell {100 * share:.2g} % more than {name} for its cost, by "
            f"Monte Carlo error, and {within}; more draws (--outer, --inner) tell"
        )
    verdicts = [Verdict("advice", fine, sentence, share, TOLERATED, () if fine else (name, rival))]
    moved = {
        one.candidate.name: max(abs(one.gain.correction), abs(one.gain.smoothing)) / one.candidate.cost / size
        for one in advice.foreseen
    }
    thin = {one.candidate.name for one in advice.foreseen if not one.gain.effective >= LEAST_EFFECTIVE}
    if wrong := [name for name, by in moved.items() if name in thin or not by <= TOLERATED]:
        worst = max(moved[name] for name in wrong)
        least = min(one.gain.effective for one in advice.foreseen if one.candidate.name in wrong)
        sentence = (
            f"the gain of {', '.join(wrong[:4])}{', ...' if len(wrong) > 4 else ''} is not resolved: bias "
            f"correction or smoothing move it by {100 * worst:.2g} % of the advised one's, and {within}; {least:.3g} "
            f"draws carry it, and at least {LEAST_EFFECTIVE} are asked for; more of them (--inner) help, unless the "
            "test leaves almost none"
        )
        verdicts.append(Verdict("advice", False, sentence, worst, TOLERATED, tuple(wrong)))
    return tuple(verdicts)


def twin_verdicts(tried: Tried) -> Trust:
    """Whether twins achieve what was foreseen for their data, all quantities together."""
    good = int(tried.converged.sum())
    if good < LEAST_TWINS:
        sentence = (
            f"{good} of {counted(len(tried.achieved), 'posterior')} of twins converged: nothing can be said of them"
        )
        return (Verdict("advice", False, sentence, good, LEAST_TWINS),)
    # The mean of the errors, as if all quantities were off together: rather too large.
    foreseen, achieved, error = (float(values.mean()) for values in tried.contractions())
    miss = max(abs(achieved - foreseen) - ERRORS * error, 0.0) / max(foreseen, 1e-12)
    fine = miss <= MISSED
    sentence = (
        f"{counted(good, 'twin')} of the advised test {'achieve' if fine else 'do NOT achieve'} what was foreseen: a "
        f"contraction of {achieved:.3g}, foreseen {foreseen:.3g} ± {error:.2g} for the same data, and "
        f"{100 * MISSED:g} % may be missed beyond two standard errors"
    )
    return (Verdict("advice", fine, sentence, miss, MISSED),)
