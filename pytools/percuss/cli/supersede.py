"""`percuss supersede`: an event is not to be used any more, or is again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_at
from percuss.errors import InputError

if TYPE_CHECKING:
    from percuss.ledger.event import Event
    from percuss.ledger.projections import State

app = typer.Typer(add_completion=False)

SUPERSEDING = "event.superseded"


@app.command(epilog='Example: percuss supersede 01a1e2 --reason "wrong gap in the study file"')
def supersede(
    event: EventArgument,
    by: Annotated[str | None, typer.Option(help="The event that stands for it now.", metavar="EVENT")] = None,
    reason: Annotated[str, typer.Option(help="Why; it must be said.", show_default=False)] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take it back: the event is to be used again.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Say that an event is not to be used any more. It stays in the ledger; runs it held count as missing.

    What was made from it stays, too, and is marked from then on, until --withdraw takes back what was said.
    """
    from percuss.cli.output import give_id, say
    from percuss.ledger.event import Draft
    from percuss.ledger.projections import descendants, fold

    book, found = open_at(ledger, event)
    if not reason.strip() or len(reason) > 10_000:
        raise InputError(f"--reason: {len(reason)} characters; why must be said, in 1 to 10000 of them")
    if by and withdraw:
        raise InputError("--by and --withdraw: the one supersedes, the other takes that back; give one")
    state = fold(book.events())
    new = book.event(by) if by else None
    targets = _in_force(state, found) if withdraw else [_supersedable(state, found)]
    drafts = [
        Draft(
            SUPERSEDING,
            {"old": old.id, "new": new.id if new else None, "reason": reason},
            old.study,
            [("old", old)] + ([("new", new)] if new else []),
        )
        for old in targets
    ]
    added = book.append(drafts)[-1]
    words = ("note.added", SUPERSEDING)
    later = [e for e in descendants(state, found.id) if e.kind not in words and e.id not in state.superseded]
    if withdraw:
        say(f"{found.kind} {found.id}: what superseded it is taken back")
    elif later:
        say(f"{len(later)} later events were made from it; percuss lineage --from {found.id[:18]} lists and marks them")
    facts = {"old": targets[-1].id, "new": new.id if new else None, "descendants": [e.id for e in later]}
    give_id(added.id, facts, json)


def _supersedable(state: State, event: Event) -> Event:
    if event.id in state.superseded:
        raise InputError(f"event {event.id}: is superseded already", hint="--withdraw takes that back")
    if event.kind in (SUPERSEDING, "stream.adopted", "stream.sealed"):
        hint = "--withdraw takes back what it says" if event.kind == SUPERSEDING else None
        raise InputError(f"event {event.id}: is of the kind {event.kind}, which cannot be superseded", hint=hint)
    return event


def _in_force(state: State, event: Event) -> list[Event]:
    """What is to be superseded itself so that an event is to be used again, or has no force any more."""
    if event.kind == SUPERSEDING:
        if event.id in state.superseded:
            raise InputError(f"event {event.id}: is taken back already")
        return [event]
    said = (e for e in state.events.values() if e.kind == SUPERSEDING and e.id not in state.superseded)
    found = [e for e in said if e.input("old") == event.id]
    if not found:
        raise InputError(f"event {event.id}: is not superseded, so there is nothing to take back")
    return found
