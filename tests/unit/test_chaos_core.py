"""The chaos functions of the compiled core as Python sees them: shapes, round trips, refusals, Ctrl-C."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss import _core

GOLDEN = Path(__file__).parents[1] / "golden" / "chaos"
LEGENDRE: tuple[str, list[float]] = ("legendre", [])
Array = NDArray[np.float64]


def ishigami() -> tuple[Array, Array]:
    table = np.loadtxt(GOLDEN / "ishigami.csv", delimiter=",", skiprows=1)
    return 2.0 * table[:, :3] - 1.0, table[:, -1:]


@pytest.fixture(scope="module")
def small() -> tuple[Array, Array]:
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (80, 3))
    first = np.exp(0.5 * points[:, 0]) + points[:, 1] * points[:, 2]
    return points, np.column_stack([first, np.abs(points[:, 0]), np.full(80, 2.5)])


def test_ishigami_indices_are_exact() -> None:
    points, values = ishigami()
    expansion, facts = _core.chaos_fit([LEGENDRE] * 3, points, values)
    found = expansion.sobol([[0, 1]])
    np.testing.assert_allclose(found["first"][0], [0.313905, 0.442411, 0.0], atol=1e-6)
    np.testing.assert_allclose(found["total"][0], [0.557589, 0.442411, 0.243684], atol=1e-6)
    assert found["second"].shape == (1, 3, 3)
    assert found["group_closed"][0, 0] == pytest.approx(0.756316, abs=1e-6)
    assert facts["corrected_loo"][0] < 1e-15
    assert facts["grid"].shape == (1, 20, 6)


def test_facts_name_constant_outputs_and_paths(small: tuple[Array, Array]) -> None:
    points, values = small
    expansion, facts = _core.chaos_fit([LEGENDRE] * 3, points, values, degrees=[1, 2, 3, 4], q=[0.7, 1.0])
    assert facts["constant"].tolist() == [False, False, True]
    assert facts["method"][0] in ("least-angle", "matching-pursuit")
    assert (facts["points"], facts["duplicates"], facts["capped"]) == (80, 0, 0)
    assert len(facts["path_loo"]) == 3
    assert expansion.outputs == 3
    assert expansion.parameters == 3
    np.testing.assert_allclose(expansion.predict(points)[:, 2], 2.5)
    sizes = np.diff(expansion.offsets)
    assert sizes[2] == 1
    assert facts["path_loo"][0][sizes[0] - 1] == facts["loo"][0]


def test_arrays_and_pickle_rebuild_the_same_bits(small: tuple[Array, Array]) -> None:
    points, values = small
    expansion, _ = _core.chaos_fit([LEGENDRE] * 3, points, values, degrees=[1, 2, 3])
    again = _core.ChaosExpansion(
        expansion.families, expansion.indices, expansion.offsets, expansion.terms, expansion.coefficients
    )
    copied = pickle.loads(pickle.dumps(expansion))
    expected = expansion.predict(points)
    assert np.array_equal(again.predict(points), expected)
    assert np.array_equal(copied.predict(points), expected)
    assert np.array_equal(expansion.predict(np.asfortranarray(points)), expected)


def test_gradient_follows_the_chain_rule(small: tuple[Array, Array]) -> None:
    points, values = small
    expansion, _ = _core.chaos_fit([LEGENDRE] * 3, points, values, degrees=[1, 2, 3])
    slopes = np.broadcast_to([2.0, 0.5, -1.0], points.shape).copy()
    values_there, plain = expansion.predict_with_gradient(points)
    _, chained = expansion.predict_with_gradient(points, slopes)
    assert np.array_equal(values_there, expansion.predict(points))
    assert plain.shape == (80, 3, 3)
    np.testing.assert_array_equal(chained, plain * slopes[:, None, :])


def test_nested_and_bootstrap_repeat_by_seed(small: tuple[Array, Array]) -> None:
    points, values = small
    families = [LEGENDRE] * 3
    found = _core.chaos_nested(families, points, values, folds=4, seed=7, degrees=[1, 2, 3])
    again = _core.chaos_nested(families, points, values, folds=4, seed=7, degrees=[1, 2, 3], threads=1)
    assert np.array_equal(found["predictions"], again["predictions"])
    assert found["degree"].shape == (4, 3)
    assert np.isnan(found["error"][2])
    assert found["error"][0] < found["error"][1] < 1.0
    expansion, _ = _core.chaos_fit(families, points, values, degrees=[1, 2, 3])
    drawn = _core.chaos_bootstrap(expansion, points, values, replicates=6, seed=3)
    assert drawn.shape == (6, len(expansion.coefficients))
    assert np.array_equal(drawn, _core.chaos_bootstrap(expansion, points, values, replicates=6, seed=3, threads=1))
    moved = expansion.with_coefficients(drawn[0])
    assert moved.predict(points).shape == (80, 3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "lasso"}, "allowed are best, least-angle"),
        ({"search": "some"}, "allowed are full, early"),
        ({"degrees": [3, 2]}, "degrees = "),
        ({"q": [1.5]}, "0.1 to 1"),
        ({"families": [LEGENDRE] * 2}, "do not fit 2 families"),
        ({"families": [("chebyshev", [])] * 3}, "allowed are legendre"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(
    small: tuple[Array, Array], change: dict[str, object], words: str
) -> None:
    points, values = small
    arguments: dict[str, object] = {"families": [LEGENDRE] * 3, "points": points, "values": values} | change
    with pytest.raises(ValueError, match=words):
        _core.chaos_fit(**arguments)  # type: ignore[arg-type]


def test_holes_and_stray_points_are_named(small: tuple[Array, Array]) -> None:
    points, values = small
    holed = values.copy()
    holed[4, 1] = np.nan
    with pytest.raises(ValueError, match="row 4, column 1"):
        _core.chaos_fit([LEGENDRE] * 3, points, holed)
    with pytest.raises(ValueError, match=r"outside \[-1, 1\]"):
        _core.chaos_fit([LEGENDRE] * 3, 1.5 * points, values)


def test_ctrl_c_ends_a_long_search() -> None:
    points = np.random.default_rng(2).uniform(-1.0, 1.0, (300, 5))
    values = np.abs(points @ np.random.default_rng(3).normal(size=(5, 400)))
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _core.chaos_fit([LEGENDRE] * 5, points, values, search="full")
    # The search itself takes minutes; a path is left after its next term.
    assert time.monotonic() - begin < 30.0
