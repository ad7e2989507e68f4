"""Bind measured values to the outputs of a study, and keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.calibration.blocks import missing_errors
from percuss.calibration.observations import Source, attached, bound, study_plan
from percuss.calibration.records import Observations, load_observations
from percuss.errors import InputError
from percuss.kinds.observations_imported import ObservationsImported
from percuss.ledger.blobs import table_digest
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Draft, Event
from percuss.session import Session, reference
from percuss.study.histories import History
from percuss.study.study import Study
from percuss.work.repetition import Repetition

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Measured:
    """Measured values bound to the outputs of a study, checked, not yet in a ledger.

    `own`: they are the files that the study names, read as it says. `left_out` are columns of no meaning to the study.
    """

    study: Study
    sources: tuple[tuple[Source | History, bytes], ...]
    table: pl.DataFrame
    twin: dict[str, float] | None
    own: bool
    left_out: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The files they come from."""
        return ", ".join(source.file for source, _ in self.sources)


@dataclass(frozen=True, eq=False)
class Observed:
    """Observations in the ledger; `new` where they were not there before, `refusals` say why a block of the study would
    not take them.
    """

    observations: Observations
    new: bool
    refusals: tuple[InputError, ...] = ()

    @property
    def event(self) -> Event:
        """Their event."""
        return self.observations.event


def own_data(study: Study) -> Measured | None:
    """The values in the files that a study names; None where it names none."""
    plan = study_plan(study)
    return _bound(study, attached(study, plan), plan.twin, own=True) if plan.sources or plan.histories else None


def file_data(
    study: Study,
    file: Path,
    data: bytes,
    *,
    case: str | None = None,
    columns: Mapping[str, str] | None = None,
    twin: Mapping[str, float] | None = None,
) -> Measured:
    """The values in a file from elsewhere.

    `columns`: which column holds `output`, `value`, ... under another name. `twin`: the true parameters, in SI, of twin
    data.
    """
    plan = study_plan(study)
    base = plan.sources[0] if plan.sources else plan.base
    name = study.case_name(case) if case else None
    source = Source(str(file), name, {**base.columns, **(columns or {})}, base.std, base.start)
    return _bound(study, [(source, data)], twin, own=False)


def _bound(
    study: Study, sources: Sequence[tuple[Source | History, bytes]], twin: Mapping[str, float] | None, *, own: bool
) -> Measured:
    table, left_out = bound(study, sources)
    return Measured(study, tuple(sources), table, dict(twin) if twin else None, own, tuple(left_out))


def _refusals(measured: Measured) -> tuple[InputError, ...]:
    """Why blocks of the study would not take the values, for want of an error of measurement.

    Raises InputError where no block does. The study's own values must do for every one of them; values from elsewhere
    may be meant for one.
    """
    answers = missing_errors(measured.study, measured.table, measured.where)
    refused = tuple(fault for fault in answers if fault)
    if refused and (measured.own or len(refused) == len(answers)):
        raise refused[0]
    return refused


def observe(session: Session, measured: Measured) -> Observed:
    """Append measured values, and their study if that is new, if blocks of the study can take them."""
    refused = _refusals(measured)
    there = _stored(session, measured)
    return Observed(keep_observations(session, measured), there is None, refused)


def keep_observations(session: Session, measured: Measured) -> Observations:
    """Measured values as the ledger holds them: appended, with their study if that is new, unless they are there."""
    if there := _stored(session, measured):
        return load_observations(session, there)
    study_event = session.registered(measured.study)
    files = {
        # Of a file from elsewhere only the name: where it lay is nobody's business.
        source.file if source.file in measured.study.files else Path(source.file).name: sha256_hex(data)
        for source, data in measured.sources
    }
    body = ObservationsImported(
        file=", ".join(Path(source.file).name for source, _ in measured.sources),
        files=files,
        entries=measured.table.height,
        twin=measured.twin,
        own=measured.own,
    )
    blob = session.ledger.put_table("observations", measured.table)
    draft = Draft("observations.imported", body, reference(measured.study), [("study", study_event)], [blob])
    event = session.append([item for item in (study_event, draft) if isinstance(item, Draft)])[-1]
    session.registered(measured.study)  # the session keeps the study as it is, and need not build it again
    return load_observations(session, event)


def _stored(session: Session, measured: Measured) -> Event | None:
    """The event that holds these very observations of the study."""
    digest = table_digest(measured.table)
    for event in session.state.events.values():
        if event.kind != "observations.imported" or event.id in session.state.superseded:
            continue
        blob = event.blob("observations")
        same_study = event.study is not None and event.study.digest == measured.study.digest
        if same_study and blob and blob.digest == digest and ObservationsImported.of(event).twin == measured.twin:
            return event
    return None


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
