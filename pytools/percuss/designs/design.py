"""What a design is: points of the unit cube and the parameter values the priors make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from percuss.study.study import Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Larger designs are refused before memory is asked for.
MAX_NUMBERS = 100_000_000


@dataclass(frozen=True, eq=False)
class Design:
    """A design: row i of `values` (SI, columns as in `names`) is sample i, row i of `unit` its quantiles."""

    sampler: str
    seed: int
    skip: int
    options: dict[str, Any]
    names: tuple[str, ...]
    unit: NDArray[Any]
    values: NDArray[Any]


class Request(NamedTuple):
    """What a sampler is asked for; `n` is None where the sampler knows by itself."""

    parameters: tuple[Parameter, ...]
    n: int | None
    seed: int
    skip: int
    options: Mapping[str, Any]


class Points(NamedTuple):
    """What a sampler gives: points in [0, 1]^d, and values where they are not just the priors' quantiles."""

    unit: NDArray[Any]
    values: NDArray[Any] | None = None


def sources(parameters: Sequence[Parameter]) -> dict[str, list[int]]:
    """Columns that are drawn together, by source: a parameter by itself, a tensor with all its components."""
    found: dict[str, list[int]] = {}
    for column, parameter in enumerate(parameters):
        found.setdefault(parameter.source, []).append(column)
    return found
