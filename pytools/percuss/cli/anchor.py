"""`percuss anchor`: what to keep outside of the ledger, to show later that nothing was cut off or rewritten."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, complete_events, open_session
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss anchor --to anchor.json --sign ~/.ssh/id_ed25519")
def anchor(
    to: Annotated[Path, typer.Option(help="Write the anchor here, outside of the ledger.", metavar="FILE")],
    event: Annotated[
        list[str] | None,
        typer.Option(
            help="Prove that this event is in it, to readers who have only the file.", autocompletion=complete_events
        ),
    ] = None,
    since: Annotated[
        Path | None, typer.Option(help="Prove that nothing in this older anchor is missing.", metavar="FILE")
    ] = None,
    sign: Annotated[str | None, typer.Option(help="Sign it with this SSH key.", metavar="KEY")] = None,
    stamp: Annotated[
        str | None, typer.Option(help="Have it time-stamped by this authority (RFC 3161).", metavar="URL")
    ] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write a checkpoint of all streams of the ledger to a file, and print its root hash. Nothing is recorded.

    Keep the file, or its root, where writers of the ledger cannot change it; percuss audit --anchor FILE compares the
    ledger with it.
    """
    from percuss.cli.output import give_json, say
    from percuss.work.anchor import Request, make_anchor

    request = Request(tuple(event or ()), since, sign, stamp)
    made = make_anchor(open_session(ledger), to, request)
    sizes = {stream.name: stream.size for stream in made.checkpoint.streams}
    if json:
        give_json({"root": made.checkpoint.root, "file": str(to), "streams": sizes})
        return
    say(", ".join(f"{name}: {counted(size, 'event')}" for name, size in sizes.items()))
    print(made.checkpoint.root)
