"""Foresee which of several tests would tell most about a quantity, and append the advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from percuss.calibration.advice import Advice, Ahead
from percuss.calibration.advice import advise as foresee
from percuss.calibration.advice_check import LEAST_TWINS, Tried, ranking_verdicts, try_twins, twin_verdicts
from percuss.calibration.agreement import check_same_model
from percuss.calibration.calibrate import Sampling
from percuss.calibration.candidates import (
    Candidate,
    Measurement,
    asked_candidates,
    default_candidates,
    study_candidates,
)
from percuss.calibration.problem import load_problem
from percuss.calibration.records import Posterior, load_posterior
from percuss.errors import AnswerIsNo, InputError
from percuss.inference.samplers.sample import Stopping
from percuss.kinds.advice_computed import AdviceComputed, CandidateFacts, LeftOut, MeasurementFacts, TriedFacts
from percuss.ledger.event import Draft, Event
from percuss.maker import Spent
from percuss.session import Advance, Session, inherit, reference
from percuss.study.study import Study
from percuss.surrogates.assessment import left_out
from percuss.surrogates.surrogate import load_surrogate
from percuss.trust import Trust
from percuss.trust import accept as accept_failures
from percuss.work.repeated import FAR, farthest, judged_tables
from percuss.work.repetition import Repetition

if TYPE_CHECKING:
    import polars as pl

OUTER, INNER = 2000, 4000


@dataclass(frozen=True)
class Request:
    """Which tests, to tell about what.

    `about`: names of what was inferred, or `CASE/OUTPUT`; without any, all that was inferred. Candidates are those that
    `measure` names, else those of [candidates] of `study` (that of the posterior, if not given), else each output of
    each case that the surrogates have. `surrogates` has those of outputs that the posterior knows nothing of. With
    `twins` the advised test is tried on so many.
    """

    posterior: Event
    about: tuple[str, ...] = ()
    measure: tuple[str, ...] = ()
    repeats: int = 1
    study: Study | None = None
    surrogates: tuple[Event, ...] = ()
    twins: int = 0
    outer: int = OUTER
    inner: int = INNER
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Advised:
    """The event, its verdicts, and its tables."""

    event: Event
    trust: Trust
    candidates: pl.DataFrame
    contractions: pl.DataFrame

    @property
    def body(self) -> AdviceComputed:
        """What was found."""
        return AdviceComputed.of(self.event)


def advise(session: Session, request: Request) -> Advised:
    """Hold candidates against a posterior, try the best on twins if asked for, and append the advice."""
    if request.twins and request.twins < LEAST_TWINS:
        raise InputError(f"twins = {request.twins}: at least {LEAST_TWINS} are needed to say anything of their mean")
    spent = Spent()
    posterior = load_posterior(session, request.posterior)
    posterior.trusted_summary()
    ahead = look_ahead(session, posterior, request.surrogates, request.about, session.accept)
    candidates = _candidates(ahead, request)
    advice = foresee(ahead, candidates, request.outer, request.inner, request.seed)
    if not advice.foreseen:
        reasons = "; ".join(f"{name}: {reason}" for _, name, reason in advice.left_out[:3])
        raise AnswerIsNo(f"nothing can be foreseen of any candidate: {reasons}")
    tried = None
    if request.twins:
        with session.voice.progress("calibrating twins", request.twins) as advance:
            tried = try_advised(ahead, advice, request.twins, request.seed, advance)
    body = advice_body(ahead, candidates, advice, tried)
    tables = advice_tables(ahead, advice, tried)
    inputs: list[tuple[str, Event | Draft]] = [("study", ahead.problem.study_event), ("posterior", posterior.event)]
    inputs += [("surrogate", surrogate.event) for surrogate in ahead.further.values()]
    draft = Draft(
        "advice.computed",
        body,
        reference(ahead.problem.study),
        inputs,
        [session.ledger.put_table(role, table) for role, table in tables.items()],
        seed=request.seed,
        cost=spent.cost(),
    )
    event, trust = session.append_result(draft, advice_verdicts(advice, tried), _concerned(posterior, advice))
    return Advised(event, trust, tables["candidates"], tables["contractions"])


def look_ahead(
    session: Session, posterior: Posterior, surrogates: Sequence[Event], about: Sequence[str], accepted: frozenset[str]
) -> Ahead:
    """A posterior with all that candidates are foreseen by."""
    problem = load_problem(session, posterior.event)
    further = {f"further-{i + 1}": load_surrogate(session, event) for i, event in enumerate(surrogates)}
    every = [*problem.surrogates, *further.values()]
    trust = accept_failures(inherit(session.state, [surrogate.event for surrogate in every]), accepted)
    return Ahead(problem, posterior, further, left_out(trust), tuple(about) or posterior.names)


def try_advised(
    ahead: Ahead, advice: Advice, twins: int, seed: int, advance: Advance = lambda count, note: None
) -> Tried:
    """Try the advised test on twins, sampled as the posterior was."""
    body = ahead.posterior.body
    how = Sampling(body.sampler, body.settings, Stopping(**body.stopping), seed)  # type: ignore[arg-type]
    return try_twins(ahead, advice, advice.best, twins, how, advance)


def advice_verdicts(advice: Advice, tried: Tried | None) -> Trust:
    """The verdicts of the advice itself."""
    return (*ranking_verdicts(advice), *(twin_verdicts(tried) if tried else ()))


def _concerned(posterior: Posterior, advice: Advice) -> list[str]:
    """What the advice uses of all it is made from: all of the posterior, and outputs of further surrogates by name."""
    of_posterior = [name for verdict in posterior.body.trust for name in verdict.about]
    own = [one.name for item in advice.foreseen for one in item.candidate.measurements]
    return [*of_posterior, *own]


def _candidates(ahead: Ahead, request: Request) -> list[Candidate]:
    study = ahead.problem.study
    if request.study is not None:
        check_same_model(study, request.study, f"study {request.study.name}")
    if request.repeats < 1:
        raise InputError(f"repeats = {request.repeats}: must be at least 1")
    if request.measure:
        return asked_candidates(study, request.measure, request.repeats)
    if named := study_candidates(request.study or study):
        if request.repeats > 1:
            raise InputError("repeats: [candidates] of the study say how often each is measured")
        return named
    return default_candidates(ahead.places, request.repeats)


def recorded_candidates(body: AdviceComputed) -> list[Candidate]:
    """The candidates of an event."""
    return [
        Candidate(
            item.name,
            tuple(Measurement(one.case, one.output, one.repeats, one.std) for one in item.measurements),
            item.cost,
        )
        for item in body.candidates
    ]


def advice_body(ahead: Ahead, candidates: Sequence[Candidate], advice: Advice, tried: Tried | None) -> AdviceComputed:
    """The body, before its verdicts."""
    facts: list[TriedFacts] = []
    if tried is not None and tried.converged.sum() >= LEAST_TWINS:
        facts = [
            TriedFacts(quantity=name, foreseen=float(a), achieved=float(b), error=float(c))
            for name, a, b, c in zip(ahead.about, *tried.contractions(), strict=True)
        ]
    return AdviceComputed(
        about=ahead.about,
        candidates=tuple(
            CandidateFacts(
                name=one.name,
                measurements=tuple(
                    MeasurementFacts(case=m.case, output=m.output, repeats=m.repeats, std=m.std)
                    for m in one.measurements
                ),
                cost=one.cost,
            )
            for one in candidates
        ),
        advised=advice.best.candidate.name,
        outer=len(advice.draws.outer),
        inner=len(advice.draws.inner),
        twins=len(tried.achieved) if tried else 0,
        converged=int(tried.converged.sum()) if tried else 0,
        tried=tuple(facts),
        left_out=tuple(LeftOut(candidate=a, measurement=b, reason=c) for a, b, c in advice.left_out),
        trust=(),
    )


def advice_tables(ahead: Ahead, advice: Advice, tried: Tried | None) -> dict[str, pl.DataFrame]:
    """The tables of the event, the best candidate first."""
    import polars as pl

    ordered = sorted(advice.foreseen, key=lambda one: -one.per_cost)
    rows = [
        {
            "candidate": one.candidate.name,
            "cost": one.candidate.cost,
            "gain": one.gain.gain.value,
            "gain_error": one.gain.gain.error,
            "per_cost": one.per_cost,
            "per_cost_error": one.gain.gain.error / one.candidate.cost,
            "gaussian": one.gain.gaussian,
            "correction": one.gain.correction,
            "smoothing": one.gain.smoothing,
            "effective": one.gain.effective,
        }
        for one in ordered
    ]
    contractions = [
        {"candidate": one.candidate.name, "quantity": name, "contraction": each.value, "error": each.error}
        for one in ordered
        for name, each in zip(ahead.about, one.gain.contractions, strict=True)
    ]
    tables = {"candidates": pl.DataFrame(rows), "contractions": pl.DataFrame(contractions)}
    if tried is not None:
        left = [
            (number, name, float(a), float(b) if b == b else None)
            for number in range(len(tried.achieved))
            for name, a, b in zip(ahead.about, tried.foreseen[number], tried.achieved[number], strict=True)
        ]
        schema = {"twin": pl.Int64(), "quantity": pl.String(), "foreseen": pl.Float64(), "achieved": pl.Float64()}
        tables["twins"] = pl.DataFrame(left, schema, orient="row")
    return tables


def repeat_advice(session: Session, event: Event, part: int = 0) -> Repetition:
    """Compute every gain again; posteriors of twins may take another path elsewhere."""
    body, events, seed = AdviceComputed.of(event), session.state.events, event.seed or 0
    posterior = load_posterior(session, events[event.input("posterior")])
    surrogates = [events[item.id] for item in event.inputs_as("surrogate")]
    accepted = frozenset(verdict.gate for verdict in body.trust if verdict.accepted)
    ahead = look_ahead(session, posterior, surrogates, body.about, accepted)
    candidates = recorded_candidates(body)
    advice = foresee(ahead, candidates, body.outer, body.inner, seed)
    tried = try_advised(ahead, advice, body.twins, seed) if body.twins else None
    again = replace(advice_body(ahead, candidates, advice, tried), trust=body.trust, notes=body.notes)
    tables = advice_tables(ahead, advice, tried)

    def beyond() -> str | None:
        # No search is in these; posteriors of twins may take any path.
        apart = [farthest(session, event, role, tables[role]) for role in ("candidates", "contractions")]
        return next((f"{far:.2g} apart" for far in apart if FAR < far < float("inf")), None)

    own = advice_verdicts(advice, tried)
    return judged_tables(session, event, "advice", tables, far=beyond, body=again, own=own)
