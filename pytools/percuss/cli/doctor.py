"""`percuss doctor`: what an issue report needs, and what lies around in the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss doctor --clean")
def doctor(
    clean: Annotated[bool, typer.Option("--clean", help="Delete stray files older than an hour.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Print versions, build, file system and state of the ledger; list files that nothing refers to."""
    from percuss.cli.output import give_json, hint, say, table_text
    from percuss.config import find_settings
    from percuss.work.doctor import clean as remove
    from percuss.work.doctor import examine

    condition = examine(Path(find_settings({"ledger": ledger})["ledger"].value))
    for words in condition.hints:
        hint(words)
    if json:
        give_json(condition.facts | {"stray": [str(path) for path in condition.strays]})
    else:
        print(table_text(("fact", "value"), [(name, _short(value)) for name, value in condition.facts.items()]))
        for path in condition.strays:
            print(f"stray  {path}")
    if clean:
        gone = remove(condition)
        kept = len(condition.strays) - gone
        say(f"{gone} stray files deleted, {kept} kept (young, not of percuss, or not held elsewhere)")
    elif condition.old:
        hint(f"percuss doctor --clean deletes {counted(len(condition.old), 'file')} a killed writer left behind")


def _short(value: object) -> object:
    """The beginning of a hash, which tells as much to an eye; `--json` has all of it."""
    return f"{value[:16]}..." if isinstance(value, str) and len(value) == 64 and " " not in value else value
