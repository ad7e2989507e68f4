"""What was checked before a result may be relied on, and what came of it."""

from __future__ import annotations

from percuss.kinds.trusted import Result
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Notice, Section, Table
from percuss.report.source import Source
from percuss.session import standing
from percuss.trust import GATES, failures


def section(source: Source, event: Event) -> Section | None:
    """Every verdict with its figure and threshold; None for events that carry none."""
    trust = standing(source.state, event)
    if not isinstance(event.content, Result) or not trust:
        return None
    failed = failures(trust)
    blocks: list[Block] = []
    if failed:
        open_ones = [verdict for verdict in failed if verdict.stops]
        words = "this result is NOT TRUSTED" if open_ones else "this result was accepted although it failed"
        blocks.append(Notice(f"{words}: {', '.join(dict.fromkeys(verdict.gate for verdict in failed))}."))
    else:
        blocks.append(Notice("everything that was checked passed.", "good"))
    rows: list[list[Cell]] = []
    for verdict in sorted(trust, key=lambda verdict: list(GATES).index(verdict.gate)):
        answer = "passed" if verdict.passed else "accepted" if verdict.accepted else "FAILED"
        origin = "" if verdict.source is None else f"inherited from `{verdict.source}`"
        rows.append([verdict.gate, answer, verdict.figure, verdict.threshold, verdict.sentence, origin])
    heads = ["gate", "answer", "figure", "threshold", "says", "from"]
    blocks.append(Table("What was checked", heads, rows))
    return Section("What was checked", blocks)
