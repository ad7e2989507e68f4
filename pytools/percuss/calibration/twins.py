"""Twins of a calibration: truths drawn from the prior, data made with them, a posterior of each.

Where prior, likelihood and sampler are right together, truths rank uniformly among the draws of their posteriors, and
intervals hold them as often as they claim (Talts et al., 2018). Beside the parameters the log-likelihood is ranked: it
sees posteriors that ignore part of the data, which parameters alone may not show (Modrák et al., 2023).

Twins whose posterior does not converge are left out. That is decided from their data alone, and ranks stay uniform
given any choice of data; how many they are is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from percuss.calibration.calibrate import Sampling
from percuss.calibration.problem import SIMULATOR, Problem, forward_name
from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.compiled import compiled_target
from percuss.inference.likelihood import Forward, Likelihood
from percuss.inference.predictive import spread_draws
from percuss.inference.ranks import Ranks, ranks_of
from percuss.inference.samplers.registry import DEFAULT, sample_posterior
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.study.joint import normal_correlation

# Draws that a truth is ranked among: 100 ranks, so that central intervals of 50 and 90 % are whole numbers of them; a
# quarter of the least effective sample size of a converged posterior, so that they are nearly independent.
DRAWS = 99
# Of the quick form, which samples shorter: the same share of the draws, and still whole numbers of ranks.
QUICK_DRAWS = 19
QUICK_STOPPING = Stopping(r_hat=1.05, ess=100)
QUICK_SETTINGS = {DEFAULT: {"chains": 16}}
LOG_LIKELIHOOD = "log likelihood"


@dataclass(frozen=True, eq=False)
class Twins:
    """Truths (n, d) of `names` and data of each by group; `names` are what the target has, errors of surrogates left
    out, which a simulator does not have.
    """

    names: tuple[str, ...]
    truths: Floats
    data: Mapping[str, Floats]

    @property
    def complete(self) -> list[bool]:
        """Which twins have all their data: where the simulator failed there are none."""
        whole = np.all([np.isfinite(values).all(axis=1) for values in self.data.values()], axis=0)
        return [bool(item) for item in whole]


@dataclass(frozen=True, eq=False)
class Ranked:
    """One twin's truth among the draws of its posterior: ranks of the `names`, None where it did not converge."""

    ranks: Ranks | None
    evaluations: int
    reasons: tuple[str, ...] = ()


def draw_twins(problem: Problem, count: int, seed: int, simulator: Forward | None = None, noise: float = 1.0) -> Twins:
    """Draw truths from the prior and data about them, laid out as the observations are.

    `simulator`: gives the columns of all used (case, output); without one outputs are those of the surrogates, with
    errors as these claim. `noise`: errors of measurement and discrepancy are so many times what the likelihood says.
    """
    if count < 1:
        raise InputError(f"{count} twins: at least 1 is needed")
    generator = np.random.default_rng([seed, 0])
    target = problem.target
    points = target.transform.values(target.draw_prior(count, generator))
    likelihood = problem.likelihood
    if simulator is not None:
        if likelihood.specimens or any(group.reading for group in likelihood.groups):
            raise InputError("twins by the simulator: know outputs alone, no time histories and no specimens")
        likelihood = replace(likelihood, forwards=_exact(problem, simulator), errors={})
    # Errors of surrogates that are unknowns stand last.
    names = (*likelihood.parameters, *replace(likelihood, errors={}).unknowns)
    points = points[:, : len(likelihood.parameters) + len(likelihood.unknowns)]
    unknowns = {name: points[:, len(likelihood.parameters) + j] for j, name in enumerate(likelihood.unknowns)}
    outputs = likelihood.draw_outputs(points, generator, given_data=False)
    errors = likelihood.draw_model_errors(points, outputs, generator, given_data=False)
    data = likelihood.draw_data(points, outputs, generator, errors)
    for group in likelihood.groups:
        about = group.read(outputs[group.forward], unknowns)
        data[group.name] = about + noise * (data[group.name] - about)
    return Twins(names, points[:, : len(names)], data)


def used_columns(problem: Problem) -> tuple[tuple[str, str], ...]:
    """(case, output) of all data, each once."""
    return tuple(dict.fromkeys(problem.data.select("case", "output").rows()))


def quick(how: Sampling) -> Sampling:
    """Shorter chains than an estimate needs: enough for the ranks of the quick form."""
    stopping = replace(QUICK_STOPPING, evaluations=how.stopping.evaluations)
    return replace(how, settings={**how.settings, **QUICK_SETTINGS.get(how.sampler, {})}, stopping=stopping)


def rank_twin(problem: Problem, twins: Twins, number: int, how: Sampling, draws: int) -> Ranked:
    """Calibrate on the data of one twin as the observations would be, and rank its truth among so many draws."""
    sample, likelihood = calibrate_twin(problem, twins, number, how)
    if not sample.converged:
        return Ranked(None, sample.evaluations, sample.reasons)
    truth = twins.truths[number]
    flat = sample.flat()
    chosen = spread_draws(np.column_stack([flat, sample.log_likelihood.ravel()]), draws)
    if len(chosen) < draws:
        raise InputError(f"twin {number}: its posterior has {len(chosen)} draws, and {draws} are ranked among")
    kept, at = chosen[:, : len(twins.names)], truth
    if ranks_likelihood(problem):
        kept = np.column_stack([kept, chosen[:, -1]])
        at = np.append(truth, likelihood(truth[None]))
    return Ranked(ranks_of(at, kept), sample.evaluations)


def ranks_likelihood(problem: Problem) -> bool:
    """Whether the log-likelihood of a truth is known: not where errors of surrogates are among the unknowns."""
    return not problem.likelihood.inferred_errors


def quantities(problem: Problem, twins: Twins) -> tuple[str, ...]:
    """What is ranked, in the order of the ranks."""
    return (*twins.names, LOG_LIKELIHOOD) if ranks_likelihood(problem) else twins.names


def calibrate_twin(problem: Problem, twins: Twins, number: int, how: Sampling) -> tuple[Sample, Likelihood]:
    """Sample the posterior of one twin, by a seed of its own."""
    groups = tuple(replace(group, observed=twins.data[group.name][number]) for group in problem.likelihood.groups)
    likelihood = replace(problem.likelihood, groups=groups)
    study = problem.study
    priors = {name: item.prior for name, item in study.parameters.items()}
    surrogates = {forward_name(i): surrogate for i, surrogate in enumerate(problem.surrogates)}
    target = compiled_target(likelihood, priors, surrogates, normal_correlation(study)).target
    seed = int(np.random.SeedSequence([how.seed, 1, number]).generate_state(1)[0])
    sample = sample_posterior(target, how.sampler, seed=seed, stopping=how.stopping, settings=how.settings)
    return sample, likelihood


def _exact(problem: Problem, simulator: Forward) -> dict[str, Forward]:
    """Forward models that give the simulator's outputs in the place of each surrogate's; NaN where nothing is used."""
    used = {pair: j for j, pair in enumerate(used_columns(problem))}

    def forward(pairs: tuple[tuple[str, str], ...]) -> Callable[[Floats], tuple[Floats, Floats]]:
        def exact(theta: Floats) -> tuple[Floats, Floats]:
            values, _ = simulator(theta)
            places = [used.get(pair) for pair in pairs]
            columns = [np.full(len(theta), np.nan) if j is None else values[:, j] for j in places]
            return np.stack(columns, axis=1), np.zeros(len(pairs))

        return exact

    return {name: forward(pairs) for name, pairs in problem.columns.items() if name != SIMULATOR}
