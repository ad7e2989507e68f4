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
    """Delete the text of a private note, and record the deletion.

    The note, its author and time, and the salted digest of the text stay: percuss audit still holds, and reports that
    the text was redacted. Copies of the ledger must be redacted separately.
    """
    from percuss.cli.output import give_id
    from percuss.work.redact import redact

    event_id = reference(event)
    session = open_session(ledger)
    note = session.event(event_id)
    give_id(redact(session, note, reason).id, {"redacted": note.id}, json)
