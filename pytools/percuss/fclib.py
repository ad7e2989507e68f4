"""Read contact problems of FCLIB, the collection of frictional contact problems (Acary, Bremond, Huber et al. 2014).

A file holds one problem in HDF5, either local (W, q, mu) or global: M v = H r + f, u = H^T v + w, of which
W = H^T M^-1 H and q = w + H^T M^-1 f are made here. Matrices are triplets (i row, p column) or compressed by columns or
rows, as their `nz` says. Needs h5py: the extra `fclib`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.contact import Solution, delassus, solve
from percuss.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


_DAMAGE = (RuntimeError, OSError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError, MemoryError)


@dataclass(frozen=True)
class ContactProblem:
    """One problem of a file, ready for `percuss.contact.solve(problem.w, problem.q, problem.mu)`."""

    name: str
    title: str
    w: Any  # scipy sparse, (3 contacts, 3 contacts)
    q: NDArray[np.float64]
    mu: NDArray[np.float64]

    @property
    def contacts(self) -> int:
        return len(self.mu)


@dataclass(frozen=True)
class Comparison:
    """What some solvers made of one problem."""

    problem: ContactProblem
    solutions: tuple[Solution, ...]

    @property
    def solved(self) -> bool:
        return any(solution.converged for solution in self.solutions)

    def facts(self) -> dict[str, object]:
        """For a JSON document."""
        return {
            "problem": self.problem.name,
            "title": self.problem.title,
            "contacts": self.problem.contacts,
            "solved": self.solved,
            "solvers": [
                {
                    "solver": found.solver,
                    "converged": found.converged,
                    "iterations": found.iterations,
                    "factorisations": found.factorisations,
                    "seconds": found.seconds,
                    "residuals": asdict(found.residuals),
                }
                for found in self.solutions
            ],
        }


def find(paths: Iterable[Path]) -> list[Path]:
    """The files themselves, and of folders the .hdf5 files in them, in the order of their names."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.hdf5")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path}: holds no .hdf5 file")
        found += inside
    return found


def compare(problem: ContactProblem, solvers: Sequence[str], *, repeat: int = 1, **settings: Any) -> Comparison:
    """Solve one problem by each of the solvers, from nothing; `settings` are those of `percuss.contact.solve`.

    Of `repeat` solves, which differ in time only, the fastest is kept.
    """

    def fastest(name: str) -> Solution:
        found = (solve(problem.w, problem.q, problem.mu, solver=name, **settings) for _ in range(repeat))
        return min(found, key=lambda solution: solution.seconds)

    try:
        found = [fastest(name) for name in solvers]
    except InputError as fault:
        raise InputError(f"{problem.name}: {fault}") from None
    return Comparison(problem, tuple(found))


def read(path: str | Path) -> ContactProblem:
    """Read the problem of one file; problems in the plane, with rolling friction or with joints are refused."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise InputError("reading FCLIB files needs h5py", hint='pip install "percuss[fclib]"') from None
    path = Path(path)
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file or folder") from None
    except OSError as fault:
        raise InputError(f"{path}: cannot be read as HDF5 ({fault})") from None
    with file:
        kinds: list[str] = []
        try:
            kinds = [name for name in ("fclib_local", "fclib_global") if name in file]
            if not kinds:
                found = ", ".join(sorted(file)) or "nothing"
                raise InputError(f"{path}: holds {found}; a problem is in fclib_local or fclib_global")
            return _problem(path, kinds[0], file[kinds[0]])
        except InputError:
            raise
        except KeyError as fault:
            raise InputError(f"{path}: {' '.join(kinds)} is incomplete ({fault.args[0]})") from None
        except _DAMAGE as fault:  # HDF5 tells of damage only where it comes upon it
            raise InputError(f"{path}: is damaged ({str(fault).splitlines()[0] if str(fault) else fault!r})") from None


def _problem(path: Path, kind: str, group: Any) -> ContactProblem:
    dimension = int(group["spacedim"][0])
    if dimension != 3:
        raise InputError(f"{path}: spacedim is {dimension}; only problems with 3 rows per contact are solved")
    for name in ("G", "V", "R"):
        if name in group:
            raise InputError(f"{path}: has equality constraints ({name}); only contacts are solved")
    vectors = group["vectors"]
    mu = np.asarray(vectors["mu"], dtype=np.float64)
    if kind == "fclib_local":
        w = _matrix(path, "W", group["W"])
        q = np.asarray(vectors["q"], dtype=np.float64)
    else:
        from scipy import sparse
        from scipy.sparse import linalg

        mass, directions = _matrix(path, "M", group["M"]), _matrix(path, "H", group["H"])
        w = delassus(mass, directions)
        free = linalg.splu(sparse.csc_array(mass)).solve(np.asarray(vectors["f"], dtype=np.float64))
        q = np.asarray(vectors["w"], dtype=np.float64) + directions.T @ free
    if w.shape != (3 * len(mu), 3 * len(mu)) or q.shape != (3 * len(mu),):
        raise InputError(f"{path}: W has shape {w.shape} and q {q.shape}, but there are {len(mu)} coefficients mu")
    title = group["info"]["title"][()] if "info" in group and "title" in group["info"] else b""
    return ContactProblem(path.stem, title.decode(errors="replace").strip(), w, q, mu)


def _matrix(path: Path, name: str, group: Any) -> Any:
    from scipy import sparse

    shape = (int(group["m"][0]), int(group["n"][0]))
    count = int(group["nz"][0])
    p, i, x = (np.asarray(group[key]) for key in ("p", "i", "x"))
    for key, numbers in (("p", p), ("i", i)):
        if not np.issubdtype(numbers.dtype, np.integer):
            raise InputError(f"{path}: matrix {name}: {key} must hold whole numbers, not {numbers.dtype}")
    try:
        if count >= 0:
            return sparse.csr_array(sparse.coo_array((x[:count], (i[:count], p[:count])), shape=shape))
        if count in (-1, -2):
            make = sparse.csc_array if count == -1 else sparse.csr_array
            found = make((x[: p[-1]], i[: p[-1]], p), shape=shape)
            found.check_format(full_check=True)  # scipy itself would read beyond the end
            return sparse.csr_array(found)
    except ValueError as fault:
        raise InputError(f"{path}: matrix {name} is damaged ({fault})") from None
    raise InputError(f"{path}: matrix {name} has nz = {count}; allowed are a number of triplets, -1 and -2")
