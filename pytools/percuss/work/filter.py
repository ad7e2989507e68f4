"""Weight the runs of a design by observations, step by step.

Weigh an ensemble again, where what was observed is in the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from percuss.execution.campaign import recorded_campaign
from percuss.execution.results import Campaign
from percuss.filtering.covariance import ObservationError
from percuss.filtering.observations import Observations, observed
from percuss.filtering.update import Updated, summary, tables, update
from percuss.kinds.filter_updated import FilterUpdated
from percuss.ledger.event import Draft, Event, asked
from percuss.session import Session
from percuss.trust import Trust, Verdict
from percuss.work.repetition import Repetition, judged_tables


@dataclass(frozen=True, eq=False)
class FilteredEnsemble:
    """Weights and what they say; `may_estimate` is whether estimates may be given."""

    event: Event
    trust: Trust
    updated: Updated
    enough: Verdict
    may_estimate: bool

    @property
    def body(self) -> FilterUpdated:
        """What was found."""
        return FilterUpdated.of(self.event)


def filter_ensemble(
    session: Session,
    campaign: Campaign,
    observations: Observations,
    error: ObservationError,
    *,
    share: float | None = None,
    against: Sequence[Event] = (),
    seed: int = 0,
) -> FilteredEnsemble:
    """Weight the runs of a campaign; with `share` the scale of the error is searched for that effective share.

    Weights that come down to too few samples are kept, and no estimate is given from them.
    """
    updated = update(session, campaign, observations, error, share, against, seed)
    enough = updated.verdict()
    # A scale that was searched for claims nothing of errors, and of few samples even the best may be far off.
    own = [enough, updated.fit()] if enough.passed and share is None else [enough]
    may_estimate = enough.passed or enough.gate in session.accept
    # Oldest first: `design --propose` goes on from the last.
    inputs: list[tuple[str, Event | Draft]] = [("study", campaign.designs[0].study_source)]
    inputs += [("design", design.stored) for design in campaign.designs]
    inputs += [("campaign", closing) for closing in campaign.closings]
    inputs += [("observations", event) for event in [observations.event] if event]
    inputs += [("against", event) for event in against]
    draft = Draft(
        "filter.updated",
        summary(updated, may_estimate=may_estimate, share=share),
        campaign.designs[0].reference,
        inputs,
        [
            session.ledger.put_table(role, table)
            for role, table in sorted(tables(updated, may_estimate=may_estimate).items())
        ],
        seed=seed,
        outcome="ok" if may_estimate else "failed",
        reason=None if may_estimate else enough.sentence,
    )
    appended, trust = session.append_result(draft, own)
    return FilteredEnsemble(appended, trust, updated, enough, may_estimate)


def repeat_filter(session: Session, event: Event, part: int = 0) -> Repetition:
    """Weigh again and compare every table; a scale that was searched for is searched for again."""
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
