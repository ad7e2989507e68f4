"""The call that a command is, with its arguments as they were understood: part of every event it appends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from percuss.ledger.calls import OpenCall

# Where the ledger is, how results are told and how many runs there are at a time change no result.
LEFT_OUT = ("ledger", "json", "jobs", "help")
# Arguments that are words, never references to events.
WORDS = ("text", "--reason")
_current: OpenCall | None = None


def begin_call(context: Any) -> None:
    """A command begins: its name and arguments are known, of events only by the references that were given."""
    global _current
    _current = OpenCall("command", _operation(context), [*_arguments(context)], WORDS)


def this_call() -> OpenCall:
    """The call of this process: the same one however often the ledger is opened."""
    return _current or OpenCall("command", "", [])


def _operation(context: Any) -> str:
    """The words that name the command, as `export csv`."""
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return " ".join(names)


def _arguments(context: Any) -> Iterator[tuple[str, object]]:
    """Every argument and option with its value, given or default; one that was switched off by its other name."""
    for parameter in context.command.params:
        if parameter.name in LEFT_OUT or not parameter.expose_value:
            continue
        value = context.params.get(parameter.name)
        if parameter.param_type_name == "argument":
            yield parameter.name.strip("_"), value
        elif value is False and parameter.secondary_opts:
            yield parameter.secondary_opts[0], True
        else:
            yield max(parameter.opts, key=len), value
