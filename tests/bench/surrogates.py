"""Surrogates: sparse chaos against OpenTURNS where it is installed, and against the times that were promised."""

from __future__ import annotations

import os

# One thread on both sides: set before either library starts its own.
os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OPENTURNS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.bench.measure import Line

from percuss import _core

TABLE = Path(__file__).parents[1] / "golden" / "designs"
ALL_DEGREES, ALL_QS = list(range(1, 21)), [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def bench() -> list[Line]:
    """All of them."""
    return [*against_openturns(), *many_outputs()]


def reference(name: str, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in [-1, 1] and values of a stored design."""
    table = np.loadtxt(TABLE / f"{name}.csv", delimiter=",", skiprows=1)
    return np.ascontiguousarray(2 * table[:, :dimensions] - 1), np.ascontiguousarray(table[:, -1:])


def _fit(
    points: np.ndarray,
    values: np.ndarray,
    degrees: list[int],
    qs: list[float],
    search: Any,
    method: Any = "least-angle",
) -> Any:
    families = [("legendre", list[float]())] * points.shape[1]
    return _core.chaos_fit(families, points, values, degrees=degrees, q=qs, method=method, search=search, threads=1)


def against_openturns() -> list[Line]:
    """Ishigami, least-angle regression with corrected leave-one-out over all 120 (degree, q), on both sides."""
    points, values = reference("ishigami", 3)
    ours = processor_time(3, lambda: _fit(points, values, ALL_DEGREES, ALL_QS, "full"))
    try:
        import openturns as ot
    except ImportError:
        print(f"OpenTURNS is not installed: no ratio; ours {ours:.2f} s for 120 (degree, q)")
        return []
    theirs = processor_time(1, lambda: _openturns(ot, points, values))
    return [
        Line("sparse chaos, full search, against OpenTURNS", f"{ours:.2f} s / {theirs:.1f} s", ours / theirs, 1 / 20)
    ]


def _openturns(ot: Any, points: np.ndarray, values: np.ndarray) -> None:
    """One regression for every set."""
    distribution = ot.JointDistribution([ot.Uniform(-1.0, 1.0)] * points.shape[1])
    x, y = ot.Sample(points.tolist()), ot.Sample(values.tolist())
    for q in ALL_QS:
        enumerate_ = ot.HyperbolicAnisotropicEnumerateFunction(points.shape[1], q)
        basis = ot.OrthogonalProductPolynomialFactory([ot.LegendreFactory()] * points.shape[1], enumerate_)
        for degree in ALL_DEGREES:
            size = enumerate_.getBasisSizeFromTotalDegree(degree)
            selection = ot.LeastSquaresMetaModelSelectionFactory(ot.LARS(), ot.CorrectedLeaveOneOut())
            algorithm = ot.FunctionalChaosAlgorithm(
                x, y, distribution, ot.FixedStrategy(basis, size), ot.LeastSquaresStrategy(selection)
            )
            algorithm.run()


def displacements(points: np.ndarray) -> np.ndarray:
    """24 outputs like the displacements of a wall: kinks where blocks start to slide, stop or lose contact."""
    columns = []
    for output in range(24):
        share = output / 24
        turned = points[:, [(k + output) % 5 for k in range(5)]]
        drive = 1 + 0.5 * turned[:, 0] + 0.3 * turned[:, 1] - 0.4 * turned[:, 2]
        slide = np.maximum(drive**2 - 0.8 - 0.3 * turned[:, 2] + 0.2 * turned[:, 3], 0)
        kink = np.minimum(slide, 1.2 + 0.4 * turned[:, 4]) + 0.1 * turned[:, 1] * turned[:, 3]
        smooth = np.sin(1.3 * points[:, 0] + share * points[:, 1]) + np.exp(0.5 * points[:, 2] * points[:, 3])
        rocking = np.maximum(points[:, 0] * points[:, 3] - 0.6 * points[:, 4] + 0.4 * share, 0)
        columns.append(0.4 * smooth + (0.3 + share) * kink + rocking)
    return np.stack(columns, axis=1)


def processor_time(repeats: int, task: Callable[[], object]) -> float:
    """Least processor time of a task in seconds: limits in seconds must not depend on what else the machine does."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def many_outputs() -> list[Line]:
    """24 outputs, 300 points, 5 parameters: the default search, early and full, and all outputs at one point."""
    points, _ = reference("gfunction", 5)
    values = displacements(points)
    early = processor_time(2, lambda: _fit(points, values, ALL_DEGREES, ALL_QS, "early", "best"))
    full = processor_time(1, lambda: _fit(points, values, ALL_DEGREES, ALL_QS, "full", "best"))
    expansion, _ = _fit(points, values, ALL_DEGREES, ALL_QS, "early", "best")
    fresh = np.random.default_rng(0).uniform(-1, 1, (20_000, 5))
    each = processor_time(5, lambda: expansion.predict(fresh)) / len(fresh)
    alone = [np.ascontiguousarray(point) for point in fresh[:2000, None, :]]
    called = processor_time(5, lambda: [expansion.predict(point) for point in alone]) / len(alone)
    print(f"24 outputs at one point, a call from Python each: {called * 1e9:.0f} ns")
    return [
        Line("24 outputs x 300 x 5, early, against 3 s", f"{early:.2f} s", early / 3.0, 1.0),
        Line("24 outputs x 300 x 5, full, against 30 s", f"{full:.2f} s", full / 30.0, 1.0),
        Line("24 outputs at one point, against 1 us", f"{each * 1e9:.0f} ns", each / 1e-6, 1.0),
    ]
