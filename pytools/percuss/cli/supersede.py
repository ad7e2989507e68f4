"""`percuss supersede`: an event is not to be used any more, or is again."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference
from percuss.errors import InputError

app = typer.Typer(add_completion=False)


@app.command(epilog='Example: percuss supersede 01a1e2 --reason "wrong gap in the study file"')
def supersede(
    event: EventArgument,
    by: Annotated[str | None, typer.Option(help="The event that replaces it.", metavar="EVENT")] = None,
    reason: Annotated[str, typer.Option(help="Why; required.", show_default=False)] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take it back: the event may be used again.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Mark an event as no longer to be used. It stays in the ledger; its runs count as missing.

    Everything made from it stays too, and is marked until --withdraw takes this back.
    """
    from percuss.cli.output import give_id, say
    from percuss.kinds.event_superseded import EventSuperseded
    from percuss.work import supersede as work

    if by and withdraw:
        raise InputError("--by and --withdraw: the one supersedes, the other takes that back; give one")
    event_id = reference(event)
    session = open_session(ledger)
    about = session.event(event_id)
    if withdraw:
        recorded = work.withdraw(session, about, reason)
        say(f"{about.kind} {about.id}: what superseded it is taken back")
    else:
        recorded = work.supersede(session, about, reason, session.event(by) if by else None)
        if recorded.later:
            lists = f"percuss lineage --from {about.id[:18]} lists and marks them"
            say(f"{len(recorded.later)} later events were made from it; {lists}")
    body = EventSuperseded.of(recorded.event)
    give_id(recorded.event.id, {"old": body.old, "new": body.new, "descendants": [e.id for e in recorded.later]}, json)
