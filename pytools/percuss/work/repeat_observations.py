"""Read measured values again, where their files are the study's own."""

from __future__ import annotations

import random

from percuss.kinds.observations_imported import ObservationsImported
from percuss.ledger.event import Event
from percuss.ledger.tables import table_digest
from percuss.session import Session
from percuss.work.observe import own_data
from percuss.work.repetition import Repetition


def repeat_observations(session: Session, event: Event, sample: random.Random | None = None) -> Repetition:
    """Read again and compare every value."""
    body = ObservationsImported.of(event)
    if body.own is None:
        return Repetition("cannot", 0, "made before it was recorded whether the files are the study's")
    measured = own_data(session.study(event)) if body.own else None
    if measured is None:
        return Repetition("cannot", 0, f"from a file that is not the study's: {body.file}")
    blob = event.blob("observations")
    if blob and table_digest(measured.table) == blob.digest and measured.twin == body.twin:
        return Repetition("same", measured.table.height, "every value is read the same")
    return Repetition("differs", measured.table.height, "its values are read otherwise from the study's files")
