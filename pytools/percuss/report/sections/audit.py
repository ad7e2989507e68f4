"""An audit: what was proven, and how each result that was computed again came out."""

from __future__ import annotations

from collections import Counter

from percuss.kinds.audit_made import AuditMade
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import counted

# Verdicts on a result that was computed again, in the order of the table.
WORDS = {
    "differs": "DIFFERS",
    "cannot": "cannot be compared here",
    "within": "within a stated bound",
    "same": "same bits",
}


def section(source: Source, event: Event) -> Section:
    """Whether the ledger held, proof by proof, then what was drawn."""
    body = AuditMade.of(event)
    broken = [name for name, faults in body.proofs.items() if faults]
    verdict = (
        Notice(f"all proofs hold for {counted(body.events, 'event')}.", "good")
        if body.holds
        else Notice(f"BROKEN: {', '.join(broken) or 'anchor'}.")
    )
    blocks: list[Block] = [verdict]
    proofs: list[list[Cell]] = [[name, faults or "none"] for name, faults in body.proofs.items()]
    blocks.append(Table("What was proven", ["proof", "faults"], proofs))
    tiers: list[list[Cell]] = [[name, "yes" if reached else "no"] for name, reached in body.tiers.items()]
    blocks.append(Table("What the ledger is", ["tier", "reached"], tiers))
    blocks.append(
        Text(f"Against what was kept outside: {body.anchor}." if body.anchor else "Held against nothing kept outside.")
    )
    counts = Counter(item.verdict for item in body.drawn)
    rows: list[list[Cell]] = []
    for item in sorted(body.drawn, key=lambda item: list(WORDS).index(item.verdict)):
        drawn = source.state.events.get(item.event)
        rows.append(
            [drawn.kind if drawn else None, f"`{item.event}`", item.part or None, WORDS[item.verdict], item.sentence]
        )
    if rows:
        tally = ", ".join(f"{counts[word]} {words}" for word, words in WORDS.items() if counts[word])
        blocks.append(Table(f"Results computed again: {tally}", ["kind", "event", "part", "came out", "says"], rows))
        blocks.append(Text(f"They were drawn by the text `{body.beacon}`: `percuss audit --beacon` draws the same."))
    return Section("Audit", blocks, [verdict])
