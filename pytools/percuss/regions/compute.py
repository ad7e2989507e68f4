"""From a campaign whose runs kept their curves to regions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from percuss.designs.registry import SAMPLERS
from percuss.designs.saltelli import groups_of
from percuss.errors import InputError
from percuss.execution.results import Campaign, CaseRuns
from percuss.kinds.region_computed import CurveFacts, Share
from percuss.regions.region import Array, convergence, region_of, split
from percuss.sensitivity.over_time import summary
from percuss.session import Session
from percuss.surrogates.curves import axis_name, case_curves

LEAST_RUNS = 20


@dataclass(frozen=True)
class Regions:
    """Facts of every curve and case, and tables by role; `sources` are those the variance was split by."""

    facts: tuple[CurveFacts, ...]
    tables: dict[str, pl.DataFrame]
    axis: str
    sources: tuple[str, ...]


def regions_of(session: Session, campaign: Campaign, curves: Sequence[str], level: float) -> Regions:
    """Regions of the curves named, in every case; of the runs of a `saltelli` design the variance by source as well."""
    blocks = _blocks(campaign)
    facts: list[CurveFacts] = []
    tables: dict[str, list[pl.DataFrame]] = {"region": [], "convergence": [], "split": []}
    for curve in curves:
        along = axis_name(campaign, curve)
        for runs in campaign.cases:
            axis, values = case_curves(session, campaign, runs, curve, along)
            own = {"case": runs.case, "curve": curve}
            independent = values if blocks is None else values[runs.rows < 2 * blocks.base]
            if len(independent) < LEAST_RUNS:
                raise InputError(
                    f"case {runs.case}: {len(independent)} runs are too few for a region: {LEAST_RUNS} at least"
                )
            region = region_of(independent, level)
            counts, norm, error = convergence(axis, independent)
            columns = {key: value for key, value in vars(region).items() if key != "factor"}
            tables["region"].append(_table(own, axis=axis, **columns))
            tables["convergence"].append(_table(own, runs=counts, norm=norm, error=error))
            shares = None
            if blocks is not None:
                by_source = _split(axis, values, runs, blocks)
                tables["split"].append(by_source.with_columns(pl.lit(curve).alias("curve")))
                shares = {name: Share(**share) for name, share in summary(by_source)[runs.case].items()}
            facts.append(
                CurveFacts(
                    **own,
                    runs=len(independent),
                    factor=float(region.factor),
                    norm=float(norm[-1]),
                    error=float(error[-1]),
                    split=shares,
                )
            )
    return Regions(
        tuple(facts),
        {role: pl.concat(parts) for role, parts in sorted(tables.items()) if parts},
        axis_name(campaign, curves[0]) or "",
        blocks.groups if blocks else (),
    )


@dataclass(frozen=True)
class _Blocks:
    """Base points of a `saltelli` design, and its groups."""

    base: int
    groups: tuple[str, ...]


def _blocks(campaign: Campaign) -> _Blocks | None:
    samplers = {design.sampler for design in campaign.designs}
    for sampler in samplers:
        if (sampler in SAMPLERS and SAMPLERS[sampler].by_levels) or sampler == "mean":
            raise InputError(
                f"a region needs independent runs, and these are of a {sampler} design",
                hint="percuss design STUDY --sampler monte-carlo --n 500 --curves makes some",
            )
    if samplers != {"saltelli"} or len(campaign.designs) > 1:
        return None
    parameters = [campaign.study.parameters[name] for name in campaign.names]
    groups = tuple(groups_of(parameters, campaign.designs[0].options))
    return _Blocks(len(campaign.theta) // (len(groups) + 2), groups)


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
