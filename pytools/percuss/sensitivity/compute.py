"""From an event to indices: which way fits what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from percuss.designs.saltelli import groups_of
from percuss.errors import InputError
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.ledger.standing import inherit
from percuss.sensitivity import elementary_effects, expansion, given_data, intervals, sampling
from percuss.sensitivity.indices import Array, Indices, over_cases
from percuss.spelling import did_you_mean
from percuss.study.study import Study
from percuss.surrogates.skill import WORTHLESS, left_out
from percuss.surrogates.surrogate import KIND, Surrogate, load_surrogate
from percuss.surrogates.training import Training, load_training
from percuss.trust import Trust, accept

AUTO = "auto"
METHODS = (AUTO, expansion.METHOD, sampling.METHOD, elementary_effects.METHOD, given_data.METHOD)
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
    accept: frozenset[str] = frozenset()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Computed:
    """Indices of every output, those of the cases together, and what it all was made from."""

    study: Study
    names: tuple[str, ...]
    indices: tuple[Indices, ...]
    together: tuple[Indices, ...]
    inputs: tuple[tuple[str, Event], ...]
    notes: tuple[str, ...] = ()
    surrogate: Surrogate | None = None
    trust: Trust = ()

    @property
    def left_out(self) -> list[str]:
        """`case/output` of which nothing is told, since the surrogate knows nothing of it."""
        worthless = left_out(self.trust)
        return [c.name for c in self.surrogate.columns if c.name in worthless] if self.surrogate else []


def compute(ledger: Ledger, state: State, event: Event, request: Request) -> Computed:
    """Indices from a surrogate, or from the runs of a design."""
    if event.kind == KIND:
        return from_surrogate(load_surrogate(ledger, state, event), state, request)
    return from_runs(load_training(ledger, state, event), state, request, ledger)


def from_surrogate(surrogate: Surrogate, state: State, request: Request) -> Computed:
    """Indices of every output that the surrogate knows something of, and what there is to say of them."""
    trust = accept(inherit(state, [surrogate.event]), request.accept)
    worthless = left_out(trust)
    named = zip(surrogate.columns, surrogate_indices(surrogate, request), strict=True)
    indices = tuple(item for column, item in named if column.name not in worthless)
    inputs = (("study", state.events[surrogate.event.input("study")]), ("surrogate", surrogate.event))
    notes = _error_notes(surrogate)
    together = tuple(over_cases(list(indices)))
    return Computed(surrogate.study, surrogate.names, indices, together, inputs, notes, surrogate, trust)


def surrogate_indices(surrogate: Surrogate, request: Request) -> tuple[Indices, ...]:
    """Expansions give their indices at no cost; other families, and any by request, are sampled."""
    groups = _groups(request, surrogate.names)
    if request.method == given_data.METHOD:
        raise InputError("--method given-data: works on runs", hint="give the campaign instead of the surrogate")
    expandable = [part for part in surrogate.parts if part.family == "chaos"]
    if request.method == expansion.METHOD and len(expandable) < len(surrogate.parts):
        others = ", ".join(part.family for part in surrogate.parts if part.family != "chaos")
        raise InputError(f"--method expansion: outputs with {others} surrogates have none", hint="--method sampling")
    found: dict[int, Indices] = {}
    if request.method in (AUTO, expansion.METHOD):
        for part in expandable:
            found |= expansion.part_indices(surrogate, part, groups, request.level, request.seed)
    rest = [number for number in range(len(surrogate.columns)) if number not in found]
    if rest:
        if groups:
            raise InputError(
                "--group: is for expansions; sampled indices are of single parameters",
                hint="percuss surrogate --family chaos fits expansions",
            )
        found |= _sampled(surrogate, rest, request)
    return tuple(found[number] for number in range(len(surrogate.columns)))


def _error_notes(surrogate: Surrogate) -> tuple[str, ...]:
    """Indices are those of the surrogate: where it misses much of the variance, they miss it too."""
    found = [
        f"{column.output}, {column.case}: the surrogate misses {column.errors.trusted:.2g} of the variance, "
        f"and its indices say nothing about that part"
        for column in surrogate.columns
        if MUCH < column.errors.trusted <= WORTHLESS
    ]
    if not surrogate.folds:
        found.append("the surrogate was fitted without folds: what its indices may be off by is not known")
    return tuple(found)


def _sampled(surrogate: Surrogate, numbers: Sequence[int], request: Request) -> dict[int, Indices]:
    names = [surrogate.outputs[number] for number in numbers]
    priors = [surrogate.study.parameters[name].prior for name in surrogate.names]
    chosen = list(numbers)

    def function(unit: Array) -> Array:
        theta = np.stack([prior.ppf(unit[:, k]) for k, prior in enumerate(priors)], axis=1)
        return surrogate.mean(theta)[:, chosen]

    d = len(priors)
    if request.method == elementary_effects.METHOD:
        count = min(request.n, MOST_TRAJECTORIES)
        found = elementary_effects.screen(function, d, names, count, request.seed, request.level)
    else:
        sampled = sampling.sample_indices(function, d, names, request.n, request.seed, request.level)
        pairs = zip(numbers, sampled, strict=True)
        found = [_with_misses(surrogate, number, item, request) for number, item in pairs]
    return dict(zip(numbers, found, strict=True))


def _with_misses(surrogate: Surrogate, number: int, item: Indices, request: Request) -> Indices:
    """Sampled indices with intervals for what the surrogate misses, and not for the sampling alone."""
    unit = sampling.draw_pair(intervals.AVERAGED, len(surrogate.names), request.seed + 2).a
    priors = [surrogate.study.parameters[name].prior for name in surrogate.names]
    theta = np.stack([prior.ppf(unit[:, k]) for k, prior in enumerate(priors)], axis=1)
    effects = partial(intervals.sampled_effects, drawn=surrogate.canonical.points(theta))
    by = intervals.missed(surrogate, number, effects) if item.variance > 0 else None
    if by is None:
        return replace(item, measures=intervals.unknown(item.measures))
    parts = {name: item.variance * item.measures[name].values for name in by.effects.parts}
    said = [intervals.Shares(parts, item.variance)]
    return replace(item, measures=intervals.widened(item.measures, by, said, request.level, request.seed))


def from_runs(training: Training, state: State, request: Request, ledger: Ledger) -> Computed:
    """What the design was made for (saltelli, morris), or indices from given data."""
    sampler = str(training.designs[0].data["sampler"])
    method = request.method
    if method == AUTO:
        method = {"saltelli": sampling.METHOD, "morris": elementary_effects.METHOD}.get(sampler, given_data.METHOD)
    if request.groups:
        raise InputError(
            "--group: is for surrogates with expansions",
            hint='percuss design STUDY --sampler saltelli --option "groups=NAME=P1,P2" makes runs for groups',
        )
    if method == expansion.METHOD:
        raise InputError("--method expansion: works on a surrogate", hint="percuss surrogate fits one to these runs")
    needs = {sampling.METHOD: "saltelli", elementary_effects.METHOD: "morris"}.get(method)
    if needs and (sampler != needs or len(training.designs) > 1):
        raise InputError(
            f"--method {method}: needs runs of a {needs} design, and these are of a {sampler} design",
            hint=f"percuss design STUDY --sampler {needs} --n 64 makes one; or sample a surrogate",
        )
    names = training.names
    if method == sampling.METHOD:
        parameters = [training.study.parameters[name] for name in names]
        names = tuple(groups_of(parameters, training.designs[0].data["options"]))
    d = len(names)
    indices: list[Indices] = []
    notes: list[str] = []
    for runs in training.cases:
        if method == given_data.METHOD:
            if runs.failures:
                notes.append(f"case {runs.case}: {len(runs.failures)} failed runs are left out of given-data indices")
            theta = training.theta[runs.rows]
            indices += given_data.given_indices(
                theta, runs.values, runs.case, training.outputs, request.level, request.seed
            )
            continue
        values = np.full((len(training.theta), len(training.outputs)), np.nan)
        values[runs.rows] = runs.values
        failed = np.isnan(values).any(axis=1)
        if method == sampling.METHOD:
            found, lost = sampling.design_indices(
                values, failed, d, runs.case, training.outputs, request.level, request.seed
            )
        else:
            columns = [f"unit:{name}" for name in training.names]
            unit = ledger.table(training.designs[0], "design").select(columns).to_numpy()
            found, lost = elementary_effects.design_effects(
                unit, values, failed, runs.case, training.outputs, request.level, request.seed
            )
        if lost:
            what = "base points" if method == sampling.METHOD else "trajectories"
            notes.append(f"case {runs.case}: {lost} {what} are left out because of failed runs")
        indices += found
    study_event = state.events[training.designs[0].input("study")]
    inputs = [("study", study_event), *(("design", event) for event in reversed(training.designs))]
    inputs += [("campaign", event) for event in reversed(training.campaigns)]
    together, trust = tuple(over_cases(indices)), accept(inherit(state, training.campaigns), request.accept)
    return Computed(training.study, names, tuple(indices), together, tuple(inputs), tuple(notes), trust=trust)


def _groups(request: Request, names: Sequence[str]) -> dict[str, list[int]]:
    found = {}
    for group, members in request.groups.items():
        for member in members:
            if member not in names:
                raise InputError(f"--group {group}: no parameter `{member}`: {did_you_mean(member, names)}")
        found[group] = [names.index(member) for member in members]
    return found
