"""Validate again, where the record is the study's own and what was asked for is known."""

from __future__ import annotations

from percuss.kinds.validation_computed import ValidationComputed
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.validation.storage import validation_tables
from percuss.work.repeated_tables import judged_tables, other_tables
from percuss.work.repetition import Repetition, judged
from percuss.work.validate import Request, validated, validation_body


def repeat_validation(session: Session, event: Event, part: int = 0) -> Repetition:
    """Follow the record again and compare every table; of another build the verdict."""
    body, study = ValidationComputed.of(event), session.study(event)
    if body.asked is None:
        return Repetition("cannot", 0, "validations made before it was recorded what was asked for")
    own = study.files.get(body.data.file) if body.data else None
    if own is None or body.data is None or sha256_hex(own) != body.data.sha256:
        return Repetition("cannot", 0, "validations of a record that is not the study's")
    start = {name: (pair[0], pair[1]) for name, pair in body.start.items()}
    request = Request(body.model, body.asked, (own, body.data.file), event.seed or 0)
    validated_again, _ = validated(study, request, start)
    tables = validation_tables(validated_again)
    other = other_tables(event, tables)
    if not other:
        again = validation_body(validated_again, body.data, body.asked)
        return judged_tables(session, event, "validation", tables, body=again)
    word = validated_again.verdict.word
    outside = None if word == body.verdict else f"the verdict was {body.verdict!r}, is {word!r}"
    return judged(
        session,
        event,
        f"validation: its tables come out otherwise: {', '.join(other)}",
        same=False,
        near=lambda: (outside, "their verdicts"),
    )
