"""Compute confidence regions of time histories over the runs of a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from percuss.errors import InputError
from percuss.execution.campaign import closed_campaign, recorded_campaign
from percuss.execution.results import Campaign
from percuss.kinds.region_computed import RegionComputed
from percuss.ledger.event import Draft, Event
from percuss.regions.compute import Regions, regions_of
from percuss.session import Session
from percuss.trust import Trust
from percuss.work.repeated import judged_tables
from percuss.work.repetition import Repetition


@dataclass(frozen=True, eq=False)
class ComputedRegions:
    """Regions of the curves of a campaign."""

    event: Event
    trust: Trust
    regions: Regions


def region_body(campaign: Campaign, regions: Regions, curves: Sequence[str], level: float) -> RegionComputed:
    """The body of the event, before its verdicts."""
    return RegionComputed(
        curves=tuple(curves),
        cases=tuple(runs.case for runs in campaign.cases),
        level=level,
        axis=regions.axis,
        facts=regions.facts,
        sources=regions.sources,
        trust=(),
    )


def compute_regions(session: Session, event: Event, curves: Sequence[str], level: float = 0.9) -> ComputedRegions:
    """Pointwise and simultaneous regions that hold `level` of the runs; of a saltelli design the variance by source."""
    if not 0 < level < 1:
        raise InputError(f"--level {level}: must lie between 0 and 1")
    campaign = closed_campaign(session, event)
    names = list(dict.fromkeys(curves))
    regions = regions_of(session, campaign, names, level)
    body = region_body(campaign, regions, names, level)
    blobs = [session.ledger.put_table(role, table) for role, table in regions.tables.items()]
    draft = Draft("region.computed", body, campaign.designs[0].reference, campaign.inputs(), blobs)
    appended, trust = session.append_result(draft)
    return ComputedRegions(appended, trust, regions)


def repeat_region(session: Session, event: Event, part: int = 0) -> Repetition:
    """Compute again and compare every table."""
    body = RegionComputed.of(event)
    campaign = recorded_campaign(session, event)
    regions = regions_of(session, campaign, list(body.curves), body.level)
    again = region_body(campaign, regions, body.curves, body.level)
    return judged_tables(session, event, "region", regions.tables, body=again)
