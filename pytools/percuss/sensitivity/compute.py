"""From a surrogate or a campaign to indices: which way fits what it holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from percuss.designs.saltelli import groups_of
from percuss.errors import InputError
from percuss.execution.results import Campaign, CaseRuns
from percuss.sensitivity import (
    elementary_effects,
    expansion,
    given_data,
    intervals,
    moment_independent,
    sampling,
    subsets,
)
from percuss.sensitivity.indices import Array, Indices, over_cases
from percuss.spelling import did_you_mean
from percuss.study.joint import Joint, correlated, refuse_correlations
from percuss.surrogates.assessment import WORTHLESS
from percuss.surrogates.surrogate import Surrogate

AUTO = "auto"
METHODS = (
    AUTO,
    expansion.METHOD,
    sampling.METHOD,
    elementary_effects.METHOD,
    given_data.METHOD,
    moment_independent.METHOD,
)
# Trajectories for so many points a parameter; screening needs few.
MOST_TRAJECTORIES = 1000
# From this error on it is said that indices are those of the surrogate.
MUCH = 0.05


@dataclass(frozen=True)
class Request:
    """What is asked: the method, base points of a sample, level of the intervals, groups of parameters."""

    method: str = AUTO
    n: int = 8192
    level: float = 0.95
    seed: int = 0
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Computed:
    """Indices of every output over `names` (parameters, or groups of them), and those of the cases together."""

    names: tuple[str, ...]
    indices: tuple[Indices, ...]
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @cached_property
    def together(self) -> tuple[Indices, ...]:
        """Indices of each output over all cases."""
        return tuple(over_cases(list(self.indices)))


def from_surrogate(surrogate: Surrogate, request: Request, worthless: Collection[str] = ()) -> Computed:
    """Indices of every output but the `worthless` ones, of which the surrogate knows nothing (`case/output`)."""
    named = zip(surrogate.columns, surrogate_indices(surrogate, request), strict=True)
    indices = tuple(item for column, item in named if column.name not in worthless)
    left_out = tuple(column.name for column in surrogate.columns if column.name in worthless)
    return Computed(surrogate.names, indices, _error_notes(surrogate, request.method), left_out)


def surrogate_indices(surrogate: Surrogate, request: Request) -> tuple[Indices, ...]:
    """Expansions give their indices at no cost; other families, and any by request, are sampled."""
    groups = _groups(request, surrogate.names)
    if request.method == given_data.METHOD:
        raise InputError("--method given-data: works on runs", hint="give the campaign instead of the surrogate")
    if request.method == moment_independent.METHOD:
        return _moment_independent(surrogate, request, groups)
    expandable = [part for part in surrogate.parts if part.family == "chaos"]
    if request.method == expansion.METHOD and len(expandable) < len(surrogate.parts):
        others = ", ".join(part.family for part in surrogate.parts if part.family != "chaos")
        raise InputError(f"--method expansion: outputs with {others} surrogates have none", hint="--method sampling")
    if request.method in (expansion.METHOD, elementary_effects.METHOD):
        refuse_correlations(surrogate.study, f"--method {request.method}", "--method sampling takes any")
    by_column: dict[int, Indices] = {}
    if request.method in (AUTO, expansion.METHOD) and not correlated(surrogate.study):
        for part in expandable:
            by_column |= expansion.part_indices(surrogate, part, groups, request.level, request.seed)
    rest = [number for number in range(len(surrogate.columns)) if number not in by_column]
    if rest:
        if groups and request.method == elementary_effects.METHOD:
            raise InputError("--group: elementary effects are of single parameters", hint="--method sampling")
        by_column |= _sampled(surrogate, rest, request, groups)
    return tuple(by_column[number] for number in range(len(surrogate.columns)))


def _error_notes(surrogate: Surrogate, method: str) -> tuple[str, ...]:
    """Indices are those of the surrogate: where it misses much of the variance, they miss it too."""
    errors = [
        f"{column.output}, {column.case}: the surrogate misses {column.errors.trusted:.2g} of the variance, "
        f"and its indices say nothing about that part"
        for column in surrogate.columns
        if MUCH < column.errors.trusted <= WORTHLESS
    ]
    shared = correlated(surrogate.study)
    if shared and method != moment_independent.METHOD:
        errors.append(
            f"{', '.join(shared)} are correlated: a first-order index counts what a parameter shares with others, a "
            "total index leaves it out, Shapley effects share it out and add up to one"
        )
    if method == moment_independent.METHOD:
        errors.append("intervals are those of the draws: what the surrogate misses is not in them")
    elif not surrogate.folds:
        errors.append("the surrogate was fitted without folds: what its indices may be off by is not known")
    return tuple(errors)


def _moment_independent(
    surrogate: Surrogate, request: Request, groups: Mapping[str, Sequence[int]]
) -> tuple[Indices, ...]:
    """By draws from the priors, with their correlations, as from runs."""
    _refuse_groups(groups)
    unit = np.random.default_rng([request.seed, request.n, 37]).random((request.n, len(surrogate.names)))
    theta = Joint.of(surrogate.study).from_unit(unit)
    drawn = (theta, surrogate.mean(theta), surrogate.outputs)
    return tuple(moment_independent.moment_independent_indices(*drawn, request.level, request.seed))


def _refuse_groups(groups: Collection[str]) -> None:
    if groups:
        raise InputError("--group: delta is of single parameters", hint="--method sampling")


def _sampled(
    surrogate: Surrogate, numbers: Sequence[int], request: Request, groups: Mapping[str, Sequence[int]]
) -> dict[int, Indices]:
    names = [surrogate.outputs[number] for number in numbers]
    joint = Joint.of(surrogate.study)
    chosen = list(numbers)

    def function(unit: Array) -> Array:
        return surrogate.mean(joint.from_unit(unit))[:, chosen]

    d = len(joint.priors)
    if request.method == elementary_effects.METHOD:
        count = min(request.n, MOST_TRAJECTORIES)
        indices = elementary_effects.screen(function, d, names, count, request.seed, request.level)
        return dict(zip(numbers, indices, strict=True))
    asked = (names, request.n, request.seed, request.level)
    if correlated(surrogate.study) or groups:
        space, of_space = _space(surrogate, joint, chosen)
        sampled = subsets.subset_indices(of_space, space, *asked, groups)
    else:
        sampled = sampling.sample_indices(function, d, *asked)
    pairs = zip(numbers, sampled, strict=True)
    return {number: _with_misses(surrogate, number, item, joint, request) for number, item in pairs}


def _space(surrogate: Surrogate, joint: Joint, chosen: list[int]) -> tuple[subsets.Dependent, sampling.Function]:
    """Canonical variables as they were before they were made independent, and the surrogate as a function of them."""
    factor = np.eye(len(joint.priors)) if surrogate.canonical.factor is None else surrogate.canonical.factor

    def draw(unit: Array) -> Array:
        return np.asarray(surrogate.canonical.points(joint.from_unit(unit)) @ factor.T)

    def function(dependent: Array) -> Array:
        return surrogate.mean_of_canonical(np.linalg.solve(factor, dependent.T).T)[:, chosen]

    return subsets.Dependent(draw, factor @ factor.T), function


def _with_misses(surrogate: Surrogate, number: int, item: Indices, joint: Joint, request: Request) -> Indices:
    """Sampled indices with intervals for what the surrogate misses, and not for the sampling alone."""
    unit = sampling.draw_pair(intervals.AVERAGED, len(surrogate.names), request.seed + 2).a
    drawn = surrogate.canonical.points(joint.from_unit(unit))
    effects = partial(intervals.sampled_effects, drawn=drawn, factor=surrogate.canonical.factor)
    by = intervals.missed(surrogate, number, effects) if item.variance > 0 else None
    if by is None:
        return replace(item, measures=intervals.unknown(item.measures))
    parts = {name: item.variance * item.measures[name].values for name in by.effects.parts}
    shares = [intervals.Shares(parts, item.variance)]
    return replace(item, measures=intervals.widened(item.measures, by, shares, request.level, request.seed))


def from_runs(campaign: Campaign, request: Request) -> Computed:
    """What the design was made for (saltelli, morris), or indices from given data."""
    design = campaign.designs[0]
    method = request.method
    if method == AUTO:
        fitting = {"saltelli": sampling.METHOD, "morris": elementary_effects.METHOD}
        method = fitting.get(design.sampler, given_data.METHOD)
    if method == moment_independent.METHOD:
        _refuse_groups(request.groups)
    if request.groups:
        raise InputError(
            "--group: is for surrogates with expansions",
            hint='percuss design STUDY --sampler saltelli --option "groups=NAME=P1,P2" makes runs for groups',
        )
    if method == expansion.METHOD:
        raise InputError("--method expansion: works on a surrogate", hint="percuss surrogate fits one to these runs")
    needs = {sampling.METHOD: "saltelli", elementary_effects.METHOD: "morris"}.get(method)
    if needs and (design.sampler != needs or len(campaign.designs) > 1):
        raise InputError(
            f"--method {method}: needs runs of a {needs} design, and these are of a {design.sampler} design",
            hint=f"percuss design STUDY --sampler {needs} --n 64 makes one; or sample a surrogate",
        )
    names = campaign.names
    if method == sampling.METHOD:
        names = tuple(groups_of([campaign.study.parameters[name] for name in names], design.options))
    indices: list[Indices] = []
    notes: list[str] = []
    for runs in campaign.cases:
        of_case, note = _of_case(campaign, runs, method, len(names), request)
        indices += of_case
        notes += [f"case {runs.case}: {note}"] if note else []
    shared = correlated(campaign.study)
    if shared and method != moment_independent.METHOD:
        notes.append(
            f"{', '.join(shared)} are correlated: a first-order index counts what a parameter shares with others"
        )
    return Computed(names, tuple(indices), tuple(notes))


def _of_case(
    campaign: Campaign, runs: CaseRuns, method: str, d: int, request: Request
) -> tuple[Sequence[Indices], str]:
    """Indices of one case, and what was left out because runs failed."""
    labels = (runs.case, campaign.outputs, request.level, request.seed)
    if method == moment_independent.METHOD:
        names = [(runs.case, output) for output in campaign.outputs]
        note = f"{len(runs.failures)} failed runs are left out" if runs.failures else ""
        given = (campaign.theta[runs.rows], runs.values, names, request.level, request.seed)
        return moment_independent.moment_independent_indices(*given), note
    if method == given_data.METHOD:
        note = f"{len(runs.failures)} failed runs are left out of given-data indices" if runs.failures else ""
        return given_data.given_data_indices(campaign.theta[runs.rows], runs.values, *labels), note
    values = np.full((len(campaign.theta), len(campaign.outputs)), np.nan)
    values[runs.rows] = runs.values
    failed = np.isnan(values).any(axis=1)
    if method == sampling.METHOD:
        indices, lost = sampling.design_indices(values, failed, d, *labels)
        blocks = "base points"
    else:
        indices, lost = elementary_effects.design_effects(campaign.designs[0].unit, values, failed, *labels)
        blocks = "trajectories"
    return indices, f"{lost} {blocks} are left out because of failed runs" if lost else ""


def _groups(request: Request, names: Sequence[str]) -> dict[str, list[int]]:
    groups = {}
    for group, members in request.groups.items():
        for member in members:
            if member not in names:
                raise InputError(f"--group {group}: no parameter `{member}`: {did_you_mean(member, names)}")
        groups[group] = [names.index(member) for member in members]
    return groups
