"""How to do it again: the calls that made the lineage, as a script in which each passes its id on to the next."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from percuss.kinds.campaign_completed import CampaignCompleted
from percuss.kinds.trusted import Result
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Code, Section, Text
from percuss.report.source import Source


@dataclass
class Call:
    """One call of percuss and the events of the lineage it appended."""

    name: str
    argv: tuple[str, ...]
    events: list[Event]

    @property
    def result(self) -> Event:
        """The event whose id the call printed: the last it appended."""
        return self.events[-1]


def section(source: Source, event: Event) -> Section:
    """The script, and what is the same when it is run again."""
    calls = find_calls(source.events)
    lines = ["set -euo pipefail"]
    for call in calls:
        result = call.result
        seed = "" if result.seed is None else f", seed {result.seed}"
        no = " || true  # its answer is no" if answered_no(result) else ""
        lines += [f"# {result.kind} {result.id}{seed}", f"{call.name}=$({shell_line(call, calls)}){no}"]
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
    """The calls in order. Events of the same words that stand on each other are of one call, or of one resumed."""
    calls: list[Call] = []
    for event in events:
        if not event.argv:
            continue
        made = {item.id for item in event.inputs}
        # One call may have made several things that only its last event holds together.
        same = [
            call
            for call in calls
            if call.argv == event.argv and any(e.id in made or _siblings(e, event) for e in call.events)
        ]
        merged = Call("", event.argv, [*(e for call in same for e in call.events), event])
        calls = [call for call in calls if call not in same] + [merged]
    used: dict[str, int] = {}
    for call in calls:
        word = call.result.kind.split(".")[0]
        used[word] = used.get(word, 0) + 1
        call.name = word if used[word] == 1 else f"{word}_{used[word]}"
    return calls


def answered_no(event: Event) -> bool:
    """Whether the call that appended this event ended with exit code 1."""
    body = event.content
    if isinstance(body, CampaignCompleted) and body.failed:
        return "run" in event.argv[1:2] and "runs" not in event.argv
    return event.outcome == "failed" or (isinstance(body, Result) and any(verdict.stops for verdict in body.trust))


def _siblings(one: Event, other: Event) -> bool:
    """Whether two events were made from the same design: batches of one campaign."""
    designs = {item.id for item in one.inputs_as("design")}
    return bool(designs & {item.id for item in other.inputs_as("design")})


def shell_line(call: Call, calls: list[Call]) -> str:
    """The words of a call, references to events of the lineage replaced by the variables that hold their ids."""
    before = calls[: calls.index(call)]
    holders = {event.id: earlier.name for earlier in before for event in earlier.events}
    own = {event.id for event in call.events}
    inputs = [item.id for event in call.events for item in event.inputs if item.id not in own and item.id in holders]
    # The newest thing it was made from is what the shell passed on.
    newest = max(inputs, key=list(holders).index, default=None)
    words = []
    for word in call.argv:
        event_id = newest if word == "-" or word.startswith("@last") else _named(word, holders)
        words.append(f'"${holders[event_id]}"' if event_id else shlex.quote(word))
    return " ".join(words)


def _named(word: str, holders: dict[str, str]) -> str | None:
    """The event a word is an id or the beginning of an id of."""
    if not re.fullmatch(r"[0-9a-f]{4,8}(-[0-9a-f-]*)?", word):
        return None
    fitting = [id for id in holders if id.startswith(word)]
    return fitting[0] if len(fitting) == 1 else None
