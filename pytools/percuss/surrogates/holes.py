"""Failed runs are holes in a design: how many there are, and where in parameter space they lie."""

from __future__ import annotations

import numpy as np

from percuss.execution.results import Campaign
from percuss.spelling import counted
from percuss.units import from_si

# A parameter is named when the failed runs fill less than this share of its probability.
NARROW = 0.6


def hole_sentences(campaign: Campaign) -> list[str]:
    """One sentence a case with failed runs: their number, the most frequent reason, and where they lie."""
    sentences = []
    for runs in campaign.cases:
        if not runs.failures:
            continue
        rows = np.array(sorted(runs.failures))
        reasons = list(runs.failures.values())
        total = len(rows) + len(runs.rows)
        sentence = f"case {runs.case}: {len(rows)} of {counted(total, 'run')} failed and are holes in the design"
        places = _places(campaign, rows)
        sentence += f", at {' and '.join(places)}" if places else ", all over the parameter space"
        common = max(set(reasons), key=lambda reason: (reasons.count(reason), reason))
        sentences.append(f"{sentence} ({common})")
    return sentences


def _places(campaign: Campaign, rows: np.ndarray) -> list[str]:
    """The ranges of the parameters in which the failed runs crowd, the narrowest first, at most three."""
    places = []
    for j, name in enumerate(campaign.names):
        parameter = campaign.study.parameters[name]
        values = campaign.theta[rows, j]
        filled = np.ptp(np.asarray(parameter.prior.cdf(values)))
        if len(rows) == 1 or filled < NARROW:
            low, high = (from_si(float(end), parameter.unit) for end in (values.min(), values.max()))
            unit = "" if parameter.unit == "1" else f" {parameter.unit}"
            where = f"{name} = {low:.4g}{unit}" if len(rows) == 1 else f"{name} from {low:.4g} to {high:.4g}{unit}"
            places.append((float(filled), where))
    return [where for _, where in sorted(places)[:3]]
