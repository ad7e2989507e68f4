"""The call that a method is, with its arguments: part of every event it appends."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar, cast

from percuss.api.results import Result
from percuss.ledger.event import Event, OpenCall
from percuss.study.study import Study

Method = TypeVar("Method", bound=Callable[..., Any])


def operation(method: Method) -> Method:
    """Let the events that a method of a ledger appends say by which call, with which arguments, they were made."""
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
        finally:
            stored.begin(before)

    return cast(Method, called)


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
