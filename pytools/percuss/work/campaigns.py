"""Campaigns to work with: closed first, if all their runs are in and nobody has said so yet."""

from __future__ import annotations

from percuss.designs.design import read_design
from percuss.execution.campaign import close_campaign
from percuss.execution.results import Campaign, designs_of, read_campaign
from percuss.ledger.event import Event
from percuss.session import Session


def closed_campaign(session: Session, event: Event) -> Campaign:
    """The runs of a design, given by itself, its campaign or runs of it, and of those it extends.

    Appends the closing event of a design whose runs are all in where there is none. Raises InputError when runs are
    missing or the tables are not those the events speak of.
    """
    designs = designs_of(session, event)
    return read_campaign(session, designs, [close_campaign(session, design) for design in designs])


def recorded_campaign(
    session: Session, event: Event, role: str = "campaign", *, oldest_first: bool = False
) -> Campaign:
    """The runs that a result was made from, as its inputs name them; most results name the newest first."""
    closings = [session.state.events[item.id] for item in event.inputs_as(role)]
    ordered = closings if oldest_first else closings[::-1]
    designs = [read_design(session, session.state.events[closing.input("design")]) for closing in ordered]
    return read_campaign(session, designs, ordered)
