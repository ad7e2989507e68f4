"""What two events can be held against each other by: small data of runs, posteriors and surrogates."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from percuss.calibration.records import load_posterior
from percuss.designs.design import load_design
from percuss.execution.records import batches_of, campaign_table
from percuss.ledger.event import Event
from percuss.ledger.projections import batch_of
from percuss.plots.drawing import chosen
from percuss.plots.labels import column_label, output_scale, quantity_scale
from percuss.plots.posterior import column_of
from percuss.plots.runs import default_curves
from percuss.session import Session
from percuss.site.scripts import rounded
from percuss.surrogates.surrogate import load_surrogate

MOST_POINTS = 500
BINS = 40
COMPARABLE = {
    "runs.completed": "runs",
    "campaign.completed": "runs",
    "posterior.sampled": "posterior",
    "surrogate.fitted": "surrogate",
}


def comparison_data(session: Session, event: Event) -> dict[str, Any] | None:
    """The data of an event; None for kinds that are not held against each other."""
    form = COMPARABLE.get(event.kind)
    if form is None:
        return None
    make = {"runs": _runs, "posterior": _posterior, "surrogate": _surrogate}[form]
    return {"id": event.id, "form": form, **make(session, event)}


def _runs(session: Session, event: Event) -> dict[str, Any]:
    """Outputs as median and nine tenths; of curves that were kept the median run and the band of all."""
    design = load_design(session, event)
    batches = batches_of(session, event)
    table = campaign_table(session.ledger, batches, design).filter(pl.col("failed").is_null())
    outputs = []
    for case in design.cases:
        part = table.filter(pl.col("case") == case)
        for name in design.study.outputs if part.height else ():
            shown = output_scale(design.study, name)
            low, middle, high = np.quantile(shown.of(part[name].to_numpy()), [0.05, 0.5, 0.95])
            label = column_label(case, name, len(design.cases))
            outputs.append([label, shown.unit, *(rounded(float(x)) for x in (low, middle, high))])
    return {"runs": table.height, "outputs": outputs, "curves": _curves(session, event)}


def _curves(session: Session, event: Event) -> list[dict[str, Any]]:
    design = load_design(session, event)
    quantities = design.study.model().quantities
    curves = []
    holding = [batch for batch in batches_of(session, event) if batch.blob("curves")]
    for case in design.cases if holding else ():
        own = [batch for batch in holding if batch_of(batch).case == case]
        for name in default_curves(design.study) if own else ():
            axis = str(quantities[name].axis)
            table = pl.concat([session.table(batch, "curves", ["sample", axis, name]) for batch in own])
            lines = [part for _, part in table.group_by("sample", maintain_order=True)]
            x = lines[0][axis].to_numpy()
            if not len(x) or not all(np.array_equal(line[axis].to_numpy(), x) for line in lines):
                continue
            at = chosen(range(len(x)), MOST_POINTS)
            values = np.array([line[name].to_numpy()[at] for line in lines])
            x_scale, y_scale = quantity_scale(design.study, axis), quantity_scale(design.study, name)
            bands = y_scale.of(np.quantile(values, [0.05, 0.5, 0.95], axis=0))
            curves.append(
                {
                    "label": column_label(case, name, len(design.cases)),
                    "x_label": x_scale.label,
                    "y_label": y_scale.label,
                    "x": [rounded(float(v)) for v in x_scale.of(x[at])],
                    "bands": [[rounded(float(v), 5) for v in band] for band in bands],
                }
            )
    return curves


def _posterior(session: Session, event: Event) -> dict[str, Any]:
    """Every unknown as a density, with mean and interval where they may be told."""
    posterior = load_posterior(session, event)
    flat = posterior.flat()
    summary = {row.name: row for row in posterior.summary.rows} if posterior.summary else {}
    unknowns = []
    for j, item in enumerate(posterior.body.parameters):
        shown = column_of(item).scale
        values = shown.of(flat[:, j])
        density, edges = np.histogram(values, BINS, density=True)
        row = summary.get(item.name)
        estimate = None
        if row is not None and None not in (row.mean, row.std):
            ends = [None if end is None else rounded(end * shown.factor) for end in row.interval]
            estimate = [
                rounded(float(row.mean or 0) * shown.factor),
                rounded(float(row.std or 0) * shown.factor),
                *ends,
            ]
        unknowns.append(
            {
                "label": shown.label,
                "edges": [rounded(float(v)) for v in edges],
                "density": [rounded(float(v), 4) for v in density],
                "estimate": estimate,
            }
        )
    return {"block": posterior.body.block, "converged": posterior.converged, "unknowns": unknowns}


def _surrogate(session: Session, event: Event) -> dict[str, Any]:
    """The error that is trusted of every output, over its variance."""
    surrogate = load_surrogate(session, event)
    cases = len({column.case for column in surrogate.columns})
    errors = [
        [column_label(column.case, column.output, cases), rounded(float(error), 4)]
        for column, error in zip(surrogate.columns, surrogate.error, strict=True)
    ]
    return {"errors": errors}
