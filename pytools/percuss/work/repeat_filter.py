"""Weight an ensemble again, where what was observed is in the ledger."""

from __future__ import annotations

from percuss.execution.campaign import recorded_campaign
from percuss.filtering.covariance import ObservationError
from percuss.filtering.observations import observed
from percuss.filtering.update import summary, tables, update
from percuss.kinds.filter_updated import FilterUpdated
from percuss.ledger.event import Event, asked
from percuss.session import Session
from percuss.work.repeated import judged_tables
from percuss.work.repetition import Repetition


def repeat_filter(session: Session, event: Event, part: int = 0) -> Repetition:
    """Weight again and compare every table; a scale that was searched for is searched for again."""
    body, events = FilterUpdated.of(event), session.state.events
    sources = event.inputs_as("observations")
    if not sources:
        return Repetition("cannot", 0, "filters of observations in a file that the ledger does not keep")
    campaign = recorded_campaign(session, event, oldest_first=True)
    case = asked(event, "case")
    observations = observed(session, events[sources[0].id], campaign.study, str(case) if case else None)
    error = ObservationError(body.covariance.mode, body.covariance.scale, body.covariance.stds)
    against = [events[item.id] for item in event.inputs_as("against")]
    updated = update(session, campaign, observations, error, body.ess_target, against, event.seed or 0)
    may_estimate = body.identified is not None
    again = summary(updated, may_estimate=may_estimate, share=body.ess_target)
    return judged_tables(
        session, event, "filter", tables(updated, may_estimate=may_estimate), body=again, own=(updated.verdict(),)
    )
