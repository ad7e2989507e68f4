"""`percuss check`: run a regression study and compare with what it should give."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import (
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    complete_studies,
    consented,
    open_ledger,
    studies_folder,
    study_path,
)

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss check ishigami borehole")
def check(
    studies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STUDY]...", help="Default: every study that expects something.", autocompletion=complete_studies
        ),
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only these files of expected/, by name.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time; 0: one a core.")] = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Run what `expected/` of a study asks for and compare within its stated tolerances: made for CI.

    Exit code 1 if a value moved, with a table of what moved. Runs and verdict are appended to the ledger.
    """
    import os

    from percuss.cli.output import give_json, leave_interrupted, progress, say, table_text
    from percuss.config import find_settings
    from percuss.errors import InputError
    from percuss.execution.campaign import Interrupted
    from percuss.execution.regression import check_study, find_expected
    from percuss.study.load import find_studies, load_study

    names = studies or [name for name in find_studies(studies_folder()) if find_expected(studies_folder() / name)]
    paths = [study_path(name) for name in names]
    wanted = [(path, file) for path in paths for file in find_expected(path) if not only or file.stem in only]
    if not wanted:
        raise InputError(f"nothing to check: {', '.join(names) or studies_folder()} has no expected/*.toml")
    settings = find_settings({"jobs": jobs})
    workers = settings["jobs"].value or os.cpu_count() or 1
    loaded = {path: consented(load_study(path), allow_command) for path, _ in wanted}
    book = open_ledger(ledger, create=True)
    verdicts = []
    try:
        with progress("checking", len(wanted)) as advance:
            for path, file in wanted:
                verdicts.append(check_study(book, loaded[path], file, workers, settings["flush_s"].value))
                advance(1, file.stem)
    except Interrupted as stop:
        say(f"interrupted: {len(verdicts)} of {len(wanted)} checks done")
        leave_interrupted(stop.stuck)
    moved = [(v.study, v.name, *row.told()) for v in verdicts for row in v.rows if not row.holds]
    if json:
        give_json(
            [
                {
                    "id": v.event.id,
                    "study": v.study,
                    "name": v.name,
                    "passed": v.passed,
                    "values": [row.facts() for row in v.rows],
                }
                for v in verdicts
            ]
        )
    else:
        if moved:
            print(table_text(("study", "check", "value", "expected", "found", "off by", "allowed"), moved))
        for v in verdicts:
            say(f"{v.study} {v.name}: {'holds' if v.passed else 'MOVED'} ({len(v.rows)} values)")
        print("\n".join(v.event.id for v in verdicts))
    if moved:
        raise typer.Exit(1)
