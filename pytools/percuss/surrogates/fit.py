"""From training data to fitted surrogates: groups of outputs over the same points, families, errors, bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.designs.sobol import scrambled_sobol
from percuss.errors import InputError
from percuss.execution.results import Campaign
from percuss.study.joint import Joint
from percuss.surrogates.assessment import (
    Band,
    Errors,
    Folds,
    draw_counts,
    held_out_rows,
    is_constant,
    make_bands,
    mean_square,
    relative,
    warnings_of,
)
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.kernels import kernels_beside
from percuss.surrogates.model import (
    AUTO,
    AVERAGE,
    BUILT_IN,
    FAMILIES,
    Array,
    Data,
    FamilyModule,
    Model,
    Settings,
    all_families,
    family_module,
)
from percuss.surrogates.surrogate import Surrogate
from percuss.surrogates.trials import Judge, Trial, Weighed, try_family
from percuss.surrogates.two_level import TWO_LEVEL, Low, TwoLevel, check_low
from percuss.units import from_si

# A relative error below which no other family is tried: it is rounding, or as good as.
GOOD_ENOUGH = 1e-8
# Errors nearer than this are the same.
TIE = 1.05
FEWEST_POINTS = 4
# Points of the prior at which models without closed forms are compared: 2^12.
PROBES_POWER = 12


@dataclass(frozen=True)
class Group:
    """Outputs whose runs finished at the same points: fitted together. `rows` are the training rows, one a point."""

    number: int
    columns: tuple[int, ...]
    data: Data
    rows: NDArray[np.intp]
    duplicates: int


@dataclass(frozen=True)
class ColumnFit:
    """One output of one case: which family stands for it, its errors, and all else there is to say."""

    case: str
    output: str
    family: str
    errors: Errors
    mean: float
    variance: float
    points: int
    facts: dict[str, Any]
    warnings: tuple[str, ...]
    tried: dict[str, float]


@dataclass(frozen=True)
class Part:
    """A model and the columns it stands for; `folds` are the models without each fold in turn, if there are folds."""

    family: str
    group: int
    columns: tuple[int, ...]
    model: Model
    folds: tuple[Model, ...] = ()


@dataclass(frozen=True)
class Residuals:
    """Data for residual plots of one column: training rows, outputs, fitted, leave-one-out and nested predictions.

    `folds` says which fold each point was in.
    """

    rows: NDArray[np.intp]
    values: Array
    fitted: Array
    left_out: Array
    nested: Array | None
    folds: NDArray[np.intp] | None
    scale: Array | None


@dataclass(frozen=True)
class Fitted:
    """All surrogates of a design."""

    canonical: Canonical
    columns: tuple[ColumnFit, ...]
    parts: tuple[Part, ...]
    bands: dict[int, Band]
    residuals: dict[int, Residuals]
    groups: tuple[Group, ...]

    @property
    def duplicates(self) -> int:
        """Runs that repeat a point."""
        return sum(group.duplicates for group in self.groups)


def fit_all(
    campaign: Campaign,
    settings: Settings,
    held_out: Campaign | None = None,
    advance: Callable[[int, str], None] = lambda count, note: None,
    low: Surrogate | None = None,
) -> Fitted:
    """Fit every output of every case; `held_out` are other runs of the same study to judge them by, `low` a surrogate
    of cheaper runs to build on.
    """
    canonical = Canonical.of_study(campaign.study)
    if settings.held_out:
        fitted_rows, kept = held_out_rows(len(campaign.theta), settings.held_out, settings.seed)
        campaign, held_out = campaign.take(fitted_rows), campaign.take(kept)
    names = [(runs.case, output) for runs in campaign.cases for output in campaign.outputs]
    if low is not None:
        if settings.family not in (AUTO, "chaos") or not settings.folds:
            raise InputError("--low: goes with --family chaos or auto, and with --folds, by which levels are compared")
        check_low(low, campaign.study, names)
    columns: dict[int, ColumnFit] = {}
    parts: list[Part] = []
    bands: dict[int, Band] = {}
    residuals: dict[int, Residuals] = {}
    groups = make_groups(campaign, canonical)
    probes = _probes(campaign, canonical)
    for group in groups:
        judge = _judge(held_out, names, group, canonical)
        lower = TwoLevel(Low.of(low, [names[number] for number in group.columns])) if low else None
        fits = _fit_group(group, settings, probes, judge, lower)
        for number, column in fits.columns.items():
            case, output = names[number]
            columns[number] = ColumnFit(case, output, **column)
        parts += fits.parts
        bands |= fits.bands
        residuals |= fits.residuals
        advance(len(group.columns), "")
    ordered = tuple(columns[number] for number in range(len(names)))
    return Fitted(canonical, ordered, tuple(parts), bands, residuals, tuple(groups))


def _probes(campaign: Campaign, canonical: Canonical) -> Array:
    """Points of the prior, in canonical variables: the same for every design of a study."""
    unit = scrambled_sobol(len(campaign.names), 0, 2**PROBES_POWER, np.random.default_rng(29))
    # Open ends: unbounded priors have no quantile at 0 or 1.
    unit = np.clip(unit, 2.0**-53, 1.0 - 2.0**-53)
    return canonical.points(Joint.of(campaign.study).from_unit(unit))


def make_groups(campaign: Campaign, canonical: Canonical) -> list[Group]:
    """Cases with the same finished rows make one group; equal points are merged, with their mean output."""
    width = len(campaign.outputs)
    _check_support(campaign)
    by_rows: dict[bytes, list[int]] = {}
    for i, runs in enumerate(campaign.cases):
        if len(runs.rows) < FEWEST_POINTS:
            raise InputError(
                f"case {runs.case}: {len(runs.rows)} runs finished, and a surrogate needs at least {FEWEST_POINTS}"
            )
        by_rows.setdefault(runs.rows.tobytes(), []).append(i)
    groups = []
    for number, members in enumerate(by_rows.values()):
        rows = campaign.cases[members[0]].rows
        values = np.concatenate([campaign.cases[i].values for i in members], axis=1)
        first, places = distinct(campaign.theta[rows])
        merged = np.zeros((len(first), values.shape[1]))
        np.add.at(merged, places, values)
        merged /= np.bincount(places)[:, None]
        if len(first) == len(rows):
            merged = values
        if len(first) < FEWEST_POINTS:
            raise InputError(f"{len(rows)} runs at {len(first)} distinct points: at least {FEWEST_POINTS} are needed")
        points = canonical.points(campaign.theta[rows[first]])
        data = Data(canonical.families, points, np.ascontiguousarray(merged))
        numbers = tuple(i * width + j for i in members for j in range(width))
        groups.append(Group(number, numbers, data, rows[first], len(rows) - len(first)))
    return groups


def _check_support(campaign: Campaign) -> None:
    """Points where a prior has no density can come with an import; no surrogate over the priors has them."""
    for j, name in enumerate(campaign.names):
        parameter = campaign.study.parameters[name]
        low, high = parameter.prior.support()
        # A point at a bound may lie beside it by the rounding of its unit.
        slack = 1e-9 * (high - low) if np.isfinite(high - low) else 1e-12 * max(abs(low), abs(high), 1e-300)
        values = campaign.theta[:, j]
        wrong = np.flatnonzero((values < low - slack) | (values > high + slack))
        if len(wrong):
            sample = campaign.places[int(wrong[0])][1]
            ends = [from_si(end, parameter.unit) if np.isfinite(end) else end for end in (low, high)]
            raise InputError(
                f"sample {sample}: {name} = {from_si(float(values[wrong[0]]), parameter.unit):g} is outside its "
                f"{parameter.prior.kind} prior, {ends[0]:g} to {ends[1]:g}",
                hint="widen the prior in the study, or leave such runs out",
            )


def distinct(points: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the distinct points, in order of appearance, and the distinct point of every row."""
    _, first, places = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return first[order], number[places.reshape(-1)]


def _judge(held_out: Campaign | None, names: list[tuple[str, str]], group: Group, canonical: Canonical) -> Judge | None:
    """What gives the held-out errors of a model of a group's outputs."""
    if held_out is None:
        return None
    cases = {runs.case: runs for runs in held_out.cases}
    spread = group.data.values.var(axis=0)

    def judge(model: Model, columns: Sequence[int]) -> Array:
        errors = np.full(len(columns), np.nan)
        numbers = [group.columns[j] for j in columns]
        for case in dict.fromkeys(names[number][0] for number in numbers):
            if case not in cases or not len(cases[case].rows):
                continue
            runs = cases[case]
            predicted = model.mean(canonical.points(held_out.theta[runs.rows]))
            for i, (j, number) in enumerate(zip(columns, numbers, strict=True)):
                if names[number][0] == case:
                    values = runs.values[:, held_out.outputs.index(names[number][1])]
                    errors[i] = mean_square(predicted[:, [i]], values[:, None], spread[[j]])[0]
        return errors

    return judge


@dataclass
class _GroupFits:
    columns: dict[int, dict[str, Any]]
    parts: list[Part]
    bands: dict[int, Band]
    residuals: dict[int, Residuals]


def _fit_group(
    group: Group, settings: Settings, probes: Array, judge: Judge | None, lower: TwoLevel | None
) -> _GroupFits:
    data = group.data
    constant = is_constant(data.values)
    n, m = data.values.shape
    folds = Folds.of(data, settings.folds, settings.seed) if settings.folds else None
    # The families that come with percuss: what a plugin adds is tried where it is asked for by name.
    families = BUILT_IN if settings.family == AUTO else (settings.family,)
    if settings.family == AUTO and folds is None:
        raise InputError("--folds 0: --family auto compares families by their nested error, which needs folds")
    trials: dict[str, Trial] = {}

    def fit(module: FamilyModule) -> Trial:
        return try_family(module, data, settings, folds, probes, judge, range(m))

    for name in families:
        if trials and all(least_error(trials)[~constant] < GOOD_ENOUGH):
            break
        trials[name] = fit(family_module(name))
    if constant.any() and "chaos" not in trials:
        trials["chaos"] = fit(family_module("chaos"))
    helped = [lower is not None and lower.own.terms[j] is not None and not constant[j] for j in range(m)]
    if lower is not None and not all(least_error(trials)[~constant] < GOOD_ENOUGH):
        trials[TWO_LEVEL] = fit(lower)
    chosen = ["chaos" if constant[j] else _least({f: t.error[j] for f, t in trials.items()}) for j in range(m)]
    tried = [{f: float(t.error[j]) for f, t in trials.items() if f != TWO_LEVEL or helped[j]} for j in range(m)]
    standing = {
        name: (members, trials[name].take(members))
        for name in dict.fromkeys(chosen)
        if (members := [j for j in range(m) if chosen[j] == name])
    }
    if settings.family == AUTO and folds is not None:
        standing = _averaged(standing, trials, tried, data, settings, folds, probes, judge)
    fits = _GroupFits({}, [], {}, {})
    counts = draw_counts(n, settings.bootstrap, settings.seed) if settings.bootstrap > 1 else None
    for name, (members, trial) in standing.items():
        model, nested = trial.model, trial.nested
        numbers = tuple(group.columns[j] for j in members)
        # A sum of expansions is an expansion; of `gp` there are several kernels.
        family = "chaos" if name == TWO_LEVEL else name if name in (*all_families(), AVERAGE) else "gp"
        fits.parts.append(Part(family, group.number, numbers, model, nested.models if nested else ()))
        seen = nested.predicted if nested else trial.left_out
        own = Data(data.families, data.points, data.values[:, members])
        bands = make_bands(model, own, counts, seen) if counts is not None else []
        misses = relative(own.values - nested.predicted, own.values) if nested else None
        fitted = model.mean(data.points)
        for i, (j, number, facts) in enumerate(zip(members, numbers, model.facts(), strict=True)):
            if bands:
                fits.bands[number] = bands[i]
            corrected = facts.get("loo_corrected")
            missed = None if misses is None else float(misses[i])
            kept = None if trial.held_out is None or np.isnan(trial.held_out[i]) else float(trial.held_out[i])
            far = None if trial.elsewhere is None else float(trial.elsewhere[i])
            errors = Errors(float(trial.loo[i]), corrected, missed, kept, far)
            warnings = warnings_of(facts, errors, n)
            if TWO_LEVEL in tried[j] and name != TWO_LEVEL:
                warnings.append(
                    f"the low level does not help: nested error {tried[j][TWO_LEVEL]:.2g} with it, "
                    f"{tried[j][name]:.2g} without"
                )
            fits.columns[number] = {
                "family": family,
                "errors": errors,
                "mean": float(data.values[:, j].mean()),
                "variance": float(data.values[:, j].var()),
                "points": n,
                "facts": facts if name in trials or name == AVERAGE else {**facts, "method": name},
                "warnings": tuple(warnings),
                "tried": tried[j],
            }
            fits.residuals[number] = Residuals(
                group.rows,
                data.values[:, j],
                fitted[:, i],
                trial.left_out[:, i],
                nested.predicted[:, i] if nested else None,
                folds.places if folds else None,
                bands[i].scale if bands else None,
            )
    return fits


def _averaged(
    standing: dict[str, tuple[list[int], Trial]],
    trials: dict[str, Trial],
    tried: list[dict[str, float]],
    data: Data,
    settings: Settings,
    folds: Folds,
    probes: Array,
    judge: Judge | None,
) -> dict[str, tuple[list[int], Trial]]:
    """What stands for outputs whose families are averaged, beside the others: expansions that have the least error are
    left alone, since they are quick and have indices. Errors of what was tried are added to `tried`.
    """
    kernels = kernels_beside(settings.kernels)
    columns = sorted(j for name, (members, _) in standing.items() if name not in ("chaos", TWO_LEVEL) for j in members)
    if not kernels or not columns:
        return standing
    some = data.take(columns)
    parts = Folds(folds.places, [outside.take(columns) for outside in folds.outside])
    own = {name: trial.take(columns) for name, trial in trials.items() if name != TWO_LEVEL}
    gp = family_module("gp")
    for kernel in kernels:
        own[f"gp-{kernel}"] = try_family(gp, some, replace(settings, kernels=(kernel,)), parts, probes, judge, columns)
    weighed = Weighed.of(own, some.values, folds.places)
    kept = {name: pair for name, pair in standing.items() if name in ("chaos", TWO_LEVEL)}
    places: dict[str, list[int]] = {}
    for i, j in enumerate(columns):
        tried[j] |= {name: float(trial.error[i]) for name, trial in own.items()}
        places.setdefault(weighed.alone(i) or AVERAGE, []).append(i)
    for name, members in places.items():
        numbers = [columns[i] for i in members]
        if name == AVERAGE:
            trial = weighed.average(some, folds.places, members, judge, numbers)
            for i, j in enumerate(numbers):
                tried[j][AVERAGE] = float(trial.error[i])
        else:
            trial = own[name].take(members)
        kept[name] = (numbers, trial)
    return kept


def _least(errors: dict[str, float]) -> str:
    """The family with the least error; of those within a twentieth of it the first in the table, the simplest."""
    least = min(errors.values())
    return next(name for name in (*FAMILIES, TWO_LEVEL) if name in errors and errors[name] <= TIE * least)


def least_error(trials: dict[str, Trial]) -> Array:
    """The least nested error any family has, output by output."""
    return np.asarray(np.min([trial.error for trial in trials.values()], axis=0))
