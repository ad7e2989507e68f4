"""Read measured values again, where their files are the study's own."""

from __future__ import annotations

from percuss.kinds.observations_imported import ObservationsImported
from percuss.ledger.blobs import table_digest
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.observe import own_data
from percuss.work.repetition import Repetition


def repeat_observations(session: Session, event: Event, part: int = 0) -> Repetition:
    """Read again and compare every value."""
    body = ObservationsImported.of(event)
    if body.own is None:
        return Repetition("cannot", 0, "observations made before it was recorded whether their files are the study's")
    measured = own_data(session.study(event)) if body.own else None
    if measured is None:
        return Repetition("cannot", 0, "observations from files that are not the study's")
    blob = event.blob("observations")
    if blob and table_digest(measured.table) == blob.digest and measured.twin == body.twin:
        return Repetition("same", 1)
    return Repetition("differs", 1, "observations: read otherwise from the study's files")
