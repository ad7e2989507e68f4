"""Weight the runs of a design by observations, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from percuss.execution.results import Campaign
from percuss.filtering.covariance import ObservationError
from percuss.filtering.observations import Observations
from percuss.filtering.update import Updated, summary, tables, update
from percuss.kinds.filter_updated import FilterUpdated
from percuss.ledger.event import Draft, Event
from percuss.session import Session
from percuss.trust import Trust, Verdict


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
