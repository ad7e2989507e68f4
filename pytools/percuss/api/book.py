"""An open ledger as its methods see it: results by their references, and events as results."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from percuss.api.posterior import Posterior
from percuss.api.results import Campaign, Design, Result, Run
from percuss.api.surrogate import Surrogate
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.spelling import counted

# A result, its event, or a reference to it: an id, a unique prefix of one, `@last`, `@last:KIND`.
ResultLike = Result | Event | str

# What an event of a kind is as an object; any other is a Result.
RESULTS: dict[str, type[Result]] = {
    "design.created": Design,
    "runs.completed": Run,
    "runs.failed": Run,
    "campaign.completed": Campaign,
    "surrogate.fitted": Surrogate,
    "posterior.sampled": Posterior,
}


class Book:
    """What the methods of a ledger have in common."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.session.ledger.place.root

    def refresh(self) -> Self:
        """See what others have appended since."""
        self.session.refresh()
        return self

    def __getitem__(self, reference: ResultLike) -> Any:
        """A result by its id, a unique prefix of it, `@last` or `@last:KIND`."""
        return self._result(self._event(reference))

    def __len__(self) -> int:
        return len(self.session.state.events)

    def __repr__(self) -> str:
        return f"<ledger {self.path}: {counted(len(self), 'event')}>"

    def _result(self, event: Event) -> Result:
        return RESULTS.get(event.kind, Result)(self.session, event)

    def _event(self, reference: ResultLike) -> Event:
        return reference.event if isinstance(reference, Result) else self.session.event(reference)
