"""`percuss note`: words of a person about an event."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference
from percuss.errors import InputError

app = typer.Typer(add_completion=False)


@app.command(epilog='Example: percuss note @last:campaign "the sensor at B was loose: see the log book of 3 May"')
def note(
    event: EventArgument,
    text: Annotated[str, typer.Argument(help="The text; - reads it from stdin.")],
    private: Annotated[
        bool,
        typer.Option("--private", help="Store the text separately, so that it can be redacted; read it from stdin."),
    ] = False,
    names: Annotated[
        str, typer.Option(help="With --private: the text is the name of this actor of the event.", metavar="ACTOR")
    ] = "",
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Add a note to an event. Nothing is ever edited: a note is an event of its own."""
    from percuss.cli.output import give_id
    from percuss.work.note import LONGEST, add_note

    if private and text != "-":
        raise InputError("--private: give - and the words on stdin, as every call is recorded with its words")
    if text == "-" and event == "-":
        raise InputError("-: stdin gives the event or the words, not both")
    event_id = reference(event)
    words = sys.stdin.read(LONGEST + 1).rstrip("\n") if text == "-" else text
    session = open_session(ledger)
    about = session.event(event_id)
    give_id(add_note(session, about, words, private=private, names=names).id, {"about": about.id}, json)
