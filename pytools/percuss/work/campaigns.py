"""Campaigns to work with: closed first, if all their runs are in and nobody has said so yet."""

from __future__ import annotations

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
