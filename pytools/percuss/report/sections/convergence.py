"""One run at finer steps: which outputs depend on the step, and which may be quoted."""

from __future__ import annotations

from percuss.kinds.convergence_checked import ConvergenceChecked, summary
from percuss.ledger.event import Event
from percuss.plots.convergence import changes
from percuss.plots.labels import output_scale
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.trust import failures

WORDS = {"yes": "yes", "finer": "with a finer step", "no": "NO", "no limit": "NO: has no limit"}


def section(source: Source, event: Event) -> Section:
    """Verdicts, a table of the outputs, and their changes over the step."""
    study, body = source.study(event), ConvergenceChecked.of(event)
    numerics, plan = body.numerics, body.plan
    unit = "" if numerics.unit == "1" else f" {numerics.unit}"
    text = (
        f"Case {body.case}: the run of one point at `{numerics.name}` {numerics.step:g}{unit} and at "
        f"{plan.levels - 1} finer ones, each over {plan.refine}"
    )
    if numerics.tolerance is not None:
        text += f"; at the finest also with the tolerance {numerics.tolerance:g} over {plan.tighten:g}"
    rows: list[list[Cell]] = []
    for item in body.outputs:
        shown = output_scale(study, item.name)
        numbers = [x * shown.factor for x in (item.value, item.change)]
        errors = [x * shown.factor for x in (item.error, item.off, item.tolerance)]
        rows.append([item.name, shown.unit, *numbers, item.order, *errors, WORDS.get(item.quote, item.quote)])
    heads = [
        "output",
        "unit",
        "at finest step",
        "last change",
        "order",
        "error at finest step",
        "error at own step",
        "allowed error",
        "may be quoted",
    ]
    blocks: list[Block] = [Text(f"{text}."), Table("Outputs as the step shrinks", heads, rows)]
    blocks.append(changes(body, source.table(event, "convergence")))
    failed = failures(body.trust)
    heading = f"Convergence with the step: case {body.case}"
    if not failed:
        return Section(heading, blocks, [f"Convergence with the step: {summary(body)}."])
    warning = Notice("outputs depend on the numerical step:", items=[verdict.line() for verdict in failed])
    return Section(heading, [warning, *blocks], [warning])
