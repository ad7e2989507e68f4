"""`percuss supersede`: an event is not to be used any more."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_at

app = typer.Typer(add_completion=False)


@app.command(epilog='Example: percuss supersede 01a1e2 --reason "wrong gap in the study file"')
def supersede(
    event: EventArgument,
    by: Annotated[str | None, typer.Option(help="The event that stands for it now.", metavar="EVENT")] = None,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Say that an event is not to be used any more. It stays in the ledger; runs it held count as missing."""
    from percuss.cli.output import give_id, say
    from percuss.errors import InputError
    from percuss.ledger.event import Draft
    from percuss.ledger.projections import descendants, fold

    book, old = open_at(ledger, event)
    state = fold(book.events())
    if old.id in state.superseded:
        raise InputError(f"event {old.id}: is superseded already")
    if old.kind in ("event.superseded", "stream.adopted", "stream.sealed"):
        raise InputError(f"event {old.id}: is of the kind {old.kind}, which cannot be superseded")
    new = book.event(by) if by else None
    inputs = [("old", old)] + ([("new", new)] if new else [])
    body = {"old": old.id, "new": new.id if new else None, "reason": reason}
    added = book.append([Draft("event.superseded", body, old.study, inputs)])[0]
    results = [e for e in descendants(state, old.id) if e.kind != "note.added" and e.id not in state.superseded]
    if results:
        say(f"{len(results)} later events were made from it; percuss lineage --from {old.id[:18]} lists them")
    give_id(added.id, {"old": old.id, "new": body["new"], "descendants": [e.id for e in results]}, json)
