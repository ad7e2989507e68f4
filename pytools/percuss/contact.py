"""The frictional contact problem of one time step, solved from Python.

Find impulses r with u = W r + q and, for every contact, K* ∋ u + mu |u_T| n ⟂ r ∈ K, K the Coulomb cone
|r_T| <= mu r_N: Signorini's condition and Coulomb friction without facets or regularisation, in the form of De Saxce
and Feng (1998). A contact has three rows: normal, first tangent, second tangent; in the plane two, normal and tangent;
with rolling friction five, those three and the spin about both tangents, whose couple is at most mu_r times the normal
impulse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss import _core
from percuss.errors import InputError
from percuss.spelling import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Columns of M^-1 H held at once, as dense numbers.
_COLUMNS = 256
# Largest |W_ij - W_ji| over the largest entry. Problems from elsewhere carry up to 0.16 (FCLIB, from a mass matrix that
# is not symmetric); half a matrix, or another one, has more.
_ASYMMETRY = 0.25

# The residuals that may decide, as the core names them.
NORMS = ("energy", "plain", "velocity")

# Beyond these sizes squares of W and q leave the floating point numbers, and a residual of 0 would say nothing.
_SIZES = (1e-60, 1e60)
# Largest mu times tolerance, as in scenes: the residual compares the normal velocity with mu times the sliding one, and
# a contact that slides would meet a larger tolerance while it closes.
_MOST_FRICTION_BY_TOLERANCE = 0.1

# Rows that a contact may have.
DIMENSIONS = (2, 3, 5)
_ROWS = {2: "two", 3: "three", 5: "five"}


@dataclass(frozen=True)
class Residuals:
    """How far (r, u) is from the law, by the natural map with rho = 1 / trace(W_ii) of each contact.

    All but `siconos` are free of units. `energy` decides unless another norm is asked for; `plain` is ruled by the
    heaviest bodies, `velocity` by the lightest; `siconos` is the measure of Siconos (rho = 1), for comparison.
    """

    energy: float
    plain: float
    velocity: float
    siconos: float


@dataclass(frozen=True)
class Existence:
    """Whether a problem that was not solved has a solution.

    `proven`: some velocities are inside all dual cones, by `size` times the speed of q, so that one exists (Acary,
    Cadoux, Lemaréchal and Malick 2011). `nearby`: the same of the problem with the symmetric part of W, where W differs
    from its transpose by up to `asymmetry` of its largest entry. `refuted`: no impulses keep the contacts from closing,
    and the energy residual of all of them is at least `size`. `open`: none of these was shown.
    """

    verdict: str
    size: float
    asymmetry: float = 0.0

    def __str__(self) -> str:
        match self.verdict:
            case "proven":
                return "a solution exists, and the method did not find it"
            case "nearby":
                return (
                    f"W differs from its transpose by {self.asymmetry:.1g} of its largest entry; made symmetric it has "
                    "a solution, and the method did not find one"
                )
            case "refuted":
                return f"no solution exists: no impulses have an energy residual below {self.size:.3g}"
            case _:
                return "whether a solution exists is not known"


@dataclass(frozen=True)
class BackwardError:
    """A problem near the one given that is solved: the one with the free velocities `q` in their place.

    `r` are the impulses found, after one projected step. With W r + q they obey the law to rounding. `relative` is the
    change of q over q, in the energy norm, and `largest` the most that it changes the velocity of any one contact.
    """

    r: NDArray[np.float64]  # (contacts, rows of a contact), as in Solution
    q: NDArray[np.float64]
    relative: float
    largest: float  # m/s; spins times mu_r

    def __str__(self) -> str:
        return (
            f"after one more step the impulses are exact for free velocities that differ by at most {self.largest:.2g} "
            f"m/s ({self.relative:.2g} in the energy norm)"
        )


@dataclass(frozen=True)
class Solution:
    """The result of a solver: the best impulses it found, whether or not they meet the tolerance."""

    r: NDArray[np.float64]  # (contacts, rows of a contact), N s; couples in N m s
    u: NDArray[np.float64]  # the same, m/s, computed afresh from r; spins in rad/s
    solver: str
    converged: bool
    iterations: int  # sweeps or gradient steps
    factorisations: int  # of Newton or interior point steps
    seconds: float  # of the solve alone, on the wall clock
    residuals: Residuals
    # Where the tolerance was not met:
    existence: Existence | None = None
    backward: BackwardError | None = None


def solvers() -> list[str]:
    """Name the solvers.

    >>> solvers()
    ['accelerated', 'apgd', 'auto', 'interior', 'newton', 'nsgs']
    """
    return _core.contact_solvers()


def delassus(mass: Any, directions: Any) -> Any:
    """The Delassus matrix W = H^T M^-1 H of a mass matrix M and contact directions H, as a sparse matrix.

    `mass` is (degrees of freedom, degrees of freedom) and need not be symmetric; `directions` is (degrees of freedom,
    rows of all contacts). Both may be dense or sparse.
    """
    from scipy import sparse
    from scipy.sparse import linalg

    mass, directions = sparse.csc_array(mass), sparse.csc_array(directions)
    if mass.shape[0] != mass.shape[1] or mass.shape[0] != directions.shape[0]:
        raise InputError(
            f"M has shape {mass.shape} and H {directions.shape}: M must be square, and H have as many rows as M"
        )
    try:
        factors = linalg.splu(mass)
    except RuntimeError:
        raise InputError("M is singular; every degree of freedom needs a mass") from None
    transposed = directions.T.tocsr()
    parts = [
        sparse.csr_array(transposed @ factors.solve(directions[:, first : first + _COLUMNS].toarray()))
        for first in range(0, directions.shape[1], _COLUMNS)
    ]
    return sparse.hstack(parts, format="csr") if parts else sparse.csr_array((0, 0))


def solve(
    problem: Any,
    q: ArrayLike,
    mu: ArrayLike,
    *,
    solver: str = "auto",
    tol: float = 1e-8,
    start: ArrayLike | None = None,
    max_iterations: int = 50_000,
    max_factorisations: int = 4_000,
    norm: str = "energy",
    dimension: int = 3,
    mu_r: ArrayLike = 0.0,
) -> Solution:
    """Solve one contact problem.

    `problem` is W, (3 contacts, 3 contacts), dense or sparse, or the pair (M, H) of which W = H^T M^-1 H is made. `q`
    holds the relative velocities without contact impulses, `mu` one coefficient per contact (or one for all), `start`
    impulses to start from. `dimension` is the number of rows of a contact: 3, or 2 in the plane, or 5 with rolling
    friction, whose coefficients `mu_r` are lengths in metres. `tol` bounds the residual in the `norm` energy, plain or
    velocity. If the tolerance is not met, no error is raised: see `Solution.converged`.

    A 2 kg block falls at 1 m/s and slides at 3 m/s; friction takes mu times the normal impulse:

    >>> found = solve(np.eye(3) / 2, [-1.0, 3.0, 0.0], 0.4)
    >>> np.allclose(found.r, [[2.0, -0.8, 0.0]]), np.allclose(found.u, [[0.0, 2.6, 0.0]])
    (True, True)
    """
    from scipy import sparse

    dimension = _whole("dimension", dimension)
    max_iterations = _whole("max_iterations", max_iterations)
    max_factorisations = _whole("max_factorisations", max_factorisations)
    if solver not in solvers():
        raise InputError(f"solver = {solver!r} is unknown: {did_you_mean(solver, solvers())}")
    if norm not in NORMS:
        raise InputError(f"norm = {norm!r} is unknown: {did_you_mean(norm, NORMS)}")
    if dimension not in DIMENSIONS:
        raise InputError(f"dimension = {dimension!r}; a contact has 2 (in the plane), 3, or 5 rows (rolling friction)")
    matrix = _matrix(problem)
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] % dimension:
        raise InputError(f"W has shape {matrix.shape}; it must be square with {_ROWS[dimension]} rows per contact")
    contacts = matrix.shape[0] // dimension
    _refuse_asymmetry(matrix)
    velocities = _vectors("q", q, contacts, dimension)
    _refuse_sizes("W", matrix.data)
    _refuse_sizes("q", velocities)
    rolling = _coefficients("mu_r", mu_r, contacts)
    blocks = _Blocks.of(dimension, contacts, rolling)
    padded = sparse.bsr_array(blocks.spread.T @ matrix @ blocks.spread, blocksize=(3, 3))
    padded.sum_duplicates()
    padded.sort_indices()
    friction = np.zeros(blocks.count)
    friction[~blocks.couples] = _coefficients("mu", mu, contacts)
    largest = float(friction.max(initial=0.0))
    if tol < np.inf and _MOST_FRICTION_BY_TOLERANCE < largest * tol < np.inf:
        raise InputError(
            f"mu = {largest:g} with tol = {tol:g}: a contact that slides could close, mu times tol must be at most "
            f"{_MOST_FRICTION_BY_TOLERANCE:g}"
        )
    try:
        r, _, report = _core.solve_contact(
            padded.indptr.astype(np.int64),
            padded.indices.astype(np.int64),
            np.ascontiguousarray(padded.data, dtype=np.float64).reshape(-1, 3, 3),
            (blocks.spread.T @ velocities.ravel()).reshape(-1, 3),
            friction,
            solver=solver,
            tolerance=tol,
            max_iterations=max_iterations,
            max_factorisations=max_factorisations,
            norm=norm,
            start=None if start is None else blocks.shares(_vectors("start", start, contacts, dimension)),
            couples=blocks.couples,
        )
    except ValueError as fault:
        raise InputError(str(fault)) from None
    impulses = (blocks.spread @ r.ravel()).reshape(contacts, dimension)
    return Solution(
        impulses,
        (matrix @ impulses.ravel()).reshape(contacts, dimension) + velocities,
        solver,
        report["converged"],
        report["iterations"],
        report["factorisations"],
        report["seconds"],
        Residuals(report["energy"], report["plain"], report["velocity"], report["siconos"]),
        Existence(*report["existence"]) if "existence" in report else None,
        blocks.backward_error(velocities, *report["backward"]) if "backward" in report else None,
    )


@dataclass(frozen=True)
class _Blocks:
    """The blocks of three that the core solves for, made of contacts with two, three or five rows.

    A contact in the plane has a second tangent that nothing moves along. One that resists rolling is two blocks: its
    own, and its couple in shares of the largest, c = mu_r s with |s| <= r_N, about the tangents only.
    """

    spread: Any  # impulses of all rows = spread @ components of all blocks
    couples: NDArray[np.bool_]

    @property
    def count(self) -> int:
        return len(self.couples)

    @staticmethod
    def of(dimension: int, contacts: int, rolling: NDArray[np.float64]) -> _Blocks:
        from scipy import sparse

        rolls = (rolling > 0.0) & (dimension == 5)
        first = np.arange(contacts) + np.concatenate([[0], np.cumsum(rolls)[:-1]]).astype(int)[:contacts]
        couples = np.zeros(contacts + int(rolls.sum()), dtype=bool)
        couples[first[rolls] + 1] = True
        own = min(dimension, 3)
        contact = np.repeat(np.arange(contacts), own)
        component = np.tile(np.arange(own), contacts)
        rows, columns = [dimension * contact + component], [3 * first[contact] + component]
        shares = [np.ones(len(contact))]
        for tangent in (1, 2):
            rows.append(dimension * np.flatnonzero(rolls) + 2 + tangent)
            columns.append(3 * (first[rolls] + 1) + tangent)
            shares.append(rolling[rolls])
        entries = (np.concatenate(shares), (np.concatenate(rows), np.concatenate(columns)))
        return _Blocks(sparse.csr_array(entries, shape=(dimension * contacts, 3 * len(couples))), couples)

    def shares(self, impulses: NDArray[np.float64]) -> NDArray[np.float64]:
        """The components that give these impulses."""
        return self._per_square(self.spread.T @ impulses.ravel()).reshape(-1, 3)

    def backward_error(
        self, q: NDArray[np.float64], r: NDArray[np.float64], change: NDArray[np.float64], relative: float
    ) -> BackwardError:
        """That of the blocks, told by rows; `q` are the velocities that were given."""
        changed = q + (self.spread @ self._per_square(change.ravel())).reshape(q.shape)
        largest = float(np.max(np.linalg.norm(change, axis=1), initial=0.0))
        return BackwardError((self.spread @ r.ravel()).reshape(q.shape), changed, relative, largest)

    def _per_square(self, components: NDArray[np.float64]) -> NDArray[np.float64]:
        """Components over the square of what they are multiplied by in a row; none where they are in no row."""
        square, shares = (self.spread**2).sum(axis=0), np.zeros(len(components))
        np.divide(components, square, out=shares, where=square > 0.0)
        return shares


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or not 0 <= value < 2**63:
        raise InputError(f"{name} = {value!r}: must be a whole number from 0 to 2^63 - 1")
    return int(value)


def _matrix(problem: Any) -> Any:
    """W as a sparse matrix of real numbers."""
    from scipy import sparse

    try:
        matrix = sparse.csr_array(delassus(*problem) if isinstance(problem, tuple) else problem)
    except InputError:
        raise
    except (IndexError, TypeError, ValueError):  # what is no matrix, scipy refuses in each of these ways
        matrix = None
    if matrix is None or len(matrix.shape) != 2 or matrix.dtype.kind not in "biuf":
        raise InputError("W must be a matrix of real numbers, dense or sparse, or a pair (M, H) of them")
    return matrix.astype(np.float64)


def _real(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold real numbers, not {array.dtype}")
    return array.astype(np.float64)


def _refuse_sizes(name: str, values: NDArray[np.float64]) -> None:
    """Refuse sizes whose squares are no longer numbers; zeros, NaN and what is infinite are judged elsewhere."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    largest = float(sizes.max(initial=0.0))
    if sizes.size and not _SIZES[0] <= largest <= _SIZES[1]:
        raise InputError(
            f"the largest entry of {name} is {largest:g}: must be from {_SIZES[0]:g} to {_SIZES[1]:g}, take other units"
        )


def _refuse_asymmetry(matrix: Any) -> None:
    """Refuse a W that is too far from its transpose."""
    off = float(abs(matrix - matrix.T).max()) if matrix.nnz else 0.0
    size = float(abs(matrix).max()) if matrix.nnz else 0.0
    # Written so that NaN passes: whose it is, is told later.
    if off > _ASYMMETRY * size:
        raise InputError(
            f"W differs from its transpose by up to {off:.3g}, {off / size:.0%} of its largest entry; "
            f"W = H^T M^-1 H is symmetric (at most {_ASYMMETRY:.0%} is taken)"
        )


def _vectors(name: str, values: ArrayLike, contacts: int, dimension: int) -> NDArray[np.float64]:
    array = _real(name, values)
    if array.shape not in ((dimension * contacts,), (contacts, dimension)):
        raise InputError(f"{name} has shape {array.shape}; W has {contacts} contacts of {dimension} rows each")
    return array.reshape(contacts, dimension)


def _coefficients(name: str, values: ArrayLike, contacts: int) -> NDArray[np.float64]:
    array = _real(name, values)
    if array.ndim == 0:
        array = np.full(contacts, array)
    if array.shape != (contacts,):
        raise InputError(f"{name} has shape {array.shape}; W has {contacts} contacts")
    if name == "mu_r" and not (np.isfinite(array) & (array >= 0.0)).all():
        wrong = array[~(np.isfinite(array) & (array >= 0.0))][0]
        raise InputError(f"mu_r holds {wrong}; it must be finite and at least 0")
    return array
