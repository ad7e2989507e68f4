"""`percuss run`: every point of a design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    AllowCommandOption,
    EventArgument,
    JsonOption,
    LedgerOption,
    open_session,
    reference,
)
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.work.run import Ran

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss design studies/ishigami | percuss run - --jobs 2")
def run(
    design: EventArgument,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time; 0: one per core.")] = None,
    shard: Annotated[
        str | None, typer.Option(help="Run part k of n into a separate stream; percuss adopt joins it.", metavar="K/N")
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
    """Run every point of a design that has not been run yet, and record the results.

    After an interruption give the command again: only what is missing is run. If another process is running the same
    design, this one joins in. Failed runs are recorded with their reason and are not repeated unless their event is
    superseded.
    """
    from percuss.cli.output import give_id, hint, leave_interrupted, leave_untrusted, say
    from percuss.execution.campaign import Interrupted
    from percuss.kinds.campaign_completed import CampaignCompleted
    from percuss.work.run import Request, run_design

    design_id = reference(design)
    session = open_session(ledger, accept=accept, allow_command=allow_command, jobs=jobs)
    try:
        campaign = run_design(session, session.event(design_id), Request(on, profile, shard))
    except Interrupted as stop:
        say(f"interrupted: {counted(stop.progress.done, 'run')} kept, {stop.progress.left} left")
        hint("give the same command again to run the rest")
        leave_interrupted(stop.stuck)
    _tell(campaign, sharded=shard is not None)
    facts = {
        "design": campaign.design.id,
        "done": campaign.progress.done,
        "failed": campaign.progress.failed,
        "stream": campaign.stream,
    }
    if shard is None:
        closing = CampaignCompleted.of(campaign.event)
        facts |= {"completed": closing.completed, "failed": closing.failed, "content": closing.content}
    give_id(campaign.event.id, facts, json)
    leave_untrusted(campaign.trust)


def _tell(campaign: Ran, *, sharded: bool) -> None:
    from percuss.cli.output import hint, say, tell_trust

    tell_trust(campaign.trust)
    did = campaign.progress
    say(f"{counted(did.done, 'run')} done, {did.note()}" if did.done or did.elsewhere else "nothing was missing")
    if sharded:
        hint(f"percuss adopt {campaign.stream} makes these runs part of main")
    if any(not verdict.passed and verdict.gate == "runs" for verdict in campaign.trust):
        hint("percuss log --kind runs.failed lists the runs that failed; percuss show says why")
