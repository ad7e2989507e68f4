"""`percuss redact`: delete the words of a private note."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference

app = typer.Typer(add_completion=False)


@app.command(epilog='Example: percuss redact @last:note --reason "asked for by the person named"')
def redact(
    event: EventArgument,
    reason: Annotated[str, typer.Option(help="Why; required.", show_default=False)] = "",
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Delete the text of a private note, and append an event that says so.

    The note, who wrote it and when, and the salted digest of the words stay: percuss audit holds, and says that they
    were redacted. Copies of the ledger have to be redacted by themselves.
    """
    from percuss.cli.output import give_id
    from percuss.work.redact import redact

    event_id = reference(event)
    session = open_session(ledger)
    note = session.event(event_id)
    give_id(redact(session, note, reason).id, {"redacted": note.id}, json)
