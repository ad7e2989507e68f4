"""Posteriors of simulators in few runs: a density learnt from the evaluations proposes, the true one decides.

Points of the prior are evaluated, and climbs from the highest of them find the top in few runs
(`percuss.inference.known_runs`). Learning: the outputs at these points are fitted, or the log density where data are
more than outputs (`percuss.inference.learnt_outputs`, `percuss.inference.learnt_density`), new points are drawn from
what was learnt and evaluated, until new ones weigh about the same: until the learnt density is right where it is drawn
from. Then it is frozen, and chains step by it: many random-walk steps on the learnt density lead to a proposal,
which is accepted by

    min(1, p(y) q(x) / (p(x) q(y))),   p true, q learnt

(surrogate transition: Liu, 2001, section 9.4.3; delayed acceptance: Christen, Fox, 2005). The chain has p as its
stationary density whatever was learnt; what was learnt badly costs acceptance, which shows. One run a draw; runs are
what counts as evaluations. After each, unknowns of the discrepancy make steps of their own, which need none.

One hill: the highest that a climb reached. What no climb reached is not seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.known_runs import BULK, Known, drawn, few, find, outputs_alone
from percuss.inference.learnt_density import (
    STEPS_A_DIMENSION,
    Learnt,
    learn,
    spread_of,
    trend_terms,
    walk,
)
from percuss.inference.learnt_outputs import learn_outputs
from percuss.inference.modes import Modes
from percuss.inference.samplers.sample import Progress, Report, Run, Stopping, judge
from percuss.inference.target import Target
from percuss.settings import Setting, table_of
from percuss.surrogates.kernel_process import Hyperparameters

SETTINGS = table_of(
    Setting("chains", "integer", 10, low=8, high=1000, doc="chains, and evaluations in one batch"),
    Setting("start", "integer", 0, low=0, high=1_000_000, doc="points of the prior to begin with; 0: by the dimension"),
    Setting("learning", "bare", 0.5, low=0.05, high=0.9, doc="part of the evaluations that learning may take"),
    Setting(
        "patience",
        "integer",
        50,
        low=0,
        high=1_000_000,
        doc="new points after which learning ends if they are no better than as many before; 0: it goes on",
    ),
)
# What samples were made with that do not name a setting: those of before there was one.
EARLIER = {"patience": 0}
# Effective share of the weights of a new batch from which on the learnt density is good enough.
GOOD = 0.9
# Points that are fitted at most: the cost of a fit grows with their cube.
MOST_POINTS = 500
# Part of a batch while learning that is drawn from the density at this heat: so that it is known about its top, too.
WARM, HEAT = 0.25, 3.0
# Steps in the unknowns of the discrepancy after each run.
UNKNOWN_STEPS = 10
# Steps of each chain between two looks at the draws.
LOOK = 10
# With less acceptance than this at the first look, the density is learnt again from all that is known by then, if so
# many times as many evaluations are left as that look has cost, and if learning again has helped the time before: by
# so much more acceptance. Runs that scatter are never accepted as often as wanted, whatever is learnt of them.
WANTED = 0.85
RESTART = 4
GAIN = 0.05


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Learn the density, then step by it until the draws are good or the evaluations are spent."""
    chains = int(settings["chains"])
    start = int(settings["start"]) or few(target)
    stopping.require(start + 20 * chains)
    generator = np.random.default_rng([seed, 5])
    known = Known(target, stopping.evaluations)
    known.evaluate(target.draw_prior(start, generator))
    find(target, known, generator)
    report(Progress("found a mode", known.used))
    learner = _Learner(target, known)
    patience = int(settings["patience"])
    learnt = _learnt(learner, chains, settings["learning"], patience, generator, report)
    before = 0.0
    while True:
        z, f, acceptance, enough = _step(target, known, learnt, chains, stopping, generator, report, before)
        if enough or known.left < 20 * chains:
            return Run(z, f, acceptance, known.used)
        before = float(acceptance.mean()) if patience else 0.0
        learnt = learner.fit()


@dataclass(eq=False)
class _Learner:
    """Fits what is known; hyperparameters of one fit are where the search of the next begins."""

    target: Target
    known: Known
    hyper: Hyperparameters | None = None

    def fit(self) -> Learnt:
        """Fit the points that matter: not farther below the top than draws of a posterior ever lie, and at least half
        as many again as the trend has terms. Of too many, some of every height: the low ones show where the tails are.
        """
        known, d = self.known, self.known.z.shape[1]
        likelihood = outputs_alone(self.target)
        order = np.argsort(-known.f, kind="stable")
        order = order[np.isfinite(known.f[order])]
        if likelihood:
            # Points that differ in unknowns of the discrepancy alone are one run: the highest stands for it.
            _, first = np.unique(known.z[order][:, : known.columns], axis=0, return_index=True)
            order = order[np.sort(first)]
        near = int(np.count_nonzero(known.f[order] > known.f[order[0]] - 10.0 - 3.0 * d))
        used = order[: max(near, 3 * trend_terms(known.columns) // 2)]
        if len(used) > MOST_POINTS:
            used = used[np.linspace(0, len(used) - 1, MOST_POINTS).astype(np.int64)]
        z, f = known.z[used], known.f[used]
        if likelihood:
            high = np.arange(max(int(np.count_nonzero(f > f[0] - BULK - d)), 2 * d))
            outputs = likelihood.means(self.target.transform.values(z))
            return learn_outputs(self.target, likelihood, z, outputs, high[: len(z)])
        learnt, self.hyper = learn(z, f, self.hyper)
        return learnt


def _learnt(
    learner: _Learner, chains: int, part: float, patience: int, generator: np.random.Generator, report: Report
) -> Learnt:
    """Fit, draw, evaluate, until new points weigh about the same, more of them do not help, or the part of the
    evaluations is used up.
    """
    known = learner.known
    good = 0
    weights: list[Floats] = []
    batch = max(chains, 2 * known.z.shape[1])
    while True:
        learnt = learner.fit()
        if known.used + batch > part * known.allowed or good >= 2 or _level(weights, patience):
            return learnt
        warm = math.ceil(WARM * batch) if good == 0 else 0
        cold = drawn(learnt, known.z, known.f, batch - warm, generator)
        new = np.concatenate([cold, drawn(learnt, known.z, known.f, warm, generator, HEAT)]) if warm else cold
        claimed = learnt.log_density(new)
        f = known.evaluate(new)
        weights.append((f - claimed)[: len(cold)])
        share = _effective_share(weights[-1])
        good = good + 1 if share >= GOOD else 0
        report(Progress(f"learning, effective share {share:.2f}", known.used))


def _level(weights: list[Floats], patience: int) -> bool:
    """Whether the effective share of the log weights of batches, each of a fit of its own, has stopped growing."""
    if not weights or not patience:
        return False
    batches = math.ceil(patience / len(weights[-1]))
    if len(weights) < 2 * batches:
        return False
    late, early = (_shares(part) for part in (weights[-batches:], weights[-2 * batches : -batches]))
    return late <= early


def _shares(weights: list[Floats]) -> float:
    """Mean effective share of batches."""
    return float(np.mean([_effective_share(batch) for batch in weights]))


def _effective_share(log_weights: Floats) -> float:
    """Kish's effective number of weights, as a share."""
    finite = np.where(np.isfinite(log_weights), log_weights, -np.inf)
    top = float(np.max(finite))
    if not math.isfinite(top):
        return 0.0
    weights = np.exp(finite - top)
    return float(np.sum(weights) ** 2 / np.sum(weights**2) / len(weights))


def _step(
    target: Target,
    known: Known,
    learnt: Learnt,
    chains: int,
    stopping: Stopping,
    generator: np.random.Generator,
    report: Report,
    before: float,
) -> tuple[Floats, Floats, Floats, bool]:
    """Step by a frozen density: draws (chains, draws, d), their log density, acceptance, and whether they will do.

    `before` is the acceptance of the density before this one.
    """
    d = target.dimension
    many = drawn(learnt, known.z, known.f, max(10 * chains, 200), generator)
    learnt = learnt.with_tails(many, generator)
    factor = spread_of(many)
    # Chains start at evaluated draws of the learnt density, by weight: the first step forgets where.
    z = many[np.linspace(0, len(many) - 1, chains).astype(np.int64)]
    f, q = known.evaluate(z), learnt.log_density(z)
    draws, logs = [], []
    accepted = np.zeros(chains)
    while known.left >= chains:
        proposal, _ = walk(learnt, z, factor, STEPS_A_DIMENSION * d, generator)
        f_new, q_new = known.evaluate(proposal), learnt.log_density(proposal)
        with np.errstate(invalid="ignore"):
            take = np.log(generator.random(chains)) < (f_new - q_new) - (f - q)
        # A start where the true density is zero is left at once.
        take |= ~np.isfinite(f) & np.isfinite(f_new)
        z, f, q = np.where(take[:, None], proposal, z), np.where(take, f_new, f), np.where(take, q_new, q)
        accepted += take
        z, f = _unknowns_moved(target, known.columns, z, f, factor, generator)
        q = learnt.log_density(z)
        draws.append(z)
        logs.append(f)
        if len(draws) % LOOK == 0:
            kept, log = np.stack(draws[1:], axis=1), np.stack(logs[1:], axis=1)
            diagnostics = judge(target, kept, log)
            stage = f"stepping, acceptance {accepted.mean() / len(draws):.2f}"
            report(Progress(stage, known.used, diagnostics.worst_r_hat, diagnostics.least_ess))
            if not stopping.reasons(diagnostics):
                return kept, log, accepted / len(draws), True
            # What was evaluated so far may teach a better density, if enough is left to step by it.
            rate = accepted.mean() / len(draws)
            affordable = len(draws) == LOOK and known.left > RESTART * LOOK * chains
            if affordable and (before + GAIN if before else 0.0) <= rate < WANTED:
                break
    return np.stack(draws[1:], axis=1), np.stack(logs[1:], axis=1), accepted / len(draws), False


def _unknowns_moved(
    target: Target, columns: int, z: Floats, f: Floats, factor: Floats, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Metropolis steps on the true density in the unknowns of the discrepancy alone: none of them is a run."""
    d = target.dimension
    if columns == d:
        return z, f
    z = z.copy()
    width = 2.38 / math.sqrt(d - columns) * np.sqrt(np.sum(factor[columns:] ** 2, axis=1))
    for _ in range(UNKNOWN_STEPS):
        tried = z.copy()
        tried[:, columns:] += width * generator.standard_normal((len(z), d - columns))
        f_tried = target.log_density(tried)
        with np.errstate(invalid="ignore"):
            take = np.log(generator.random(len(z))) < f_tried - f
        z, f = np.where(take[:, None], tried, z), np.where(take, f_tried, f)
    return z, f
