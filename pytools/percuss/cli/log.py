"""`percuss log`: list events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, open_ledger
from percuss.errors import InputError
from percuss.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from percuss.work.log import LogLine

app = typer.Typer(add_completion=False)

# Terminals with fewer columns.
NARROW = 110


@app.command(epilog="Example: percuss log --kind design.created --limit 5")
def log(
    kind: Annotated[str | None, typer.Option(help="Only this kind, as `runs` or `runs.failed`.")] = None,
    study: Annotated[str | None, typer.Option(help="Only events of this study.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Only the newest, this many; 0 for all.")] = 40,
    since: Annotated[str | None, typer.Option(help="From this time on, in UTC; or this long ago, as 2h.")] = None,
    until: Annotated[str | None, typer.Option(help="Up to this time, in UTC.")] = None,
    actor: Annotated[str | None, typer.Option(help="Only events by this name.")] = None,
    file: Annotated[
        str | None, typer.Option(help="Only events that carry this file, or a payload of this digest.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="Only events with these words in call, body or reason.")] = None,
    stream: Annotated[str | None, typer.Option(help="A stream that is not (wholly) adopted.")] = None,
    unfold: Annotated[bool, typer.Option("--unfold", help="A line for every batch of runs.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """List events, oldest first; runs that follow each other are one line.

    Ids are cut to the shortest prefix that is unique in the ledger.
    """
    from percuss.cli.output import give_json, hint, plain, say
    from percuss.ledger.place import checked_stream
    from percuss.ledger.streams import stream_names
    from percuss.work.log import gathered, log_lines, overview
    from percuss.work.selection import Selection

    book = open_ledger(ledger)
    if stream and checked_stream(stream) not in (names := stream_names(book.place)):
        raise InputError(f"stream {stream}: there is none of that name", hint=f"streams are {', '.join(names)}")
    selection = Selection(kind, study, since, until, actor, file, text)
    everything = overview(book, selection, stream)
    lines = log_lines(book, selection, limit, everything)
    if json:
        give_json([_facts(line) for line in lines])
        return
    shown = lines if unfold or kind or text or file else gathered(lines)
    print(_table(shown))
    if limit and len(lines) == limit < everything.height:
        say(f"{len(lines)} of {counted(everything.height, 'event')}; --limit 0 lists all")
    for name, version in book.unknown_kinds(everything):
        hint(f"events of kind {plain(name)} (version {version}) are unknown to this percuss: kept, and skipped")


def _table(lines: Sequence[LogLine]) -> str:
    """A row for each line; on a narrow terminal without its number, the time short, the study part of the words."""
    from percuss.cli.output import table_text, text_width
    from percuss.work.log import when

    narrow = 0 < text_width() < NARROW
    rows: list[tuple[object, ...]] = []
    for line in lines:
        event, study = line.event, line.event.study.name if line.event.study else ""
        kind = event.kind + (f" ({line.mark})" if line.mark else "")
        if narrow:
            words = ": ".join(filter(None, (study, line.summary)))
            rows.append((line.short, when(event)[5:16], kind, words))
        else:
            number = f"{line.first_seq}-{event.seq}" if line.folded > 1 else event.seq
            rows.append((number, line.short, when(event), kind, study, line.summary))
    heads = ("id", "at", "kind", "") if narrow else ("seq", "id", "at", "kind", "study", "")
    return table_text(heads, rows, styles=[_style(line) for line in lines], whole=("at",))


def _style(line: LogLine) -> str:
    """Dim for what is superseded, red for what failed: both are said in words too."""
    return "2" if line.mark else "31" if line.event.outcome == "failed" or "failed" in line.summary else ""


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
