"""Delete the words of a private note, which may be a name, or who made an event of a private call and by which words.
That there were words, by which actor and when, and their salted digest, stay.
"""

from __future__ import annotations

from percuss.errors import InputError
from percuss.kinds.note_added import NoteAdded
from percuss.kinds.payloads_pruned import PayloadsPruned, Pruned
from percuss.ledger.blobs import blob_path, delete_payload
from percuss.ledger.event import Draft, Event
from percuss.ledger.files import exists
from percuss.ledger.private_calls import PREFIX
from percuss.ledger.pruned import KIND, NOTE, has_words, tombstones
from percuss.ledger.words import ROLE
from percuss.session import Session
from percuss.work.prune import LONGEST


def redact(session: Session, event: Event, reason: str) -> Event:
    """Record that the words are redacted, then delete them; the event that says so.

    One that was killed in between is gone on with by the next call.
    """
    if not reason.strip() or len(reason) > LONGEST:
        raise InputError(f"--reason: {len(reason)} characters; why must be said, in 1 to {LONGEST} of them")
    event = _note_on_maker(session, event) or event
    words = event.blob(ROLE)
    if not has_words(event) or words is None:
        raise InputError(
            f"event {event.id} ({event.kind}): has no words that are kept apart; what an event itself says is what "
            "its hash is over, and cannot be taken out",
            hint="percuss note --private keeps words apart, with --names the name of an actor, and the setting private "
            "who made events and by which words",
        )
    path = blob_path(session.ledger.place, words)
    record = tombstones(session.state.events.values()).of(event, words)
    if record and not exists(path):
        raise InputError(f"event {event.id}: is redacted already, as event {record.id} records")
    if record is None:
        named = Pruned(
            event=event.id, role=ROLE, sha256=words.sha256, digest=words.digest, rows=words.rows, bytes=words.bytes
        )
        body = PayloadsPruned(payloads=(named,), reason=reason, policy={"redaction": True})
        record = session.append([Draft(KIND, body, event.study, [("pruned", event)])])[0]
    # The salt makes the bytes those of this note alone: no other writer can be about to use them.
    delete_payload(session.ledger.place, words)
    return record


def _note_on_maker(session: Session, event: Event) -> Event | None:
    """The note that a private call began with; None for an event of any other call, and for notes, which are asked for
    by themselves.
    """
    if event.kind == NOTE or not event.actor.startswith(PREFIX):
        return None
    notes = (other for other in session.state.events.values() if other.kind == NOTE and other.actor == event.actor)
    return next((note for note in notes if NoteAdded.of(note).names == event.actor), None)
