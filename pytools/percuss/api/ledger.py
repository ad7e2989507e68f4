"""A ledger from Python: every operation of percuss as a method."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from percuss.api.inferred import Inferred
from percuss.api.kept import Kept
from percuss.api.made_from_runs import MadeFromRuns
from percuss.api.studies_run import StudiesRun
from percuss.config import WHO, find_settings
from percuss.errors import InputError
from percuss.ledger.event import OpenCall
from percuss.ledger.ledger import Ledger as Stored
from percuss.maker import this_maker
from percuss.session import Lines, Session, Silent
from percuss.trust import GATES


def open_ledger(
    path: str | Path | None = None,
    *,
    create: bool = True,
    jobs: int | None = None,
    accept: Collection[str] = (),
    allow_command: bool = False,
    progress: bool = True,
) -> Ledger:
    """Open the ledger in a folder (the setting `ledger` if none is given), and begin one if there is none.

    `jobs`: runs at a time. `accept`: gates of docs/trust.md whose failure is accepted. `allow_command`: let studies of
    the kind `command` run their programs. `progress`: report the progress of long jobs, in plain lines on stderr.

    >>> ledger = percuss.open_ledger("ledger")
    >>> ledger
    <ledger ledger: 0 events>
    """
    for gate in accept:
        if gate not in GATES:
            raise InputError(f"accept: {gate} is no gate", hint=f"gates are {', '.join(GATES)}")
    settings = find_settings({"ledger": None if path is None else str(path), "jobs": jobs})
    maker = this_maker(["python"], OpenCall("python", "open_ledger", []), *(settings[key].value for key in WHO))
    stored = Stored.open(settings["ledger"].value, maker, create=create)
    voice = Lines() if progress else Silent()
    return Ledger(Session(stored, settings=settings, accept=accept, allow_command=allow_command, voice=voice))


class Ledger(StudiesRun, MadeFromRuns, Inferred, Kept):
    """An open ledger. Everything a method makes is recorded as an event and returned as an object.

    What others append is seen after `refresh()`. Studies are given as `Study`, folder, file or name; results as
    objects, ids, unique prefixes of ids, `@last` or `@last:KIND`.
    """
