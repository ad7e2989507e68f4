"""Types of the compiled core. `make check` compares this file with the extension."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NotRequired, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LOOSEST_TOLERANCE",
    "MOST_FRICTION",
    "MOST_ROLLING_M",
    "MOST_SAMPLES",
    "ChaosExpansion",
    "ChaosPosterior",
    "KummerBeta",
    "RigidWorld",
    "achieved_restitution",
    "build_facts",
    "cargo_lock",
    "chaos_bootstrap",
    "chaos_fit",
    "chaos_nested",
    "contact_impact_laws",
    "contact_solvers",
    "filter_oscillators",
    "formula_values",
    "grain_packing",
    "grain_test",
    "impact_laws",
    "joint_kinds",
    "merge_parquet",
    "merge_parquet_files",
    "misfit_oscillators",
    "ornstein_uhlenbeck_solve",
    "ornstein_uhlenbeck_whiten",
    "parquet_size",
    "respond_oscillators",
    "response_spectrum",
    "set_default_threads",
    "simulate_oscillators",
    "smooth_methods",
    "solve_contact",
    "spring_cycle",
    "spring_laws",
    "spring_yield",
]

def build_facts() -> list[tuple[str, str]]: ...
def cargo_lock() -> str: ...

# Oscillators. A run is a mapping as `percuss.models.oscillators` makes it; a result is one of arrays and numbers,
# or the reason why there is none.
def simulate_oscillators(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | str]: ...
def impact_laws() -> list[tuple[str, str, str, float, float]]: ...
def spring_laws() -> list[tuple[str, str, str, list[tuple[str, str, float | None, float, bool, float, bool, str]]]]: ...
def spring_yield(law: str, stiffness: float, numbers: Sequence[float]) -> tuple[float, float]: ...
def spring_cycle(
    law: str, stiffness: float, numbers: Sequence[float], elongation_m: Sequence[float]
) -> list[float]: ...
def achieved_restitution(law: str, damping: str, restitution: float) -> float: ...

# The rows of Parquet files of the same columns, in order, as one file without compression; refused above a size.
def merge_parquet(files: Sequence[bytes], largest_bytes: int) -> bytes: ...

# The same of files on the disk, each of at most so many bytes that match the digest it carries; links are refused.
def merge_parquet_files(paths: Sequence[PathLike[str] | str], largest_file_bytes: int, largest_bytes: int) -> bytes: ...

# Bytes that the table of a Parquet file takes in memory at most, as the file says; nothing is unpacked.
def parquet_size(file: bytes | PathLike[str]) -> int: ...

# Response spectra: largest relative displacement, relative velocity and absolute acceleration, one entry a period.
def response_spectrum(
    times_s: NDArray[np.float64],
    accelerations_m_s2: NDArray[np.float64],
    periods_s: NDArray[np.float64],
    damping: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

# Errors along an axis, std^2 exp(-|t_i - t_j| / length) + diag(variance): places (m,), rising; std and length (p,),
# variance (p or 1, m), vectors (p or 1, c, m). Whitened vectors (p, c, m) and log determinants (p,); D^-1 of the
# vectors (p, c, m) and its diagonal (p, m).
def ornstein_uhlenbeck_whiten(
    places: NDArray[np.float64],
    std: NDArray[np.float64],
    length: NDArray[np.float64],
    variance: NDArray[np.float64],
    vectors: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def ornstein_uhlenbeck_solve(
    places: NDArray[np.float64],
    std: NDArray[np.float64],
    length: NDArray[np.float64],
    variance: NDArray[np.float64],
    vectors: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

# Filters over oscillators: `follow` is a mapping as `percuss.validation.following` makes it, data are
# (samples, channels), parameters (points, tracked).
def filter_oscillators(
    system: Mapping[str, Any],
    follow: Mapping[str, Any],
    data: NDArray[np.float64],
    *,
    mean: Sequence[float],
    covariance: NDArray[np.float64],
    drift: Sequence[float],
    noise: Sequence[float],
    use_first: bool = False,
    smoothed: bool = False,
) -> dict[str, Any]: ...
def respond_oscillators(
    system: Mapping[str, Any],
    follow: Mapping[str, Any],
    start: Sequence[float],
    parameters: NDArray[np.float64],
    samples: int,
) -> NDArray[np.float64]: ...
def misfit_oscillators(
    system: Mapping[str, Any],
    follow: Mapping[str, Any],
    start: Sequence[float],
    parameters: NDArray[np.float64],
    data: NDArray[np.float64],
) -> NDArray[np.float64]: ...

# Contact problem of one step. W by compressed rows of 3x3 blocks; vectors are (normal, tangent 1, tangent 2).
class _ContactReport(TypedDict):
    converged: bool
    iterations: int  # sweeps or gradient steps
    factorisations: int  # of Newton and interior point steps
    energy: float  # residuals; this one is compared with the tolerance
    plain: float
    velocity: float
    siconos: float
    seconds: float  # of the solve alone
    # Where the tolerance was not met: verdict, size, asymmetry; impulses, change of q, its relative size.
    existence: NotRequired[tuple[str, float, float]]
    backward: NotRequired[tuple[NDArray[np.float64], NDArray[np.float64], float]]

def contact_solvers() -> list[str]: ...
def solve_contact(
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    blocks: NDArray[np.float64],  # (blocks, 3, 3)
    q: NDArray[np.float64],  # (contacts, 3)
    mu: NDArray[np.float64],
    *,
    solver: str = "auto",
    tolerance: float = 1e-8,
    max_iterations: int = 50_000,
    max_factorisations: int = 4_000,
    norm: str = "energy",
    start: NDArray[np.float64] | None = None,
    couples: NDArray[np.bool_] | None = None,  # which blocks are the couple of the contact before
) -> tuple[NDArray[np.float64], NDArray[np.float64], _ContactReport]: ...

# Rigid bodies. Scene and settings are mappings as `percuss.scene` makes them.
def contact_impact_laws() -> list[str]: ...
def joint_kinds() -> list[tuple[str, list[str]]]: ...  # each with its coordinates
def smooth_methods() -> list[str]: ...
def set_default_threads(threads: int) -> None: ...  # of runs whose settings say 0; 0: one for each core
def formula_values(formula: str, times_s: Sequence[float]) -> NDArray[np.float64]: ...  # (times, 3)

MOST_FRICTION: float
MOST_ROLLING_M: float
LOOSEST_TOLERANCE: float
MOST_SAMPLES: float  # of an oscillator's run

@final
class RigidWorld:
    def __new__(cls, scene: Mapping[str, Any], settings: Mapping[str, Any]) -> RigidWorld: ...
    def run(
        self,
        duration_s: float,
        *,
        energy_every: int = 1,
        steps_every: int = 1,
        bodies_every: int = 0,
        contacts_every: int = 0,
    ) -> dict[str, Any]: ...
    def settled(
        self, speed_m_per_s: float, quiet_steps: int, damping: float, max_steps: int
    ) -> tuple[bytes, dict[str, Any]]: ...
    def start_from(self, state: bytes) -> None: ...
    def snapshot(self) -> bytes: ...
    def restore(self, state: bytes) -> None: ...
    def set_velocity(
        self, body: int, velocity_m_per_s: Sequence[float], angular_velocity_rad_per_s: Sequence[float]
    ) -> None: ...
    def poses(self) -> NDArray[np.float64]: ...  # (bodies, 7): position, quaternion w first
    def velocities(self) -> NDArray[np.float64]: ...  # (bodies, 6)
    def assembled(self) -> tuple[float, list[tuple[str, str]]]: ...
    def masses_kg(self) -> list[float | None]: ...
    def energy(self) -> dict[str, float]: ...
    def bond_points(self) -> NDArray[np.float64]: ...  # (points, 8): bond, area, damage, opening, slide, three forces
    def pair_work(self) -> list[list[float]]: ...  # one row a law
    def outlines(self, extent_m: float) -> list[tuple[int, NDArray[np.float64], list[list[int]]]]: ...
    @property
    def time_s(self) -> float: ...
    @property
    def steps(self) -> int: ...

# Chaos expansions. A family is a name and its shape: ("legendre", []), ("hermite", []),
# ("laguerre", [alpha]), ("jacobi", [alpha, beta]). Points are in canonical variables, (points, parameters);
# values are (points, outputs).
_Families = Sequence[tuple[str, Sequence[float]]]
_Method = Literal["best", "least-angle", "matching-pursuit", "ordinary"]
_Search = Literal["early", "full"]

class _SobolIndices(TypedDict):
    mean: NDArray[np.float64]  # (outputs,)
    variance: NDArray[np.float64]  # (outputs,)
    first: NDArray[np.float64]  # (outputs, parameters); NaN where the variance is zero, as all that follow
    total: NDArray[np.float64]  # (outputs, parameters)
    second: NDArray[np.float64]  # (outputs, parameters, parameters), symmetric, zero on the diagonal
    shapley: NDArray[np.float64]  # (outputs, parameters)
    group_closed: NDArray[np.float64]  # (outputs, groups)
    group_total: NDArray[np.float64]  # (outputs, groups)

class _ChaosFacts(TypedDict):
    points: int  # distinct points used
    duplicates: int  # rows that repeat an earlier point
    capped: int  # (degree, q) left out because of max_candidates
    search: _Search
    degrees: NDArray[np.int64]  # the degrees searched
    q_norms: NDArray[np.float64]  # the q searched
    constant: NDArray[np.bool_]  # (outputs,), as all up to condition
    method: list[str]
    degree: NDArray[np.int64]
    q: NDArray[np.float64]
    candidates: NDArray[np.int64]  # terms of the selected set
    loo: NDArray[np.float64]
    corrected_loo: NDArray[np.float64]
    cross_validation: NDArray[np.float64]  # NaN unless method = best compared two by it
    largest_leverage: NDArray[np.float64]
    condition: NDArray[np.float64]
    grid: NDArray[np.float64]  # corrected LOO (outputs, degrees, q_norms); NaN where not visited
    path_loo: list[NDArray[np.float64]]  # errors with 0, 1, 2, ... terms beside the constant
    path_corrected_loo: list[NDArray[np.float64]]

class _ChaosNested(TypedDict):
    error: NDArray[np.float64]  # (outputs,), relative to the variance; NaN for constant outputs
    predictions: NDArray[np.float64]  # (points, outputs), each without its fold
    fold: NDArray[np.int64]  # (points,)
    degree: NDArray[np.int64]  # (folds, outputs)
    q: NDArray[np.float64]  # (folds, outputs)
    terms: NDArray[np.int64]  # (folds, outputs)

@final
class ChaosExpansion:
    def __new__(
        cls,
        families: _Families,
        indices: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        terms: NDArray[np.uint32],
        coefficients: NDArray[np.float64],
    ) -> ChaosExpansion: ...
    def __reduce__(self) -> tuple[type[ChaosExpansion], tuple[Any, ...]]: ...
    @property
    def families(self) -> list[tuple[str, list[float]]]: ...
    @property
    def indices(self) -> NDArray[np.uint8]: ...  # (terms in use, parameters)
    @property
    def offsets(self) -> NDArray[np.int64]: ...  # (outputs + 1,) into terms and coefficients
    @property
    def terms(self) -> NDArray[np.uint32]: ...  # rows of indices, output by output
    @property
    def coefficients(self) -> NDArray[np.float64]: ...
    @property
    def outputs(self) -> int: ...
    @property
    def parameters(self) -> int: ...
    def with_coefficients(self, coefficients: NDArray[np.float64]) -> ChaosExpansion: ...
    def predict(self, points: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def predict_with_gradient(
        self, points: NDArray[np.float64], slopes: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def sobol(self, groups: Sequence[Sequence[int]] | None = None) -> _SobolIndices: ...

def chaos_fit(
    families: _Families,
    points: NDArray[np.float64],
    values: NDArray[np.float64],
    *,
    degrees: Sequence[int] | None = None,
    q: Sequence[float] | None = None,
    method: _Method = "best",
    search: _Search = "early",
    max_candidates: int = 100_000,
    threads: int | None = None,
) -> tuple[ChaosExpansion, _ChaosFacts]: ...
def chaos_nested(
    families: _Families,
    points: NDArray[np.float64],
    values: NDArray[np.float64],
    *,
    folds: int = 10,
    seed: int = 0,
    degrees: Sequence[int] | None = None,
    q: Sequence[float] | None = None,
    method: _Method = "best",
    search: _Search = "early",
    max_candidates: int = 100_000,
    threads: int | None = None,
) -> _ChaosNested: ...
def chaos_bootstrap(
    expansion: ChaosExpansion,
    points: NDArray[np.float64],
    values: NDArray[np.float64],
    *,
    replicates: int = 100,
    seed: int = 0,
    threads: int | None = None,
) -> NDArray[np.float64]: ...  # (replicates, coefficients)

# Posteriors on chaos expansions, in the unbounded space of `percuss.inference.target`.
# A parameter: support, origin, scale; of its prior kind, fields, a point and the log density there.
_Parameter = tuple[str, float, float, str, Sequence[float], float, float]
_Input = tuple[int, str, float, float]  # number of the parameter, form (linear, logarithmic), centre, factor
# Covariance of the outputs row by row, scales and shares of a common error.
_Error = tuple[Sequence[float], Sequence[float], Sequence[float]]

@final
class ChaosPosterior:
    def __new__(
        cls,
        parameters: Sequence[_Parameter],
        forwards: Sequence[tuple[ChaosExpansion, Sequence[_Input], _Error | None]],
        forward: NDArray[np.int64],  # (data,), as all that follow
        output: NDArray[np.int64],
        observed: NDArray[np.float64],
        variance: NDArray[np.float64],
        unknown: NDArray[np.int64],  # number of the parameter whose square adds to the variance, or -1
    ) -> ChaosPosterior: ...
    def log_density(self, z: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def advance(
        self,
        positions: NDArray[np.float64],  # (chains, parameters)
        log_density: NDArray[np.float64],
        factor: NDArray[np.float64],  # (parameters, parameters)
        draws: int,
        thin: int,
        key: int,
        *,
        threads: int | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint64]]: ...  # draws, log density, accepted
    def log_density_with_gradient(
        self, z: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...  # (points,), (points, parameters)
    def glide(
        self,
        positions: NDArray[np.float64],  # (chains, parameters)
        log_density: NDArray[np.float64],
        factor: NDArray[np.float64],  # (parameters, parameters)
        step: float,
        steps: int,
        draws: int,
        key: int,
        *,
        threads: int | None = None,
        # draws, log density, sums of acceptance, divergent trajectories, gradients of a chain
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.uint64], int]: ...

# Uncertain bodies: tensors by their components xx, yy, zz, xy, xz, yz.
@final
class KummerBeta:
    def __new__(
        cls,
        lower: Sequence[float],
        upper: Sequence[float],
        mean: Sequence[float],
        lower_exponent: float,
        upper_exponent: float,
    ) -> KummerBeta: ...
    def draw(self, seed: int, keys: NDArray[np.float64]) -> NDArray[np.float64]: ...  # (n, 6), (n, 6)
    @property
    def ratios(self) -> list[float]: ...
    @property
    def multiplier(self) -> list[float]: ...
    @property
    def method(self) -> tuple[str, float]: ...

# Grains: edges of the cell, centres and radii, m.
_Grains = tuple[Sequence[float], Sequence[Sequence[float]], Sequence[float], bool]

def grain_packing(spec: Mapping[str, Any]) -> tuple[_Grains, dict[str, float]]: ...
def grain_test(
    grains: _Grains, spec: Mapping[str, Any], report: Callable[[float], object] | None = None
) -> dict[str, Any]: ...
