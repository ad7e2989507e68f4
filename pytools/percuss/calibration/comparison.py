"""Calibrations held against each other: evidence (Gupta et al., 2023, Eq. C.12), leave-one-out, posteriors beside each
other.

Evidence and leave-one-out compare models on the same data; of calibrations on other data only posteriors are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf, isnan, nan
from typing import Any

import polars as pl

from percuss.calibration.records import Posterior
from percuss.errors import InputError
from percuss.inference.evidence import Evidence, bayes_factor
from percuss.inference.loo import difference
from percuss.kinds.comparison_made import BayesFactor, ChosenEvidence, ComparedFacts, ComparisonMade, LooDifference

KEYS = ("case", "output", "value", "entry")


def compare(posteriors: Sequence[Posterior]) -> tuple[ComparisonMade, pl.DataFrame]:
    """The body, before its verdicts, and the table of a comparison."""
    if len(posteriors) < 2:
        raise InputError("compare: needs at least two posteriors")
    ids = [posterior.event.id for posterior in posteriors]
    if len(set(ids)) < len(ids):
        raise InputError(f"compare: posterior {next(id for id in ids if ids.count(id) > 1)} is given twice")
    for posterior in posteriors:
        posterior.trusted_summary()
    data = [posterior.data.sort(KEYS) for posterior in posteriors]
    same = all(table.select(KEYS[:3]).equals(data[0].select(KEYS[:3])) for table in data[1:])
    notes = [] if same else ["they were calibrated on different data: neither evidence nor leave-one-out compares them"]
    evidence = [best_evidence(posterior) for posterior in posteriors]
    pairs = list(combinations(range(len(posteriors)), 2)) if same else []
    factors, differences = [], []
    for i, j in pairs:
        first, second = evidence[i], evidence[j]
        if first and second:
            factors.append(weighed(ids[i], ids[j], first, second))
        if data[i]["loo"].null_count() == 0 and data[j]["loo"].null_count() == 0:
            gain, error = difference(data[i]["loo"].to_numpy(), data[j]["loo"].to_numpy())
            differences.append(LooDifference(first=ids[i], second=ids[j], difference=gain, error=error))
    if any(item and item.method == "laplace" for item in evidence):
        notes.append("an evidence is Laplace's: right where the posterior is near Gaussian, in doubt elsewhere")
    body = ComparisonMade(
        posteriors=tuple(_facts(*pair) for pair in zip(posteriors, evidence, strict=True)),
        bayes_factors=tuple(factors),
        loo_differences=tuple(differences),
        same_data=same,
        trust=(),
        notes=tuple(notes),
    )
    return body, pl.DataFrame([row for posterior in posteriors for row in _rows(posterior)])


def weighed(first: str, second: str, evidence: Evidence, other: Evidence) -> BayesFactor:
    """The Bayes factor between two events by their evidence."""
    factor = bayes_factor(evidence, other)
    error = None if isnan(factor.error) else factor.error
    return BayesFactor(first=first, second=second, log=factor.log, error=error, words=factor.words)


def chosen(evidence: Evidence) -> ChosenEvidence:
    """The evidence that was compared."""
    error = None if isnan(evidence.error) else evidence.error
    return ChosenEvidence(method=evidence.method, log_evidence=evidence.log_evidence, error=error)


def best_evidence(posterior: Posterior) -> Evidence | None:
    """The trusted evidence of least error; Laplace's, which knows none, only where there is no other."""
    trusted = [
        Evidence(method, facts.log_evidence, nan if facts.error is None else facts.error)
        for method, facts in posterior.body.evidence.items()
        if not facts.notes and facts.log_evidence is not None
    ]
    return min(trusted, key=lambda evidence: inf if isnan(evidence.error) else evidence.error, default=None)


def _facts(posterior: Posterior, evidence: Evidence | None) -> ComparedFacts:
    body = posterior.body
    return ComparedFacts(
        id=posterior.event.id,
        study=posterior.study.name,
        block=body.block,
        sampler=body.sampler,
        converged=body.converged,
        loo=body.loo,
        entries=posterior.data.height,
        evidence=chosen(evidence) if evidence else None,
    )


def _rows(posterior: Posterior) -> list[dict[str, Any]]:
    return [
        {
            "posterior": posterior.event.id,
            "block": posterior.body.block,
            "parameter": row.name,
            "unit": posterior.units[row.name],
            "mean": row.mean,
            "std": row.std,
            "median": row.median,
            "mode": row.mode,
            "low": row.interval[0],
            "high": row.interval[1],
        }
        for row in posterior.trusted_summary().rows
    ]
