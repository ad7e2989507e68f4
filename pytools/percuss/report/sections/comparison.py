"""Calibrations side by side: evidence, predictive scores, parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from percuss.calibration.records import load_comparison
from percuss.kinds.comparison_made import ComparedFacts, ComparisonMade
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Gallery, Notice, Section, Table, Tone
from percuss.report.drawing import BLUE, INK, ORANGE, PURPLE, THIRD, canvas, height_for, picture
from percuss.report.labels import scale
from percuss.report.source import Source


def section(source: Source, event: Event) -> Section:
    """Tables of scores, and each parameter as every calibration sees it."""
    comparison = load_comparison(source.session, event)
    body = ComparisonMade.of(event)
    names = _names(body.posteriors)
    rows: list[list[Cell]] = []
    for item in body.posteriors:
        verdict = "converged" if item.converged else "UNCONVERGED"
        scores: list[Cell] = [item.evidence.log_evidence, item.evidence.error] if item.evidence else [None, None]
        scores += [item.loo.elpd, item.loo.elpd_error] if item.loo else [None, None]
        rows.append([names[item.id], item.sampler, verdict, item.entries, *scores])
    heads = ["calibration", "sampler", "", "values", "log evidence", "error", "leave-one-out", "error"]
    tone: Tone = "note" if body.same_data else "warning"
    blocks: list[Block] = [Notice(f"{note}.", tone) for note in body.notes]
    blocks.append(Table("Calibrations", heads, rows))
    short = []
    if factors := body.bayes_factors:
        difference_rows: list[list[Cell]] = [
            [names[f.first], names[f.second], f.log, f.error, f.words] for f in factors
        ]
        blocks.append(
            Table(
                "Bayes factors: the first against the second", ["first", "second", "log", "error", ""], difference_rows
            )
        )
        short = [
            f"{names[f.first]} against {names[f.second]}: {f.words} (log Bayes factor {f.log:.3g})."
            for f in factors[:3]
        ]
    if differences := body.loo_differences:
        difference_rows = [[names[f.first], names[f.second], f.difference, f.error] for f in differences]
        blocks.append(
            Table(
                "Leave-one-out: the first minus the second", ["first", "second", "difference", "error"], difference_rows
            )
        )
    blocks.append(_side_by_side(comparison.posteriors, names))
    return Section("Comparison", blocks, short)


def _names(posteriors: Sequence[ComparedFacts]) -> dict[str, str]:
    """Calibrations by block; where blocks have the same name, by the end of the id as well."""
    blocks = [item.block for item in posteriors]
    return {i.id: i.block if blocks.count(i.block) == 1 else f"{i.block} {i.id[-6:]}" for i in posteriors}


def _side_by_side(table: pl.DataFrame, names: dict[str, str]) -> Gallery:
    figures = []
    for (parameter,), rows in table.partition_by(["parameter"], as_dict=True, maintain_order=True).items():
        shown = scale(str(parameter), rows["unit"][0])
        figure, axes = canvas(1, 1, THIRD, height_for(rows.height, 0.28, 0.75))
        axis = axes[0, 0]
        places = np.arange(rows.height)[::-1]
        numbers = {name: shown.of(rows[name].cast(pl.Float64).to_numpy()) for name in ("low", "high", "mean", "mode")}
        axis.hlines(places, numbers["low"], numbers["high"], color=BLUE, linewidth=2.5, alpha=0.7)
        axis.plot(numbers["mean"], places, "o", color=ORANGE, markersize=4.5, markeredgecolor=INK, markeredgewidth=0.4)
        axis.plot(numbers["mode"], places, "D", color=PURPLE, markersize=4, markeredgecolor=INK, markeredgewidth=0.4)
        axis.set_yticks(places, [names.get(id, id[-6:]) for id in rows["posterior"]])
        axis.set_ylim(-0.6, rows.height - 0.4)
        axis.tick_params(left=False)
        axis.grid(axis="x")
        axis.set_xlabel(shown.label)
        means = ", ".join(
            f"{names.get(row['posterior'], '')} {row['mean'] * shown.factor:.4g}"
            for row in rows.iter_rows(named=True)
            if row["mean"] is not None
        )
        figures.append(picture(figure, f"{shown.label} in every calibration, means: {means}"))
    return Gallery(figures, "Each parameter in every calibration: interval (line), mean (circle), MAP (diamond).")
