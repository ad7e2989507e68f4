"""`percuss plot`: curves of runs, regions of them, or paths of parameters in validations, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, complete_events, open_ledger, reference

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss plot @last --curve u2 --curve a2 --to response.svg")
def plot(
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="EVENT...",
            help="Runs with curves, their campaign, a region, or validations.",
            autocompletion=complete_events,
        ),
    ],
    to: Annotated[Path, typer.Option(help="File to write: .svg, .png or .pdf.", metavar="FILE")],
    curve: Annotated[list[str] | None, typer.Option(help="Which quantities; one panel each.")] = None,
    title: Annotated[str, typer.Option(help="A line above it.")] = "",
    samples: Annotated[int, typer.Option(min=1, help="At most so many runs of each event and case.")] = 8,
    window: Annotated[
        tuple[float, float] | None, typer.Option(help="Of validations: from and to, in s.", metavar="FROM TO")
    ] = None,
    ladder: Annotated[bool, typer.Option("--ladder", help="Of a validation: every drift of its ladder.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Draw curves of one or more runs against their axis, one panel a quantity, one line a run.

    Of a region: mean, pointwise and simultaneous region, a row a case and a column a curve.

    Of validations: what was measured and the path of each parameter, with three standard deviations of the filter.
    """
    from percuss.cli.output import give_json, say
    from percuss.errors import InputError
    from percuss.execution.records import curves_of, load_design
    from percuss.ledger.projections import fold
    from percuss.report.figures import Line, Panel, draw
    from percuss.spelling import did_you_mean

    wanted = [reference(text) for text in events]
    book = open_ledger(ledger)
    state = fold(book.events())
    kinds = {book.event(text).kind for text in wanted}
    if kinds == {"validation.computed"}:
        from percuss.execution.records import load_study_event
        from percuss.report.drift import Shown, default_names, write_paths
        from percuss.validation.storage import load_validation

        found = [load_validation(book, state, book.event(text)) for text in wanted]
        shown = [
            Shown(item, load_study_event(book, state.events[item.event.input("study")]), item.body["model"])
            for item in found
        ]
        count = write_paths(shown, curve or default_names(shown), to, window=window, ladder=ladder, title=title)
        if json:
            give_json({"file": str(to), "panels": count})
        else:
            say(f"{to}: {count} panels")
        return
    if kinds == {"region.computed"} and len(wanted) == 1:
        from percuss.execution.records import load_study_event
        from percuss.report.regions import write_regions

        event = book.event(wanted[0])
        study = load_study_event(book, state.events[event.input("study")])
        count = write_regions(study, event.data, book.table(event, "region"), curve or [], to)
        if json:
            give_json({"file": str(to), "panels": count})
        else:
            say(f"{to}: {count} panels")
        return
    if not curve:
        raise InputError("--curve: must name a curve of the runs")
    panels: dict[str, list[Line]] = {name: [] for name in curve}
    labels: dict[str, tuple[str, str]] = {}
    for text in wanted:
        event = book.event(text)
        found_curves = curves_of(book, state, event, samples)
        if not found_curves:
            raise InputError(
                f"event {event.id} ({event.kind}): has no curves", hint="simulate keeps them, design --curves too"
            )
        record = load_design(book, state, event)
        quantities = record.study.model().quantities
        for name in curve:
            if name not in quantities or not quantities[name].curve:
                curves = [key for key, quantity in quantities.items() if quantity.curve]
                raise InputError(f"--curve {name}: {did_you_mean(name, curves)}")
            axis = quantities[name].axis or name
            labels[name] = (f"{axis} [{quantities[axis].unit}]", f"{name} [{quantities[name].unit}]")
            for case, table in found_curves:
                several = table["sample"].n_unique() > 1
                for (sample,), part in table.group_by("sample", maintain_order=True):
                    label = f"{case} {sample}" if several else case
                    panels[name].append(Line(label, part[axis].to_numpy(), part[name].to_numpy()))
    draw([Panel(*labels[name], lines) for name, lines in panels.items()], to, title)
    facts = {"file": str(to), "panels": len(panels), "lines": sum(len(lines) for lines in panels.values())}
    if json:
        give_json(facts)
    else:
        say(f"{to}: {facts['panels']} panels, {facts['lines']} lines")
