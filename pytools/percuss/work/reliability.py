"""Estimate the probability that a limit of a study is exceeded, by its simulator, a surrogate, or after a posterior."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from percuss.calibration.direct import Direct
from percuss.errors import InputError
from percuss.execution.campaign import local_executor
from percuss.kinds import posterior_sampled, surrogate_fitted
from percuss.kinds.reliability_estimated import LimitVerification, ProbabilityFacts, ReliabilityEstimated
from percuss.ledger.event import Draft, Event
from percuss.maker import Spent
from percuss.reliability.estimate import TooFewError, reliability_index
from percuss.reliability.methods import check_options
from percuss.reliability.surrogate_error import corrected, verification_rows
from percuss.session import Session, reference
from percuss.study.limits import LimitState, find_limit
from percuss.study.study import Study
from percuss.trust import Trust, Verdict, accept
from percuss.work.limit_estimate import Request, Result, compute, finite
from percuss.work.limit_source import Source, from_posterior, from_study, from_surrogates, refuse_noise
from percuss.work.repeated import FAR, judged_tables
from percuss.work.repetition import Repetition, elsewhere

# What the runs add must be known this well, over the estimate, for the verification to say anything.
WIDEST = 1.0
# Beyond what the surrogate's own error allows, so much of the estimate may be added.
TOLERATED = 0.05


@dataclass(frozen=True, eq=False)
class Reliability:
    """The event and its verdicts."""

    event: Event
    trust: Trust

    @property
    def body(self) -> ReliabilityEstimated:
        """What came out."""
        return ReliabilityEstimated.of(self.event)


def estimate_reliability(session: Session, request: Request) -> Reliability:
    """Estimate and append. Runs of the simulator are appended as they are made, whatever comes of them."""
    _check(request)
    spent = Spent()
    with local_executor(session.workers) as executor:
        source = limit_source(session, request, executor)
        refuse_noise(source, request.method)
        result = compute(source, request)
        simulators = [source.direct] if source.direct else []
        if request.verify:
            simulators.append(_near_the_limit(session, source, request, executor))
            result = _verified(source, request, result, simulators[-1])
    kept = refused(result, session.accept)
    blobs = [session.ledger.put_table(role, table) for role, table in sorted(kept.tables.items())]
    draft = Draft(
        "reliability.estimated",
        kept.body,
        reference(source.study),
        [*source.inputs, *(("runs", event) for simulator in simulators for event in simulator.runs)],
        blobs,
        seed=request.seed,
        cost=spent.cost(),
    )
    event, trust = session.append_result(draft, kept.verdicts, source.about or None)
    return Reliability(event, trust)


def _check(request: Request) -> None:
    check_options(request.method, request.options)
    if not 0 < request.level < 1:
        raise InputError(f"--level {request.level}: must lie between 0 and 1")
    if not request.cv > 0:
        raise InputError(f"--cv {request.cv}: must be above 0")
    if (request.design is None) != (request.target is None):
        raise InputError("--design and --target go together: which input, and which probability it must meet")
    if request.target is not None and not 0 < request.target < 1:
        raise InputError(f"--target {request.target}: must lie between 0 and 1")
    if request.event is None and request.verify:
        raise InputError("--verify: is for surrogates; of a study the simulator itself is asked")
    if request.design and request.verify:
        raise InputError("--verify: does not go with --design", hint="verify the estimate at the value that was result")


def limit_source(session: Session, request: Request, executor: Executor | None) -> Source:
    """What gives the outputs."""
    event = request.event
    if event is None:
        assert request.study is not None
        state = find_limit(request.study, request.limit)
        return from_study(session, request.study, state, request.seed, executor, mixes=request.mixes)

    def state_of(study: Study) -> LimitState:
        return find_limit(study, request.limit)

    event = session.take(event, surrogate_fitted.KIND.name, posterior_sampled.KIND.name)
    if event.kind == surrogate_fitted.KIND.name:
        return from_surrogates(session, [event], request.study, state_of)
    return from_posterior(session, event, request.study, state_of, request.seed, executor, mixes=request.mixes)


def refused(result: Result, accepted: frozenset[str]) -> Result:
    """Without the estimate, where it has not converged and that is not accepted."""
    failed = [
        verdict for verdict in accept(result.verdicts, accepted) if verdict.gate == "probability" and verdict.stops
    ]
    if not failed:
        return result
    return replace(result, body=replace(result.body, estimate=None, slopes=(), epistemic=None, verification=None))


def _near_the_limit(session: Session, source: Source, request: Request, executor: Executor | None) -> Direct:
    study = session.consented(source.study) if executor else source.study
    return Direct(session, study, source.function.columns, request.seed, executor)


def _verified(source: Source, request: Request, result: Result, direct: Direct) -> Result:
    """Run the simulator near the limit surface, and put the estimate right by what it says."""
    if source.direct is not None or result.estimate is None or result.theta is None:
        raise InputError("--verify: is for surrogates; here the simulator itself is asked")
    function, estimate = source.function, result.estimate
    rows, q, doubt = verification_rows(estimate.samples, function.error(result.theta), request.verify, request.seed)
    limit = replace(function, forward=direct).over_parameters()
    simulated = limit(result.theta[rows])
    checked = corrected(estimate.samples, rows, q, doubt, simulated, estimate, request.level)
    facts = LimitVerification(
        runs=checked.runs,
        failed=limit.failed,
        wrong=checked.wrong,
        expected_wrong=checked.expected_wrong,
        probability=checked.probability,
        index=finite(reliability_index(checked.probability)),
        interval=checked.interval,
        correction=checked.correction,
    )
    body = replace(result.body, verification=facts, runs=direct.known, failed=limit.failed)
    return replace(result, body=body, verdicts=(*result.verdicts, judge_surface(body, facts)))


def judge_surface(body: ReliabilityEstimated, facts: LimitVerification) -> Verdict:
    """Whether what the runs added is what the surrogate's own error allows, and is known well enough to tell."""
    assert body.estimate is not None
    p = body.estimate.probability
    allowed_low, allowed_high = (end - p for end in body.estimate.surrogate or (p, p))
    low, high = facts.correction
    wrong = f"{facts.wrong} of {facts.runs} verdicts near the limit are wrong, {facts.expected_wrong:.2g} were expected"
    corrected_text = f"{facts.probability:.3g} ({facts.interval[0]:.3g} to {facts.interval[1]:.3g})"
    off = max(low - allowed_high, allowed_low - high, 0.0) / p
    if off > TOLERATED:
        words = (
            f"the surrogate is wrong near the limit: {wrong}; by the simulator the probability is {corrected_text}, "
            f"by the surrogate {p:.3g}"
        )
        return Verdict("limit-surface", False, words, off, TOLERATED)
    width = (high - low) / 2 / p
    if not width <= WIDEST:
        words = f"{facts.runs} runs near the limit are too few to tell whether the surrogate is right there: {wrong}"
        return Verdict("limit-surface", False, words, width if np.isfinite(width) else None, WIDEST)
    return Verdict("limit-surface", True, f"{wrong}; put right the probability is {corrected_text}", off, TOLERATED)


# Two estimates of the same probability are never so many of their standard errors apart, in its logarithm.
FAR_ERRORS = 12.0


def repeat_reliability(session: Session, event: Event, part: int = 0) -> Repetition:
    """Estimate again and compare every table."""
    body = ReliabilityEstimated.of(event)
    above = [session.state.events[item.id] for role in ("posterior", "surrogate") for item in event.inputs_as(role)]
    request = Request(
        study=session.study(event),
        event=above[0] if above else None,
        limit=body.limit,
        method=body.method,
        n=body.n,
        cv=body.cv,
        level=body.level,
        options=body.options,
        draws=body.draws or None,
        design=body.design.parameter if body.design else None,
        target=body.design.target if body.design else None,
        seed=event.seed or 0,
        mixes=body.noise > 0,
        by_moments=body.by_moments,
    )
    accepted = frozenset(verdict.gate for verdict in body.trust if verdict.accepted)
    try:
        again = refused(compute(limit_source(session, request, None), request), accepted)
    except TooFewError as refusal:
        if not elsewhere(session, event).code:
            raise
        words = f"made by other code, whose first pass could take more evaluations than were allowed ({refusal})"
        return Repetition("cannot", 0, words, by_claim=True)
    # What the simulator said near the limit is not run again here.
    verified = ("verify", "verification", "runs", "failed")
    return judged_tables(
        session,
        event,
        "reliability",
        again.tables,
        far=lambda: _beyond_chance(body.estimate, again.body.estimate),
        body=again.body,
        not_computed=verified if body.verify else (),
        own=again.verdicts,
    )


def _beyond_chance(then: ProbabilityFacts | None, now: ProbabilityFacts | None) -> str | None:
    """A probability that no other path of the same search gives; its error is that of what came out."""
    if then is None or now is None or not now.probability > 0:
        return None
    if now.cv is None:  # of a method that samples nothing
        apart, room = abs((then.index or 0.0) - (now.index or 0.0)), FAR * abs(now.index or 0.0)
    else:
        apart = abs(math.log(then.probability / now.probability)) if then.probability > 0 else math.inf
        room = FAR_ERRORS * math.sqrt(2.0 * math.log1p(now.cv**2))
    words = f"the probability was {then.probability!r}, is {now.probability!r}"
    return None if apart <= room else words
