"""How to do it again: the calls that made the lineage, as a script in which each passes its id on to the next.

Events say by which call they were made, with which arguments. Those of format 1 have only the words of the call, from
which it is guessed what they referred to.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from percuss.kinds.campaign_completed import CampaignCompleted
from percuss.kinds.trusted import Result
from percuss.ledger.event import Event, arguments_of
from percuss.report.blocks import Block, Code, Section, Text
from percuss.report.source import Source


@dataclass
class Call:
    """One call of percuss and the events of the lineage it appended."""

    name: str
    events: list[Event]

    @property
    def key(self) -> tuple[str, ...]:
        """What two calls have in common that ask for the same: operation and arguments, or the words."""
        return _key(self.events[0])

    @property
    def result(self) -> Event | None:
        """The event whose id the call printed: the last it appended that it was asked for. None: not in the lineage."""
        asked = [event for event in self.events if event.cause is None]
        return asked[-1] if asked else None


def section(source: Source, event: Event) -> Section:
    """The script, and what is the same when it is run again."""
    calls = find_calls(source.events)
    lines = ["set -euo pipefail"]
    for call in calls:
        shown = call.result or call.events[-1]
        seed = "" if shown.seed is None else f", seed {shown.seed}"
        no = " || true  # its answer is no" if answered_no(shown) else ""
        lines += [f"# {shown.kind} {shown.id}{seed}", f"{call.name}=$({shell_line(call, calls)}){no}"]
    lines += [f'percuss audit && percuss report "${calls[-1].name}"'] if calls else []
    build = event.software
    blocks: list[Block] = [
        Text(
            f"With percuss {build.version} (commit `{build.commit}`), from the folder the calls were made in, these "
            "commands make the same chain. Ids and times will be others; on the same build and target the digests of "
            "designs, runs and results will be the same. `percuss audit --rerun 5` repeats runs of this very ledger "
            "and compares them bit for bit."
        ),
        Code("\n".join(lines)),
    ]
    return Section("How to reproduce", blocks)


def find_calls(events: tuple[Event, ...]) -> list[Call]:
    """The calls in order. Events of calls that ask for the same and stand on each other are of one that was resumed."""
    calls: list[Call] = []
    for event in events:
        if not event.call and not event.argv:
            continue
        made = {item.id for item in event.inputs}
        # One call may have made several things that only its last event holds together.
        same = [
            call
            for call in calls
            if (event.call and call.events[0].call and call.events[0].call.id == event.call.id)
            or (call.key == _key(event) and any(e.id in made or _siblings(e, event) for e in call.events))
        ]
        merged = Call("", [*(e for call in same for e in call.events), event])
        calls = [call for call in calls if call not in same] + [merged]
    used: dict[str, int] = {}
    for call in calls:
        word = (call.result or call.events[-1]).kind.split(".")[0]
        used[word] = used.get(word, 0) + 1
        call.name = word if used[word] == 1 else f"{word}_{used[word]}"
    return calls


def _key(event: Event) -> tuple[str, ...]:
    call = event.call
    return (call.interface, call.operation, call.arguments) if call else event.argv


def answered_no(event: Event) -> bool:
    """Whether the call that appended this event ended with exit code 1."""
    body = event.content
    if isinstance(body, CampaignCompleted) and body.failed:
        if event.call:
            accepted = dict(arguments_of(event.call)).get("--accept")
            return event.call.operation == "run" and not (isinstance(accepted, list) and "runs" in accepted)
        return "run" in event.argv[1:2] and "runs" not in event.argv
    return event.outcome == "failed" or (isinstance(body, Result) and any(verdict.stops for verdict in body.trust))


def _siblings(one: Event, other: Event) -> bool:
    """Whether two events were made from the same design: batches of one campaign."""
    designs = {item.id for item in one.inputs_as("design")}
    return bool(designs & {item.id for item in other.inputs_as("design")})


def shell_line(call: Call, calls: list[Call]) -> str:
    """The words of a call, references to events of the lineage replaced by the variables that hold their ids."""
    made_by = call.events[0].call
    before = calls[: calls.index(call)]
    if made_by is None:
        return " ".join(_guessed(call, before))
    if made_by.interface == "python":
        return " ".join(_python(call, before))
    words = ["percuss", *made_by.operation.split()]
    for name, value in arguments_of(made_by):
        if value is None or value is False:
            continue
        for item in value if isinstance(value, list) else [value]:
            words += [shlex.quote(name)] if name.startswith("--") else []
            words += [] if item is True else [_reference(item, before) or shlex.quote(str(item))]
    return " ".join(words)


def _python(call: Call, before: list[Call]) -> Iterator[str]:
    """A call of a method from the shell: what it refers to comes as arguments of the program."""
    made_by = call.events[0].call
    assert made_by is not None
    references: list[str] = []

    def shown(value: object) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(shown, value))}]"
        if isinstance(value, dict) and value.keys() == {"study", "digest"}:
            return repr(value["study"])
        if (reference := _reference(value, before)) is None:
            return repr(value)
        references.append(reference)
        return f"sys.argv[{len(references)}]"

    starred = made_by.operation == "compare"
    listed = [
        f"*{shown(value)}" if starred else f"{name}={shown(value)}"
        for name, value in arguments_of(made_by)
        if value is not None
    ]
    line = f"print(percuss.open_ledger().{made_by.operation}({', '.join(listed)}).id)"
    yield from ("python3", "-c", shlex.quote(f"import sys, percuss; {line}"), *references)


def _reference(value: object, before: list[Call]) -> str | None:
    """How the script names an event that an earlier call appended; None for anything else.

    One that the call did not print the id of is the newest of its kind at that point, or it has no name but its own.
    """
    made = [event for call in before for event in call.events]
    event = next((event for event in made if event.id == value), None)
    if event is None:
        return None
    for call in before:
        if call.result is event:
            return f'"${call.name}"'
    newest = [other for other in made if other.kind == event.kind][-1]
    return f"@last:{event.kind}" if newest is event else event.id


def _guessed(call: Call, before: list[Call]) -> Iterator[str]:
    """The words of a call of format 1."""
    holders = {event.id: earlier.name for earlier in before for event in earlier.events}
    own = {event.id for event in call.events}
    inputs = [item.id for event in call.events for item in event.inputs if item.id not in own and item.id in holders]
    # The newest thing it was made from is what the shell passed on.
    newest = max(inputs, key=list(holders).index, default=None)
    for word in call.events[0].argv:
        event_id = newest if word == "-" or word.startswith("@last") else _named(word, holders)
        yield f'"${holders[event_id]}"' if event_id else shlex.quote(word)


def _named(word: str, holders: dict[str, str]) -> str | None:
    """The event a word is an id or the beginning of an id of."""
    if not re.fullmatch(r"[0-9a-f]{4,8}(-[0-9a-f-]*)?", word):
        return None
    fitting = [id for id in holders if id.startswith(word)]
    return fitting[0] if len(fitting) == 1 else None
