"""More runs for a surrogate: over its priors, or where a calibration needs it."""

from __future__ import annotations

from percuss.calibration.records import Posterior
from percuss.designs.design import Design
from percuss.designs.records import draft_design, load_design
from percuss.errors import InputError
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.surrogates.enrichment import extend
from percuss.surrogates.surrogate import Surrogate


def draft_extension(
    session: Session, surrogate: Surrogate, count: int, seed: int, posterior: Posterior | None = None
) -> Design:
    """A design that extends those of a surrogate, among the draws of a posterior if there is one."""
    before = load_design(session, surrogate.event)
    inputs: list[tuple[str, Event]] = [("surrogate", surrogate.event)]
    draws = None
    if posterior:
        if posterior.names[: len(surrogate.names)] != surrogate.names:
            raise InputError(
                f"posterior {posterior.event.id}: is of the parameters {', '.join(posterior.names)}, not of those of "
                f"surrogate {surrogate.event.id}"
            )
        posterior.trusted_summary()
        draws = posterior.flat()[:, : len(surrogate.names)]
        inputs.append(("posterior", posterior.event))
    return draft_design(
        session,
        extend(session, surrogate, count, seed, draws),
        cases=before.cases,
        fixed=before.fixed,
        keep_curves=before.keep_curves,
        inputs=inputs,
    )
