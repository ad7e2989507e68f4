"""Calibrations held against each other: evidence (Gupta et al., 2023, Eq. C.12), leave-one-out, posteriors beside each
other.

Evidence and leave-one-out weigh models against the same data; of calibrations on other data only posteriors are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf, isnan, nan
from typing import Any

import polars as pl

from percuss.calibration.records import COMPARISON, Posterior
from percuss.errors import InputError
from percuss.inference.evidence import Evidence, bayes_factor
from percuss.inference.loo import Loo, difference
from percuss.ledger.event import Draft, StudyRef
from percuss.ledger.ledger import Ledger
from percuss.trust import Trust, write_trust

KEYS = ("case", "output", "value", "entry")


def compare(posteriors: Sequence[Posterior], trust: Trust = ()) -> tuple[dict[str, Any], pl.DataFrame]:
    """The body and the table of a comparison; `trust` is what it inherits."""
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
            factor = bayes_factor(first, second)
            error = None if isnan(factor.error) else factor.error
            factors.append(
                {"first": ids[i], "second": ids[j], "log": factor.log, "error": error, "words": factor.words}
            )
        if data[i]["loo"].null_count() == 0 and data[j]["loo"].null_count() == 0:
            gain, error = difference(_loo(posteriors[i], data[i]), _loo(posteriors[j], data[j]))
            differences.append({"first": ids[i], "second": ids[j], "difference": gain, "error": error})
    if any(item and item.method == "laplace" for item in evidence):
        notes.append("an evidence is Laplace's: right where the posterior is near Gaussian, in doubt elsewhere")
    body = {
        "posteriors": [_facts(*pair) for pair in zip(posteriors, evidence, strict=True)],
        "bayes_factors": factors,
        "loo_differences": differences,
        "same_data": same,
        "trust": write_trust(trust),
        "notes": notes,
    }
    return body, pl.DataFrame([row for posterior in posteriors for row in _rows(posterior)])


def best_evidence(posterior: Posterior) -> Evidence | None:
    """The trusted evidence of least error; Laplace's, which knows none, only where there is no other."""
    found = [
        Evidence(method, told["log_evidence"], nan if told["error"] is None else told["error"])
        for method, told in posterior.body["evidence"].items()
        if not told["notes"]
    ]
    return min(found, key=lambda evidence: inf if isnan(evidence.error) else evidence.error, default=None)


def _loo(posterior: Posterior, data: pl.DataFrame) -> Loo:
    told = posterior.body["loo"]
    pointwise, ks = (data[name].to_numpy() for name in ("loo", "pareto_k"))
    return Loo(told["elpd"], told["elpd_error"], told["effective_parameters"], pointwise, ks, told["reliable"])


def _facts(posterior: Posterior, evidence: Evidence | None) -> dict[str, Any]:
    chosen = None
    if evidence:
        error = None if isnan(evidence.error) else evidence.error
        chosen = {"method": evidence.method, "log_evidence": evidence.log_evidence, "error": error}
    keys = ("block", "sampler", "converged", "loo")
    return {
        "id": posterior.event.id,
        "study": posterior.study.name,
        **{key: posterior.body[key] for key in keys},
        "entries": posterior.data.height,
        "evidence": chosen,
    }


def _rows(posterior: Posterior) -> list[dict[str, Any]]:
    return [
        {
            "posterior": posterior.event.id,
            "block": posterior.body["block"],
            "parameter": row["name"],
            "unit": posterior.units[row["name"]],
            **{key: row[key] for key in ("mean", "std", "median", "mode")},
            "low": row["interval"][0],
            "high": row["interval"][1],
        }
        for row in posterior.trusted_summary()["rows"]
    ]


def draft_comparison(
    ledger: Ledger, posteriors: Sequence[Posterior], body: Mapping[str, Any], table: pl.DataFrame
) -> Draft:
    """The event of a comparison; it belongs to a study if all posteriors do."""
    studies = {(posterior.study.name, posterior.study.digest) for posterior in posteriors}
    study = StudyRef(*studies.pop()) if len(studies) == 1 else None
    inputs = [("posterior", posterior.event) for posterior in posteriors]
    return Draft(COMPARISON, body, study, inputs, [ledger.put_table("posteriors", table)])
