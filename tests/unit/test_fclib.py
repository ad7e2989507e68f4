"""FCLIB files: the forms matrices are stored in, and damaged or foreign files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from percuss import fclib
from percuss.errors import InputError

h5py = pytest.importorskip("h5py", reason="h5py is not installed")

W = np.array([[0.5, 0.1, 0.0], [0.1, 0.7, 0.0], [0.0, 0.0, 0.6]])
Q = np.array([-1.0, 0.3, 0.2])


def _store(group: Any, name: str, matrix: np.ndarray, form: str) -> None:
    store = group.create_group(name)
    store["m"], store["n"] = [matrix.shape[0]], [matrix.shape[1]]
    if form == "triplets":
        entries = sparse.coo_array(matrix)
        store["nz"], store["i"], store["p"] = [entries.nnz], entries.coords[0], entries.coords[1]
    else:
        entries = sparse.csc_array(matrix) if form == "columns" else sparse.csr_array(matrix)
        store["nz"], store["i"], store["p"] = [-1 if form == "columns" else -2], entries.indices, entries.indptr
    store["x"] = entries.data


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def local(form: str = "triplets", change: Callable[[Any], None] = lambda group: None) -> Path:
        path = tmp_path / "one.hdf5"
        with h5py.File(path, "w") as file:
            group = file.create_group("fclib_local")
            group["spacedim"], group["vectors/q"], group["vectors/mu"] = [3], Q, [0.3]
            group["info/title"] = b"one contact"
            _store(group, "W", W, form)
            change(group)
        return path

    return local


@pytest.mark.parametrize("form", ["triplets", "columns", "rows"])
def test_every_form_of_matrix(write: Callable[..., Path], form: str) -> None:
    problem = fclib.read(write(form))
    assert (problem.name, problem.title, problem.contacts) == ("one", "one contact", 1)
    assert np.array_equal(problem.w.toarray(), W)
    assert np.array_equal(problem.q, Q)


def test_global_problems_become_local(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    mass, directions = np.diag([2.0, 3.0, 4.0, 5.0]), rng.normal(size=(4, 3))
    f, w = rng.normal(size=4), rng.normal(size=3)
    with h5py.File(tmp_path / "global.hdf5", "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"], group["vectors/f"], group["vectors/w"], group["vectors/mu"] = [3], f, w, [0.3]
        _store(group, "M", mass, "triplets")
        _store(group, "H", directions, "columns")
    problem = fclib.read(tmp_path / "global.hdf5")
    np.testing.assert_allclose(problem.w.toarray(), directions.T @ np.linalg.inv(mass) @ directions, atol=1e-14)
    np.testing.assert_allclose(problem.q, w + directions.T @ np.linalg.inv(mass) @ f, atol=1e-14)
    with h5py.File(tmp_path / "global.hdf5", "a") as file:
        file["fclib_global/M/x"][...] = 0.0
    with pytest.raises(InputError, match=r"global\.hdf5: M is singular"):
        fclib.read(tmp_path / "global.hdf5")


def _set(name: str, value: object) -> Callable[[Any], None]:
    def change(group: Any) -> None:
        del group[name]
        if value is not None:
            group[name] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("spacedim", [4]), "spacedim is 4"),
        (_set("spacedim", [2]), "spacedim is 2"),
        (_set("spacedim", b"three"), "fclib_local is damaged"),
        (_set("W/m", [10**15]), "one.hdf5"),
        (_set("W/m", [2**31]), "matrix W is 2147483648 x"),  # scipy would take 16 GB for it
        (_set("W/p", np.zeros(0, dtype=int)), "one.hdf5"),
        (_set("W", [1.0]), "fclib_local is damaged"),
        (_set("vectors/q", None), "fclib_local is incomplete"),
        (_set("vectors/mu", [0.1, 0.2]), "there are 2 coefficients mu"),
        (_set("W/nz", [-7]), "nz = -7"),
        (_set("W/i", [9] * 5), "matrix W is damaged"),
        (lambda group: group.create_group("V"), "equality constraints"),
    ],
)
def test_what_cannot_be_solved_is_refused(
    write: Callable[..., Path], change: Callable[[Any], None], words: str
) -> None:
    with pytest.raises(InputError) as refusal:
        fclib.read(write(change=change))
    assert words in str(refusal.value)
    assert str(refusal.value).count("one.hdf5") == 1


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.hdf5").write_text("no HDF5")
    with pytest.raises(InputError, match="cannot be read as HDF5"):
        fclib.read(tmp_path / "text.hdf5")
    (tmp_path / "folder.hdf5").mkdir()
    with pytest.raises(InputError, match="is a folder, not a file"):
        fclib.read(tmp_path / "folder.hdf5")
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["solution/r"] = [5]
    with pytest.raises(InputError, match="holds solution"):
        fclib.read(tmp_path / "other.hdf5")


@pytest.mark.parametrize("stored", ["local", "global"])
def test_rolling_problems(tmp_path: Path, stored: str) -> None:
    """Three contacts of five rows, one of them with nothing that resists rolling."""
    rng = np.random.default_rng(3)
    contacts, mu_r = 3, np.array([0.02, 0.0, 0.05])
    mass, directions = np.diag(rng.uniform(1.0, 3.0, 12)), rng.normal(size=(12, 5 * contacts))
    f, w = rng.normal(size=12), rng.normal(size=5 * contacts)
    w[::5] -= 3.0
    matrix = directions.T @ np.linalg.inv(mass) @ directions
    q = w + directions.T @ np.linalg.inv(mass) @ f
    with h5py.File(tmp_path / "balls.hdf5", "w") as file:
        group = file.create_group(f"fclib_{stored}_rolling")
        group["spacedim"], group["vectors/mu"], group["vectors/mu_r"] = [5], [0.3, 0.4, 0.5], mu_r
        if stored == "local":
            group["vectors/q"] = q
            _store(group, "W", matrix, "rows")
        else:
            group["vectors/f"], group["vectors/w"] = f, w
            _store(group, "M", mass, "triplets")
            _store(group, "H", directions, "columns")
    problem = fclib.read(tmp_path / "balls.hdf5")
    assert (problem.dimension, problem.contacts) == (5, 3)
    for solver in ("auto", "newton", "nsgs"):
        found = problem.solve(solver=solver, tol=1e-10)
        assert found.converged, (solver, found.residuals)
        np.testing.assert_allclose(found.u.ravel(), matrix @ found.r.ravel() + q, atol=1e-9)
        for k, (r, u) in enumerate(zip(found.r, found.u, strict=True)):
            _check_law(r[:3], u[:3], problem.mu[k])
            couple, spin = r[3:], u[3:]
            assert np.linalg.norm(couple) <= mu_r[k] * r[0] + 1e-8
            assert couple @ spin == pytest.approx(-mu_r[k] * r[0] * np.linalg.norm(spin), abs=1e-7)


def _check_law(r: np.ndarray, u: np.ndarray, mu: float) -> None:
    """Signorini and Coulomb, as sentences about numbers of size one."""
    assert r[0] >= -1e-8
    assert u[0] >= -1e-7
    assert abs(r[0] * u[0]) <= 1e-7
    assert np.linalg.norm(r[1:]) <= mu * r[0] + 1e-8
    assert r[1:] @ u[1:] == pytest.approx(-mu * r[0] * np.linalg.norm(u[1:]), abs=1e-7)


def test_planar_problems(tmp_path: Path) -> None:
    """Two blocks on the ground, one slides and one is stopped: friction takes at most mu times the normal impulse."""
    with h5py.File(tmp_path / "plane.hdf5", "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"], group["vectors/q"], group["vectors/mu"] = [2], [-1.0, 3.0, -1.0, 0.1], [0.4, 0.4]
        _store(group, "W", np.diag([0.5, 0.5, 0.25, 0.25]), "triplets")
    problem = fclib.read(tmp_path / "plane.hdf5")
    from percuss import contact

    for solver in contact.solvers():
        found = problem.solve(solver=solver, tol=1e-10)
        assert found.converged, solver
        np.testing.assert_allclose(found.r, [[2.0, -0.8], [4.0, -0.4]], atol=1e-8)
        np.testing.assert_allclose(found.u, [[0.0, 2.6], [0.0, 0.0]], atol=1e-8)
