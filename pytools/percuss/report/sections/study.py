"""What was studied: model, parameters with their priors, cases, outputs."""

from __future__ import annotations

import math

from percuss.ledger.event import Event
from percuss.plots.labels import Scale, input_text, parameter_scale, unit_text
from percuss.plots.priors import prior_densities
from percuss.plots.system import system_picture
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.study.priors.prior import Prior
from percuss.study.priors.tensor import Component
from percuss.study.study import Study


def section(source: Source, event: Event) -> Section:
    """The study as it was registered."""
    study = source.study(event)
    blocks: list[Block] = []
    if study.notes:
        blocks.append(Text(study.notes))
    blocks.append(Text(f"Source: {study.source}. Model: `{study.model_kind}`; study file `{study.digest[:16]}`."))
    if (system := system_picture(study)) is not None:
        blocks.append(system)
    if source.film is not None:
        blocks.append(source.film)
    if study.parameters:
        blocks += [_parameters(study), prior_densities(study)]
    if any(study.cases.values()):
        blocks.append(_cases(study))
    if records := study.records():
        caption = "Records of the base motion, before any scaling; PGV from rest"
        blocks.append(Table(caption, records[0].HEADS, [record.row() for record in records]))
        if apart := [record.mismatch() for record in records if record.mismatch()]:
            blocks.append(Notice("records that do not end with the run:", items=apart))
    blocks.append(_outputs(study))
    if without_limit := study.without_limit():
        notice = "these outputs have no limit as the step of the model shrinks:"
        blocks.append(Notice(notice, items=[f"{name}: {why}" for name, why in without_limit.items()]))
    return Section("Study", blocks)


def _parameters(study: Study) -> Table:
    rows: list[list[Cell]] = []
    for name, parameter in study.parameters.items():
        shown = parameter_scale(study, name)
        ends = [float(x) for x in shown.of(parameter.prior.ppf([0.025, 0.975]))]
        rows.append([name, shown.unit, prior_text(parameter.prior, shown), *ends, parameter.doc])
    heads = ["parameter", "unit", "prior", "2.5 %", "97.5 %", "what it is"]
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return Table("Uncertain parameters, each in its own unit", heads, rows)


def prior_text(prior: Prior, shown: Scale) -> str:
    """A prior in words, in the unit of its parameter."""
    if isinstance(prior, Component):
        return f"{prior.kind} (mean {prior.mean() * shown.factor:.6g})"
    in_unit = {
        "value": lambda value: value * shown.factor,
        "log": lambda value: value + math.log(shown.factor),
        "plain": lambda value: value,
    }
    fields = [f"{name} {in_unit[prior.roles[name]](value):.6g}" for name, value in prior.fields.items()]
    return f"{prior.kind} ({', '.join(fields)})"


def _cases(study: Study) -> Table:
    names = list(dict.fromkeys(name for values in study.cases.values() for name in values))
    rows = [
        [case, *(input_text(study, name, values[name]) if name in values else None for name in names)]
        for case, values in study.cases.items()
    ]
    return Table("Cases: what differs from one to the next", ["case", *names], rows)


def _outputs(study: Study) -> Table:
    quantities = study.model().quantities
    rows: list[list[Cell]] = []
    for output in study.outputs.values():
        how = output.reduce or "as it is"
        axis = quantities[output.quantity].axis
        unit = unit_text(quantities[axis].unit) if axis else ""
        if output.at is not None:
            how = f"at {output.at:g} {unit}"
        elif output.start is not None or output.stop is not None:
            ends = [
                f"{word} {end:g} {unit}"
                for word, end in (("from", output.start), ("to", output.stop))
                if end is not None
            ]
            how += f", {' '.join(ends)}"
        if output.window is not None:
            how += f" of the mean over {output.window:g} {unit}"
        rows.append(
            [output.name, unit_text(output.unit), output.quantity, how, output.doc or quantities[output.quantity].doc]
        )
    return Table("Outputs: what is asked of every run", ["output", "unit", "quantity", "taken", "what it is"], rows)
