"""Bayes factors between validated models: their constant calibrations on the same data held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import nan
from typing import Any

import polars as pl

from percuss.errors import InputError
from percuss.inference.evidence import Evidence, bayes_factor
from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger
from percuss.trust import Trust, write_trust
from percuss.validation.storage import Validation

KIND = "comparison.made"


def weigh(validations: Sequence[Validation], trust: Trust = ()) -> tuple[dict[str, Any], pl.DataFrame]:
    """The body and the table of a comparison, as `percuss compare` gives them for posteriors."""
    if len(validations) < 2:
        raise InputError("compare: needs at least two validations")
    for item in validations:
        if item.body["calibration"] is None:
            raise InputError(f"validation {item.event.id}: has no constant calibration, so no evidence")
    keys = ("samples", "step_s", "observed", "gaps")
    seen = [
        [item.body["data"]["sha256"], item.body["calibration"]["samples"], *(item.body[key] for key in keys)]
        for item in validations
    ]
    same = all(facts == seen[0] for facts in seen[1:])
    notes = [] if same else ["they were calibrated on different data: evidence does not compare them"]
    chosen = [_evidence(item) for item in validations]
    factors = []
    for i, j in combinations(range(len(validations)), 2) if same else ():
        # Laplace's where both have it: its error is far below that of sampling where the posterior is near Gaussian
        factor = bayes_factor(chosen[i], chosen[j])
        pair = {"first": validations[i].event.id, "second": validations[j].event.id}
        factors.append(pair | {"log": factor.log, "error": factor.error, "words": factor.words})
    body = {
        "posteriors": [
            {
                "id": item.event.id,
                "study": item.event.study.name if item.event.study else "",
                "block": item.body["model"],
                "sampler": "importance-resampling",
                "converged": not item.body["calibration"]["notes"],
                "loo": None,
                "entries": item.body["calibration"]["samples"] * len(item.body["observed"]),
                "evidence": {"method": best.method, "log_evidence": best.log_evidence, "error": best.error},
            }
            for item, best in zip(validations, chosen, strict=True)
        ],
        "bayes_factors": factors,
        "loo_differences": [],
        "same_data": same,
        "trust": write_trust(trust),
        "notes": notes,
    }
    rows = [
        {"posterior": item.event.id, "block": item.body["model"], "parameter": row["name"], "unit": "1"}
        | {key: row[key] for key in ("mean", "std", "median", "mode", "low", "high")}
        for item in validations
        for row in item.body["calibration"]["parameters"]
    ]
    return body, pl.DataFrame(rows)


def _evidence(item: Validation) -> Evidence:
    """Laplace's, with its distance from that by importance sampling as the error."""
    told = item.body["calibration"]["evidence"]
    laplace, sampled = told["laplace"]["log_evidence"], told["importance"]["log_evidence"]
    return Evidence("laplace", laplace, abs(laplace - sampled) if sampled is not None else nan)


def draft_weighed(
    ledger: Ledger, validations: Sequence[Validation], body: dict[str, Any], table: pl.DataFrame
) -> Draft:
    """The event of a comparison; it belongs to a study if all validations do."""
    studies = {item.event.study for item in validations}
    study = studies.pop() if len(studies) == 1 else None
    inputs = [("posterior", item.event) for item in validations]
    return Draft(KIND, body, study, inputs, [ledger.put_table("posteriors", table)])
