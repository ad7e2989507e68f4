"""The parameters of a study together: as a function of independent standard normals, and back.

    z = L u,   x_i = F_i^-1(Phi(z_i)),   L L' = R

R is the correlation of the normals behind the parameters, the identity where they are independent. A tensor is drawn as
a whole, from its six coordinates; it has no way back.

`[correlations]` of a study says which parameters depend on each other, by a Gaussian copula over their priors:

    of      what the numbers are correlations of: "values" of the parameters (Nataf, 1962; Liu and Der Kiureghian,
            1986), "ranks" (Spearman), or the "normals" behind them
    pairs   tables { between = ["a", "b"], correlation = 0.5 }; all others are zero

Correlations of values and ranks are turned into those of the normals: for values by quadrature of E[x_1 x_2] and
bisection, for ranks by r = 2 sin(pi s / 6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.settings import KeyPath, Note, Noted, Setting, check_table, table_of
from percuss.spelling import did_you_mean
from percuss.study.priors.lognormal import Lognormal
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior
from percuss.study.priors.tensor import Component, refuse_tensors
from percuss.study.study import Study

Array = NDArray[Any]
# How far from 0 and 1 a probability is kept before it goes through a quantile.
SMALLEST, LARGEST = 1e-300, 1.0 - 2.0**-53


@dataclass(frozen=True, eq=False)
class Joint:
    """Priors in the order of the parameters, correlation of their normals (None: independent), seed of tensors."""

    priors: tuple[Prior, ...]
    correlation: Array | None = None
    seed: int = 0

    @classmethod
    def of(cls, study: Study, seed: int = 0) -> Joint:
        """Of all parameters of a study."""
        return cls(tuple(p.prior for p in study.parameters.values()), normal_correlation(study), seed)

    @cached_property
    def factor(self) -> Array:
        """L, the lower factor of the correlation."""
        size = len(self.priors)
        return np.eye(size) if self.correlation is None else np.linalg.cholesky(self.correlation)

    def normals(self, u: Array) -> Array:
        """Correlated normals (n, d) of independent ones."""
        return u if self.correlation is None else np.asarray(u @ self.factor.T)

    def values(self, u: Array) -> Array:
        """Parameters (n, d) in SI at independent standard normals (n, d)."""
        z = self.normals(np.asarray(u, float))
        values = np.empty_like(z)
        for j, prior in enumerate(self.priors):
            if not isinstance(prior, Component):
                values[:, j] = normal_to_value(prior, z[:, j])
            elif prior.index == 0:
                values[:, j : j + 6] = prior.law.draw(self.seed, normal_cdf(z[:, j : j + 6]))
        return values

    def from_unit(self, unit: Array) -> Array:
        """Parameters (n, d) at points of the unit cube: the quantiles of the priors, made dependent where they are."""
        values = np.empty_like(np.asarray(unit, float))
        z = None if self.correlation is None else self.normals(normal_quantile(np.clip(unit, SMALLEST, LARGEST)))
        for j, prior in enumerate(self.priors):
            if isinstance(prior, Component):
                if prior.index == 0:
                    values[:, j : j + 6] = prior.law.draw(self.seed, unit[:, j : j + 6])
            elif z is not None and j in self.dependent:
                values[:, j] = normal_to_value(prior, z[:, j])
            else:
                values[:, j] = prior.ppf(unit[:, j])
        return values

    def to_unit(self, theta: Array) -> Array:
        """Points of the unit cube at parameters (n, d); of a tensor each component by its marginal law."""
        unit = np.empty_like(np.asarray(theta, float))
        for j, prior in enumerate(self.priors):
            unit[:, j] = prior.cdf(theta[:, j])
        if self.correlation is None:
            return unit
        z = np.zeros_like(unit)
        for j in self.dependent:
            z[:, j] = value_to_normal(self.priors[j], theta[:, j])
        u = np.linalg.solve(self.factor, z.T).T
        unit[:, self.dependent] = normal_cdf(u[:, self.dependent])
        return unit

    @cached_property
    def dependent(self) -> list[int]:
        """Columns that have a correlation with another."""
        if self.correlation is None:
            return []
        return [int(j) for j in np.flatnonzero((self.correlation != np.eye(len(self.priors))).any(axis=1))]

    def points(self, theta: Array) -> Array:
        """Independent standard normals (n, d) of parameters (n, d): the inverse of `values`."""
        refuse_tensors(self.priors, "the way back to standard normals")
        z = np.column_stack([value_to_normal(prior, theta[:, j]) for j, prior in enumerate(self.priors)])
        if self.correlation is None:
            return z
        return np.asarray(np.linalg.solve(self.factor, z.T).T)

    def log_copula(self, theta: Array) -> Array:
        """What dependence adds to the sum of the log densities of the priors: zero where there is none."""
        log = np.zeros(len(theta))
        if self.correlation is None:
            return log
        z = np.zeros((len(theta), len(self.priors)))
        for j in self.dependent:
            z[:, j] = value_to_normal(self.priors[j], theta[:, j])
        u = np.linalg.solve(self.factor, z.T).T
        log += 0.5 * np.einsum("ij,ij->i", z, z) - 0.5 * np.einsum("ij,ij->i", u, u)
        return np.asarray(log - float(np.log(np.diag(self.factor)).sum()))


def value_to_normal(prior: Prior, x: Array) -> Array:
    """Standard normals behind the values of one prior; those of normals and lognormals keep all their digits."""
    if isinstance(prior, Normal):
        return np.asarray((x - prior.fields["mean"]) / prior.fields["std"])
    if isinstance(prior, Lognormal):
        mu, sigma = prior.log_parameters()
        return np.asarray((np.log(np.maximum(x, 1e-300)) - mu) / sigma)
    return np.asarray(normal_quantile(np.clip(prior.cdf(x), SMALLEST, LARGEST)))


SECTION = "correlations"
PAIR = table_of(
    Setting("between", "texts", required=True, doc="the two parameters"),
    Setting(
        "correlation",
        "bare",
        required=True,
        low=-1,
        high=1,
        low_open=True,
        high_open=True,
        doc="correlation, between -1 and 1",
    ),
)
SCHEMA = table_of(
    Setting("of", "text", "values", choices=("values", "ranks", "normals"), doc="what the numbers are correlations of"),
    Setting("pairs", "list", required=True, of=PAIR, doc="tables { between = [a, b], correlation = r }"),
)
# Points of the quadrature on each axis: exact for polynomials of degree 2 * NODES - 1 in the normals.
NODES = 48


def resolve(study: Study, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check every pair, and that the whole is a correlation matrix."""
    noted = Noted(note)
    checked = check_table(SCHEMA, table, (SECTION,), noted)
    seen: set[frozenset[str]] = set()
    for i, pair in enumerate(checked.get("pairs", ())):
        _check_pair(study, pair, (SECTION, "pairs", i), seen, noted)
    if not noted.faults:
        try:
            normal_correlation(study, checked)
        except InputError as fault:
            noted((SECTION,), str(fault))
    return checked


def check_data(study: Study, note: Note) -> None:
    """Correlations name no files."""


def correlated(study: Study) -> tuple[str, ...]:
    """The parameters that have a correlation with another, in the order of the study."""
    section: Any = study.sections.get(SECTION, {})
    named = {name for pair in section.get("pairs", ()) if pair["correlation"] for name in pair["between"]}
    return tuple(name for name in study.parameters if name in named)


def refuse_correlations(study: Study, what: str, hint: str | None = None) -> None:
    """Raise InputError for something that needs independent parameters."""
    if names := correlated(study):
        raise InputError(f"{what}: takes independent parameters, and {', '.join(names)} are correlated", hint=hint)


def normal_correlation(study: Study, section: Mapping[str, Any] | None = None) -> NDArray[Any] | None:
    """Correlation matrix (d, d) of the normals behind the parameters; None where all are independent."""
    import numpy as np

    table: Any = study.sections.get(SECTION, {}) if section is None else section
    pairs = [pair for pair in table.get("pairs", ()) if pair["correlation"]]
    if not pairs:
        return None
    names = list(study.parameters)
    matrix = np.eye(len(names))
    for pair in pairs:
        first, second = pair["between"]
        priors = study.parameters[first].prior, study.parameters[second].prior
        r = _of_normals(table.get("of", "values"), pair["correlation"], *priors, f"{first} and {second}")
        i, j = names.index(first), names.index(second)
        matrix[i, j] = matrix[j, i] = r
    if np.linalg.eigvalsh(matrix)[0] < 1e-10:
        raise InputError(
            "the correlations do not go together: their matrix is not positive definite (least eigenvalue "
            f"{float(np.linalg.eigvalsh(matrix)[0]):.3g})"
        )
    return matrix


def _check_pair(study: Study, pair: Any, path: KeyPath, seen: set[frozenset[str]], note: Noted) -> None:
    if not isinstance(pair, dict):
        note(path, "must be a table { between = [a, b], correlation = r }")
        return
    checked = check_table(PAIR, pair, path, note)
    names = checked.get("between", [])
    if "between" in checked and (len(names) != 2 or names[0] == names[1]):
        note((*path, "between"), "takes two different parameters")
        return
    for name in names:
        if name not in study.parameters:
            note((*path, "between"), f"no parameter `{name}`; {did_you_mean(name, study.parameters)}")
        elif isinstance(study.parameters[name].prior, Component):
            note((*path, "between"), f"`{name}` is a component of a tensor, which is drawn as a whole")
    if len(names) == 2 and frozenset(names) in seen:
        note((*path, "between"), f"{names[0]} and {names[1]} stand there twice")
    seen.add(frozenset(names))


def _of_normals(of: str, correlation: float, first: Prior, second: Prior, names: str) -> float:
    """The correlation of the normals behind two parameters."""
    if of == "normals":
        return correlation
    if of == "ranks":
        return 2 * math.sin(math.pi * correlation / 6)
    return nataf(first, second, correlation, names)


def nataf(first: Prior, second: Prior, target: float, names: str = "the two parameters") -> float:
    """The correlation of normals that gives two values the correlation `target`."""
    from scipy.optimize import brentq

    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()

    def standard(prior: Prior, z: NDArray[Any]) -> NDArray[Any]:
        return np.asarray((normal_to_value(prior, z) - prior.mean()) / prior.std())

    x = standard(first, nodes)

    def reached(r: float) -> float:
        z = r * nodes[:, None] + math.sqrt(1 - r * r) * nodes[None, :]
        return float(weights @ (x[:, None] * standard(second, z)) @ weights)

    ends = (-0.9999, 0.9999)
    low, high = (reached(end) for end in ends)
    if not low < target < high:
        raise InputError(
            f"{names}: a correlation of {target:g} is out of reach, from {low:.3g} to {high:.3g} is possible"
        )
    return float(brentq(lambda r: reached(r) - target, *ends, xtol=1e-12))


def normal_to_value(prior: Prior, z: Any) -> Any:
    """The value of a prior at standard normals; the upper tail of normals and lognormals keeps all its digits."""
    if prior.kind == "normal":
        return prior.mean() + prior.std() * z
    if prior.kind == "lognormal":
        mu, sigma = prior.log_parameters()  # type: ignore[attr-defined]
        return np.exp(mu + sigma * z)
    return prior.ppf(np.clip(normal_cdf(z), SMALLEST, LARGEST))


def normal_cdf(z: Array) -> Array:
    """Probabilities of standard normals. scipy.special is loaded here and not above: it takes a third of a second, and
    most studies have neither correlations nor tensors.
    """
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


def normal_quantile(probability: Array) -> Array:
    """Standard normals of probabilities."""
    from scipy.special import ndtri

    return np.asarray(ndtri(probability))
