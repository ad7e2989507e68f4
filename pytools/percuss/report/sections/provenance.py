"""Where every number comes from: the events of the lineage with their hashes, inputs and builds."""

from __future__ import annotations

from percuss.kinds.event_superseded import EventSuperseded
from percuss.kinds.note_added import NoteAdded
from percuss.kinds.table import is_known
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import RUNS, Source, duration, when

# More batches of runs than this are told by number: the campaign pins every one of them.
MOST_BATCHES = 12


def section(source: Source, event: Event) -> Section:
    """The lineage, oldest first."""
    own = {item.id for item in source.designs()}
    batches = [e for e in source.events if e.kind in RUNS or (e.kind == "design.created" and e.id not in own)]
    hidden = {item.id for item in batches[MOST_BATCHES:]}
    listed = [item for item in source.events if item.id not in hidden]
    numbers = {item.id: i for i, item in enumerate(listed, 1)}
    blocks: list[Block] = [
        Text(
            "Every event is chained to the one before it by SHA-256 over all its fields: a changed byte anywhere "
            "changes every later hash. `percuss audit` proves it, `percuss show` prints an event in full."
        )
    ]
    blocks += _remarks(source)
    blocks.append(_events(listed, numbers))
    if hidden:
        blocks.append(
            Text(
                f"{len(hidden)} more batches of runs are not listed; what was made from them names each with its hash."
            )
        )
    blocks += [_payloads(listed), _builds(source.events)]
    return Section("Provenance", blocks)


def _remarks(source: Source) -> list[Block]:
    """Notes of people, and events that are not to be used any more."""
    known = {event.id: event for event in source.events}
    blocks: list[Block] = []
    for event in source.events:
        if event.id in source.superseded:
            withdrawal = EventSuperseded.of(source.superseded[event.id])
            by = f" by `{withdrawal.new}`" if withdrawal.new else ""
            why = f": {withdrawal.reason}" if withdrawal.reason else "."
            blocks.append(Notice(f"{event.kind} `{event.id}` is superseded{by}{why}"))
    for event in source.state.events.values():
        if event.kind == "note.added" and is_known(event.kind, event.version):
            for about in (item.id for item in event.inputs_as("about") if item.id in known):
                words = f"{known[about].kind}, {event.actor} on {when(event)}: {_words(event)}"
                blocks.append(Notice(words, "note"))
    return blocks


def _events(listed: list[Event], numbers: dict[str, int]) -> Table:
    rows: list[list[Cell]] = []
    for event in listed:
        roles: dict[str, list[int]] = {}
        for item in event.inputs:
            if item.id in numbers:
                roles.setdefault(item.role, []).append(numbers[item.id])
        inputs = ", ".join(f"{role} {_spans(ids)}" for role, ids in roles.items())
        outcome = event.outcome if event.reason is None else f"{event.outcome}: {event.reason[:80]}"
        rows.append(
            [
                numbers[event.id],
                event.kind,
                f"`{event.id}`",
                f"`{event.hash}`",
                inputs,
                event.seed,
                outcome,
                f"`{when(event).removesuffix(' UTC')}`",
                duration(event.cost.wall_us) if event.cost.wall_us else None,
            ]
        )
    return Table(
        "Events, in the order of the ledger",
        ["#", "kind", "id", "hash", "made from", "seed", "outcome", "at (UTC)", "took"],
        rows,
    )


def _spans(numbers: list[int]) -> str:
    """Numbers with runs of neighbours drawn together: 3-7, 9."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}" if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _payloads(listed: list[Event]) -> Table:
    rows: list[list[Cell]] = [
        [event.kind, blob.role, blob.rows, blob.bytes, f"`{blob.digest}`"] for event in listed for blob in event.blobs
    ]
    return Table("Payloads: digest of the logical content", ["of", "table", "rows", "bytes", "digest"], rows)


def _builds(events: tuple[Event, ...]) -> Table:
    builds = dict.fromkeys(event.software for event in events)
    rows: list[list[Cell]] = [[b.version, f"`{b.commit}`", b.core, f"`{b.lock}`"] for b in builds]
    return Table("Builds of percuss that made them", ["version", "commit", "core", "Cargo.lock"], rows)


def _words(note: Event) -> str:
    """Words of a note; those of a private one go on no page."""
    body = NoteAdded.of(note)
    return "a private note" if body.private else body.text
