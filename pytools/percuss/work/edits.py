"""What was edited in a study since something was made from it, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from percuss.calibration.records import Observations
from percuss.ledger.calls import texts_of
from percuss.session import Session
from percuss.study.differences import differences_text
from percuss.study.faults import StudyError
from percuss.study.load import is_study, load_study
from percuss.study.study import Study
from percuss.surrogates.surrogate import Surrogate


def edits(
    session: Session, taken: Study, surrogates: Sequence[Surrogate], observations: Observations | None, *, now: bool
) -> list[str]:
    """A sentence for each version of the study at hand that is not the one taken, with all that differs.

    `now`: the study is taken as it is now; else as it was for the observations, or for the surrogates.
    """
    as_taken = (
        "as it is now"
        if now
        else f"as it was for observations {observations.event.id}"
        if observations
        else "as it was then"
    )
    notes = []
    for surrogate in surrogates if now or observations else ():
        if differences := differences_text(surrogate.study, taken):
            whose = f"study {taken.name} was edited since surrogate {surrogate.event.id} was made"
            notes.append(f"{whose}: {differences}; it is taken {as_taken}")
    if not now and (surrogates or observations):
        made = (
            f"observations {observations.event.id} were" if observations else f"surrogate {surrogates[0].event.id} was"
        )
        notes += _edited_since(session, taken, made)
    return notes


def _edited_since(session: Session, taken: Study, made: str) -> list[str]:
    """What differs between a study of the ledger and the file of today: where the command that registered it found it,
    or among the studies that are known by name.
    """
    registered = session.state.studies[taken.digest]
    places = [Path(text) for text in texts_of(registered)]
    named = Path(session.setting("studies")) / taken.name
    path = next((path for path in (*places, named) if is_study(path, taken.name)), None)
    if path is None:
        return []
    then = "it is taken as it was then"
    try:
        differences = differences_text(taken, load_study(path))
    except StudyError as fault:
        return [f"study {taken.name} cannot be read as it is now ({fault}); {then}"]
    edited = f"study {taken.name} was edited since {made} made"
    return [f"{edited}: {differences}; {then}, --study {path} takes it as it is now"] if differences else []
