"""`percuss observe`: measured values for a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, StudyArgument, assignments, open_session, study_path
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.study.study import Study
    from percuss.work.observe import Measured, Observed

app = typer.Typer(add_completion=False)
# Outputs without data that are named.
MOST_NAMED = 8


@app.command(epilog="Example: percuss observe studies/linear-gaussian")
def observe(
    study: StudyArgument,
    file: Annotated[
        Path | None,
        typer.Argument(help="CSV or Parquet.", show_default="the files [observations] names", metavar="[FILE]"),
    ] = None,
    case: Annotated[str | None, typer.Option(help="The case of all rows, if the file does not name it.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="Column that holds `output`, `value`, ... under another name.", metavar="NAME=COLUMN"),
    ] = None,
    twin: Annotated[
        list[str] | None,
        typer.Option(help="The values are twin data, made with this true parameter.", metavar="NAME=VALUE"),
    ] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Assign measured values to the outputs of a study, check them, and record them.

    The table has one row per datum (output, value and, if known, unit, std, case, point, axis, instant), or one column
    per output, and case. Or it has measured curves: a column of instants and one per curve of the model, from which the
    outputs are computed as from a run. Numbers are in the study's units unless header or unit say otherwise. Values
    that are already in the ledger are not recorded again.
    """
    from percuss.cli.output import give_id
    from percuss.study.load import load_study
    from percuss.work.observe import observe as keep

    loaded = load_study(study_path(study))
    measured = _from_file(loaded, file, case, column, twin) if file else _own(loaded, case, column, twin)
    observed = keep(open_session(ledger, create=True), measured)
    _tell(measured, observed)
    table = observed.observations.table
    cases = table["case"].unique(maintain_order=True).to_list()
    give_id(observed.event.id, {"entries": table.height, "cases": cases, "twin": observed.observations.twin}, json)


def _own(study: Study, case: str | None, column: list[str] | None, twin: list[str] | None) -> Measured:
    """The files the study names."""
    from percuss.errors import InputError
    from percuss.work.observe import own_data

    if (measured := own_data(study)) is None:
        raise InputError(f"study {study.name}: [observations] names no file, so FILE is needed")
    if case or column or twin:
        raise InputError(
            "--case, --column, --twin: go with FILE; for the study's own files, set them in [observations]"
        )
    return measured


def _from_file(
    study: Study, file: Path, case: str | None, column: list[str] | None, twin: list[str] | None
) -> Measured:
    """A file from elsewhere."""
    from percuss.cli.output import tell_values
    from percuss.config import find_settings
    from percuss.errors import InputError
    from percuss.ledger.files import read_file
    from percuss.spelling import did_you_mean
    from percuss.units import parse_quantity
    from percuss.work.observe import file_data

    data = read_file(file, str(file), find_settings()["import_mb"].value * 1_000_000)
    texts, truth = assignments(twin, "--twin"), {}
    for parameter, text in texts.items():
        if parameter not in study.parameters:
            near = did_you_mean(parameter, study.parameters)
            raise InputError(f"--twin {parameter}: study {study.name} has no such parameter: {near}")
        truth[parameter] = parse_quantity(text, study.parameters[parameter].unit)
    measured = file_data(study, file, data, case=case, columns=assignments(column, "--column"), twin=truth)
    tell_values(texts, truth, {name: study.parameters[name].unit for name in truth})
    return measured


def _tell(measured: Measured, observed: Observed) -> None:
    """What there is of them, and what they lack."""
    import polars as pl

    from percuss.cli.output import hint, say, tell_measured

    table = observed.observations.table
    tell_measured(measured.study, table["output"].to_list(), table["value"].to_list())
    values = counted(table.height, "twin value" if observed.observations.twin else "measured value")
    cases = table["case"].unique(maintain_order=True).to_list()
    word = "case" if len(cases) == 1 else "cases"
    say(f"{values} of {counted(table['output'].n_unique(), 'output')}, {word} {', '.join(cases)}")
    if not observed.new:
        say("they are in the ledger already")
    measured_outputs = {*table["output"]}
    lacking = [name for name in measured.study.outputs if name not in measured_outputs]
    if lacking and len(lacking) < len(measured.study.outputs):  # of whole histories all outputs are
        more = f" and {len(lacking) - MOST_NAMED} more" if len(lacking) > MOST_NAMED else ""
        say(f"no data of: {', '.join(lacking[:MOST_NAMED])}{more}")
    if measured.left_out:
        hint(f"columns that are not of the study were left out: {', '.join(measured.left_out)}")
    without = table.height - table.filter(pl.col("std") > 0).height
    if without:
        hint(
            f"{without} of them have no std above 0: the discrepancy of a calibration must account for all their error"
        )
    for fault in observed.refusals:
        hint(str(fault))
