"""`percuss observe`: measured values for a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, StudyArgument, assignments, open_ledger, study_path

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss observe studies/linear-gaussian")
def observe(
    study: StudyArgument,
    file: Annotated[
        Path | None,
        typer.Argument(help="CSV or Parquet.", show_default="the files [observations] names", metavar="[FILE]"),
    ] = None,
    case: Annotated[str | None, typer.Option(help="The case of all rows, where the file does not say.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="Which column holds `output`, `value`, ... under another name.", metavar="NAME=COLUMN"),
    ] = None,
    twin: Annotated[
        list[str] | None,
        typer.Option(help="The values are twin data, made with this true parameter.", metavar="NAME=VALUE"),
    ] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Bind measured values to the outputs of a study, check them, and append them.

    A row a datum: output, value, and where known unit, std, case, point, axis, instant. Or a column an output, and
    case. Numbers are in the study's units unless header or unit say otherwise. Values that are in the ledger
    already are not appended again.
    """
    import polars as pl

    from percuss.calibration.blocks import missing_errors
    from percuss.calibration.observations import attached, bound, draft_observations, study_plan
    from percuss.cli.output import give_id, hint, say
    from percuss.cli.values import tell_measured, tell_values
    from percuss.config import find_settings
    from percuss.errors import InputError
    from percuss.ledger.projections import fold
    from percuss.spelling import did_you_mean
    from percuss.study.files import read_regular
    from percuss.study.load import load_study
    from percuss.study.observations import Source
    from percuss.units import parse_quantity

    found = load_study(study_path(study))
    plan = study_plan(found)
    if file is None:
        if not plan.sources:
            raise InputError(f"study {found.name}: [observations] names no file, so FILE is needed")
        if case or column or twin:
            raise InputError(
                "--case, --column, --twin: go with FILE; for the study's own files they stand in [observations]"
            )
        sources, truth = attached(found, plan), plan.twin
    else:
        base = plan.sources[0] if plan.sources else plan.base
        columns = {**base.columns, **assignments(column, "--column")}
        limit = find_settings()["import_mb"].value * 1_000_000
        name = found.case_name(case) if case else None
        sources = [(Source(str(file), name, columns, base.std), read_regular(file.resolve(), str(file), limit))]
        truth = {}
        for parameter, text in assignments(twin, "--twin").items():
            if parameter not in found.parameters:
                near = did_you_mean(parameter, found.parameters)
                raise InputError(f"--twin {parameter}: study {found.name} has no such parameter: {near}")
            truth[parameter] = parse_quantity(text, found.parameters[parameter].unit)
        tell_values(assignments(twin, "--twin"), truth, {name: found.parameters[name].unit for name in truth})
    # Bound and checked before the ledger is opened: what is refused leaves nothing behind.
    entries, left_out = bound(found, sources)
    answers = missing_errors(found, entries, ", ".join(source.file for source, _ in sources))
    refusals = [fault for fault in answers if fault]
    # Data from elsewhere may be meant for one block; the study's own must do for every one.
    if refusals and (file is None or len(refusals) == len(answers)):
        raise refusals[0]
    book = open_ledger(ledger, create=True)
    drafts = draft_observations(book, fold(book.events()), found, sources, entries, truth)
    event = book.append(drafts)[-1] if isinstance(drafts, list) else drafts
    table = book.table(event, "observations")
    tell_measured(found, table["output"].to_list(), table["value"].to_list())
    what = "twin values" if event.data["twin"] else "measured values"
    cases = table["case"].unique(maintain_order=True).to_list()
    say(f"{table.height} {what} of {table['output'].n_unique()} outputs, cases {', '.join(cases)}")
    if not isinstance(drafts, list):
        say("they are in the ledger already")
    if left_out:
        hint(f"columns that are not of the study were left out: {', '.join(left_out)}")
    without = table.height - table.filter(pl.col("std") > 0).height
    if without:
        hint(
            f"{without} of them have no std above 0: the discrepancy of a calibration must account for all their error"
        )
    for fault in refusals:
        hint(str(fault))
    give_id(event.id, {"entries": table.height, "cases": cases, "twin": event.data["twin"]}, json)
