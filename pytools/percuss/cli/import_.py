"""`percuss import`: runs that were made elsewhere, and crates of other ledgers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from percuss.cli.options import JsonOption, LedgerOption, assignments, complete_studies, open_session, study_path
from percuss.spelling import counted


class RunsUnlessNamed(typer.core.TyperGroup):
    """What is no name of a subcommand is a file with runs: `percuss import runs.csv --study STUDY`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The words of the call, with the subcommand that is meant."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["runs", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=RunsUnlessNamed, no_args_is_help=True, add_completion=False)


@app.callback()
def import_() -> None:
    """Take in what was made elsewhere: runs in a table, or the crate of another ledger."""


@app.command(
    short_help="Take in runs made elsewhere, from a table.",
    epilog="Example: percuss import runs.csv --study studies/ishigami",
)
def runs(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet, one row per run.", metavar="FILE")],
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
    from percuss.cli.output import give_id, hint, say, tell_columns
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


@app.command(
    short_help="Take in a crate of another ledger as one event.",
    epilog="Example: percuss import crate posterior.zip",
)
def crate(
    path: Annotated[Path, typer.Argument(help="Folder or .zip that percuss export crate wrote.", metavar="CRATE")],
    hash: Annotated[str | None, typer.Option(help="The hash that its writer gave by another way.")] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Take in a crate of another ledger as one event, after every hash in it was checked.

    Its events are kept as evidence with their ids and hashes; they do not become events of this ledger.
    """
    from percuss.cli.output import give_id, say
    from percuss.work.crate import import_crate

    event, taken = import_crate(open_session(ledger, create=True), path, hash)
    say(f"{taken.root.kind} {taken.root.id} of the ledger {taken.ledger}, with {len(taken.events)} events")
    give_id(event.id, {"event": taken.root.id, "hash": taken.root.hash, "events": len(taken.events)}, json)
