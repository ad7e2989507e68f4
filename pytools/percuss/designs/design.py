"""What a design is: points of the unit cube, the parameter values the priors make of them, and what is run there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from percuss.ledger.event import Draft, Event, StudyRef
from percuss.models.model import Value
from percuss.study.study import Parameter, Study

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Larger designs are refused before memory is asked for.
MAX_NUMBERS = 100_000_000


@dataclass(frozen=True, eq=False)
class Design:
    """A design: row i of `values` (SI, columns as in `names`) is sample i, row i of `unit` its quantiles.

    With it all that is needed to run any of its points: `cases` that are run, inputs that are `fixed` in every run,
    whether time histories are kept. `event` and `study_event` are where it is in the ledger, or the drafts that will
    put it there; `digest` is that of its table of points, which the seeds of its runs are keyed by.
    """

    study: Study
    sampler: str
    seed: int
    skip: int
    options: Mapping[str, Any]
    names: tuple[str, ...]
    unit: NDArray[Any]
    values: NDArray[Any]
    cases: tuple[str, ...] = ()
    fixed: Mapping[str, Value] = field(default_factory=dict)
    keep_curves: bool = False
    event: Event | Draft | None = None
    study_event: Event | Draft | None = None
    digest: str = ""

    @property
    def size(self) -> int:
        """Number of runs: points times cases."""
        return len(self.values) * len(self.cases)

    @property
    def id(self) -> str:
        """Its event."""
        return self.source.id

    @property
    def source(self) -> Event | Draft:
        """Its event, or the draft of it."""
        assert self.event is not None
        return self.event

    @property
    def study_source(self) -> Event | Draft:
        """The event of its study, or the draft of it."""
        assert self.study_event is not None
        return self.study_event

    @property
    def stored(self) -> Event:
        """Its event; for a design that is in the ledger."""
        assert isinstance(self.event, Event)
        return self.event

    @property
    def reference(self) -> StudyRef:
        """The study, as every event made from this design names it."""
        return StudyRef(self.study.name, self.study.digest)


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
    columns_of: dict[str, list[int]] = {}
    for column, parameter in enumerate(parameters):
        columns_of.setdefault(parameter.source, []).append(column)
    return columns_of
