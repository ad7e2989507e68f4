"""Bodies of events as types: plain data going in, checked against the annotations coming out.

msgspec does the checking: it reads nested dataclasses from plain data in microseconds and names the field that does
not fit; a checker of our own would be slower and longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, ClassVar, Protocol, Self

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


def plain(value: Any) -> Any:
    """Plain JSON data of a body, or of whatever is in one."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def unknown_fields(data: Mapping[str, Any], body: type[Body]) -> list[str]:
    """Fields of plain data that a body does not have."""
    known = {item.name for item in fields(body)}  # type: ignore[arg-type]
    return [] if body.open_ended else [name for name in data if name not in known]


def fitted(data: Mapping[str, Any], body: type[Body]) -> Body:
    """Plain data as a body; raise ValueError with the field that does not fit. Fields it does not know are left out."""
    try:
        return msgspec.convert(data, body)
    except msgspec.ValidationError as fault:
        raise ValueError(str(fault)) from None
