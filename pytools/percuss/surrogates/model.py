"""What a family of surrogates is: a module with `fit` and `load`, and the fitted models they give.

All is in canonical variables and for several outputs over the same distinct points; `percuss.surrogates.surrogate` puts
parameters, cases and families together.

A new family is one such module and one line of the table `FAMILIES`.

`Settings` is what is asked of a fit: one frozen value, said in the event as it was used.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.plugins import UnknownNameError, extend
from percuss.spelling import did_you_mean, shown
from percuss.surrogates.kernels import MATERN, OFFERED

if TYPE_CHECKING:
    import polars as pl


METHODS = ("best", "least-angle", "matching-pursuit", "ordinary")
SEARCHES = ("full", "early")
MOST_DEGREES = 40


@dataclass(frozen=True)
class Settings:
    """How surrogates are fitted and how their errors are found.

    `folds` 0 leaves the nested error out, `bootstrap` 0 the resampled designs, `held_out` 0 the fraction kept back.
    """

    family: str = "chaos"
    degrees: tuple[int, ...] = tuple(range(1, 21))
    qs: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    method: str = "best"
    search: str = "full"
    folds: int = 5
    held_out: float = 0.0
    bootstrap: int = 100
    seed: int = 0
    max_candidates: int = 100_000
    curves: str | None = None
    kernels: tuple[str, ...] = OFFERED

    @classmethod
    def of(cls, facts: Mapping[str, Any], seed: int) -> Settings:
        """The settings that an event was made with. Older ones name no kernels: there was one."""
        kept = {key: value for key, value in facts.items() if key not in ("degrees", "q", "kernels")}
        kernels = tuple(facts.get("kernels") or (MATERN,))
        return cls(**kept, degrees=tuple(facts["degrees"]), qs=tuple(facts["q"]), seed=seed, kernels=kernels)

    def facts(self) -> dict[str, object]:
        """For the event."""
        return {
            "family": self.family,
            "degrees": list(self.degrees),
            "q": list(self.qs),
            "method": self.method,
            "search": self.search,
            "folds": self.folds,
            "held_out": self.held_out,
            "bootstrap": self.bootstrap,
            "max_candidates": self.max_candidates,
            "curves": self.curves,
            # What older events do not name is not said when they are repeated.
            "kernels": None if self.kernels == (MATERN,) else list(self.kernels),
        }


def parse_degrees(text: str) -> tuple[int, ...]:
    """Read degrees: one, a range, or a list.

    >>> parse_degrees("3"), parse_degrees("1..4"), parse_degrees("2,5,9")
    ((3,), (1, 2, 3, 4), (2, 5, 9))
    """
    if match := re.fullmatch(r"(\d{1,3})\s*(?:\.\.|-)\s*(\d{1,3})", text.strip()):
        degrees = tuple(range(int(match[1]), int(match[2]) + 1))
    elif re.fullmatch(r"\d{1,3}(\s*,\s*\d{1,3})*", text.strip()):
        degrees = tuple(sorted({int(part) for part in text.split(",")}))
    else:
        raise InputError(f"--degree {text}: must be a degree, a range as 1..20, or a list as 2,3,5")
    if not degrees or degrees[0] < 1 or degrees[-1] > MOST_DEGREES:
        raise InputError(f"--degree {text}: degrees go from 1 to {MOST_DEGREES}")
    return degrees


def parse_qs(text: str) -> tuple[float, ...]:
    """Read q: one, a range in steps of 0.1, or a list.

    >>> parse_qs("0.5..0.8"), parse_qs("1"), parse_qs("0.5,0.75")
    ((0.5, 0.6, 0.7, 0.8), (1.0,), (0.5, 0.75))
    """
    try:
        if ".." in text:
            low, high = (float(part) for part in text.split(".."))
            steps = round((high - low) / 0.1)
            # Tenths as they are written: 0.5 + 2 * 0.1 is not 0.7.
            qs = tuple(round(low + 0.1 * i, 10) for i in range(steps + 1))
            qs = tuple(q for q in qs if q <= high + 1e-9)
        else:
            qs = tuple(sorted({float(part) for part in text.split(",")}))
    except (ValueError, OverflowError):
        raise InputError(f"--q {text}: must be a number, a range as 0.5..1, or a list as 0.5,0.75,1") from None
    if not qs or not all(0.1 <= q <= 1.0 for q in qs):
        raise InputError(f"--q {text}: q goes from 0.1 to 1")
    return qs


def chosen(option: str, text: str, allowed: tuple[str, ...]) -> str:
    """One of the words an option takes."""
    if text not in allowed:
        raise InputError(f"{option} {text}: {did_you_mean(text, allowed)}", hint=f"{option} takes {', '.join(allowed)}")
    return text


Array = NDArray[Any]
Families = list[tuple[str, list[float]]]
Tables = dict[str, "pl.DataFrame"]


@dataclass
class Data:
    """Distinct canonical points (n, d), families of their measures, outputs (n, m).

    `known` keeps what several families need of the same data.
    """

    families: Families
    points: Array
    values: Array
    known: dict[str, Any] = field(default_factory=dict)

    def take(self, columns: Sequence[int]) -> Data:
        """Some of the outputs."""
        return Data(self.families, self.points, np.ascontiguousarray(self.values[:, list(columns)]))

    def rows(self, rows: NDArray[np.intp]) -> Data:
        """Some of the points."""
        return Data(self.families, np.ascontiguousarray(self.points[rows]), np.ascontiguousarray(self.values[rows]))


class Replicates(NamedTuple):
    """One output fitted to resampled designs: coefficients of its terms (b, p), weights of its points (b, n or 0)."""

    coefficients: Array
    weights: Array


class Model(Protocol):
    """Fitted surrogates of the outputs of `Data`, in their order."""

    def loo_residuals(self, data: Data) -> Array:
        """y_i - y_-i(x_i) of the data it was fitted to, (n, m), selection and hyperparameters kept."""
        ...

    def facts(self) -> list[dict[str, Any]]:
        """What there is to say of each output; the keys are those of the table in docs/surrogates.md."""
        ...

    def mean(self, points: Array) -> Array:
        """Predictions (n, m)."""
        ...

    def gradient(self, points: Array) -> tuple[Array, Array]:
        """Predictions (n, m) and their derivatives (n, m, d) with respect to canonical variables."""
        ...

    def distance(self, other: Any) -> Array | None:
        """Mean square (m,) over the prior between this model and another of its family; None without a closed form."""
        ...

    def variance(self, points: Array) -> Array | None:
        """The family's own variance of a prediction (n, m), or None where it has none."""
        ...

    def resampled(self, data: Data, counts: NDArray[np.intp]) -> list[Replicates]:
        """Fit each output again to resampled designs (rows of `counts`: how often each point), terms and such kept."""
        ...

    def replicate_sizes(self, output: int) -> tuple[int, int]:
        """How many coefficients and weights a replicate of an output has."""
        ...

    def replicate_means(self, points: Array, output: int, replicates: Replicates) -> Array:
        """Predictions (b, n) of one output by its replicates."""
        ...

    def take(self, columns: Sequence[int]) -> Model:
        """Only these outputs."""
        ...

    def tables(self, columns: Sequence[int], group: int) -> Tables:
        """All there is to store but the points; outputs are known there by their numbers in `columns`."""
        ...


class FamilyModule(Protocol):
    """What a module of the table in `registry` offers."""

    def fit(self, data: Data, settings: Settings, near: Model | None = None) -> Model:
        """Fit all outputs; `near` is a fit of this family to nearly the same data, to start from."""
        ...

    def load(self, families: Families, tables: Mapping[str, pl.DataFrame], columns: Sequence[int]) -> Model:
        """The stored model of these outputs, with the table `points` of its data: predicts the same bits."""
        ...


class Standing(Protocol):
    """A model and the numbers of the columns that it stands for."""

    @property
    def columns(self) -> Sequence[int]: ...
    @property
    def model(self) -> Model: ...


def mean_of_parts(parts: Sequence[Standing], points: Array) -> Array:
    """Means (n, m) at canonical variables (n, d), of parts that stand for all m columns."""
    means = np.empty((len(points), sum(len(part.columns) for part in parts)))
    for part in parts:
        means[:, list(part.columns)] = part.model.mean(points)
    return means


AUTO = "auto"


@dataclass(frozen=True)
class Family:
    """Where a family lives (imported on first use), and what it is."""

    module: str
    summary: str


FAMILIES: dict[str, Family] = {
    "chaos": Family("percuss.surrogates.chaos", "sparse polynomial chaos: smooth responses, indices at no cost"),
    "gp": Family("percuss.surrogates.gaussian_process", "Gaussian process, smooth or Matern 5/2: kinked responses"),
    "chaos-plus-gp": Family("percuss.surrogates.chaos_plus_gp", "chaos for a trend, a Gaussian process on the rest"),
}
BUILT_IN = tuple(FAMILIES)
# What `auto` makes of them, and nobody asks for by name.
AVERAGE = "average"
MADE = {AVERAGE: Family("percuss.surrogates.average", "the mean of families that nested errors hardly tell apart")}


def all_families() -> Mapping[str, Family]:
    """The table with the families that plugins add."""
    return extend(FAMILIES, "percuss.families", lambda p: Family(p.module, f"of {p.package} {p.version}"))


def family_choices() -> tuple[str, ...]:
    """What can be asked for; `auto` tries the families that come with percuss and goes by their nested errors."""
    return (*all_families(), AUTO)


def family_module(name: str) -> FamilyModule:
    """The module of a family; raise UnknownNameError when there is no such family."""
    if name in MADE:
        return cast(FamilyModule, importlib.import_module(MADE[name].module))
    if name not in FAMILIES and name not in all_families():
        raise UnknownNameError(f"unknown family {shown(name)}: {did_you_mean(name, FAMILIES)}")
    return cast(FamilyModule, importlib.import_module(FAMILIES[name].module))
