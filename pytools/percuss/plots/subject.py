"""What is to be drawn: events, where they are read from, and what the caller chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.ledger.event import Event
from percuss.session import Session

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Request:
    """What to draw: `curves`, one panel each, of at most so many `samples` of each event and case (None: all that kept
    their curves, the first few where they must be made again); `window` (in s) and `ladder` are of validations.
    """

    curves: Sequence[str] = ()
    title: str = ""
    samples: int | None = None
    window: tuple[float, float] | None = None
    ladder: bool = False


@dataclass(frozen=True, eq=False)
class RunTables:
    """What runs gave, each row with its case and sample: curves, impacts where the model tells them, outputs."""

    curves: pl.DataFrame
    impacts: pl.DataFrame | None
    outputs: pl.DataFrame


@dataclass(frozen=True, eq=False)
class Subject:
    """Events of one sort; `tables` gives what runs gave, which may have to be made again."""

    session: Session
    events: tuple[Event, ...]
    request: Request
    tables: Callable[[Event, int | None], RunTables] | None = None

    @property
    def event(self) -> Event:
        """The first of them."""
        return self.events[0]

    def load(self) -> Any:
        """The first event as an object to work with."""
        return self.session.load(self.event)
