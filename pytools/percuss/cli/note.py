"""`percuss note`: words of a person about an event."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_at

app = typer.Typer(add_completion=False)


@app.command(epilog='Example: percuss note @last:campaign "the sensor at B was loose: see the log book of 3 May"')
def note(
    event: EventArgument,
    text: Annotated[str, typer.Argument(help="What there is to say.")],
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Add words to an event. Nothing is ever edited: a note is an event of its own."""
    from percuss.cli.output import give_id
    from percuss.errors import InputError
    from percuss.ledger.event import Draft

    if not text.strip() or len(text) > 10_000:
        raise InputError(f"text: {len(text)} characters; a note has 1 to 10000")
    book, about = open_at(ledger, event)
    added = book.append([Draft("note.added", {"text": text}, about.study, [("about", about)])])[0]
    give_id(added.id, {"about": about.id}, json)
