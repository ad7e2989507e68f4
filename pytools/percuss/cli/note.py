"""`percuss note`: words of a person about an event."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference

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
    from percuss.work.note import add_note

    event_id = reference(event)
    session = open_session(ledger)
    about = session.event(event_id)
    give_id(add_note(session, about, text).id, {"about": about.id}, json)
