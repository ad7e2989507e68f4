"""`percuss log`: list events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, open_ledger
from percuss.errors import InputError
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.work.log import LogLine

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss log --kind design.created --limit 5")
def log(
    kind: Annotated[str | None, typer.Option(help="Only this kind, as `runs` or `runs.failed`.")] = None,
    study: Annotated[str | None, typer.Option(help="Only events of this study.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="The newest so many; 0 for all.")] = 40,
    since: Annotated[str | None, typer.Option(help="From this time on, in UTC; or so long ago, as 2h.")] = None,
    until: Annotated[str | None, typer.Option(help="Up to this time, in UTC.")] = None,
    actor: Annotated[str | None, typer.Option(help="Only events by this name.")] = None,
    file: Annotated[
        str | None, typer.Option(help="Only events that carry this file, or a payload of this digest.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="Only events with these words in call, body or reason.")] = None,
    stream: Annotated[str | None, typer.Option(help="A stream that is not (wholly) adopted.")] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """List events, oldest first. Ids are cut to the shortest prefix that is unique in the ledger."""
    from percuss.cli.output import give_json, hint, plain, say, table_text
    from percuss.ledger.place import checked_stream
    from percuss.ledger.streams import read_stream, stream_names
    from percuss.work.log import log_lines, when
    from percuss.work.selection import Selection

    book = open_ledger(ledger)
    if stream and checked_stream(stream) not in (names := stream_names(book.place)):
        raise InputError(f"stream {stream}: there is none of that name", hint=f"streams are {', '.join(names)}")
    everything = read_stream(book.place, stream) if stream else book.frame()
    lines = log_lines(everything, Selection(kind, study, since, until, actor, file, text), limit)
    if json:
        give_json([_facts(line) for line in lines])
        return
    rows = [
        (
            line.event.seq,
            line.short,
            when(line.event),
            line.event.kind + (f" ({line.mark})" if line.mark else ""),
            line.event.study.name if line.event.study else "",
            line.summary,
        )
        for line in lines
    ]
    print(table_text(("seq", "id", "at", "kind", "study", ""), rows))
    if limit and len(lines) == limit < everything.height:
        say(f"{len(lines)} of {counted(everything.height, 'event')}; --limit 0 lists all")
    for name, version in book.unknown_kinds():
        hint(f"events of kind {plain(name)} (version {version}) are unknown to this percuss: kept, and skipped")


def _facts(line: LogLine) -> dict[str, object]:
    from percuss.work.log import when

    event = line.event
    return {
        "seq": event.seq,
        "stream": event.stream,
        "id": event.id,
        "kind": event.kind,
        "at": when(event),
        "actor": event.actor,
        "study": event.study.name if event.study else None,
        "outcome": event.outcome,
        "superseded": line.superseded,
        "stands_on_superseded": list(line.stands_on),
        "hash": event.hash,
    }
