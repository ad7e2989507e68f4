"""`percuss audit`: prove that the ledger is whole, or say where it is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import AllowCommandOption, JsonOption, LedgerOption, open_session

if TYPE_CHECKING:
    from percuss.work.audit import Audit

app = typer.Typer(add_completion=False)
# What is said of a result that was computed again.
VERDICTS = {
    "same": "same bits",
    "within": "within a stated bound",
    "cannot": "cannot be compared here",
    "differs": "differ",
}


@app.command(epilog="Example: percuss audit --rerun 5 --anchor 3f2a9c0d1b7e4410")
def audit(
    rerun: Annotated[int, typer.Option(min=0, help="How many results of each kind to compute again.")] = 3,
    anchor: Annotated[
        str | None,
        typer.Option(
            help="A file written by percuss anchor, or the hash of an event (at least 16 digits), kept elsewhere.",
            metavar="FILE|HASH",
        ),
    ] = None,
    beacon: Annotated[
        str | None,
        typer.Option(
            help="Choose what to compute again from this text, as the seed of the draw.",
            show_default="fresh entropy",
            metavar="TEXT",
        ),
    ] = None,
    signers: Annotated[
        Path | None,
        typer.Option(help="Whose signatures of anchors to trust: allowed_signers of SSH.", metavar="FILE"),
    ] = None,
    authorities: Annotated[
        Path | None,
        typer.Option(help="Whose time stamps of anchors to trust: certificates (PEM).", metavar="FILE"),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Record what was drawn, and the outcome, in the ledger.")
    ] = False,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Prove six things about the ledger: chain, payloads, order, lineage, replay, re-execution.

    The exit code is 1 if one of them does not hold. A ledger that was truncated or rewritten as a whole can be detected
    only with a hash that was kept elsewhere. Nothing is recorded without --record, so a read-only ledger can be audited
    too; --json lists what was drawn.
    """
    from percuss.anchors.witnesses import Trusted
    from percuss.cli.output import give_json, say
    from percuss.errors import LedgerError
    from percuss.kinds.table import plain
    from percuss.work import audit as work

    session = open_session(ledger, allow_command=allow_command)
    result = work.audit(session, rerun, anchor, beacon, Trusted(signers, authorities))
    made = None
    if record:
        try:
            made = work.record(session, result, rerun)
        except LedgerError as fault:
            say(f"the audit is not recorded: {fault}")
    if json:
        give_json(
            {
                "recorded": made.id if made else None,
                "holds": result.holds,
                "head": result.head,
                "anchor": plain(result.anchor) | {"holds": result.anchor.holds} if result.anchor else None,
                "tiers": {tier.name: tier.reached for tier in result.tiers},
                "beacon": result.repeated.beacon if result.repeated else None,
                "verdicts": dict(result.repeated.verdicts) if result.repeated else {},
                "drawn": plain(result.repeated.drawn) if result.repeated else [],
                "proofs": [
                    {"name": p.name, "holds": p.holds, "checked": p.checked, "faults": p.faults, "note": p.note}
                    for p in result.proofs
                ],
            }
        )
    else:
        _print(result)
        if made:
            print(f"{'recorded':13} {made.id}")
    if not result.holds:
        raise typer.Exit(1)


def _print(result: Audit) -> None:
    from percuss.cli.output import hanging, plain

    for proof in result.proofs:
        verdict = "holds" if proof.holds else "BROKEN"
        if proof.note.startswith("not tried"):
            verdict = "-"
        note = f" ({proof.note})" if proof.note else ""
        print(hanging(f"{proof.name:13} {verdict:7} {proof.checked:7}  ", f"{proof.claim}{plain(note)}"))
        for fault in proof.faults[:50]:
            print(f"  {plain(fault)}")
        if len(proof.faults) > 50:
            print(f"  and {len(proof.faults) - 50} more")
    if result.repeated and result.repeated.verdicts:
        print(f"{'drawn':13} by               --beacon {plain(result.repeated.beacon)}")
        counts = [f"{result.repeated.verdicts[word]} {words}" for word, words in VERDICTS.items()]
        print(hanging(f"{'verdicts':13}                  ", ", ".join(counts)))
    if result.anchor is None:
        words = "without a hash kept elsewhere a cut or rewritten ledger is not detected"
        print(hanging(f"{'anchor':13} none             ", words))
    else:
        verdict = "holds" if result.anchor.holds else "BROKEN"
        print(hanging(f"{'anchor':13} {verdict:7}          ", plain(result.anchor.sentence)))
    print(f"{'head':13} {result.head or 'no events yet'}")
    for tier in result.tiers:
        print(hanging(f"{'tier':13} {tier.name:8} {'yes' if tier.reached else 'no':7} ", tier.sentence))
