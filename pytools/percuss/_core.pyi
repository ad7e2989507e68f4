"""Types of the compiled core. `make check` compares this file with the extension."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy import float64
from numpy.typing import NDArray

__all__ = [
    "achieved_restitution",
    "build_facts",
    "cargo_lock",
    "impact_laws",
    "read_record",
    "simulate_oscillators",
]

def build_facts() -> list[tuple[str, str]]: ...
def cargo_lock() -> str: ...

# Oscillators. A run is a mapping as `percuss.models.oscillators` makes it; a result is one of arrays and numbers,
# or the reason why there is none.
def simulate_oscillators(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | str]: ...
def read_record(text: str, format: str, in_gravity: bool) -> tuple[NDArray[float64], NDArray[float64]]: ...
def impact_laws() -> list[tuple[str, str, str, float, float]]: ...
def achieved_restitution(law: str, damping: str, restitution: float) -> float: ...
