"""The ledger under arbitrary input: what is appended is read back, and any order of writers gives one valid chain."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from percuss.errors import InputError
from percuss.ledger import streams
from percuss.ledger.audit import prove_chain, prove_order
from percuss.ledger.blobs import table_digest
from percuss.ledger.canonical import canonical_json
from percuss.ledger.event import Blob, Cost, Draft, Event, Maker, OpenCall, Software, StudyRef
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import fold, lineage, state_tables, superseded_ids, superseded_under
from percuss.ledger.rows import from_frame, to_frame
from percuss.ledger.seal import seal_stream

MAKER = Maker(("percuss", "test"), "tester", "here", Software("0", "c0", "core", "l0"))

text = st.text(st.characters(codec="utf-8"), max_size=12)
whole = st.integers(-(2**63), 2**63 - 1)
json_values = st.recursive(
    st.none() | st.booleans() | whole | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
hexes = st.integers(0, 2**256 - 1).map(lambda n: f"{n:064x}")
drafts = st.builds(
    Draft,
    # A kind whose body may hold anything beside its key.
    st.just("scene.settled"),
    st.dictionaries(text, json_values, max_size=4).map(
        lambda body: {f"fact {name}": value for name, value in body.items()} | {"key": "k"}
    ),
    study=st.none() | st.builds(StudyRef, text, hexes),
    blobs=st.lists(st.builds(Blob, text, hexes, hexes, st.integers(0, 2**62), st.integers(0, 2**62)), max_size=2),
    seed=st.none() | st.integers(0, 2**63 - 1),
    outcome=st.sampled_from(["ok", "failed", "interrupted"]),
    reason=st.none() | text,
    cost=st.builds(Cost, *[st.integers(0, 2**62)] * 3),
)


@contextmanager
def new_ledger() -> Iterator[Ledger]:
    """hypothesis runs many examples in one test, so each makes its own folder."""
    folder = Path(tempfile.mkdtemp(prefix="percuss-"))
    try:
        yield Ledger.open(folder / "ledger", MAKER, create=True)
    finally:
        shutil.rmtree(folder)


@settings(max_examples=40)
@given(st.lists(st.lists(drafts, min_size=1, max_size=3), max_size=4))
def test_append_then_read_is_identity(commits: list[list[Draft]]) -> None:
    with new_ledger() as book:
        appended = [event for commit in commits for event in book.append(commit)]
        for cached in (True, False):
            assert Ledger.open(book.place.root).events(cached=cached) == appended
        assert [event.body for event in appended] == [draft.text for commit in commits for draft in commit]
        assert prove_chain(book.place).proof.holds
        assert from_frame(to_frame(appended)) == appended
        for event in appended:
            assert event.computed_hash() == event.hash


@settings(max_examples=200)
@given(drafts, st.data())
def test_the_hash_covers_every_field(draft: Draft, data: st.DataObject) -> None:
    place_free = streams.Head(0, 0, "0" * 64)
    maker = replace(MAKER, call=OpenCall("command", "test", []), environment=lambda: b"{}")
    (event,) = streams.chain([draft], "main", place_free, maker, 1_700_000_000_000_000)
    name = data.draw(st.sampled_from([field for field in event.__dataclass_fields__ if field != "hash"]))
    value = getattr(event, name)
    if isinstance(value, str):
        other = value + "x"
    elif isinstance(value, int):
        other = value + 1
    elif isinstance(value, tuple) and name == "argv":
        other = (*value, "")
    elif name == "blobs":
        other = (*value, Blob("r", "s", "d", 1, 1))
    elif name == "inputs":
        from percuss.ledger.event import Input

        other = (Input("a", "b", "c"),)
    elif name == "study":
        other = StudyRef("other", "digest") if value is None else None
    elif name == "software":
        other = replace(value, lock=value.lock + "0")
    elif name == "cost":
        other = replace(value, cpu_us=value.cpu_us + 1)
    elif name == "call":
        other = data.draw(st.sampled_from([None, replace(value, operation="x"), replace(value, arguments="[0]")]))
    elif name == "environment":
        other = data.draw(st.sampled_from([None, replace(value, sha256="x"), replace(value, bytes=3)]))
    else:
        other = 7 if name == "seed" else "because"
    assert replace(event, **{name: other}).computed_hash() != event.hash


steps = st.lists(
    st.tuples(st.sampled_from(["append", "append", "append", "seal", "read", "reopen", "stray"]), st.integers(0, 2)),
    max_size=14,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_any_interleaving_of_writers_gives_a_valid_chain(plan: list[tuple[str, int]]) -> None:
    """Three writers, each with its own idea of the head; sealing by any of them at any time; a small cache."""
    before, streams.LOOSE_BEFORE_CACHING = streams.LOOSE_BEFORE_CACHING, 2
    try:
        with new_ledger() as first:
            root = first.place.root
            writers = [first, Ledger.open(root, MAKER), Ledger.open(root, MAKER)]
            told: list[str] = []
            for what, who in plan:
                if what == "append":
                    told += [event.id for event in writers[who].append([Draft("note.added", {"text": str(len(told))})])]
                elif what == "seal":
                    with suppress(InputError):
                        told.append(seal_stream(writers[who], "main").event.id)
                elif what == "read":
                    assert [e.id for e in Ledger.open(root).events()] == told
                elif what == "stray":
                    (root / "streams" / "main").mkdir(parents=True, exist_ok=True)
                    (root / "streams" / "main" / f".tmp-{who}").write_bytes(b"half a commit")
                else:
                    writers[who] = Ledger.open(root, MAKER)
            walk = prove_chain(first.place)
            assert walk.proof.holds, walk.proof.faults
            assert [event.id for event in walk.visible] == told
            assert [event.id for event in Ledger.open(root).events()] == told
            assert [event.seq for event in walk.visible] == list(range(1, len(told) + 1))
    finally:
        streams.LOOSE_BEFORE_CACHING = before


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["main", "a", "b", "adopt a", "adopt b"]), st.booleans()), max_size=12))
def test_adopted_streams_come_in_the_place_of_their_adoption(plan: list[tuple[str, bool]]) -> None:
    from percuss.ledger.adopt import adopt_stream

    with new_ledger() as book:
        expected: list[str] = []
        waiting: dict[str, list[str]] = {"a": [], "b": []}
        for what, again in plan:
            name = what[-1]
            if what == "main":
                expected.append(book.append([Draft("note.added", {"text": ""})])[0].id)
            elif what in waiting:
                waiting[what].append(book.append([Draft("note.added", {"text": ""})], what)[0].id)
            else:
                try:
                    adoption = adopt_stream(book, name)
                except InputError:
                    assert not waiting[name]
                    assert name not in {e.stream for e in book.events()}
                    continue
                assert adoption.events == len(waiting[name])
                if waiting[name]:
                    expected += [adoption.event.id, *waiting[name]]
                    waiting[name] = []
                if again:
                    assert adopt_stream(book, name).events == 0
        assert [event.id for event in Ledger.open(book.place.root).events()] == expected
        walk = prove_chain(book.place)
        assert walk.proof.holds, walk.proof.faults
        assert [event.id for event in walk.visible] == expected
        assert prove_order(walk).holds


@settings(max_examples=30)
@given(st.lists(st.integers(0, 3), max_size=12))
def test_replay_gives_the_same_tables(plan: list[int]) -> None:
    """Folding twice, from the cache or the originals, whole or in two parts: the same digests."""
    with new_ledger() as book:
        designs = []
        for step in plan:
            if step == 0 or not designs:
                body = {"sampler": "grid", "n": 4, "names": [], "cases": ["c"], "fixed": {}, "curves": False}
                body["options"] = {}
                designs.append(book.append([Draft("design.created", body, StudyRef("s", "d"), seed=1)])[0])
            elif step == 1:
                body = {"case": "c", "samples": [len(plan), 1]}
                book.append([Draft("runs.completed", body, inputs=[("design", designs[-1])])])
            elif step == 2:
                body = {"case": "c", "samples": [9], "reasons": {"9": "why"}}
                book.append([Draft("runs.failed", body, inputs=[("design", designs[0])])])
            else:
                # Of an event that supersedes, too: that takes back what it says.
                book.append([Draft("event.superseded", {"new": None}, inputs=[("old", book.events()[-1])])])
        state = fold(book.events())
        digests = {name: table_digest(table) for name, table in state_tables(state).items()}
        assert set(state.superseded) == superseded_ids(book.frame()) == _superseded(book.events())
        assert {id: under for id in state.events if (under := state.stands_on(id))} == superseded_under(book.frame())
        for event in book.events():
            words = ("event.superseded", "note.added")
            above = {e.id for e in lineage(state, event.id)} - {event.id} if event.kind not in words else set()
            assert set(state.stands_on(event.id)) == above & set(state.superseded)
        fresh = Ledger.open(book.place.root).events(cached=False)
        assert {name: table_digest(t) for name, t in state_tables(fold(fresh)).items()} == digests


def _superseded(events: list[Event]) -> set[str]:
    """As the format says it: an event is superseded if one that is not superseded itself says so."""
    said = [(event.id, event.input("old")) for event in events if event.kind == "event.superseded"]

    def gone(id: str) -> bool:
        return any(old == id and not gone(by) for by, old in said)

    return {event.id for event in events if gone(event.id)}


@given(st.dictionaries(text, json_values, max_size=5))
def test_canonical_json_is_one_text_for_one_value(data: dict[str, object]) -> None:
    import json

    written = canonical_json(data)
    assert canonical_json(json.loads(written)) == written
    assert canonical_json(dict(reversed(data.items()))) == written
