"""The points of a design: how they fill the space of the parameters."""

from __future__ import annotations

from percuss.kinds.design_created import DesignCreated
from percuss.ledger.event import Event
from percuss.plots.labels import input_text
from percuss.plots.scatter import MOST_PARAMETERS, scatter_matrix
from percuss.report.blocks import Block, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import counted


def section(source: Source, event: Event) -> Section:
    """How the points were chosen, and where they lie."""
    design = source.design(event)
    n, d = design.values.shape
    names = ", ".join(design.cases)
    cases = f"case {names}" if len(design.cases) == 1 else f"{counted(len(design.cases), 'case')} ({names})"
    points = f"{counted(n, 'point')} of {counted(d, 'parameter')}"
    words = f"{points}, sampler `{design.sampler}`, seed {design.seed}, {cases}."
    options = {key: value for key, value in DesignCreated.of(event).options.items() if value not in (None, "")}
    if options:
        words += " Options: " + ", ".join(f"{name} = {value}" for name, value in options.items()) + "."
    blocks: list[Block] = [Text(words)]
    if design.fixed:
        rows = [[name, input_text(design.study, name, value)] for name, value in design.fixed.items()]
        blocks.append(Table("Held fixed in every run", ["input", "value"], rows))
    if d and n > 1 and not _draws_failures(source, event):
        blocks.append(scatter_matrix(design))
        if d > MOST_PARAMETERS:
            blocks.append(Text(f"The first {MOST_PARAMETERS} of {d} parameters are shown."))
    return Section(design_title("Design", source, event), blocks, [f"{points} in {cases}."] if n > 1 else [])


def design_title(word: str, source: Source, event: Event) -> str:
    """A title about a design: its case, if it has one; where a lineage has several, what tells them apart."""
    body = DesignCreated.of(event)
    which = f" ({body.sampler}, {counted(body.n, 'point')})" if len(source.designs()) > 1 else ""
    case = f": {body.cases[0]}" if len(body.cases) == 1 < len(source.study(event).cases) else ""
    return f"{word}{case}{which}"


def _draws_failures(source: Source, event: Event) -> bool:
    """Whether the section on the runs draws the points again, with those that failed."""
    return any(batch.kind == "runs.failed" for batch in source.batches(event))
