"""From a campaign whose runs kept their curves to the event with their regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from percuss.designs.registry import SAMPLERS
from percuss.designs.saltelli import groups_of
from percuss.errors import InputError
from percuss.ledger.event import Draft, Event, StudyRef
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.regions.region import Array, convergence, region_of, split
from percuss.sensitivity.over_time import summary
from percuss.surrogates.curves import axis_name, case_curves
from percuss.surrogates.training import CaseRuns, Training, load_training

KIND = "region.computed"
LEAST_RUNS = 20


@dataclass(frozen=True)
class Regions:
    """The event to be, and what is said of each curve: a row of facts a case and curve."""

    draft: Draft
    facts: list[dict[str, Any]]


def compute_regions(ledger: Ledger, state: State, event: Event, curves: Sequence[str], level: float) -> Regions:
    """Regions of the curves named, in every case; of the runs of a `saltelli` design the variance by source as well."""
    training = load_training(ledger, state, event)
    blocks = _blocks(training)
    facts: list[dict[str, Any]] = []
    tables: dict[str, list[pl.DataFrame]] = {"region": [], "convergence": [], "split": []}
    for curve in curves:
        along = axis_name(training, curve)
        for runs in training.cases:
            axis, values = case_curves(ledger, training, runs, curve, along)
            own = {"case": runs.case, "curve": curve}
            independent = values if blocks is None else values[runs.rows < 2 * blocks.base]
            if len(independent) < LEAST_RUNS:
                raise InputError(
                    f"case {runs.case}: {len(independent)} runs are too few for a region: {LEAST_RUNS} at least"
                )
            found = region_of(independent, level)
            counts, norm, error = convergence(axis, independent)
            columns = {key: value for key, value in vars(found).items() if key != "factor"}
            tables["region"].append(_table(own, axis=axis, **columns))
            tables["convergence"].append(_table(own, runs=counts, norm=norm, error=error))
            fact = own | {"runs": len(independent), "factor": found.factor, "norm": norm[-1], "error": error[-1]}
            if blocks is not None:
                shares = _split(axis, values, runs, blocks)
                tables["split"].append(shares.with_columns(pl.lit(curve).alias("curve")))
                fact["split"] = summary(shares)[runs.case]
            facts.append(fact)
    body = {
        "curves": list(curves),
        "cases": [runs.case for runs in training.cases],
        "level": level,
        "axis": axis_name(training, curves[0]) or "",
        "facts": facts,
        "sources": list(blocks.groups) if blocks else [],
    }
    blobs = [ledger.put_table(role, pl.concat(parts)) for role, parts in sorted(tables.items()) if parts]
    inputs = [("study", state.events[training.designs[0].input("study")])]
    inputs += [("design", item) for item in reversed(training.designs)]
    inputs += [("campaign", item) for item in reversed(training.campaigns)]
    study = StudyRef(training.study.name, training.study.digest)
    return Regions(Draft(KIND, body, study, inputs, blobs), facts)


@dataclass(frozen=True)
class _Blocks:
    """Base points of a `saltelli` design, and its groups."""

    base: int
    groups: tuple[str, ...]


def _blocks(training: Training) -> _Blocks | None:
    samplers = {str(design.data["sampler"]) for design in training.designs}
    for sampler in samplers:
        if (sampler in SAMPLERS and SAMPLERS[sampler].by_levels) or sampler == "mean":
            raise InputError(
                f"a region needs independent runs, and these are of a {sampler} design",
                hint="percuss design STUDY --sampler monte-carlo --n 500 --curves makes some",
            )
    if samplers != {"saltelli"} or len(training.designs) > 1:
        return None
    parameters = [training.study.parameters[name] for name in training.names]
    groups = tuple(groups_of(parameters, training.designs[0].data["options"]))
    return _Blocks(len(training.theta) // (len(groups) + 2), groups)


def _split(axis: Array, values: Array, runs: CaseRuns, blocks: _Blocks) -> pl.DataFrame:
    """Indices at every instant; a base point counts only if all its runs finished."""
    whole = np.full((blocks.base * (len(blocks.groups) + 2), len(axis)), np.nan)
    whole[runs.rows] = values
    cube = whole.reshape(len(blocks.groups) + 2, blocks.base, len(axis))
    cube = cube[:, ~np.isnan(cube).any(axis=(0, 2))]
    first, total, variance = split(cube[0], cube[1], cube[2:])
    parts = [
        _table({"case": runs.case, "parameter": group}, axis=axis, first=first[k], total=total[k], variance=variance)
        for k, group in enumerate(blocks.groups)
    ]
    return pl.concat(parts)


def _table(own: dict[str, str], **columns: Array) -> pl.DataFrame:
    return pl.DataFrame(columns).select([pl.lit(value).alias(key) for key, value in own.items()] + [pl.all()])
