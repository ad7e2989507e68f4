"""`python -m tests.bench.surrogate_contest [DESIGNS] [NAME ...]`: surrogates against peers on twenty public functions.

`second` for a name stands for nine more functions, `held-out` for four that nothing was chosen by.

Latin hypercubes (DESIGNS, 2) of ten runs per input, at least 60 (or as many as stand behind a name: `"borehole 300"`),
the same points for everybody, in canonical variables. Figures are mean square errors at 10 000 fresh draws over the
variance of the output, geometric means over the designs; the ratio is ours over that of the best peer, `scatter` the
standard error of its logarithm over the designs. Errors below 1e-12 are rounding and count as that.

percuss     `--family auto --search early`, with at most 10 000 candidate terms
numpy LARS  least-angle regression with a least-squares refit for each number of terms, corrected leave-one-out, the
            best of all degrees up to 15 and q of 0.5, 0.75, 1 with at most 1000 terms; below, in numpy
OpenTURNS   its least-angle regression with corrected leave-one-out, the best of the sets up to 500 terms, degrees
            upwards until four were worse (`pip install openturns`)
gp          scikit-learn's Gaussian process with a squared exponential, and with Matern 5/2 (`gp Matern`), one length
            per input and noise, one restart (`pip install scikit-learn`)

Peers that are not installed are left out. Nothing of them is a dependency of percuss.
"""

from __future__ import annotations

import os

# One thread on all sides: set before a library starts its own.
os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENTURNS_NUM_THREADS", "1")

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc
from tests.bench.surrogate_functions import FUNCTIONS, HELD_OUT, SECOND, Function

from percuss.designs.design import Design
from percuss.execution.results import Campaign, CaseRuns
from percuss.study.joint import Joint
from percuss.study.priors.registry import read_prior
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.fit import fit_all
from percuss.surrogates.model import Settings, mean_of_parts

Array = NDArray[Any]
DESIGNS = 2
FRESH = 10_000
ROUNDING = 1e-12
EVERY = FUNCTIONS | SECOND | HELD_OUT
LISTS = {"second": SECOND, "held-out": HELD_OUT}
Predict = Callable[[Array], Array]


@dataclass(frozen=True)
class Task:
    """A function at the points of one design, and fresh draws: parameters, canonical variables, values."""

    study: Any
    canonical: Canonical
    theta: Array
    values: Array
    fresh: Array
    truth: Array

    @property
    def points(self) -> Array:
        return self.canonical.points(self.theta)

    def error(self, predict: Predict) -> float:
        """Mean square over variance at the fresh draws."""
        wrong = predict(self.canonical.points(self.fresh)) - self.truth
        return max(float((wrong**2).mean() / self.truth.var()), ROUNDING)


def task(function: Function, seed: int, points: int = 0) -> Task:
    """One Latin hypercube of a function."""
    d = len(function.inputs)
    keys = {"uniform": ("low", "high"), "normal": ("mean", "std"), "lognormal": ("mean", "std")}
    priors = []
    for kind, *numbers in function.inputs:
        table = {"kind": kind} | dict(zip(keys[kind], map(float, numbers), strict=True))
        priors.append(read_prior(table, "1"))
    names = tuple(f"x{k + 1}" for k in range(d))
    parameters = {n: SimpleNamespace(prior=p, unit="1") for n, p in zip(names, priors, strict=True)}
    study: Any = SimpleNamespace(parameters=parameters, sections={})
    joint = Joint(tuple(priors), None)
    unit = qmc.LatinHypercube(d, rng=np.random.default_rng([seed, d, 1])).random(points or function.points)
    fresh = joint.from_unit(np.random.default_rng([seed, d, 2]).uniform(size=(FRESH, d)))
    theta = joint.from_unit(unit)
    return Task(study, Canonical.of(priors), theta, function.of(theta.T.copy()), fresh, function.of(fresh.T.copy()))


def percuss(task: Task) -> Predict:
    """As `percuss surrogate` fits it, but for the bands."""
    n = len(task.theta)
    names = tuple(task.study.parameters)
    source: Any = SimpleNamespace(id="design")
    runs = CaseRuns("base", np.arange(n), task.values[:, None], {})
    design = Design(task.study, "given", 0, 0, {}, names, task.theta, task.theta, ("base",), event=source)
    campaign = Campaign((design,), (source,), task.theta, tuple((0, i) for i in range(n)), ("y",), (runs,))
    done = fit_all(campaign, Settings(family="auto", search="early", bootstrap=0, max_candidates=10_000))
    return lambda points: mean_of_parts(done.parts, points)[:, 0]


def orthonormal(family: str, x: Array, degree: int) -> Array:
    """Legendre or Hermite polynomials of one variable, orthonormal under its distribution: (degree + 1, n)."""
    p = [np.ones_like(x), x]
    for k in range(1, degree):
        p.append(((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1) if family == "legendre" else x * p[k] - k * p[k - 1])
    norms = np.cumprod([1.0, *range(1, degree + 1)]) if family == "hermite" else 1.0 / (2.0 * np.arange(degree + 1) + 1)
    return np.array(p[: degree + 1]) / np.sqrt(norms)[:, None]


def multi_indices(d: int, degree: int, q: float, most: int) -> Array | None:
    """Exponents with q-norm up to the degree, the constant first; None where they are more than `most`."""
    found: list[tuple[int, ...]] = []

    def grow(start: tuple[int, ...], left: float) -> bool:
        if len(start) == d:
            found.append(start)
            return len(found) <= most
        return all(
            grow((*start, k), left - float(k) ** q)
            for k in range(degree + 1)
            if float(k) ** q <= left * (1 + 1e-12) + 1e-9
        )

    if not grow((), float(degree) ** q):
        return None
    return np.array(sorted(found, key=lambda a: (sum(a), a)))


def sets(d: int, most: int) -> Iterator[Array]:
    """Candidate sets of terms, none twice."""
    seen: set[bytes] = set()
    for q in (0.5, 0.75, 1.0):
        for degree in range(1, 16):
            terms = multi_indices(d, degree, q, most)
            if terms is None:
                break
            if terms.tobytes() not in seen:
                seen.add(terms.tobytes())
                yield terms


def evaluate(families: list[Any], terms: Array, points: Array) -> Array:
    """Psi, one column per term."""
    psi = np.ones((len(points), len(terms)))
    for k, (name, _) in enumerate(families):
        psi *= orthonormal(name, points[:, k], max(int(terms[:, k].max()), 1))[terms[:, k]].T
    return psi


def least_angle(psi: Array, y: Array) -> tuple[float, Array, Array]:
    """Efron and others (2004) with the refit of Blatman and Sudret (2011): error, columns, coefficients."""
    n, _ = psi.shape
    mean, centred = psi[:, 1:].mean(axis=0), y - y.mean()
    x = psi[:, 1:] - mean
    size = np.sqrt((x**2).sum(axis=0))
    x = x / np.where(size > 1e-9, size, np.inf)
    fit, correlations = np.zeros(n), x.T @ centred
    q, inverse, z = np.empty((n, n)), np.zeros((n, n)), np.empty(n)
    active: list[int] = []
    free = size > 1e-9
    rest, leverage, best = centred.copy(), np.full(n, 1.0 / n), (np.inf, 0)
    while len(active) < min(n - 2, x.shape[1]) and free.any():
        j = int(np.argmax(np.where(free, np.abs(correlations), -1.0)))
        free[j] = False
        k = len(active)
        along = q[:, :k].T @ x[:, j]
        orthogonal = x[:, j] - q[:, :k] @ along
        again = q[:, :k].T @ orthogonal
        orthogonal -= q[:, :k] @ again
        along += again
        length = float(np.linalg.norm(orthogonal))
        if length < 1e-8:
            continue
        q[:, k] = orthogonal / length
        inverse[:k, k], inverse[k, k] = -inverse[:k, :k] @ along / length, 1.0 / length
        z[k] = (np.sign(correlations[j]) - along @ z[:k]) / length
        active.append(j)
        k += 1
        rest -= q[:, k - 1] * (q[:, k - 1] @ rest)
        leverage += q[:, k - 1] ** 2
        if n - k - 1 < 1:
            break
        own = inverse[:k, :k]
        trace = (
            ((own**2).sum(axis=1) / size[active] ** 2).sum() + 1 / n + ((mean[active] / size[active] @ own) ** 2).sum()
        )
        error = float(((rest / np.maximum(1 - leverage, 1e-12)) ** 2).mean() / y.var()) * n / (n - k - 1) * (1 + trace)
        if error < best[0]:
            best = (error, k)
        elif k > best[1] + max(15, n // 5):
            break
        unit = 1.0 / np.linalg.norm(z[:k])
        direction = unit * (q[:, :k] @ z[:k])
        most, slopes = np.abs(correlations[active]).max(), x.T @ direction
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.concatenate([(most - correlations) / (unit - slopes), (most + correlations) / (unit + slopes)])
        steps[~np.concatenate([free, free]) | ~(steps > 1e-14)] = most / unit
        step = float(steps.min())
        fit += step * direction
        correlations = x.T @ (centred - fit)
    columns = np.array([0, *(j + 1 for j in active[: best[1]])])
    return best[0], columns, np.linalg.lstsq(psi[:, columns], y, rcond=None)[0]


def numpy_lars(task: Task) -> Predict:
    points, families = task.points, task.canonical.families
    best: tuple[float, Array, Array] | None = None
    for terms in sets(points.shape[1], 1000):
        error, columns, coefficients = least_angle(evaluate(families, terms, points), task.values)
        if best is None or error < best[0]:
            best = (error, terms[columns], coefficients)
    assert best is not None
    _, terms, coefficients = best
    return lambda fresh: evaluate(families, terms, fresh) @ coefficients


def openturns(task: Task) -> Predict:
    import openturns as ot

    points = task.points
    named = {
        "legendre": (ot.Uniform(-1.0, 1.0), ot.LegendreFactory()),
        "hermite": (ot.Normal(), ot.HermiteFactory()),
    }
    measures, factories = zip(*(named[name] for name, _ in task.canonical.families), strict=True)
    x, y = ot.Sample(points.tolist()), ot.Sample(task.values[:, None].tolist())
    best: tuple[float, Any] | None = None
    d = len(measures)
    for q in (0.5, 0.75, 1.0):
        enumeration = ot.HyperbolicAnisotropicEnumerateFunction(d, q)
        basis = ot.OrthogonalProductPolynomialFactory(list(factories), enumeration)
        worse = 0
        for degree in range(1, 16):
            size = enumeration.getBasisSizeFromTotalDegree(degree)
            if size > OPENTURNS_TERMS or worse == 4:
                break
            selection = ot.LeastSquaresMetaModelSelectionFactory(ot.LARS(), ot.CorrectedLeaveOneOut())
            algorithm = ot.FunctionalChaosAlgorithm(
                x,
                y,
                ot.JointDistribution(list(measures)),
                ot.FixedStrategy(basis, size),
                ot.LeastSquaresStrategy(selection),
            )
            algorithm.run()
            result = algorithm.getResult()
            error = min(result.getErrorHistory())
            if best is None or error < best[0]:
                best, worse = (error, result.getMetaModel()), 0
            else:
                worse += 1
    assert best is not None
    _, model = best
    return lambda fresh: np.array(model(ot.Sample(fresh.tolist())))[:, 0]


OPENTURNS_TERMS = 500


def _process(task: Task, kernel: Any) -> Predict:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

    points, d = task.points, task.theta.shape[1]
    centre, size = points.mean(axis=0), points.std(axis=0)
    lengths = {"length_scale": np.full(d, 2.0), "length_scale_bounds": (0.05, 1e3)}
    whole = ConstantKernel(1.0, (1e-3, 1e6)) * kernel(**lengths) + WhiteKernel(1e-6, (1e-12, 1.0))
    model = GaussianProcessRegressor(whole, alpha=0.0, normalize_y=True, n_restarts_optimizer=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of lengths at their bounds: inputs that do nothing.
        model.fit((points - centre) / size, task.values)
    return lambda fresh: np.asarray(model.predict((fresh - centre) / size))


def gp(task: Task) -> Predict:
    from sklearn.gaussian_process.kernels import RBF

    return _process(task, RBF)


def gp_matern(task: Task) -> Predict:
    from sklearn.gaussian_process.kernels import Matern

    return _process(task, lambda **lengths: Matern(nu=2.5, **lengths))


PEERS: dict[str, tuple[str, Callable[[Task], Predict]]] = {
    "numpy LARS": ("numpy", numpy_lars),
    "OpenTURNS": ("openturns", openturns),
    "gp": ("sklearn", gp),
    "gp Matern": ("sklearn", gp_matern),
}


def installed() -> dict[str, Callable[[Task], Predict]]:
    """The peers whose package is there."""
    from importlib.util import find_spec

    return {name: fit for name, (package, fit) in PEERS.items() if find_spec(package)}


@dataclass(frozen=True)
class Row:
    """Errors of every design, ours first, and CPU seconds."""

    name: str
    designs: dict[str, list[float]]
    seconds: dict[str, float]

    @property
    def errors(self) -> dict[str, float]:
        """Geometric means over the designs."""
        return {who: float(np.exp(np.mean(np.log(errors)))) for who, errors in self.designs.items()}

    @property
    def ratio(self) -> float:
        """Ours over that of the best peer."""
        ours, *peers = self.errors.values()
        return ours / min(peers)

    @property
    def scatter(self) -> float:
        """Standard error of the logarithm of the ratio."""
        ours, *peers = self.errors
        best = min(peers, key=self.errors.__getitem__)
        ratios = np.log(self.designs[ours]) - np.log(self.designs[best])
        return float(np.std(ratios, ddof=1) / np.sqrt(len(ratios))) if len(ratios) > 1 else float("nan")


def contest(name: str, points: int, designs: int = DESIGNS) -> Row:
    """All on one function."""
    fits: dict[str, Callable[[Task], Predict]] = {"percuss": percuss} | installed()
    errors: dict[str, list[float]] = {who: [] for who in fits}
    seconds = dict.fromkeys(fits, 0.0)
    for seed in range(designs):
        given = task(EVERY[name], seed, points)
        for who, fit in fits.items():
            start = time.process_time()
            predict = fit(given)
            seconds[who] += (time.process_time() - start) / designs
            errors[who].append(given.error(predict))
    return Row(name, errors, seconds)


def main(names: list[str]) -> None:
    """Print the table; a name may be followed by the number of points."""
    rows = []
    designs = int(names.pop(0)) if names and names[0].isdigit() else DESIGNS
    names = [own for name in names for own in LISTS.get(name, [name])]
    for name, *number in (text.rsplit(" ", 1) if text[-1].isdigit() else [text] for text in names or FUNCTIONS):
        function = EVERY[name]
        points = int(*number) if number else function.points
        row = contest(name, points, designs)
        rows.append(row)
        if len(rows) == 1:
            print(f"| function | inputs | points | {' | '.join(row.errors)} | ratio | scatter | CPU s |")
            print("| --- " * (len(row.errors) + 6) + "|")
        cells = [name, len(function.inputs), points, *(f"{e:.1e}" for e in row.errors.values())]
        took = " ".join(f"{s:.1f}" for s in row.seconds.values())
        print(f"| {' | '.join(map(str, cells))} | {row.ratio:.2f} | {row.scatter:.2f} | {took} |", flush=True)
    print(f"no worse than the best peer: {sum(row.ratio <= 1 for row in rows)} of {len(rows)}")


if __name__ == "__main__":
    main(sys.argv[1:])
