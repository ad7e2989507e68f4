"""`percuss audit`: prove that the ledger is whole, or say where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import AllowCommandOption, JsonOption, LedgerOption, consented, open_ledger

if TYPE_CHECKING:
    from percuss.ledger.audit import Proof

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss audit --rerun 5 --anchor 3f2a9c0d1b7e4410")
def audit(
    rerun: Annotated[int, typer.Option(min=0, help="How many recorded runs, and posteriors, to make again.")] = 3,
    anchor: Annotated[
        str | None, typer.Option(help="A hash kept elsewhere; at least its first 16 digits.", metavar="HASH")
    ] = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Prove six things about the ledger: chain, payloads, order, lineage, replay, re-execution.

    Exit code 1 if one does not hold. That a ledger was cut short or written anew as a whole can be seen only against
    a hash that was kept elsewhere.
    """
    import re

    from percuss.calibration.proofs import prove_posteriors
    from percuss.cli.output import give_json
    from percuss.errors import InputError
    from percuss.execution.proofs import prove_reexecution, prove_replay
    from percuss.execution.records import load_study_event
    from percuss.ledger import audit as proofs
    from percuss.ledger.ledger import MAIN
    from percuss.ledger.projections import fold
    from percuss.software import software

    if anchor and not re.fullmatch("[0-9a-fA-F]{16,64}", anchor):
        raise InputError(f"--anchor {anchor[:80]}: must be a hash, or at least its first 16 hexadecimal digits")
    book = open_ledger(ledger)
    walk = proofs.prove_chain(book.place)
    found = [walk.proof, proofs.prove_payloads(book.place, walk), proofs.prove_order(walk), proofs.prove_lineage(walk)]
    if all(proof.holds for proof in found):
        found.append(prove_replay(book))
        state = fold(walk.visible)
        if allow_command:
            for registered in state.studies.values():
                consented(load_study_event(book, registered), True)
        again = prove_reexecution(book, state, rerun, software().core, allow_command)
        prove_posteriors(again, book, state, rerun, software().core)
        found.append(again)
    else:
        for name in ("replay", "re-execution"):
            found.append(proofs.Proof(name, "", note="not tried: what it would start from is damaged"))
    head = walk.head
    anchored: dict[str, object] | None = None
    if anchor:
        event = proofs.find_anchor(walk, anchor)
        stream = event.stream if event else None
        anchored = {"hash": anchor, "event": event.id if event else None, "stream": stream, "holds": stream == MAIN}
    good = all(proof.holds for proof in found) and (anchored is None or anchored["holds"] is True)
    if json:
        give_json(
            {
                "holds": good,
                "head": head,
                "anchor": anchored,
                "proofs": [
                    {"name": p.name, "holds": p.holds, "checked": p.checked, "faults": p.faults, "note": p.note}
                    for p in found
                ],
            }
        )
    else:
        _print(found, head, anchored)
    if not good:
        raise typer.Exit(1)


def _print(found: list[Proof], head: str | None, anchored: dict[str, object] | None) -> None:
    from percuss.cli.output import plain

    for proof in found:
        verdict = "holds" if proof.holds else "BROKEN"
        if proof.note.startswith("not tried"):
            verdict = "-"
        note = f" ({proof.note})" if proof.note else ""
        print(f"{proof.name:13} {verdict:7} {proof.checked:7}  {proof.claim}{note}")
        for fault in proof.faults[:50]:
            print(f"  {plain(fault)}")
        if len(proof.faults) > 50:
            print(f"  and {len(proof.faults) - 50} more")
    if anchored is None:
        print(f"{'anchor':13} none             without a hash kept elsewhere a cut or rewritten ledger cannot be told")
    elif anchored["holds"]:
        print(f"{'anchor':13} holds            everything up to event {anchored['event']} is as it was")
    elif anchored["event"]:
        where = f"event {anchored['event']} of the stream {anchored['stream']}"
        print(f"{'anchor':13} BROKEN           that is {where}, which proves nothing of main; keep the head below")
    else:
        print(f"{'anchor':13} BROKEN           no event has the hash {anchored['hash']}: cut short or written anew")
    print(f"{'head':13} {head or 'no events yet'}")
