"""Two fidelities in one surrogate: exact where the levels are related as assumed, told where the low one is no help."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.execution.campaign import close_campaign, local_executor, run_campaign
from percuss.kinds.table import KINDS
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker
from percuss.session import Session
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.surrogates import chaos
from percuss.surrogates.fit import Group, _fit_group
from percuss.surrogates.model import Data, Settings
from percuss.surrogates.surrogate import load_surrogate
from percuss.surrogates.two_level import Corrected, Low, TwoLevel
from percuss.work.design import Request as Points
from percuss.work.design import create_design, plan_design
from percuss.work.surrogate import fit_surrogates

FAMILIES = [("legendre", list[float]()), ("legendre", list[float]())]
QUICK = Settings(family="chaos", degrees=tuple(range(1, 9)), qs=(0.75, 1.0), bootstrap=0)


def cheap(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(3 * x[:, 0]) * np.exp(x[:, 1]))


def costly(x: np.ndarray) -> np.ndarray:
    """What the cheap one is, scaled, and a little of something simple."""
    return np.asarray(1.7 * cheap(x) + 0.3 * x[:, 0] * x[:, 1] - 2.0)


def low_of(function: object, n: int) -> Low:
    points = np.random.default_rng(1).uniform(-1, 1, (n, 2))
    data = Data(FAMILIES, points, function(points)[:, None])  # type: ignore[operator]
    fit = chaos.fit(data, replace(QUICK, degrees=tuple(range(1, 15))))
    folds = np.arange(n) % 5
    without = []
    for fold in range(5):
        own = chaos.fit(data.rows(np.flatnonzero(folds != fold)), QUICK)
        without.append(((own.terms[0], own.coefficients[0]),))
    return Low(FAMILIES, ((fit.terms[0], fit.coefficients[0]),), tuple(without), (points,), (folds,), np.zeros(1))


def test_ten_costly_runs_do_what_the_low_level_leaves_for_them() -> None:
    low = TwoLevel(low_of(cheap, 200))
    points = np.random.default_rng(2).uniform(-1, 1, (10, 2))
    data = Data(FAMILIES, points, costly(points)[:, None])
    joined, alone = low.fit(data, QUICK), chaos.fit(Data(FAMILIES, points, data.values), QUICK)
    new = np.random.default_rng(3).uniform(-1, 1, (500, 2))
    spread = costly(new).var()
    errors = [np.mean((model.mean(new)[:, 0] - costly(new)) ** 2) / spread for model in (joined, alone)]
    assert errors[0] < 1e-3 < 0.1 < errors[1]
    assert joined.rho[0] == pytest.approx(1.7, abs=0.1) and joined.notes[0]["correlation"] > 0.99


def test_leave_one_out_is_that_of_fitting_without_each_point_with_the_same_terms() -> None:
    low = TwoLevel(low_of(cheap, 60))
    points = np.random.default_rng(4).uniform(-1, 1, (14, 2))
    data = Data(FAMILIES, points, (costly(points) + 0.2 * points[:, 0] ** 3)[:, None])
    model = low.fit(data, QUICK)
    assert model.difference is not None
    columns = np.column_stack([model.difference.bases[0].predict(points), low.own.mean(points)])
    for i in range(14):
        kept = np.arange(14) != i
        solved = np.linalg.lstsq(columns[kept], data.values[kept, 0], rcond=None)[0]
        assert model.loo_residuals(data)[i, 0] == pytest.approx(data.values[i, 0] - columns[i] @ solved, abs=1e-8)
    once = model.resampled(data, np.ones((1, 14), np.intp))[0]
    again = model.replicate_means(points, 0, once)[0]
    assert np.allclose(again, model.mean(points)[:, 0], atol=1e-6)


def test_points_that_the_low_level_has_seen_are_predicted_without_them() -> None:
    """A low level that passes through its own runs would make the nested error of the joined surrogate a lie."""
    own = low_of(lambda x: cheap(x) + np.random.default_rng(5).standard_normal(len(x)), 40)
    seen, new = own.points[0][:8], np.random.default_rng(6).uniform(-1, 1, (8, 2))
    assert np.array_equal(own.unseen(new), own.mean(new))
    unseen = own.unseen(seen)
    assert not np.isclose(unseen, own.mean(seen)).any()
    for i in range(8):
        terms = own.folds[own.places[0][i]][0]
        assert terms is not None
        alone = chaos.expansion_of(FAMILIES, [terms]).predict(seen[i : i + 1])
        assert unseen[i, 0] == pytest.approx(alone[0, 0])


ISHIGAMI = (Path(__file__).parents[3] / "studies" / "ishigami" / "study.toml").read_text()


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Path]:
    folder = tmp_path_factory.mktemp("levels")
    return Session(lambda: Ledger.open(folder / "ledger", this_maker([]), create=True)), folder


def study(folder: Path, name: str, text: str) -> Study:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "study.toml").write_text(text)
    return load_study(folder / name)


def runs(session: Session, of: Study, n: int, skip: int) -> Event:
    design = create_design(session, plan_design(of, Points(n=n, skip=skip)))
    run_campaign(session, design, local_executor(1), workers=lambda: 1)
    close_campaign(session, design)
    return design.stored


def test_a_surrogate_of_two_levels_is_stored_judged_and_repeated(ledger: tuple[Session, Path]) -> None:
    session, folder = ledger
    coarse = study(folder, "coarse", ISHIGAMI.replace("a = 7", "a = 5").replace("b = 0.1", "b = 0.08"))
    fine = study(folder, "fine", ISHIGAMI)
    settings = Settings(family="chaos", degrees=tuple(range(1, 13)), qs=(0.75, 1.0), bootstrap=10)
    low = fit_surrogates(session, runs(session, coarse, 200, 1), settings).event
    few, others = runs(session, fine, 32, 300), runs(session, fine, 64, 600)
    alone, joined = (fit_surrogates(session, few, settings, others, of).fitted.columns[0] for of in (None, low))
    assert joined.family == "chaos" and joined.facts["method"] == "two-level"
    assert joined.errors.held_out is not None and alone.errors.held_out is not None
    assert joined.errors.held_out < 0.1 * alone.errors.held_out
    assert joined.errors.nested is not None and 0.1 < joined.errors.held_out / joined.errors.nested < 10
    event = next(reversed(session.state.events.values()))
    assert [item.role for item in event.inputs].count("low") == 1
    repeat = KINDS["surrogate.fitted"].repeater()
    assert repeat is not None and repeat(session, event, 0).verdict == "same"
    stored = load_surrogate(session, event)
    assert stored.mean(np.full((1, 3), 0.5)).shape == (1, 1) and "two-level" in stored.tables["outputs"]["method"]
    assert isinstance(stored.bands[0].replicates.coefficients, np.ndarray)


def test_a_low_level_that_does_not_help_is_left_aside_and_named() -> None:
    points = np.random.default_rng(8).uniform(-1, 1, (40, 2))
    high = np.column_stack([np.exp(2 * points[:, 0]) * np.cos(2 * points[:, 1]), costly(points)])
    useless = low_of(lambda x: np.cos(9 * x[:, 0] * x[:, 1]) + np.random.default_rng(9).standard_normal(len(x)), 60)
    useful = low_of(cheap, 200)
    both = Low(
        FAMILIES,
        useless.terms + useful.terms,
        tuple(one + two for one, two in zip(useless.folds, useful.folds, strict=True)),
        useless.points + useful.points,
        useless.places + useful.places,
        np.zeros(2),
    )
    group = Group(0, (0, 1), Data(FAMILIES, points, high), np.arange(40), 0)
    probes = np.random.default_rng(10).uniform(-1, 1, (256, 2))
    fits = _fit_group(group, QUICK, probes, None, TwoLevel(both))
    assert [fits.columns[j]["facts"]["method"] == "two-level" for j in (0, 1)] == [False, True]
    assert any("the low level does not help" in warning for warning in fits.columns[0]["warnings"])
    assert not any("low level" in warning for warning in fits.columns[1]["warnings"])
    assert all(set(fits.columns[j]["tried"]) == {"chaos", "two-level"} for j in (0, 1))
    assert {part.family for part in fits.parts} == {"chaos"} and len(fits.parts) == 2


@pytest.mark.parametrize(
    ("old", "new", "settings", "words"),
    [
        ("high = 3.141592653589793 }", "high = 3 }", {}, "x1 has another prior there"),
        ("b = 0.1\n\n[parameters.x1]", "x1 = 1.0\n\n[parameters.b]", {}, "has the parameters b, x2, x3, and not x1"),
        ("", "", {"family": "gp"}, "goes with --family chaos or auto"),
        ("", "", {"folds": 0}, "goes with --family chaos or auto, and with --folds"),
        ("", "without folds", {}, "was fitted without folds"),
    ],
)
def test_levels_that_do_not_belong_together_are_refused(
    ledger: tuple[Session, Path], old: str, new: str, settings: dict[str, object], words: str
) -> None:
    session, folder = ledger
    text = ISHIGAMI.replace(old, new, 1) if old else ISHIGAMI
    other = study(folder, f"other-{abs(hash((old, words))) % 1000}", text)
    small = Settings(family="chaos", degrees=(1, 2, 3), bootstrap=0)
    seen = replace(small, folds=0) if new == "without folds" else small
    low = fit_surrogates(session, runs(session, other, 20, 1), seen).event
    high = runs(session, study(folder, "fine", ISHIGAMI), 20, 900)
    count = len(session.state.events)
    with pytest.raises(InputError, match=words):
        fit_surrogates(session, high, replace(small, **settings), low=low)  # type: ignore[arg-type]
    assert len(session.state.events) == count


def test_a_model_of_two_levels_can_be_taken_apart() -> None:
    points = np.random.default_rng(7).uniform(-1, 1, (20, 2))
    own = low_of(cheap, 60)
    both = Low(
        FAMILIES,
        (*own.terms, None),
        tuple((*fold, None) for fold in own.folds),
        (*own.points, np.empty((0, 2))),
        (*own.places, np.empty(0, np.intp)),
        np.zeros(2),
    )
    values = np.column_stack([costly(points), points[:, 1] ** 2])
    model = TwoLevel(both).fit(Data(FAMILIES, points, values), QUICK)
    second = model.take([1])
    assert isinstance(second, Corrected) and second.rho[0] == 0
    assert np.allclose(second.mean(points)[:, 0], model.mean(points)[:, 1])
