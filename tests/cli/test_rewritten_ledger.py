"""A ledger that a stranger rewrote from its first event on, with words of their own in every field, hashes that fit and
payloads as they were: whatever reads it says what does not fit, and no byte of theirs steers a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import Call

from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Event, Input, StudyRef, new_id
from percuss.ledger.ledger import Ledger
from percuss.ledger.rows import commit_bytes, to_frame

# Title of the window, colour, right-to-left override, C1 escape, carriage return, new line, null, line separators.
WORDS = "\x1b]0;x\x07\x1b[31m\u202eevil\x9b5m\rover\nnew\x00\x85\u2028"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202f\u2066-\u2069]")
# Fields of bodies that are for people.
FOR_PEOPLE = ("title", "text", "notes", "source", "reason", "label", "sentence", "why")
# Fields that are names, to which others refer.
NAMES = ("name", "sampler", "method", "gate", "unit", "case", "kind")

Body = dict[str, object]


def _dirty(value: object, keys: tuple[str, ...]) -> object:
    if isinstance(value, dict):
        return {k: v + WORDS if k in keys and isinstance(v, str) else _dirty(v, keys) for k, v in value.items()}
    return [_dirty(item, keys) for item in value] if isinstance(value, list) else value


def _rewrite(root: Path, keys: tuple[str, ...]) -> list[str]:
    """The same events in one commit, with words after all texts that have no fixed form; their ids."""
    book = Ledger.open(root)
    old, new = book.events(), list[Event]()
    hashes: dict[str, str] = {}
    studies: dict[str, StudyRef] = {}
    prev = book.place.genesis("main")

    def add(event: Event) -> None:
        nonlocal prev
        event = replace(event, prev=prev, seq=len(new) + 1)
        prev = hashes[event.id] = event.computed_hash()
        new.append(replace(event, hash=prev))

    for event in old:
        body = json.dumps(_dirty(json.loads(event.body), keys), sort_keys=True, separators=(",", ":"))
        if event.study and event.kind == "study.registered":
            studies[event.study.digest] = StudyRef(event.study.name + WORDS, sha256_hex(body.encode()))
        call = event.call
        if call:
            listed = [[n, v + WORDS if isinstance(v, str) else v] for n, v in json.loads(call.arguments)]
            call = replace(call, operation=call.operation + WORDS, arguments=json.dumps(listed))
        add(
            replace(
                event,
                body=body,
                study=studies[event.study.digest] if event.study else None,
                inputs=tuple(replace(item, hash=hashes[item.id]) for item in event.inputs),
                actor=event.actor + WORDS,
                host=event.host + WORDS,
                argv=tuple(word + WORDS for word in event.argv),
                software=replace(event.software, version=WORDS, commit=WORDS, core=WORDS, lock=WORDS),
                reason=WORDS,
                call=call,
            )
        )
    about = Input("about" + WORDS, new[-1].id, new[-1].hash)
    add(replace(new[-1], id=new_id(), kind="odd" + WORDS, body='{"text":1}', inputs=(about,), blobs=()))
    for path in (root / "streams" / "main").glob("*.parquet"):
        path.unlink()
    book.place.commit("main", 1).write_bytes(commit_bytes(to_frame(new), book.place.format))
    return [event.id for event in new]


def _commands(ids: list[str]) -> list[list[object]]:
    each: list[Callable[[str], list[object]]] = [
        lambda id: ["show", id],
        lambda id: ["show", id, "--json"],
        lambda id: ["lineage", id],
        lambda id: ["lineage", id, "--from"],
        lambda id: ["lineage", id, "--format", "dot"],
        lambda id: ["diff", ids[0], id],
        lambda id: ["diff", id, id],
        lambda id: ["restore", id, "--to", f"restored-{id}"],
        lambda id: ["report", id, "--to", f"{id}.html"],
        lambda id: ["report", id, "--format", "markdown"],
        lambda id: ["reproduce", id],
        lambda id: ["export", "crate", id, "--to", f"{id}.zip"],
        lambda id: ["export", "csv", id],
        lambda id: ["plot", id, "--to", f"{id}.svg"],
        lambda id: ["study", "show", id],
        lambda id: ["trust", id, "--twins", 20, "--quick"],
        lambda id: ["supersede", id, "--reason", "x"],
    ]
    once: list[list[object]] = [
        ["log"],
        ["log", "--json"],
        ["log", "--unfold", "--limit", 0],
        ["log", "--text", "evil"],
        ["audit", "--rerun", 1],
        ["audit", "--json", "--rerun", 0],
        ["doctor"],
        ["replay"],
        ["site", "--to", "site"],
        ["anchor", "--to", "anchor.json"],
        ["ledger", "copy", "ledger", "copy"],
    ]
    return [*once, *(make(id) for make in each for id in ids)]


@pytest.mark.slow
@pytest.mark.parametrize("keys", [FOR_PEOPLE, FOR_PEOPLE + NAMES], ids=["words", "names"])
def test_every_command(percuss: Call, folder: Path, linear: str, keys) -> None:
    ids = _rewrite(folder / "ledger", keys)
    wrong = []
    for command in _commands(ids):
        said = percuss(*command)
        told = said.out + said.err
        if said.code not in (0, 1, 2, 4) or STEERS.search(told) or "Traceback" in told or "panicked" in told:
            wrong.append((said.code, command, told[:300]))
    assert not wrong, "\n".join(map(str, wrong))
    for path in [*folder.rglob("*.html"), *folder.rglob("*.svg")]:
        assert not re.search("[\x00-\x08\x0b-\x1f]", path.read_text()), path
