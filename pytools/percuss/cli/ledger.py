"""`percuss ledger`: copies of a ledger, in folders and object stores."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption
from percuss.spelling import counted

app = typer.Typer(no_args_is_help=True, add_completion=False)

PLACE = "A folder, or a URL such as s3://bucket/prefix (extra `cloud`; AWS_* variables give access)."


@app.callback()
def ledger() -> None:
    """Copy a ledger to another place, or pull what is new in a copy. Only what is missing is transferred."""


@app.command(epilog="Example: percuss ledger copy ledger s3://bucket/project")
def copy(
    source: Annotated[str, typer.Argument(metavar="SRC", help=PLACE)],
    target: Annotated[str, typer.Argument(metavar="DST", help="The same; created if there is none.")],
    json: JsonOption = False,
) -> None:
    """Make or update a copy: same id, same files. Prints the hash of the newest event."""
    _copy(source, target, True, json)


@app.command(epilog="Example: percuss ledger pull s3://bucket/project")
def pull(
    source: Annotated[str, typer.Argument(metavar="SRC", help=PLACE)],
    target: Annotated[str | None, typer.Argument(metavar="[DST]", help="The ledger to update.")] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Take in what is new in a copy of this ledger. Prints the hash of the newest event."""
    from percuss.config import find_settings

    _copy(source, target or find_settings({"ledger": ledger})["ledger"].value, False, json)


def _copy(source: str, target: str, begin: bool, json: bool) -> None:
    from percuss.cli.output import give_json, hint, say
    from percuss.ledger.copies import copy_ledger
    from percuss.ledger.stores import open_store

    copied = copy_ledger(open_store(source), open_store(target), begin=begin)
    total = sum(copied.events.values())
    say(
        f"{counted(copied.blobs, 'payload')}, {counted(copied.files, 'file')} with {counted(total, 'new event')}, "
        f"{copied.bytes} bytes"
        if copied.blobs or copied.files
        else "nothing was missing"
    )
    shards = [stream for stream in copied.events if stream != "main"]
    if shards:
        hint(f"percuss adopt makes these streams part of main: {', '.join(shards)}")
    if json:
        give_json(
            {
                "head": copied.head,
                "payloads": copied.blobs,
                "files": copied.files,
                "bytes": copied.bytes,
                "events": copied.events,
            }
        )
    elif copied.head:
        print(copied.head)
