"""Runs to be filmed: found, repeated, and what was made of them told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.cli.options import open_session, reference
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.work.film import FilmedRun


def filmed(ledger: str | None, event: str, sample: int | None, interval: str | None) -> FilmedRun:
    """The run, made again."""
    from percuss.errors import InputError
    from percuss.units import parse_quantity
    from percuss.work.film import film_run

    interval_s = parse_quantity(interval, "s") if interval else None
    if interval_s is not None and interval_s <= 0:
        raise InputError(f"--interval {interval}: must be a time > 0")
    run_id = reference(event)
    session = open_session(ledger)
    return film_run(session, session.event(run_id), sample, interval_s)


def tell_written(run: FilmedRun, files: Sequence[Path], as_json: bool) -> None:
    """Say what was written."""
    from percuss.cli.output import give_json, say

    frames = len(run.film.times_s)
    if as_json:
        give_json({"files": [str(file) for file in files], "frames": frames, "sample": run.sample, "case": run.case})
    else:
        say(
            f"{', '.join(str(file) for file in files)}: {counted(frames, 'frame')}, "
            f"{counted(len(run.film.names), 'body', 'bodies')}"
        )
