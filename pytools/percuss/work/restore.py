"""Write a study as it was when something was made from it.

The ledger keeps the resolved study, the files it names and, where it was loaded from one, its study file. What is
written is loaded again before it gets its name: it has the digest of the event, or nothing is written. Studies of a
time when sections were recorded as written have, read today, another digest: these must have that of the recorded study
in its form of today.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from percuss.errors import AnswerIsNo, InputError
from percuss.ledger.event import Event
from percuss.ledger.place import check_outside
from percuss.ledger.projections import lineage
from percuss.session import Session
from percuss.study.faults import StudyError
from percuss.study.load import STUDY_FILE, check_study, load_study
from percuss.study.schema import attached_path
from percuss.study.sections import normal
from percuss.study.writer import study_text

LONGEST_NAME = 200


@dataclass(frozen=True)
class Restored:
    """Where the study is, and which it is; `as_written`: its study file is the author's, byte for byte.

    `faults`: what the check of this percuss finds, which may ask for more than that of then.
    """

    path: Path
    registered: Event
    digest: str
    files: tuple[str, ...]
    as_written: bool
    faults: tuple[str, ...]


def restore(session: Session, event: Event, to: Path) -> Restored:
    """Write the study that an event depends on into a new folder, of its name, in the folder `to`."""
    registered = study_under(session, event)
    study, files = session.study(registered), session.ledger.files(registered)
    if registered.study and study.digest != registered.study.digest:
        raise AnswerIsNo(
            f"event {registered.id}: the study it holds has not the digest it says; percuss audit says more"
        )
    kept = files.get(STUDY_FILE)
    target = to / _folder_name(study.name)
    check_outside(target)
    if os.path.lexists(target):
        raise InputError(f"{target}: is there already, and nothing is overwritten")
    data = {attached_path(name): files[name] for name in study.files}
    texts = [(kept, True)] if kept is not None else []
    texts.append((study_text(study).encode(), False))
    scratch = _scratch(to)
    try:
        for text, as_written in texts:
            folder = scratch / target.name
            shutil.rmtree(folder, ignore_errors=True)
            _write(folder, {**data, STUDY_FILE: text})
            digest = _digest(folder)
            if digest in (study.digest, normal(study).digest):
                faults = tuple(str(fault).replace(str(folder), str(target)) for fault in check_study(folder))
                folder.rename(target)
                return Restored(target, registered, digest, tuple(sorted(data)), as_written, faults)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    raise AnswerIsNo(f"study {study.name} of event {registered.id}: comes out as another one; nothing was written")


def study_under(session: Session, event: Event) -> Event:
    """The one event that registered the study of an event, also one that is superseded."""
    studies = [item for item in lineage(session.state, event.id) if item.kind == "study.registered"]
    if event.study and len(studies) != 1:
        # Named by its digest: of several versions it depends on, or where it depends on none.
        studies = [e for e in studies or session.state.events.values() if e.kind == "study.registered"]
        studies = [e for e in studies if e.study == event.study][:1]
    if len(studies) != 1:
        which = f"belongs to {len(studies)} studies" if studies else "belongs to no study"
        listed = ", ".join(f"{item.study.name if item.study else ''} {item.id}" for item in studies)
        raise InputError(f"event {event.id} ({event.kind}): {which}", hint=f"give one of {listed}" if studies else None)
    return studies[0]


def _folder_name(name: str) -> str:
    """The name of a study as that of a folder: a ledger may come from a stranger."""
    if not name.isprintable() or "/" in name or os.sep in name or name in ("", ".", "..") or len(name) > LONGEST_NAME:
        raise InputError(f"study {name[:80]!r}: is no name of a folder")
    return name


def _scratch(to: Path) -> Path:
    try:
        to.mkdir(exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=".restore-", dir=to))
    except OSError as error:
        raise InputError(f"{to}: is no folder to write to ({error.strerror})") from error


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)


def _digest(folder: Path) -> str:
    """The digest of a study that was written; empty where it cannot be read."""
    try:
        return load_study(folder).digest
    except StudyError:
        return ""
