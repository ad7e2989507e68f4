"""Calibrations side by side: evidence, predictive scores, parameters."""

from __future__ import annotations

from percuss.calibration.records import load_comparison
from percuss.kinds.comparison_made import ComparisonMade
from percuss.ledger.event import Event
from percuss.plots.comparison import in_study_units, names_of, side_by_side
from percuss.plots.labels import number_or_nan
from percuss.report.blocks import Block, Cell, Gallery, Notice, Section, Table, Tone
from percuss.report.source import Source
from percuss.spelling import log_text


def section(source: Source, event: Event) -> Section:
    """Tables of scores, and each parameter as every calibration sees it."""
    comparison = load_comparison(source.session, event)
    body = ComparisonMade.of(event)
    names = names_of(body.posteriors)
    rows: list[list[Cell]] = []
    for item in body.posteriors:
        verdict = "converged" if item.converged else "UNCONVERGED"
        scores: list[Cell] = [_score(item.evidence.log_evidence, item.evidence.error) if item.evidence else None]
        scores.append(_score(item.loo.elpd, item.loo.elpd_error) if item.loo else None)
        rows.append([names[item.id], item.sampler, verdict, item.entries, *scores])
    heads = ["calibration", "sampler", "standing", "values", "log evidence ± error", "leave-one-out ± error"]
    tone: Tone = "note" if body.same_data else "warning"
    blocks: list[Block] = [Notice(f"{note}.", tone) for note in body.notes]
    blocks.append(Table("Calibrations", heads, rows))
    short = []
    if factors := body.bayes_factors:
        difference_rows: list[list[Cell]] = [
            [names[f.first], names[f.second], _score(f.log, f.error), f.words] for f in factors
        ]
        blocks.append(
            Table(
                "Bayes factors: the first against the second",
                ["first", "second", "log ± error", "in words"],
                difference_rows,
            )
        )
        short = [
            f"{names[f.first]} against {names[f.second]}: {f.words} (log Bayes factor {_score(f.log, f.error)})."
            for f in factors[:3]
        ]
    if differences := body.loo_differences:
        difference_rows = [[names[f.first], names[f.second], _score(f.difference, f.error)] for f in differences]
        blocks.append(
            Table(
                "Leave-one-out: the first minus the second", ["first", "second", "difference ± error"], difference_rows
            )
        )
    table = in_study_units(source.session, event, comparison.posteriors)
    blocks.append(Gallery(*side_by_side(table, names)))
    models = [item.block for item in body.posteriors]
    own = [" and ".join(models)] if len(set(models)) == len(models) else []
    return Section(": ".join(["Comparison", *own]), blocks, short)


def _score(value: float | None, error: float | None) -> str:
    return log_text(number_or_nan(value), error)
