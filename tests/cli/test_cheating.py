"""Somebody who can write the whole ledger, and makes every hash fit, cheats a reader: what audit says each time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Call

from percuss.ledger import blobs
from percuss.ledger.blobs import table_digest
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import EnvironmentRef, Event, Input, hash_fields
from percuss.ledger.ledger import Ledger
from percuss.ledger.place import open_place
from percuss.ledger.rows import commit_bytes, from_frame, to_frame
from percuss.ledger.streams import read_frame


def rewritten(root: Path, change: Callable[[Ledger, Event], Event]) -> None:
    """Write main anew with changed events: hashes, inputs and files fit again, as the format page lets anybody do."""
    place, book = open_place(root), Ledger.open(root)
    prev, hashes = place.genesis("main"), dict[str, str]()
    for path in sorted((root / "streams" / "main").glob("*.parquet")):
        events = []
        for event in from_frame(read_frame(path)):
            changed = change(book, event)
            inputs = tuple(replace(item, hash=hashes.get(item.id, item.hash)) for item in changed.inputs)
            new = replace(changed, prev=prev, inputs=inputs)
            prev = hashes[event.id] = hash_fields(new)
            events.append(replace(new, hash=prev))
        path.write_bytes(commit_bytes(to_frame(events), place.format))
    shutil.rmtree(root / "cache", ignore_errors=True)


@pytest.fixture
def received(percuss: Call, linear: str, once: Callable[[str, Callable[[], object]], Path]) -> Path:
    """A ledger with a surrogate and a posterior that did not converge, and a prediction made from it all the same."""

    def make() -> None:
        posterior = percuss("calibrate", linear, "--evaluations", 6000, "--accept", "convergence").id
        percuss("predict", posterior, "--draws", 50, "--accept", "convergence")

    return once("received", make)


def _faults(percuss: Call, *more: object) -> tuple[int, str]:
    said = percuss("audit", "--json", *more)
    found = json.loads(said.out)
    return said.code, " ".join([*(fault for proof in found["proofs"] for fault in proof["faults"])])


def _body(event: Event, **fields: object) -> Event:
    return replace(event, body=json.dumps(json.loads(event.body) | fields))


def test_untouched_it_holds_and_a_change_of_no_meaning_is_not_seen(percuss: Call, received: Path) -> None:
    assert _faults(percuss)[0] == 0
    rewritten(received, lambda book, event: replace(event, actor="somebody else"))
    assert _faults(percuss)[0] == 0  # only an anchor shows it


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        # What a person reads is changed, the tables are left alone.
        ("posterior.sampled", lambda event: _body(event, acceptance=[0.2, 0.3]), "acceptance"),
        # It failed, and nobody is to know: neither of the posterior itself, nor of what is made from it.
        ("posterior.sampled", lambda event: _body(event, trust=[]), "posterior: differs when computed again"),
        ("prediction.made", lambda event: _body(event, trust=[]), "failed convergence"),
        # Results are put under another study.
        ("design.created", lambda event: replace(event, study=replace(event.study, name="other")), "another one"),
        ("study.registered", lambda event: _body(event, title="another"), "digest"),
        # Points that the sampler does not give.
        ("design.created", lambda event: _body(event, skip=3), "design: differs when computed again"),
    ],
)
def test_changes_that_are_seen(
    percuss: Call, received: Path, kind: str, change: Callable[[Event], Event], words: str
) -> None:
    rewritten(received, lambda book, event: change(event) if event.kind == kind else event)
    code, faults = _faults(percuss)
    assert code == 1
    assert words in faults


def test_verdicts_cannot_be_left_out_by_events_of_the_same_moment(percuss: Call, received: Path) -> None:
    def at_once(book: Ledger, event: Event) -> Event:
        return replace(_body(event, trust=[]) if event.kind == "prediction.made" else event, at_us=1)

    rewritten(received, at_once)
    code, faults = _faults(percuss, "--rerun", 0)
    assert code == 1 and "failed convergence" in faults


def test_times_that_cannot_be_are_told(percuss: Call, received: Path) -> None:
    """Clocks go wrong, so it is no fault; but a reader should know that times are claims."""
    rewritten(received, lambda book, event: replace(event, at_us=event.at_us + (event.seq == 2) * 10**15))
    said = percuss("audit", "--rerun", 0)
    assert said.code == 0
    assert "1 event dated in the future; 1 event dated before the one that it follows" in said.out


def test_a_segment_that_nobody_told_of_is_not_sealed(percuss: Call, received: Path) -> None:
    """A writer packs events and leaves out to say so: they hold, and the tier is not reached."""
    percuss("seal")
    assert "yes     " in _tier(percuss, "sealed")
    max((received / "streams" / "main").glob("*.parquet")).unlink()  # the event that tells of it was the last one
    shutil.rmtree(received / "cache", ignore_errors=True)
    assert "no      0 of " in _tier(percuss, "sealed")


def _tier(percuss: Call, name: str) -> str:
    lines = percuss("audit", "--rerun", 0).out.splitlines()
    return next(line for line in lines if line.startswith("tier") and f" {name} " in line)


def test_an_old_anchor_says_how_little_it_covers(percuss: Call, received: Path) -> None:
    percuss("anchor", "--to", "old.json")
    for _ in range(3):
        percuss("note", "@last", "more")
    said = percuss("audit", "--rerun", 0, "--anchor", "old.json")
    assert said.code == 0
    assert "of the 3 events since then it says nothing" in said.out
    assert "not the 3 events since then" in said.out


def test_what_was_withdrawn_is_told(percuss: Call, received: Path) -> None:
    percuss("supersede", "@last:prediction", "--reason", "not what was hoped for")
    said = percuss("audit", "--rerun", 0)
    assert said.code == 0 and "1 times something was superseded" in said.out


def _without_six(book: Ledger, event: Event) -> Event:
    """A campaign that leaves runs out, with a digest that fits the others."""
    if event.kind == "runs.completed":
        rest = book.put_table("runs", book.table(event, "runs").head(10))
        return replace(_body(event, samples=list(range(10))), blobs=(rest,))
    if event.kind == "campaign.completed":
        runs = book.table(next(item for item in book.events() if item.kind == "runs.completed"), "runs")
        first = [pl.lit("base").alias("case"), pl.col("sample"), pl.lit(None, dtype=pl.String).alias("failed")]
        left = runs.head(10).select(*first, pl.exclude("sample"))
        return _body(event, completed=10, content=table_digest(left))
    return event


def _environment(data: bytes) -> Callable[[Ledger, Event], Event]:
    def claim(book: Ledger, event: Event) -> Event:
        blobs.put_file(book.place, "environment", data)
        return replace(event, environment=EnvironmentRef(sha256_hex(data), len(data)))

    return claim


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without_six, "has 10 of the 16 runs of its design"),
        (
            lambda book, event: _body(event, completed=99) if event.kind == "campaign.completed" else event,
            "says that 99 completed and 0 failed",
        ),
        # What cannot be read would excuse whatever does not come out again.
        (_environment(b"\x00"), "the record of its environment is not readable JSON"),
        (_environment(b'{"cpu": 5}'), "the record of its environment is not a JSON object with python"),
        # The same bytes as a file that an event before carries.
        (
            lambda book, event: (
                replace(event, blobs=(*event.blobs, blobs.put_file(book.place, "x", b"\x00")))
                if event.kind == "study.registered"
                else _environment(b"\x00")(book, event)
            ),
            "the record of its environment is not readable JSON",
        ),
        # An older percuss wrote no verdicts; nor did it read what newer ones write.
        (
            lambda book, event: (
                replace(_body(event, trust=[]), version=1) if event.kind == "prediction.made" else event
            ),
            "does not say that its posterior",
        ),
        # Ids become names of files.
        (lambda book, event: replace(event, id="../../x") if event.kind == "prediction.made" else event, "no UUID"),
    ],
)
def test_found_by_strangers(
    percuss: Call, received: Path, change: Callable[[Ledger, Event], Event], words: str
) -> None:
    rewritten(received, change)
    code, faults = _faults(percuss, "--rerun", 0)
    assert code == 1
    assert words in faults


def test_what_environments_claim_does_not_steer_the_terminal(percuss: Call, received: Path) -> None:
    def claim(book: Ledger, event: Event) -> Event:
        if event.kind != "runs.completed":
            return event
        record = book.environment(event)
        assert record
        record["packages"]["numpy"] = "\x1b[31mred"
        table = book.table(event, "runs")
        forged = book.put_table("runs", table.with_columns(pl.col(table.columns[1]) * (1 + 1e-8)))
        return replace(_environment(json.dumps(record).encode())(book, event), blobs=(forged,))

    rewritten(received, claim)
    said = percuss("audit", "--rerun", 1)
    assert "another numpy" in said.out
    assert "\x1b" not in said.out


def test_a_campaign_of_the_runs_of_another_design(percuss: Call, received: Path) -> None:
    """Runs at points that please, put under the points of another design."""
    other = percuss("design", "linear-gaussian", "--n", 16, "--skip", 17).id
    percuss("run", other)
    events = {event.id: event for event in Ledger.open(received).events()}
    batch = next(e for e in events.values() if e.kind == "runs.completed" and e.input("design") == other)
    (campaign,) = (e for e in events.values() if e.kind == "campaign.completed" and e.input("design") == other)
    design = next(e for e in events.values() if e.kind == "design.created" and e.id != other)

    def exchange(book: Ledger, event: Event) -> Event:
        if event.id != campaign.id:
            return event
        inputs = [(item.role, events[item.id]) for item in event.inputs if item.role == "study"]
        inputs += [("design", design), ("runs", batch)]
        return replace(event, inputs=tuple(Input(role, source.id, source.hash) for role, source in inputs))

    rewritten(received, exchange)
    code, faults = _faults(percuss, "--rerun", 0)
    assert code == 1
    assert "has runs of another design" in faults
