"""Calibrations tried on twins, in the quick form: right ones pass, wrong ones are caught, all of it repeats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from percuss.calibration.twins import draw_twins
from percuss.errors import InputError
from percuss.execution.campaign import close_campaign, local_executor, run_campaign
from percuss.kinds.table import KINDS
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.surrogates.model import Settings
from percuss.work.calibrate import Request as Calibration
from percuss.work.calibrate import local_workers, prepare
from percuss.work.design import Request as Points
from percuss.work.design import create_design, plan_design
from percuss.work.surrogate import fit_surrogates
from percuss.work.trust import Request, newest_surrogates, try_twins

STUDIES = Path(__file__).parents[3] / "studies"
# A linear model again, with an inferred standard deviation and priors with bounds.
INFERRED = """
[model]
kind = "benchmark"
function = "linear-gaussian"
inputs = ["x1", "x2"]
outputs = ["y1", "y2", "y3"]
matrix = [[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]

[parameters.x1]
prior = { kind = "uniform", low = -1, high = 2 }
[parameters.x2]
prior = { kind = "gamma", shape = 3, scale = 0.5 }

[observations]
file = "measured.csv"

[calibration.scale]
surrogate_error = "per-datum"
discrepancy = { kind = "gaussian", std = { prior = { kind = "uniform", low = 0.05, high = 0.5 } } }
"""


def surrogate_of(session: Session, study: Study, n: int) -> Event:
    design = create_design(session, plan_design(study, Points(n=n, skip=1)))
    run_campaign(session, design, local_executor(1), workers=lambda: 1)
    close_campaign(session, design)
    return fit_surrogates(session, design.stored, Settings(degrees=(1, 2, 3), bootstrap=0)).event


@pytest.fixture
def linear(session: Session) -> Request:
    event = surrogate_of(session, load_study(STUDIES / "linear-gaussian"), 16)
    return Request(Calibration(surrogates=(event,), seed=1), twins=20, quick=True)


def inferred(folder: Path) -> Study:
    (folder / "study.toml").write_text(INFERRED)
    (folder / "measured.csv").write_text("output,value\n" + "y1,1\ny2,2\ny3,0\n" * 4)
    return load_study(folder)


CHEAP: dict[str, tuple[Callable[[Path], Study], int, str | None]] = {
    "linear-gaussian": (lambda folder: load_study(STUDIES / "linear-gaussian"), 16, None),
    "pounding-twin": (lambda folder: load_study(STUDIES / "pounding-twin"), 32, "all"),
    "inferred-scale": (inferred, 16, None),
}


@pytest.mark.parametrize("name", CHEAP)
def test_cheap_studies_hold_the_truth_as_often_as_they_claim(session: Session, tmp_path: Path, name: str) -> None:
    load, n, block = CHEAP[name]
    study = load(tmp_path)
    surrogate_of(session, study, n)
    surrogates = newest_surrogates(session, study)
    tried = try_twins(session, Request(Calibration(surrogates, block=block), twins=20, quick=True))
    assert [verdict.gate for verdict in tried.trust if not verdict.passed and verdict.gate == "twins"] == []
    assert tried.body.ranked >= 19
    table = session.table(tried.event, "ranks")
    assert (
        table["quantity"].n_unique()
        == len(tried.body.quantities)
        == len(study.parameters) + 1 + (name == "inferred-scale")
    )
    assert table["rank"].is_between(0, tried.body.draws).all()


def test_wrong_errors_are_caught_and_the_event_repeats(session: Session, linear: Request) -> None:
    """Twins of the simulator with errors three times those of the likelihood: intervals miss them, and it is said."""
    tried = try_twins(session, replace(linear, made_by="simulator", noise=3.0))
    (verdict,) = [verdict for verdict in tried.trust if verdict.gate == "twins"]
    assert not verdict.passed and "NOT" in verdict.sentence and verdict.about
    worst = min(tried.body.quantities, key=lambda item: item.p_value)
    assert worst.coverage[1].high < 0.9
    assert [item.role for item in tried.event.inputs].count("runs") == 1
    repeat = KINDS["twins.checked"].repeater()
    assert repeat is not None and repeat(session, tried.event, 0).verdict == "same"


def test_truths_and_data_are_those_of_prior_and_likelihood(session: Session, linear: Request) -> None:
    """Moments of 400 twins; the noise has its factor, and its factor alone."""
    with local_workers(1) as executor:
        problem = prepare(session, linear.calibration, executor).problem
    twins, louder = (draw_twins(problem, 400, 1, noise=noise) for noise in (1.0, 2.0))
    assert np.array_equal(twins.truths, louder.truths)
    assert np.allclose(np.mean(twins.truths, axis=0), [1, 0], atol=4 * 2 / np.sqrt(400))
    assert np.allclose(np.std(twins.truths, axis=0), [2, 1], rtol=0.15)
    (data,), (loud,) = twins.data.values(), louder.data.values()
    exact = twins.truths @ np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]).T + [0.0, 1.0, 0.0]
    assert np.allclose(np.std(data - exact, axis=0), [0.1, 0.2, 0.1], rtol=0.15)
    assert np.allclose(loud - exact, 2 * (data - exact), atol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"), [({"twins": 19}, "at least 20"), ({"noise": float("nan")}, "noise = nan")]
)
def test_what_cannot_be_tried_is_refused(session: Session, linear: Request, change, words: str) -> None:
    before = len(session.state.events)
    with pytest.raises(InputError, match=words):
        try_twins(session, replace(linear, **change))
    assert len(session.state.events) == before


def test_a_study_without_surrogates_is_told_so(session: Session) -> None:
    with pytest.raises(InputError, match="has no surrogate in this ledger"):
        newest_surrogates(session, load_study(STUDIES / "linear-gaussian"))
