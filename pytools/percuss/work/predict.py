"""Predict before and after the data, and ask the simulator whether the surrogate is right there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from percuss.calibration import prediction, verification
from percuss.calibration.agreement import check_same_model
from percuss.calibration.prediction import Predicted
from percuss.calibration.problem import Problem, load_problem
from percuss.calibration.records import Posterior, load_posterior
from percuss.calibration.verification import Verification
from percuss.designs.design import Design, append_design
from percuss.errors import InputError
from percuss.execution.campaign import local_executor
from percuss.kinds.prediction_made import PredictionMade, Score, VerifiedOutput
from percuss.ledger.event import Draft, Event
from percuss.maker import Spent
from percuss.session import Session, inherit, reference
from percuss.surrogates.assessment import left_out
from percuss.surrogates.surrogate import Surrogate, load_surrogate
from percuss.trust import Trust
from percuss.trust import accept as accept_failures
from percuss.work.design import draft_extension
from percuss.work.repeated import judged_tables
from percuss.work.repetition import Repetition

FEWEST_ENRICHING = 10


@dataclass(frozen=True)
class Request:
    """What to predict, and how.

    `draws`: how many; 2000, or 100 of a direct calibration, if not given. `verify`: run the simulator at so many draws,
    and at mean and mode. `tolerance`: error of the surrogate over the std that the likelihood allows, at most.
    `curves`: a surrogate of whole curves, to predict these as well.
    """

    posterior: Event
    draws: int | None = None
    verify: int = 0
    tolerance: float = 2.0
    curves: Event | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Prediction:
    """What was predicted; `enrichment` is the design proposed where the surrogate was not right enough."""

    event: Event
    trust: Trust
    predicted: Predicted
    scores: list[Score]
    verification: Verification | None
    enrichment: Event | None


def predict(session: Session, request: Request) -> Prediction:
    """Predict, score, verify if asked for, and append the prediction.

    Raises `Interrupted` on Ctrl-C while runs to verify by are made; what had finished is kept.
    """
    posterior = load_posterior(session, request.posterior)
    posterior.trusted_summary()
    curves = _curves(session, request.curves)
    runs = bool(request.verify) or posterior.body.direct
    study = session.consented(posterior.study) if runs else posterior.study
    with local_executor(session.workers) as executor:
        problem = load_problem(session, posterior.event, executor, study)
        if curves:
            check_same_model(problem.study, curves.study, f"surrogate {curves.event.id}")
        verified = _verified(session, problem, posterior, request) if request.verify else None
        spent = Spent()
        draws = request.draws or (100 if problem.direct else 2000)
        predicted = prediction.predict(problem, posterior, draws, request.seed, curves)
        unknown = worthless(session, problem, session.accept)
        scores = prediction.scores(problem, posterior, predicted, verified, unknown)
    enrichment = None
    if verified and not verified.passed:
        proposed = _proposed(session, problem, posterior, verified, request.seed)
        enrichment = append_design(session, proposed, cause=verified.campaign).stored
    predicted = prediction.without(predicted, unknown)
    body = PredictionMade(
        draws=draws,
        scores=tuple(scores),
        verification=verified.facts(enrichment.id if enrichment else None) if verified else None,
        notes=predicted.notes,
        trust=(),
    )
    tables = dict(predicted.tables) | ({"verification": verified.table} if verified else {})
    inputs: list[tuple[str, Event | Draft]] = [("study", problem.study_event), ("posterior", posterior.event)]
    inputs += [("campaign", verified.campaign)] if verified else []
    inputs += [("surrogate", curves.event)] if curves else []
    blobs = [session.ledger.put_table(role, table) for role, table in tables.items()]
    draft = Draft(
        "prediction.made", body, reference(problem.study), inputs, blobs, seed=request.seed, cost=spent.cost()
    )
    verdicts = prediction.learnt(problem) + (verified.verdicts() if verified else ())
    event, trust = session.append_result(draft, verdicts)
    return Prediction(event, trust, predicted, scores, verified, enrichment)


def worthless(session: Session, problem: Problem, accepted: frozenset[str]) -> frozenset[str]:
    """`case/output` of what the surrogates know nothing of, unless that was accepted."""
    trust = inherit(session.state, [surrogate.event for surrogate in problem.surrogates])
    return left_out(accept_failures(trust, accepted))


def _curves(session: Session, event: Event | None) -> Surrogate | None:
    if event is None:
        return None
    surrogate = load_surrogate(session, event)
    if not surrogate.has_curves:
        raise InputError(
            f"--curves {event.id}: is a surrogate of outputs", hint="percuss surrogate --curves fits curves"
        )
    return surrogate


def _verified(session: Session, problem: Problem, posterior: Posterior, request: Request) -> Verification:
    """Run the simulator at the posterior, as far as that was not done before."""
    design = verification.draft_runs(
        session, problem, posterior, request.verify, request.seed, keep_curves=request.curves is not None
    )
    design = verification.stored(session, design)
    with session.voice.progress("verifying", design.size) as advance:
        campaign = verification.run(session, design, local_executor(session.workers), advance)
    return verification.compare(session, problem, posterior, design, campaign, request.tolerance)


def _proposed(session: Session, problem: Problem, posterior: Posterior, verified: Verification, seed: int) -> Design:
    """More points, where the calibration needs them, for the surrogate that is worst: dishonest, or of least use."""
    honest = verified.worst <= verified.tolerance

    def wants(output: VerifiedOutput) -> float:
        return (output.could_tell or 0.0) - (output.tells or 0.0) if honest else output.ratio or 0.0

    worst = max((output for output in verified.outputs if output.observed), key=wants)
    surrogate = next(s for s in problem.surrogates if (worst.case, worst.output) in s.outputs)
    count = max(FEWEST_ENRICHING, verified.table["sample"].n_unique() - len(verification.LABELS))
    return draft_extension(session, surrogate, count, seed, posterior)


def repeat_prediction(session: Session, event: Event, part: int = 0) -> Repetition:
    """Predict again and compare every table but that of the verification."""
    body, events = PredictionMade.of(event), session.state.events
    posterior = load_posterior(session, events[event.input("posterior")])
    curves = [load_surrogate(session, events[item.id]) for item in event.inputs_as("surrogate")]
    problem = load_problem(session, posterior.event)
    predicted = prediction.predict(problem, posterior, body.draws, event.seed or 0, curves[0] if curves else None)
    accepted = frozenset(verdict.gate for verdict in body.trust if verdict.accepted)
    unknown = worthless(session, problem, accepted)
    kept = prediction.without(predicted, unknown)
    scores = () if body.verification else tuple(prediction.scores(problem, posterior, predicted, None, unknown))
    again = replace(body, scores=scores, notes=kept.notes)
    verified = ("scores", "verification") if body.verification else ()
    return judged_tables(
        session,
        event,
        "prediction",
        kept.tables,
        left_out=("verification",),
        body=again,
        not_computed=verified,
        own=prediction.learnt(problem),
    )
