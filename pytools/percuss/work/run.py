"""Run a design: every point that has not been run, by one process or by many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from percuss import _core
from percuss.designs.design import Design, load_design
from percuss.errors import AnswerIsNo
from percuss.execution.campaign import Progress, close_campaign, judge_runs, last_event, run_campaign
from percuss.execution.engines import THREADS, open_engine
from percuss.execution.queue import Shard, missing_batches, with_stream
from percuss.ledger.event import Event
from percuss.ledger.ledger import MAIN
from percuss.session import Session, inherit
from percuss.trust import Trust, accept


@dataclass(frozen=True)
class Request:
    """Where to run (`percuss.execution.engines`), and which part, as `2/4`, in a stream of its own."""

    on: str = THREADS
    profile: Path | None = None
    shard: str | None = None


@dataclass(frozen=True)
class Ran:
    """The event that closes the campaign, or the last of a shard; how it went, and whether all runs finished."""

    event: Event
    trust: Trust
    design: Design
    progress: Progress
    stream: str


def run_design(session: Session, event: Event, request: Request | None = None) -> Ran:
    """Run what is missing of a design and append it. Raises Interrupted on Ctrl-C, after keeping what had finished."""
    request = request or Request()
    design = load_design(session, event)
    design = replace(design, study=session.consented(design.study))
    shard = Shard.parse(request.shard) if request.shard else None
    stream = shard.stream(design.id) if shard else MAIN
    state = with_stream(session.ledger, session.state, stream) if shard else session.state
    left = sum(len(samples) for _, samples in missing_batches(state, design, shard).values())
    # Runs share the cores: a run by itself takes them all, one of several takes one.
    _core.set_default_threads(0 if session.workers == 1 else 1)
    with (
        open_engine(request.on, session.workers, request.profile) as engine,
        session.voice.progress("running", left) as advance,
    ):
        progress = run_campaign(
            session, design, engine.executor, workers=engine.workers, stream=stream, shard=shard, advance=advance
        )
    if shard:
        state = with_stream(session.ledger, session.refresh(), stream)
        last = progress.last or last_event(session.ledger, stream)
        if last is None:
            raise AnswerIsNo(f"shard {request.shard}: has no runs, the design has fewer batches than that")
    else:
        last, state = close_campaign(session, design), session.state
    trust = accept((*inherit(state, [design.stored]), judge_runs(state, design.id)), session.accept)
    return Ran(last, trust, design, progress, stream)
