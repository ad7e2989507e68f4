"""`percuss check`: run a regression study and compare with what it should give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    complete_studies,
    open_session,
    studies_folder,
    study_path,
)
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.work.check import Checked

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss check ishigami borehole")
def check(
    studies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STUDY]...", help="Default: every study with a folder expected/.", autocompletion=complete_studies
        ),
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only these files of expected/, by name.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time; 0: one per core.")] = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Run the cases in `expected/` of a study and compare with the expected values. Made for CI.

    If a value moved, a table shows which, and the exit code is 1. Runs and verdict are recorded in the ledger.
    """
    from percuss.cli.output import leave_interrupted, progress, say
    from percuss.errors import InputError
    from percuss.execution.campaign import Interrupted
    from percuss.execution.regression import find_expected
    from percuss.study.load import find_studies, load_study
    from percuss.work.check import check_study

    names = studies or [name for name in find_studies(studies_folder()) if find_expected(studies_folder() / name)]
    paths = [study_path(name) for name in names]
    expectations = [(path, file) for path in paths for file in find_expected(path) if not only or file.stem in only]
    if not expectations:
        raise InputError(f"nothing to check: {', '.join(names) or studies_folder()} has no expected/*.toml")
    session = open_session(ledger, create=True, allow_command=allow_command, jobs=jobs)
    loaded = {path: session.consented(load_study(path)) for path in dict.fromkeys(path for path, _ in expectations)}
    checks: list[Checked] = []
    try:
        with progress("checking", len(expectations)) as advance:
            for path, file in expectations:
                checks.append(check_study(session, loaded[path], file))
                advance(1, file.stem)
    except Interrupted as stop:
        say(f"interrupted: {len(checks)} of {len(expectations)} checks done")
        leave_interrupted(stop.stuck)
    _tell(checks, json)
    if not all(check.passed for check in checks):
        raise typer.Exit(1)


def _tell(checks: list[Checked], json: bool) -> None:
    from percuss.cli.output import give_json, say, table_text
    from percuss.kinds.table import plain

    if json:
        give_json(
            [
                {
                    "id": check.event.id,
                    "study": check.study,
                    "name": check.name,
                    "passed": check.passed,
                    "values": [plain(row.compared()) for row in check.rows],
                }
                for check in checks
            ]
        )
        return
    moved = [(check.study, check.name, *row.cells()) for check in checks for row in check.rows if not row.holds]
    if moved:
        print(table_text(("study", "check", "value", "expected", "found", "off by", "allowed"), moved))
    for check in checks:
        say(f"{check.study} {check.name}: {'holds' if check.passed else 'MOVED'} ({counted(len(check.rows), 'value')})")
    print("\n".join(check.event.id for check in checks))
