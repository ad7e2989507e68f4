"""The next test: what candidates are expected to tell, and whether twins achieved it."""

from __future__ import annotations

from percuss.kinds.advice_computed import AdviceComputed
from percuss.ledger.event import Event
from percuss.plots.advice import draw_advice
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import with_error


def section(source: Source, event: Event) -> Section:
    """The verdicts, gains and contractions, and the twins."""
    body = AdviceComputed.of(event)
    candidates, contractions = source.table(event, "candidates"), source.table(event, "contractions")
    text = (
        f"What each of {len(body.candidates)} tests is expected to tell about {', '.join(body.about)}, beside the data "
        f"there are: a nested estimate from {body.outer} outer and {body.inner} inner draws of the posterior, its bias "
        "corrected. A contraction of 0.5 halves the variance."
    )
    blocks: list[Block] = [Text(text)]
    own = [verdict for verdict in body.trust if verdict.gate == "advice" and verdict.source is None]
    blocks += [Notice(f"{verdict.sentence}.", "good" if verdict.passed else "warning") for verdict in own]
    blocks += [
        Notice(f"Left out of {item.candidate}: {item.measurement}: {item.reason}.", "note") for item in body.left_out
    ]
    by = {(row["candidate"], row["quantity"]): row for row in contractions.iter_rows(named=True)}
    rows: list[list[Cell]] = [
        [
            row["candidate"],
            with_error(row["gain"], row["gain_error"]),
            row["cost"],
            f"{row['per_cost']:.3g}",
            f"{row['gaussian']:.3g}",
            *(f"{by[row['candidate'], name]['contraction']:.3f}" for name in body.about),
        ]
        for row in candidates.iter_rows(named=True)
    ]
    heads = ["candidate", "gain, nats", "cost", "per cost", "Gaussian", *(f"contraction of {n}" for n in body.about)]
    blocks += [Table("Candidates", heads, rows), draw_advice(body, candidates, contractions)]
    if body.tried:
        tried: list[list[Cell]] = [[t.quantity, t.foreseen, t.achieved, t.error] for t in body.tried]
        title = f"{body.converged} twins of {body.advised}: contractions in the mean"
        blocks.append(
            Table(title, ["quantity", "foreseen for their data", "achieved", "error of the difference"], tried)
        )
    short = [f"The next test: {verdict.sentence}." for verdict in own[:1]]
    return Section("The next test", blocks, short)
