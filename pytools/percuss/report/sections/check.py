"""A regression study: what should come out, and what did."""

from __future__ import annotations

from percuss.kinds.check_passed import CheckPassed
from percuss.ledger.event import Event
from percuss.plots.labels import output_scale, scale
from percuss.report.blocks import Cell, Notice, Section, Table
from percuss.report.source import Source
from percuss.spelling import counted


def section(source: Source, event: Event) -> Section:
    """The values compared, and whether they hold."""
    study = source.study(event)
    body = CheckPassed.of(event)
    rows: list[list[Cell]] = []
    for item in body.values:
        shown = scale(item.output, "1") if item.statistic == "failed" else output_scale(study, item.output)
        name = item.output if item.statistic == "value" else f"{item.statistic}({item.output})"
        numbers = [float(x) * shown.factor for x in (item.expected, item.found, item.tolerance)]
        verdict = "holds" if item.holds else "MOVED"
        rows.append([name, item.case, shown.unit, *numbers, verdict, item.because])
    passed = event.kind == "check.passed"
    word = "holds" if passed else f"MOVED: {body.moved} of {counted(body.compared, 'value')}"
    notice = Notice(f"Check {body.name}: {word}.", "good" if passed else "warning")
    heads = ["value", "case", "unit", "expected", "found", "tolerance", "answer", "because"]
    return Section(f"Check {body.name}", [notice, Table("Values compared", heads, rows)], [notice])
