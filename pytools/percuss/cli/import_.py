"""`percuss import`: runs that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, assignments, complete_studies, open_session, study_path
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss import runs.csv --study studies/ishigami")
def import_(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet, one row a run.", metavar="FILE")],
    study: Annotated[
        str, typer.Option(help="The study whose parameters and outputs these are.", autocompletion=complete_studies)
    ],
    case: Annotated[str | None, typer.Option(help="Which case; not needed if there is one only.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="Which column holds a parameter or output of another name.", metavar="NAME=COLUMN"),
    ] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Take in runs made elsewhere: a table with every parameter and every output of the study in one file.

    Columns go by the names of the study; numbers are in the study's units unless the header says otherwise, as
    `gap [mm]`. Rows without an output become failed runs. Other columns are left out, and said so.
    """
    from percuss.cli.output import give_id, hint, say
    from percuss.cli.values import tell_columns
    from percuss.kinds.campaign_completed import CampaignCompleted
    from percuss.study.load import load_study
    from percuss.work.import_runs import import_runs

    loaded = load_study(study_path(study))
    name = loaded.case_name(case)
    session = open_session(ledger, create=True)
    imported = import_runs(session, loaded, name, file, assignments(column, "--column"))
    tell_columns(imported.units)
    say(f"{counted(imported.rows, 'run')} of case {name}, {imported.holes} of them without a result")
    if imported.left_out:
        hint(f"columns that are not of the study were left out: {', '.join(imported.left_out)}")
    facts = {"design": imported.event.input("design"), "rows": imported.rows, "failed": imported.holes}
    give_id(imported.event.id, facts | {"content": CampaignCompleted.of(imported.event).content}, json)
