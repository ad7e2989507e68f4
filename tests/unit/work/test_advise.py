"""The next test: gains of a linear model in closed form, what is left out or refused, twins, and all of it again."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.work.test_trust import surrogate_of

from percuss.calibration.candidates import study_candidates
from percuss.errors import AnswerIsNo, InputError
from percuss.kinds.table import KINDS
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker
from percuss.plots.advice import draw_advice
from percuss.session import Session
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.work.advise import Request, advise
from percuss.work.calibrate import Request as Calibration
from percuss.work.calibrate import calibrate

STUDY = Path(__file__).parents[3] / "studies" / "linear-gaussian"
SEES = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]])
STD = np.array([0.1, 0.2, 0.1])
# Covariance of the posterior: precisions of prior and data add.
AFTER = np.linalg.inv(np.diag([1 / 4, 1.0]) + SEES.T @ np.diag(STD**-2) @ SEES)
SECTION = """
[candidates.all]
std = { y1 = 0.05, y2 = 0.05, y3 = 0.05 }
cost = 2.5

[candidates.each]
outputs = ["y1", "y2"]
repeats = 4
by = "output"
"""


@pytest.fixture(scope="module")
def posterior(tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Event]:
    folder = tmp_path_factory.mktemp("advice")
    session = Session(lambda: Ledger.open(folder / "ledger", this_maker([]), create=True))
    surrogate = surrogate_of(session, load_study(STUDY), 12)
    return session, calibrate(session, Calibration((surrogate,), seed=1)).event


def with_section(folder: Path, text: str) -> Study:
    (folder / "observations").mkdir(parents=True)
    (folder / "observations" / "sensors.csv").write_text((STUDY / "observations" / "sensors.csv").read_text())
    (folder / "study.toml").write_text((STUDY / "study.toml").read_text() + text)
    return load_study(folder)


def exact(rows: list[int], std: np.ndarray) -> float:
    """1/2 log det(1 + H P H' R^-1)."""
    own = SEES[rows]
    return 0.5 * float(np.linalg.slogdet(np.eye(len(rows)) + own @ AFTER @ own.T / std**2)[1])


def test_each_output_of_a_linear_model_tells_what_the_closed_form_says(posterior: tuple[Session, Event]) -> None:
    session, event = posterior
    advised = advise(session, Request(event, outer=600, inner=1200))
    table = advised.candidates
    assert set(table["candidate"]) == {"base/y1", "base/y2", "base/y3"} and advised.body.about == ("x1", "x2")
    for row in table.iter_rows(named=True):
        j = int(row["candidate"][-1]) - 1
        gain = exact([j], STD[[j]])
        assert abs(row["gain"] - gain) < 4 * row["gain_error"] and row["gaussian"] == pytest.approx(gain, rel=0.1)
        after = AFTER - np.outer(AFTER @ SEES[j], AFTER @ SEES[j]) / (SEES[j] @ AFTER @ SEES[j] + STD[j] ** 2)
        own = advised.contractions.filter(candidate=row["candidate"])
        for i, of in enumerate(own.iter_rows(named=True)):
            assert abs(of["contraction"] - (1 - after[i, i] / AFTER[i, i])) < 4 * of["error"] + 0.01
    assert advised.body.advised == table["candidate"][0]
    assert (
        draw_advice(advised.body, table, advised.contractions).alt == "What 3 tests are expected to tell about x1, x2"
    )


def test_sections_give_repeats_errors_and_costs_and_the_event_repeats(
    posterior: tuple[Session, Event], tmp_path: Path
) -> None:
    session, event = posterior
    study = with_section(tmp_path / "linear-gaussian", SECTION)
    assert [one.name for one in study_candidates(study)] == ["all", "each/y1", "each/y2"]
    advised = advise(session, Request(event, about=("x2",), study=study, outer=300, inner=900, twins=4))
    gains = {row["candidate"]: row for row in advised.candidates.iter_rows(named=True)}
    of_x2 = math.sqrt(AFTER[1, 1])
    for name, rows, std in (
        ("all", [0, 1, 2], np.full(3, 0.05)),
        ("each/y1", [0], STD[[0]] / 2),
        ("each/y2", [1], STD[[1]] / 2),
    ):
        own = SEES[rows]
        gain = AFTER @ own.T @ np.linalg.inv(own @ AFTER @ own.T + np.diag(std**2)) @ own @ AFTER
        about_x2 = -0.5 * math.log(1 - gain[1, 1] / of_x2**2)
        assert gains[name]["gaussian"] == pytest.approx(about_x2, rel=0.15)
        assert abs(gains[name]["gain"] - about_x2) < 4 * gains[name]["gain_error"] + abs(gains[name]["smoothing"])
    assert gains["all"]["per_cost"] == pytest.approx(gains["all"]["gain"] / 2.5)
    (tried,) = advised.body.tried
    assert advised.body.converged == 4 and abs(tried.achieved - tried.foreseen) < 0.1 * tried.foreseen
    repeat = KINDS["advice.computed"].repeater()
    assert repeat is not None and repeat(session, advised.event, 0).verdict == "same"


def test_an_output_of_interest_is_told_about_by_itself_most(posterior: tuple[Session, Event]) -> None:
    session, event = posterior
    advised = advise(session, Request(event, about=("y2",), outer=300, inner=900))
    assert advised.body.advised == "base/y2"
    gain = 0.5 * math.log(1 + SEES[1] @ AFTER @ SEES[1] / STD[1] ** 2)
    row = advised.candidates.row(0, named=True)
    assert abs(row["gain"] - gain) < 4 * row["gain_error"] + abs(row["smoothing"])


def test_candidates_that_draws_cannot_rank_are_said_to_be_so(posterior: tuple[Session, Event], tmp_path: Path) -> None:
    """One test under two names differs by its noise alone; a measurement of nine digits leaves no draw."""
    session, event = posterior
    few = advise(session, Request(event, outer=100, inner=200, measure=("y1", "y3")))
    (verdict,) = [one for one in few.trust if one.gate == "advice" and "ranked" in one.sentence]
    assert not verdict.passed and set(verdict.about) == {"y1", "y3"} and "--inner" in verdict.sentence
    sharp = with_section(tmp_path / "linear-gaussian", "\n[candidates.sharp]\nstd = 1e-7\n")
    told = advise(session, Request(event, study=sharp, outer=100, inner=200))
    assert any(not one.passed and "not resolved" in one.sentence and one.about == ("sharp",) for one in told.trust)


def test_what_cannot_be_foreseen_is_refused_or_left_out(posterior: tuple[Session, Event], tmp_path: Path) -> None:
    session, event = posterior
    few = Request(event, outer=100, inner=200)
    for request, words in (
        (replace(few, about=("x3",)), "--about x3: neither inferred nor an output: known: x1"),
        (replace(few, measure=("y4",)), "--measure y4: no output 'y4'"),
        (replace(few, measure=("bse/y1",)), "no case 'bse': did you mean `base`"),
        (replace(few, twins=2), "twins = 2: at least 4"),
        (replace(few, repeats=0), "repeats = 0: must be at least 1"),
    ):
        count = len(session.state.events)
        with pytest.raises(InputError, match=words):
            advise(session, request)
        assert len(session.state.events) == count
    text = (STUDY / "study.toml").read_text().replace("std = { y1 = 0.1, y2 = 0.2, y3 = 0.1 }", "std = { y1 = 0.1 }")
    folder = tmp_path / "linear-gaussian"
    study = with_section(folder, "")
    (folder / "study.toml").write_text(text.replace('outputs = ["y1", "y2", "y3"]\n', 'outputs = ["y1"]\n', 2)
                                       .replace('outputs = ["y1"]\n', 'outputs = ["y1", "y2", "y3"]\n', 1))  # fmt: skip
    study = load_study(folder)
    one = calibrate(session, Calibration((surrogate_of(session, study, 12),), seed=1)).event
    advised = advise(session, replace(few, posterior=one))
    assert [(item.candidate, item.reason.split(":")[0]) for item in advised.body.left_out] == [
        ("base/y2", "no error of measurement is known of it"),
        ("base/y3", "no error of measurement is known of it"),
    ]
    with pytest.raises(AnswerIsNo, match="nothing can be foreseen of any candidate: base/y2"):
        advise(session, replace(few, posterior=one, measure=("y2",)))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('outputs = ["y9"]', "the study has no output"),
        ("std = -1", "outside"),
        ("std = 0", "must be above 0"),
        ('std = "1 mm"', "is in mm"),
        ("std = { y9 = 1 }", "no such output"),
        ("cost = 0", "outside"),
        ("repeats = 0", "outside"),
        ("repeats = 1.5", "no whole number"),
        ('by = "sensor"', "not known"),
        ('case = "base"', "did you mean `cases`"),
    ],
)
def test_faults_of_candidates_name_their_key(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(InputError) as told:
        with_section(tmp_path / "linear-gaussian", f"\n[candidates.next]\n{line}\n")
    assert words in str(told.value) and "candidates.next" in str(told.value)
