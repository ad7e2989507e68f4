"""Outputs that a surrogate knows nothing of: named in every section that would draw conclusions from them."""

from __future__ import annotations

from typing import NamedTuple

from percuss.kinds.trusted import Result
from percuss.ledger.event import Event
from percuss.report.blocks import Notice
from percuss.trust import failures


class Lacking(NamedTuple):
    """`case/output` of what has no skill, accepted or not, and the notice that says so."""

    names: frozenset[str]
    notices: tuple[Notice, ...]


def no_skill(event: Event) -> Lacking:
    """What an event says of the skill of the surrogate it is, or stands on."""
    trust = event.content.trust if isinstance(event.content, Result) else ()
    verdicts = [verdict for verdict in failures(trust) if verdict.gate == "skill"]
    names = frozenset(name for verdict in verdicts for name in verdict.about)
    sentences = [f"{verdict.sentence}{' (accepted all the same)' if verdict.accepted else ''}" for verdict in verdicts]
    return Lacking(
        names, (Notice("outputs that the surrogate knows too little of:", items=sentences),) if verdicts else ()
    )
