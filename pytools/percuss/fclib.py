"""Read contact problems of FCLIB, the collection of frictional contact problems (Acary, Bremond, Huber et al. 2014).

A file holds one problem in HDF5, either local (W, q, mu) or global: M v = H r + f, u = H^T v + w, of which W = H^T M^-1
H and q = w + H^T M^-1 f are made here. A contact has `spacedim` rows: 2 in the plane, 3, or with rolling friction
(groups whose names end in `_rolling`, coefficients `mu_r`) 5: normal, tangents, and the spins about them. Matrices are
triplets (i row, p column) or compressed by columns or rows, as their `nz` says. Needs h5py: the extra `fclib`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.contact import BackwardError, Existence, Solution, delassus, solve
from percuss.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ContactProblem:
    """One problem of a file, as `percuss.contact.solve` takes it."""

    name: str
    title: str
    w: Any  # scipy sparse, square, `dimension` rows a contact
    q: NDArray[np.float64]
    mu: NDArray[np.float64]
    dimension: int
    mu_r: NDArray[np.float64]  # m, zeros where nothing resists rolling

    @property
    def contacts(self) -> int:
        return len(self.mu)

    def solve(self, **settings: Any) -> Solution:
        """Solve it; `settings` are those of `percuss.contact.solve`."""
        return solve(self.w, self.q, self.mu, dimension=self.dimension, mu_r=self.mu_r, **settings)


@dataclass(frozen=True)
class Comparison:
    """What some solvers made of one problem."""

    problem: ContactProblem
    solutions: tuple[Solution, ...]

    @property
    def solved(self) -> bool:
        return any(solution.converged for solution in self.solutions)

    @property
    def existence(self) -> Existence | None:
        """Of the solutions of a problem that no solver has solved."""
        return None if self.solved else self.solutions[0].existence

    @property
    def backward(self) -> BackwardError | None:
        """The smallest, of the solutions of a problem that no solver has solved."""
        errors = [solution.backward for solution in self.solutions if solution.backward]
        return None if self.solved else min(errors, key=lambda backward: backward.relative)

    def stand(self, norm: str) -> str:
        """Where a problem that no solver has solved stands: the best residual in that norm, and what else is known."""
        best = min(asdict(solution.residuals)[norm] for solution in self.solutions)
        return f"best residual {best:.2g}; {self.existence}; {self.backward}"

    def facts(self) -> dict[str, object]:
        """For a JSON document."""
        return {
            "problem": self.problem.name,
            "title": self.problem.title,
            "contacts": self.problem.contacts,
            "dimension": self.problem.dimension,
            "solved": self.solved,
            "solvers": [
                {
                    "solver": solution.solver,
                    "converged": solution.converged,
                    "iterations": solution.iterations,
                    "factorisations": solution.factorisations,
                    "seconds": solution.seconds,
                    "residuals": asdict(solution.residuals),
                    **({"existence": asdict(solution.existence)} if solution.existence else {}),
                    **({"backward": _sizes(solution.backward)} if solution.backward else {}),
                }
                for solution in self.solutions
            ],
        }


def _sizes(backward: BackwardError) -> dict[str, float]:
    return {"relative": backward.relative, "largest": backward.largest}


def find(paths: Iterable[Path]) -> list[Path]:
    """The files themselves, and of folders the .hdf5 files in them, in the order of their names."""
    problems: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.hdf5")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path}: holds no .hdf5 file")
        problems += inside
    return problems


def compare(problem: ContactProblem, solvers: Sequence[str], *, repeat: int = 1, **settings: Any) -> Comparison:
    """Solve one problem by each of the solvers, from nothing; `settings` are those of `percuss.contact.solve`.

    Of `repeat` solves, which differ in time only, the fastest is kept.
    """

    def fastest(name: str) -> Solution:
        solutions = (problem.solve(solver=name, **settings) for _ in range(repeat))
        return min(solutions, key=lambda solution: solution.seconds)

    try:
        fastest_of = [fastest(name) for name in solvers]
    except InputError as fault:
        raise InputError(f"{problem.name}: {fault}") from None
    return Comparison(problem, tuple(fastest_of))


def read(path: str | Path) -> ContactProblem:
    """Read the problem of one file; problems with joints are refused."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise InputError("reading FCLIB files needs h5py", hint='pip install "percuss[fclib]"') from None
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not a file")
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file or folder") from None
    except OSError as fault:
        raise InputError(f"{path}: cannot be read as HDF5 ({' '.join(str(fault).split())})") from None
    with file:
        kinds: list[str] = []
        try:
            kinds = [name for name in KINDS if name in file]
            if not kinds:
                names = ", ".join(sorted(file)) or "nothing"
                raise InputError(f"{path}: holds {names}; a problem is in {', '.join(KINDS[:-1])} or {KINDS[-1]}")
            return _problem(path, kinds[0], file[kinds[0]])
        except InputError:
            raise
        except KeyError as fault:
            raise InputError(f"{path}: {' '.join(kinds)} is incomplete ({fault.args[0]})") from None
        except DAMAGED as fault:  # HDF5 tells of damage only where it comes upon it
            message = str(fault).splitlines()[0] if str(fault) else repr(fault)
            raise InputError(f"{path}: {' '.join([*kinds, 'is'])} damaged ({message})") from None


# A file of strangers may hold anything anywhere: text for numbers, numbers for groups, sizes beyond all memory.
DAMAGED = (ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)

# Groups that hold a problem.
KINDS = ("fclib_local", "fclib_global", "fclib_local_rolling", "fclib_global_rolling")


def _problem(path: Path, kind: str, group: Any) -> ContactProblem:
    dimension = int(group["spacedim"][0])
    rolling = kind.endswith("_rolling")
    allowed = (5,) if rolling else (2, 3)
    if dimension not in allowed:
        raise InputError(f"{path}: spacedim is {dimension}; in {kind} it is {' or '.join(map(str, allowed))}")
    for name in ("G", "V", "R"):
        if name in group:
            raise InputError(f"{path}: has equality constraints ({name}); only contacts are solved")
    vectors = group["vectors"]
    mu = np.asarray(vectors["mu"], dtype=np.float64).ravel()
    mu_r = np.asarray(vectors["mu_r"], dtype=np.float64).ravel() if rolling else np.zeros(len(mu))
    rows, size = dimension * len(mu), f"there are {len(mu)} coefficients mu and spacedim is {dimension}"
    if "W" in group:
        w = _matrix(path, "W", group["W"], (rows, rows), size)
        q = np.asarray(vectors["q"], dtype=np.float64).ravel()
    else:
        from scipy import sparse
        from scipy.sparse import linalg

        f = np.asarray(vectors["f"], dtype=np.float64).ravel()
        why = f"f has {len(f)} numbers, {size}"
        mass = _matrix(path, "M", group["M"], (len(f), len(f)), why)
        directions = _matrix(path, "H", group["H"], (len(f), rows), why)
        try:
            w = delassus(mass, directions)
        except InputError as fault:
            raise InputError(f"{path}: {fault}") from None
        free = linalg.splu(sparse.csc_array(mass)).solve(f)
        q = np.asarray(vectors["w"], dtype=np.float64).ravel() + directions.T @ free
    if w.shape != (rows, rows) or q.shape != (rows,) or mu_r.shape != mu.shape:
        raise InputError(
            f"{path}: W has shape {w.shape}, q {q.shape} and mu_r {mu_r.shape}, but there are {len(mu)} coefficients "
            f"mu and spacedim is {dimension}"
        )
    title = group["info"]["title"][()] if "info" in group and "title" in group["info"] else b""
    title = title.decode(errors="replace") if isinstance(title, bytes) else str(title)
    return ContactProblem(path.stem, title.strip(), w, q, mu, dimension, mu_r)


def _matrix(path: Path, name: str, group: Any, expected: tuple[int, int], why: str) -> Any:
    """A matrix of the file, of the size that its vectors ask for: its own word for it could ask for all memory."""
    from scipy import sparse

    shape = (int(group["m"][0]), int(group["n"][0]))
    if shape != expected:
        raise InputError(f"{path}: matrix {name} is {shape[0]} x {shape[1]}, not {expected[0]} x {expected[1]}: {why}")
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
            matrix = make((x[: p[-1]], i[: p[-1]], p), shape=shape)
            matrix.check_format(full_check=True)  # scipy itself would read beyond the end
            return sparse.csr_array(matrix)
    except ValueError as fault:
        raise InputError(f"{path}: matrix {name} is damaged ({fault})") from None
    raise InputError(f"{path}: matrix {name} has nz = {count}; allowed are a number of triplets, -1 and -2")
