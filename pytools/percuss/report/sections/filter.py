"""A filter: what the observations make of the parameters of an ensemble, step by step."""

from __future__ import annotations

from percuss.kinds.filter_updated import FilterUpdated
from percuss.ledger.event import Event
from percuss.plots import filtering
from percuss.plots.labels import number_or_nan, parameter_scale
from percuss.plots.subject import Request, Subject
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import counted, log_text, number_text, span_text, with_error


def section(source: Source, event: Event) -> Section:
    """Estimates first, then their evolution, their densities and the runs that carry weight."""
    body, study = FilterUpdated.of(event), source.study(event)
    subject = Subject(source.session, (event,), Request())
    cases = ", ".join(body.cases)
    worth = f"{body.samples} samples worth {number_text(body.effective, 3)}"
    words = (
        f"{counted(body.observed.steps, 'step')} of `{body.observed.file}` ({', '.join(body.observed.variables)}), "
        f"case {cases}"
    )
    blocks: list[Block] = [
        Text(
            f"{words}; {worth}. Error of the observations: {body.covariance.mode}, scale {body.covariance.scale:g}. "
            f"Log evidence {log_text(number_or_nan(body.log_evidence))}."
        )
    ]
    if body.left_out:
        blocks.append(Notice(f"{body.left_out} points without a finished run in every case are left out.", "note"))
    short: list[str | Notice] = []
    if body.identified is None:
        blocks.append(Notice(f"too few samples carry weight: {worth}; no estimate is given."))
        short.append(Notice(f"filter of {cases}: {worth}; no estimate is given."))
    else:
        rows: list[list[Cell]] = []
        claims = []
        for name, estimate in body.identified.items():
            shown = parameter_scale(study, name)
            mean, std, low, high, best = (
                x * shown.factor
                for x in (estimate.mean, estimate.std, estimate.q05, estimate.q95, estimate.most_probable)
            )
            rows.append([name, shown.unit, with_error(mean, std), span_text(low, high), best])
            claims.append(f"{name} = {with_error(mean, std)} {shown.unit}".rstrip())
        heads = ["parameter", "unit", "mean ± std", "5 to 95 %", "most probable run"]
        blocks.append(Table("Identified parameters", heads, rows))
        short.append(f"Identified from {cases}: {'; '.join(claims)}.")
        blocks += [filtering.draw(subject), filtering.densities(subject)]
    if body.probabilities:
        models: list[list[Cell]] = [
            ["this model" if name == "this" else f"`{name}`", p] for name, p in body.probabilities.items()
        ]
        blocks.append(Table("Probabilities of models on the same data", ["model", "probability"], models))
    blocks.append(filtering.runs(subject))
    return Section(f"Filter: {cases}", blocks, short)
