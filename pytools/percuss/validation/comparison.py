"""Bayes factors between validated models: their constant calibrations on the same data held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import nan
from typing import Any

import polars as pl

from percuss.calibration.comparison import chosen, weighed
from percuss.errors import InputError
from percuss.inference.evidence import Evidence
from percuss.kinds.comparison_made import ComparedFacts, ComparisonMade
from percuss.kinds.validation_computed import ConstantCalibration
from percuss.validation.storage import Validation


def weigh(validations: Sequence[Validation]) -> tuple[ComparisonMade, pl.DataFrame]:
    """The body, before its verdicts, and the table of a comparison, as `percuss compare` gives them for posteriors."""
    if len(validations) < 2:
        raise InputError("compare: needs at least two validations")
    calibrations = [_calibration(item) for item in validations]
    seen = [_seen(*pair) for pair in zip(validations, calibrations, strict=True)]
    same = all(facts == seen[0] for facts in seen[1:])
    notes = () if same else ("they were calibrated on different data: evidence does not compare them",)
    evidence = [_evidence(item, known) for item, known in zip(validations, calibrations, strict=True)]
    ids = [item.event.id for item in validations]
    body = ComparisonMade(
        posteriors=tuple(_facts(*row) for row in zip(validations, calibrations, evidence, strict=True)),
        bayes_factors=tuple(
            # Laplace's where both have it: its error is far below that of sampling where the posterior is near Gaussian
            weighed(ids[i], ids[j], evidence[i], evidence[j])
            for i, j in (combinations(range(len(validations)), 2) if same else ())
        ),
        same_data=same,
        trust=(),
        notes=notes,
    )
    keys = ("mean", "std", "median", "mode", "low", "high")
    rows = [
        {"posterior": item.event.id, "block": item.body.model, "parameter": row.name, "unit": "1"}
        | {key: getattr(row, key) for key in keys}
        for item, known in zip(validations, calibrations, strict=True)
        for row in known.parameters
    ]
    return body, pl.DataFrame(rows)


def _calibration(item: Validation) -> ConstantCalibration:
    if item.body.calibration is None:
        raise InputError(f"validation {item.event.id}: has no constant calibration, so no evidence")
    return item.body.calibration


def _seen(item: Validation, known: ConstantCalibration) -> tuple[Any, ...]:
    """What a constant calibration saw of which data."""
    body = item.body
    return (body.data and body.data.sha256, known.samples, body.samples, body.step_s, body.observed, body.gaps)


def _facts(item: Validation, known: ConstantCalibration, evidence: Evidence) -> ComparedFacts:
    return ComparedFacts(
        id=item.event.id,
        study=item.event.study.name if item.event.study else "",
        block=item.body.model,
        sampler="importance-resampling",
        converged=not known.notes,
        loo=None,
        entries=known.samples * len(item.body.observed),
        evidence=chosen(evidence),
    )


def _evidence(item: Validation, known: ConstantCalibration) -> Evidence:
    """Laplace's, with its distance from that by importance sampling as the error."""
    laplace, sampled = known.evidence["laplace"].log_evidence, known.evidence["importance"].log_evidence
    if laplace is None:
        raise InputError(f"validation {item.event.id}: the evidence of its constant calibration is not finite")
    return Evidence("laplace", laplace, abs(laplace - sampled) if sampled is not None else nan)
