"""Runs to be drawn: found, repeated, and what was made of them told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from percuss.execution.drawing import DrawnRun
    from percuss.ledger.event import Event
    from percuss.ledger.ledger import Ledger


def drawn(ledger: Ledger, event: Event, sample: int | None, interval: str | None) -> DrawnRun:
    """The run, made again; AnswerIsNo if it is not the run that was recorded."""
    from percuss.cli.output import say
    from percuss.errors import AnswerIsNo, InputError
    from percuss.execution.drawing import draw_run
    from percuss.ledger.projections import fold
    from percuss.units import parse_quantity

    interval_s = parse_quantity(interval, "s") if interval else None
    if interval_s is not None and interval_s <= 0:
        raise InputError(f"--interval {interval}: must be a time > 0")
    run = draw_run(ledger, fold(ledger.events()), event, sample, interval_s)
    if run.difference and event.software.core == ledger.core:
        raise AnswerIsNo(f"event {event.id}: made again, its outputs differ by up to {run.difference:.3g} (relative)")
    if run.difference:
        say(f"made by another build of the core: outputs differ by up to {run.difference:.3g} (relative)")
    return run


def tell_written(run: DrawnRun, files: Sequence[Path], as_json: bool) -> None:
    """Say what was written."""
    from percuss.cli.output import give_json, say

    frames = len(run.film.times_s)
    if as_json:
        give_json({"files": [str(file) for file in files], "frames": frames, "sample": run.sample, "case": run.case})
    else:
        say(f"{', '.join(str(file) for file in files)}: {frames} frames, {len(run.film.names)} bodies")
