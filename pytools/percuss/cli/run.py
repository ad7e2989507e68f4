"""`percuss run`: every point of a design."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    AllowCommandOption,
    EventArgument,
    JsonOption,
    LedgerOption,
    accepted_gates,
    consented,
    open_at,
)

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss design studies/ishigami | percuss run - --jobs 2")
def run(
    design: EventArgument,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time; 0: one a core.")] = None,
    shard: Annotated[
        str | None, typer.Option(help="Part k of n, in a stream of its own; percuss adopt joins it.", metavar="K/N")
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            help="Where: threads, processes, local-cluster, dask://HOST:PORT, slurm or pbs.", metavar="ENGINE"
        ),
    ] = "threads",
    profile: Annotated[
        Path | None, typer.Option(help="Queue, walltime, cores and memory for slurm and pbs (TOML).", metavar="FILE")
    ] = None,
    allow_command: AllowCommandOption = False,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Run every point of a design that has not been run, and append what comes out.

    Give the command again after an interruption: only what is missing is run. Given while another run of the same
    design is under way, it joins in. Runs that fail are recorded with their reason and not tried again; supersede the
    event that has them if they should be.
    """
    import os
    from dataclasses import replace

    from percuss import _core
    from percuss.cli.output import give_id, hint, leave_interrupted, leave_untrusted, progress, say, tell_trust
    from percuss.config import find_settings
    from percuss.errors import AnswerIsNo
    from percuss.execution import campaign, queue
    from percuss.execution.engines import open_engine
    from percuss.execution.records import load_design
    from percuss.ledger.ledger import MAIN
    from percuss.ledger.projections import fold
    from percuss.ledger.standing import inherit
    from percuss.trust import accept as accept_failures

    gates = accepted_gates(accept)
    settings = find_settings({"jobs": jobs})
    workers = settings["jobs"].value or os.cpu_count() or 1
    # Runs share the cores: a run by itself takes them all, one of several takes one.
    _core.set_default_threads(0 if workers == 1 else 1)
    book, event = open_at(ledger, design)
    state = fold(book.events())
    record = load_design(book, state, event)
    record = replace(record, study=consented(record.study, allow_command))
    part = queue.Shard.parse(shard) if shard else None
    stream = part.stream(record.event.id) if part else MAIN
    if part:
        state = queue.with_stream(book, state, stream)
    left = sum(len(samples) for _, samples in queue.missing_batches(state, record, part).values())
    try:
        with open_engine(on, workers, profile) as engine, progress("running", left) as advance:
            done = campaign.run_campaign(
                book,
                record,
                engine.executor,
                workers=engine.workers,
                flush_s=settings["flush_s"].value,
                stream=stream,
                shard=part,
                advance=advance,
                state=state,
            )
    except campaign.Interrupted as stop:
        say(f"interrupted: {stop.progress.done} runs kept, {stop.progress.left} left")
        hint("give the same command again to run the rest")
        leave_interrupted(stop.stuck)
    state = fold(book.events())

    facts = {"design": record.event.id, "done": done.done, "failed": done.failed, "stream": stream}
    if part:
        state = queue.with_stream(book, state, stream)
        last = done.last or campaign.last_event(book, stream)
        if last is None:
            raise AnswerIsNo(f"shard {shard}: has no runs, the design has fewer batches than that")
    else:
        last = campaign.close_campaign(book, record, state)
        facts |= {key: last.data[key] for key in ("completed", "failed", "content")}
    trust = accept_failures(
        (*inherit(state, [state.events[record.event.id]]), campaign.judge_runs(state, record.event.id)), gates
    )
    tell_trust(trust)
    say(f"{done.done} runs done, {done.note()}" if done.done or done.elsewhere else "nothing was missing")
    if part:
        hint(f"percuss adopt {stream} makes these runs part of main")
    if any(not verdict.passed and verdict.gate == "runs" for verdict in trust):
        hint("percuss log --kind runs.failed lists the runs that failed; percuss show tells why each did")
    give_id(last.id, facts, json)
    leave_untrusted(trust)
