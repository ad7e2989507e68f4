"""`percuss seal`: pack old commits into one file."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, open_ledger
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss seal")
def seal(
    stream: Annotated[str, typer.Option(help="Which stream.")] = "main",
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Pack the commits of a stream into one file. Events, ids and hashes stay as they are; reading gets faster."""
    from percuss.cli.output import give_id, say
    from percuss.ledger.seal import seal_stream

    sealing = seal_stream(open_ledger(ledger), stream)
    say(f"{counted(sealing.commits, 'commit')} with {sealing.events} events are in one file now")
    give_id(sealing.event.id, {"commits": sealing.commits, "events": sealing.events}, json)
