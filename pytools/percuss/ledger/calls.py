"""A call while it lasts: its id, and its arguments as they are resolved.

References to events (`@last`, prefixes, `-`) are recorded as the ids they stood for, which the ledger notes here when
it looks them up. So nobody has to guess from the words of a call what it was about.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from percuss.ledger.event import Call, Event, new_id

Argument = tuple[str, object]
# Arguments by which results are computed again, and which no body has.
REPEATED = ("n", "method", "case")


@dataclass
class OpenCall:
    """A call that makes events. `words` are names of arguments that are free text and never a reference."""

    interface: str
    operation: str
    arguments: Sequence[Argument]
    words: Collection[str] = ()
    id: str = field(default_factory=new_id)
    resolved: dict[str, str] = field(default_factory=dict)

    def note(self, reference: str, id: str) -> None:
        """Remember what a reference stood for: the first time counts, `@last` moves on."""
        self.resolved.setdefault(reference, id)

    def closed(self) -> Call:
        """The call as events carry it."""
        # What stdin gave for `-` may be a prefix itself.
        ids = {reference: self.resolved.get(id, id) for reference, id in self.resolved.items()}
        listed = [(_text(name), _plain(value, {} if name in self.words else ids)) for name, value in self.arguments]
        text = json.dumps(listed, separators=(",", ":"), ensure_ascii=False)
        return Call(self.id, self.interface, self.operation, text)


def arguments_of(call: Call) -> list[Argument]:
    """The arguments of a call that was read; a stranger's may be anything."""
    try:
        listed = json.loads(call.arguments)
        return [(str(name), value) for name, value in listed]
    except (ValueError, TypeError, RecursionError):
        return []


def asked(event: Event, name: str) -> object:
    """The value of one of the arguments `REPEATED` of the call that made an event; None: not known."""
    assert name in REPEATED
    arguments = dict(arguments_of(event.call)) if event.call else {}
    return arguments.get(name, arguments.get(f"--{name.replace('_', '-')}"))


def texts_of(event: Event) -> list[str]:
    """All texts among the arguments of the call that made an event; of format 1 the words after its name."""
    if event.call is None:
        return list(event.argv[1:])
    values = [value for _, value in arguments_of(event.call)]
    return [text for value in values for text in (value if isinstance(value, list) else [value]) if type(text) is str]


def _plain(value: object, resolved: dict[str, str]) -> object:
    """A value as JSON has it. Numbers that JSON does not have are written as text."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if value - value == 0 else repr(value)
        case str():
            return resolved.get(value) or _text(value)
        case dict():
            return {_text(str(key)): _plain(item, resolved) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item, resolved) for item in value]
    return resolved.get(str(value)) or _text(str(value))


def _text(text: str) -> str:
    """A file name may hold bytes that are no text; events are text throughout."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
