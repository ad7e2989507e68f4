"""`percuss prune`: delete payloads under a policy, and record it."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, open_session
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog='Example: percuss prune --older-than 365d --kind runs --reason "one year, data plan 3.2"')
def prune(
    older_than: Annotated[
        str, typer.Option(help="Payloads of events before this time, or older than this, such as 365d.")
    ],
    reason: Annotated[str, typer.Option(help="Why; required.", show_default=False)] = "",
    kind: Annotated[str | None, typer.Option(help="Only this kind, such as `runs` or `posterior.sampled`.")] = None,
    study: Annotated[str | None, typer.Option(help="Only events of this study.")] = None,
    keep_cited: Annotated[
        bool, typer.Option(help="Keep payloads that a remaining result was made from, or that a note is about.")
    ] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be deleted.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Delete payloads that can be computed again, and record which and why.

    Events, their bodies and the digests of deleted payloads stay: percuss audit still holds, and reports what was
    pruned. Studies, designs, measured data and imported runs are never pruned, nor are files of the last hour.
    """
    from percuss.cli.output import give_json, say
    from percuss.work import prune as work

    session = open_session(ledger)
    policy = work.Policy(older_than, kind, study, keep_cited)
    done = work.plan(session, policy) if dry_run else work.prune(session, policy, reason)
    size = sum(blob.bytes for _, blob in done.payloads)
    what = f"{counted(len(done.payloads), 'payload')}, {size / 1e6:.3g} MB"
    say(f"would be pruned: {what}" if dry_run else f"recorded as pruned: {what}")
    for why, count in done.kept.items():
        say(f"kept: {counted(count, work.OF_ONE[why], why)}")
    if not dry_run:
        later = f"; left to a later prune, being of the last hour: {done.young}" if done.young else ""
        say(f"{counted(done.deleted, 'file')} deleted{later}")
    if json:
        facts = {"id": done.event.id if done.event else None, "payloads": len(done.payloads), "bytes": size}
        give_json(facts | {"deleted": done.deleted, "left": done.young, "kept": done.kept})
    elif done.event:
        print(done.event.id)
