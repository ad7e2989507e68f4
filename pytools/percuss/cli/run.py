"""`percuss run`: every point of a design."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import AllowCommandOption, EventArgument, JsonOption, LedgerOption, consented, open_at

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
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Run every point of a design that has not been run, and append what comes out.

    Give the command again after an interruption: only what is missing is run. Runs that fail are recorded with
    their reason and not tried again; supersede the event that has them if they should be.
    """
    import os
    from dataclasses import replace

    from percuss.cli.output import give_id, hint, leave_interrupted, progress, say
    from percuss.config import find_settings
    from percuss.errors import AnswerIsNo
    from percuss.execution import campaign
    from percuss.execution.engines import open_engine
    from percuss.execution.records import load_design
    from percuss.ledger.ledger import MAIN
    from percuss.ledger.projections import fold

    settings = find_settings({"jobs": jobs})
    workers = settings["jobs"].value or os.cpu_count() or 1
    book, event = open_at(ledger, design)
    state = fold(book.events())
    record = load_design(book, state, event)
    record = replace(record, study=consented(record.study, allow_command))
    part = campaign.Shard.parse(shard) if shard else None
    stream = part.stream(record.event.id) if part else MAIN
    if part:
        state = campaign.with_stream(book, state, stream)
    left = sum(len(samples) for _, samples in campaign.missing_batches(state, record, part))
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
    say(f"{done.done} runs done, {done.note()}" if done.done else "nothing was missing")
    facts = {"design": record.event.id, "done": done.done, "failed": done.failed, "stream": stream}
    if part:
        last = done.last or campaign.last_event(book, stream)
        if last is None:
            raise AnswerIsNo(f"shard {shard}: has no runs, the design has fewer batches than that")
        hint(f"percuss adopt {stream} makes these runs part of main")
        give_id(last.id, facts, json)
        return
    closing = campaign.close_campaign(book, record, fold(book.events()))
    total = {"completed": closing.data["completed"], "failed": closing.data["failed"]}
    if total["failed"]:
        hint(f"{total['failed']} of {record.size} runs failed: percuss log --kind runs.failed")
    give_id(closing.id, facts | total | {"content": closing.data["content"]}, json)
