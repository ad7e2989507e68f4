"""Compute regions of time histories again, from the same runs."""

from __future__ import annotations

from percuss.execution.campaign import recorded_campaign
from percuss.kinds.region_computed import RegionComputed
from percuss.ledger.event import Event
from percuss.regions.compute import regions_of
from percuss.session import Session
from percuss.work.region import region_body
from percuss.work.repeated_tables import judged_tables
from percuss.work.repetition import Repetition


def repeat_region(session: Session, event: Event, part: int = 0) -> Repetition:
    """Compute again and compare every table."""
    body = RegionComputed.of(event)
    campaign = recorded_campaign(session, event)
    regions = regions_of(session, campaign, list(body.curves), body.level)
    again = region_body(campaign, regions, body.curves, body.level)
    return judged_tables(session, event, "region", regions.tables, body=again)
