"""The call that a method is, with its arguments: part of every event it appends, and what its errors speak of."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Container, Iterator
from functools import wraps
from typing import Any, TypeVar, cast

from percuss.api.results import Result
from percuss.errors import PercussError
from percuss.ledger.event import Event, OpenCall
from percuss.study.study import Study

Method = TypeVar("Method", bound=Callable[..., Any])
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def operation(method: Method) -> Method:
    """Let the events that a method of a ledger appends say by which call, with which arguments, they were made.

    Errors name the arguments of the method, where the program's would name its options.
    """
    signature = inspect.signature(method)

    @wraps(method)
    def called(ledger: Any, *values: Any, **named: Any) -> Any:
        bound = signature.bind(ledger, *values, **named)
        bound.apply_defaults()
        call = OpenCall("python", method.__name__, [*_arguments(bound)], words=("text", "reason"))
        stored = ledger.session.ledger
        before = stored.begin(call)
        try:
            return method(ledger, *values, **named)
        except PercussError as fault:
            fault.args = (with_arguments(str(fault), signature.parameters),)
            fault.hint = fault.hint and with_arguments(fault.hint, signature.parameters)
            raise
        finally:
            stored.begin(before)

    return cast(Method, called)


def with_arguments(text: str, names: Container[str]) -> str:
    """A sentence about options of the program as one about arguments of these names; other options stay.

    >>> with_arguments("--held-out 2: too many", {"held_out"}), with_arguments("--curve u: none", {"curves"})
    ('held_out 2: too many', 'curves u: none')
    """

    def argument(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return next((known for known in (name, f"{name}s") if known in names), option[0])

    return _OPTION.sub(argument, text)


def _arguments(bound: inspect.BoundArguments) -> Iterator[tuple[str, object]]:
    for name, parameter in [*bound.signature.parameters.items()][1:]:
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            yield from ((key, _plain(item)) for key, item in value.items())
        else:
            yield name, _plain(value)


def _plain(value: object) -> object:
    """Results and events by their ids, studies by name and digest."""
    match value:
        case Result():
            return value.id
        case Event():
            return value.id
        case Study():
            return {"study": value.name, "digest": value.digest}
        case list() | tuple():
            return [_plain(item) for item in value]
    return value
