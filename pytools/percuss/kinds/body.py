"""Bodies of events as types: `percuss.kinds.table` checks plain data against their annotations."""

from __future__ import annotations

from typing import Annotated, ClassVar, Protocol, Self

import msgspec

from percuss.errors import InputError

# A number of things: what fits into a column of a Parquet file.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
# What a study gives an input.
Value = float | str


class Recorded(Protocol):
    """An event, as far as its body is concerned."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def content(self) -> Body | None: ...


class Body:
    """Base of all bodies, which are frozen dataclasses. Field for field they are what is stored, in SI.

    `open_ended`: others than percuss itself may add fields of their own, which are kept and shown.
    """

    open_ended: ClassVar[bool] = False

    @classmethod
    def of(cls, event: Recorded) -> Self:
        """The body of an event of this kind, in its newest version; raise InputError for an event of another kind."""
        body = event.content
        if not isinstance(body, cls):
            raise InputError(f"event {event.id} is of the kind {event.kind}, not {cls.__name__}")
        return body
