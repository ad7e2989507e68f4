"""`percuss config`: the settings and where each came from."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def config() -> None:
    """Settings. In order of precedence: flag, environment, the project's percuss.toml, default."""


@app.command(short_help="Show every setting and where it came from.", epilog="Example: percuss config show")
def show(
    ledger: LedgerOption = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time; 0: one per core.")] = None,
    json: JsonOption = False,
) -> None:
    """Show every setting, its value and where it comes from; with flags, what they would change."""
    from percuss.cli.output import give_json, hint, table_text
    from percuss.config import SETTINGS, find_settings, variable_of

    settings = find_settings({"ledger": ledger, "jobs": jobs})
    if json:
        give_json({name: {"value": item.value, "source": item.source} for name, item in settings.items()})
        return
    rows = [(name, str(item.value), item.source, SETTINGS[name].doc) for name, item in settings.items()]
    print(table_text(("setting", "value", "from", ""), rows))
    hint(f"a variable of the environment is named after its setting, as {variable_of('ledger')}")
