"""`percuss adopt`: take the stream of a shard into main."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, open_ledger
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss adopt shard-1-of-4 --from /scratch/copy-of-the-ledger")
def adopt(
    streams: Annotated[list[str] | None, typer.Argument(metavar="[STREAM]...", help="Default: all shards.")] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="A copy of this ledger that has the streams.", metavar="FOLDER")
    ] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Verify the chain of a shard, copy it here if it is elsewhere, and make its events part of main."""
    from percuss.cli.output import give_json, say
    from percuss.errors import InputError
    from percuss.ledger.adopt import adopt_stream
    from percuss.ledger.ledger import MAIN
    from percuss.ledger.place import open_place
    from percuss.ledger.streams import stream_names

    book = open_ledger(ledger)
    other = open_place(source) if source else None
    names = streams or [name for name in stream_names(other or book.place) if name != MAIN]
    if not names:
        raise InputError(f"{(other or book.place).root}: has no streams but main")
    adoptions = [adopt_stream(book, name, other) for name in names]
    for name, adoption in zip(names, adoptions, strict=True):
        say(f"{name}: {counted(adoption.events, 'new event')}" if adoption.events else f"{name}: nothing new")
    if json:
        give_json(
            {
                "id": adoptions[-1].event.id,
                "adopted": [
                    {"stream": name, "id": a.event.id, "events": a.events, "files_copied": a.copied}
                    for name, a in zip(names, adoptions, strict=True)
                ],
            }
        )
    else:
        print("\n".join(adoption.event.id for adoption in adoptions))
