"""Observe, calibrate, predict and compare as operations: what they read, what they give, and whether it repeats."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import percuss.ledger.ledger
import percuss.session
from percuss.errors import InputError
from percuss.execution.campaign import Interrupted, close_campaign, local_executor, run_campaign
from percuss.inference.samplers.sample import Progress, Stopping
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.kinds.table import KINDS
from percuss.kinds.validation_computed import ValidationComputed
from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker
from percuss.session import Session
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.surrogates.model import Settings
from percuss.validation.settings import models_of
from percuss.work.calibrate import PROGRESS, Request, _reporter, calibrate
from percuss.work.compare import compare
from percuss.work.design import Request as Points
from percuss.work.design import create_design, plan_design
from percuss.work.observe import file_data, observe, own_data
from percuss.work.predict import Request as Asked
from percuss.work.predict import predict
from percuss.work.repetition import Repetition
from percuss.work.subject import study_of, subject
from percuss.work.surrogate import fit_surrogates
from percuss.work.validate import Request as Validating
from percuss.work.validate import Subject, validate

STUDIES = Path(__file__).parents[3] / "studies"
MAKER = this_maker([])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a surrogate of the linear-Gaussian study."""
    place = tmp_path_factory.mktemp("prepared") / "ledger"
    session = Session(Ledger.open(place, MAKER, create=True))
    study = load_study(STUDIES / "linear-gaussian")
    design = create_design(session, plan_design(study, Points(n=16, skip=1)))
    run_campaign(session, design, local_executor(1), workers=lambda: 1)
    close_campaign(session, design)
    fit_surrogates(session, design.stored, Settings(degrees=(1, 2), bootstrap=0))
    return place


@pytest.fixture
def session(prepared: Path, tmp_path: Path) -> Session:
    """A session of a copy of that ledger."""
    shutil.copytree(prepared, tmp_path / "ledger")
    return Session(Ledger.open(tmp_path / "ledger", MAKER))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often the ledger is read and folded, and studies are built from it."""
    counts: Counter[str] = Counter()

    def count(what: str, function: Any) -> Any:
        def counting(*given: Any, **named: Any) -> Any:
            counts[what] += 1
            return function(*given, **named)

        return counting

    monkeypatch.setattr(percuss.session, "fold", count("folds", percuss.session.fold))
    reader = percuss.ledger.ledger.visible_frame
    monkeypatch.setattr(percuss.ledger.ledger, "visible_frame", count("reads", reader))
    monkeypatch.setattr(Study, "from_resolved", count("studies", Study.from_resolved))
    yield counts


def _repeated(session: Session, kind: str) -> Repetition:
    repeat = KINDS[kind].repeater()
    assert repeat is not None
    again: Repetition = repeat(session, session.event(f"@last:{kind}"), 0)
    return again


def test_calibrate_reads_folds_and_builds_once(session: Session, counted: Counter[str]) -> None:
    """Before there were sessions: 4 folds, 3 reads, 3 studies."""
    done = calibrate(session, Request(surrogates=(session.event("@last:surrogate"),), seed=1))
    assert done.event.kind == "posterior.sampled"
    assert counted == {"folds": 1, "reads": 1, "studies": 1}


def test_results_repeat_to_the_bit(session: Session) -> None:
    """Each result, computed again from the ledger by another session, is the same; what was forged is not."""
    first = calibrate(session, Request(surrogates=(session.event("@last:surrogate"),), seed=1))
    predict(session, Asked(first.event, draws=50))
    other = Session(Ledger.open(session.ledger.place.root, MAKER))
    for kind in ("observations.imported", "surrogate.fitted", "posterior.sampled", "prediction.made"):
        again = _repeated(other, kind)
        assert (again.verdict, again.sentence) == ("same", ""), kind
        assert again.checked > 0
    assert other.state.events.keys() == session.state.events.keys()
    for kind in ("surrogate.fitted", "posterior.sampled", "prediction.made"):
        event = session.event(f"@last:{kind}")
        inputs = [(item.role, session.state.events[item.id]) for item in event.inputs]
        session.append([Draft(kind, event.data, event.study, inputs, event.blobs, seed=99)])
        assert _repeated(session, kind).verdict == "differs", kind


def _moved(value: Any) -> Any:
    """The same with its first number changed by a tenth; None where there is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 1.1 * value if isinstance(value, float) and value else value + 1
    items = (
        list(value.items() if isinstance(value, dict) else enumerate(value)) if isinstance(value, dict | list) else []
    )
    for key, item in items:
        if (moved := _moved(item)) is not None:
            changed = value.copy()
            changed[key] = moved
            return changed
    return None


def test_what_is_said_of_tables_is_computed_again_too(session: Session) -> None:
    """The tables are left as they are, and a number of the body is changed, as of a summary that a report shows."""
    posterior = calibrate(session, Request(surrogates=(session.event("@last:surrogate"),), seed=1)).event
    predict(session, Asked(posterior, draws=50))
    fields = {
        "surrogate.fitted": ("largest_error", "points", "failed"),
        "posterior.sampled": ("summary", "evidence", "loo", "fit", "coverage", "evaluations"),
        "prediction.made": ("scores",),
    }
    for kind, names in fields.items():
        event = session.event(f"@last:{kind}")
        inputs = [(item.role, session.state.events[item.id]) for item in event.inputs]
        bodies = [event.data | {name: _moved(json.loads(event.body)[name])} for name in names]
        if kind == "posterior.sampled":
            bodies.append(event.data | {"converged": False})
        for body in bodies:
            session.append([Draft(kind, body, event.study, inputs, event.blobs, seed=event.seed)])
            again = _repeated(session, kind)
            assert again.verdict == "differs", (kind, again)
            assert any(name in again.sentence for name in (*names, "converged"))


def test_a_failure_that_is_left_out_is_missed(session: Session) -> None:
    """The posterior did not converge, and its verdicts were taken out."""
    stopped = calibrate(session, Request(surrogates=(session.event("@last:surrogate"),), seed=1, evaluations=6000))
    event = stopped.event
    assert any(verdict.gate == "convergence" and not verdict.passed for verdict in stopped.trust)
    assert _repeated(session, "posterior.sampled").verdict == "same"
    inputs = [(item.role, session.state.events[item.id]) for item in event.inputs]
    session.append([Draft(event.kind, event.data | {"trust": []}, event.study, inputs, event.blobs, seed=event.seed)])
    again = _repeated(session, "posterior.sampled")
    assert again.verdict == "differs" and "fails convergence" in again.sentence


def test_a_posterior_of_another_build_was_sampled_with_the_seed_it_names(session: Session) -> None:
    """Draws of another build may differ by chance; what is said of them follows from them and from the seed."""
    elsewhere = replace(MAKER, software=replace(MAKER.software, core="other"))
    theirs = Session(Ledger.open(session.ledger.place.root, elsewhere))
    calibrate(theirs, Request(surrogates=(theirs.event("@last:surrogate"),), seed=1))
    assert _repeated(theirs, "posterior.sampled").verdict == "same"
    event = theirs.event("@last:posterior")
    inputs = [(item.role, theirs.state.events[item.id]) for item in event.inputs]
    theirs.append([Draft(event.kind, event.data, event.study, inputs, event.blobs, seed=99)])
    here = Session(Ledger.open(session.ledger.place.root, MAKER))
    again = _repeated(here, "posterior.sampled")
    assert again.verdict == "differs" and "by its own draws" in again.sentence


def test_data_from_elsewhere_cannot_be_read_again(session: Session) -> None:
    study = load_study(STUDIES / "linear-gaussian")
    text = "output,value,std\ny1,2.3,0.1\ny2,0.4,0.2\ny3,2.6,0.1\n"
    measured = file_data(study, Path("other.csv"), text.encode())
    done = observe(session, measured)
    assert done.new and not observe(session, measured).new
    assert _repeated(session, "observations.imported").verdict == "cannot"
    posterior = calibrate(
        session, Request(surrogates=(session.event("@last:surrogate"),), observations=done.event, seed=1)
    )
    assert posterior.problem.observations.event.id == done.event.id
    assert own_data(study) is not None


def test_compare_gives_what_it_appends(session: Session) -> None:
    surrogate = session.event("@last:surrogate")
    first, second = (calibrate(session, Request(surrogates=(surrogate,), seed=seed)) for seed in (1, 2))
    done = compare(session, [first.event, second.event])
    (factor,) = done.body.bayes_factors
    assert done.body.same_data and abs(factor.log) < 0.1
    with pytest.raises(InputError, match="given twice"):
        compare(session, [first.event, first.event])


def test_an_interrupted_direct_calibration_says_what_it_kept(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from percuss.calibration import direct

    calls = []

    def broken(batch: Any) -> Any:
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run_batch(batch)

    run_batch = direct.run_batch
    monkeypatch.setattr(direct, "run_batch", broken)
    study = load_study(STUDIES / "linear-gaussian")
    with pytest.raises(Interrupted) as stop:
        calibrate(session, Request(direct=study, settings={"chains": 8}, evaluations=4000))
    kept = [event for event in session.state.events.values() if event.kind == "runs.completed"]
    assert stop.value.progress.done > 0
    assert sum(len(event.data["samples"]) for event in kept) == stop.value.progress.done + 16
    assert not [event for event in session.state.events.values() if event.kind == "posterior.sampled"]


def test_without_surrogate_or_study_there_is_nothing_to_calibrate(session: Session) -> None:
    with pytest.raises(InputError, match="needs a surrogate"):
        calibrate(session, Request())


def test_a_draw_is_in_the_body_as_it_is_in_the_summary(session: Session) -> None:
    done = calibrate(session, Request(surrogates=(session.event("@last:surrogate"),), seed=1))
    body = PosteriorSampled.of(done.event)
    assert body.summary and done.calibrated.summary
    for stored, row in zip(body.summary.rows, done.calibrated.summary.rows, strict=True):
        assert (stored.name, stored.mean, stored.interval) == (row.name, row.mean, row.interval)
    assert np.allclose(body.summary.correlations, done.calibrated.summary.correlations)


def test_a_text_is_a_study_or_an_event(tmp_path: Path, session: Session) -> None:
    """A study that is there comes first, though its name could begin an id."""
    (tmp_path / "studies" / "facade").mkdir(parents=True)
    studies = tmp_path / "studies"
    assert subject("facade", studies) == studies / "facade"
    assert subject(str(tmp_path), studies) == tmp_path
    assert subject("facad", studies) == "facad"
    assert subject("@last:posterior", studies) == "@last:posterior"
    assert subject("0197c3a4-91", studies) == "0197c3a4-91"
    with pytest.raises(InputError, match="neither a path nor a name"):
        subject("facades", studies)
    assert study_of(session, session.event("@last:surrogate")).name == "linear-gaussian"


def test_a_validation_repeats_where_its_record_is_the_studys(tmp_path: Path) -> None:
    session = Session(Ledger.open(tmp_path / "ledger", MAKER, create=True))
    study = load_study(STUDIES / "pounding-law")
    request = Validating(models_of(study)[0], {"traditional": False, "settle": "0.5 s", "drift": None})
    done = validate(session, Subject(study), request)
    assert ValidationComputed.of(done.event).asked == {"traditional": False, "settle": "0.5 s"}
    assert _repeated(session, "validation.computed") == Repetition("same", 1)
    origin = ValidationComputed.of(done.event).data
    assert origin
    validate(session, Subject(study), replace(request, data=(study.files[origin.file], "elsewhere.csv")))
    assert _repeated(session, "validation.computed").verdict == "cannot"


def test_progress_toward_convergence_fits_a_line() -> None:
    """A bar of 80 columns: what the draws have come to, and what they have to come to, not cut off."""
    said: list[tuple[int, str]] = []
    report = _reporter(lambda count, note: said.append((count, note)), Stopping(r_hat=1.01, ess=400))
    report(Progress("burn-in", 1000))
    report(Progress("draws", 173_400, 1.031, 12_409.0, 1_298_100))
    assert said == [(1000, "burn-in"), (172_400, "of about 1298100, R-hat 1.031 (to 1.01), ESS 12409 (to 400)")]
    assert len(f"{PROGRESS} 1173400 {said[1][1]}") <= 80
