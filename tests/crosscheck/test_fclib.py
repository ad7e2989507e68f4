"""The problems of FCLIB in the folder named by PERCUSS_FCLIB: each solved to 1e-8, the answers checked here afresh.

No problem comes with a usable solution, so the reference is the law itself, written a second time in numpy, and the
agreement of two methods that share nothing but the data.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from percuss import contact, fclib

pytest.importorskip("h5py", reason="h5py is not installed")

# Read while tests are collected: they themselves run without the settings of whoever runs them.
FOLDER = os.environ.get("PERCUSS_FCLIB", "")
FILES = sorted(Path(FOLDER).glob("*.hdf5")) if FOLDER else []

pytestmark = pytest.mark.skipif(not FILES, reason="PERCUSS_FCLIB names no folder with FCLIB problems")


def _problem(path: Path) -> fclib.ContactProblem:
    import h5py

    with h5py.File(path, "r") as file:
        if not {"fclib_local", "fclib_global"} & set(file):
            pytest.skip("not a problem of three rows per contact")
    return fclib.read(path)


def _project(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    normal, t = x[:, 0], np.hypot(x[:, 1], x[:, 2])
    onto = (normal + mu * t) / (1.0 + mu**2)
    scale = np.divide(mu * onto, t, out=np.zeros_like(t), where=t > 0.0)
    edge = np.column_stack([onto, scale * x[:, 1], scale * x[:, 2]])
    inside, outside = t <= mu * normal, mu * t <= -normal
    return np.where(inside[:, None], x, np.where(outside[:, None], 0.0, edge))


def _energy(problem: fclib.ContactProblem, r: np.ndarray) -> float:
    q = problem.q.reshape(-1, 3)
    u = (problem.w @ r.ravel()).reshape(-1, 3) + q
    trace = problem.w.diagonal().reshape(-1, 3).sum(axis=1)
    shifted = u.copy()
    shifted[:, 0] += problem.mu * np.hypot(u[:, 1], u[:, 2])
    gap = r - _project(r - shifted / trace[:, None], problem.mu)
    return float(np.sqrt((trace * (gap**2).sum(axis=1)).sum() / ((q**2).sum(axis=1) / trace).sum()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("solver", ["auto", "newton"])
def test_every_problem_is_solved(path: Path, solver: str) -> None:
    problem = _problem(path)
    found = contact.solve(problem.w, problem.q, problem.mu, solver=solver, tol=1e-8)
    assert found.converged, found.residuals
    assert found.residuals.energy <= 1e-8
    # Rounding of a product with W, in another order of summation.
    assert _energy(problem, found.r) == pytest.approx(found.residuals.energy, rel=1e-2, abs=1e-11)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_sweeps_and_newton_agree_in_velocity(path: Path) -> None:
    problem = _problem(path)
    newton = contact.solve(problem.w, problem.q, problem.mu, solver="newton", tol=1e-9)
    sweeps = contact.solve(problem.w, problem.q, problem.mu, solver="accelerated", tol=1e-9, max_iterations=20_000)
    if not (newton.converged and sweeps.converged):
        pytest.skip(f"not both arrived: {newton.residuals.energy:.1e}, {sweeps.residuals.energy:.1e}")
    # Impulses are not unique where contacts are redundant; velocities nearly are.
    assert np.linalg.norm(newton.u - sweeps.u) <= 1e-4 * np.linalg.norm(problem.q)
