"""All campaigns in one table: what their outputs came out as, and their runs for a scatter."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from percuss.designs.design import load_design
from percuss.execution.records import batches_of, campaign_table
from percuss.ledger.event import Event
from percuss.plots.drawing import chosen
from percuss.plots.labels import output_scale, parameter_scale, scale
from percuss.session import Session
from percuss.site.scripts import rounded

# Runs of one campaign that a scatter shows; evenly chosen where there are more.
MOST_RUNS = 2000


def campaign_data(session: Session, event: Event) -> dict[str, Any]:
    """Outputs of every case (mean, standard deviation, 5, 50 and 95 %), and the runs by column; units of the study."""
    design = load_design(session, event)
    study = design.study
    batches = batches_of(session, event)
    table = campaign_table(session.ledger, batches, design)
    finished = table.filter(pl.col("failed").is_null())
    rows = []
    for case in design.cases:
        part = finished.filter(pl.col("case") == case)
        for name in study.outputs if part.height else ():
            shown = output_scale(study, name)
            values = shown.of(part[name].to_numpy())
            spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
            # One run has a value and no spread.
            quantiles = np.quantile(values, [0.05, 0.5, 0.95]) if len(values) > 1 else np.full(3, np.nan)
            numbers = [float(values.mean()), spread, *quantiles]
            rows.append([case, name, shown.unit, part.height, *(rounded(float(x)) for x in numbers)])
    kept = finished[chosen(range(finished.height), MOST_RUNS)] if finished.height else finished
    scales = [parameter_scale(study, name) if name in study.parameters else scale(name, "1") for name in design.names]
    columns: dict[str, list[Any]] = {"case": kept["case"].to_list()}
    samples = kept["sample"].to_numpy()
    for j, shown in enumerate(scales):
        columns[shown.label] = [rounded(float(v)) for v in shown.of(design.values[samples, j])]
    for name in study.outputs:
        shown = output_scale(study, name)
        columns[shown.label] = [rounded(float(v)) for v in shown.of(kept[name].to_numpy())]
    return {
        "id": event.id,
        "study": study.name,
        "runs": table.height,
        "failed": table.height - finished.height,
        "parameters": [shown.label for shown in scales],
        "rows": rows,
        "columns": columns,
    }
