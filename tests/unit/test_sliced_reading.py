"""What is read some rows at a time gives what it gives as a whole: digests, campaigns, tables of runs."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from percuss.execution.records import campaign_facts, campaign_table
from percuss.ledger import blobs, projections, streams
from percuss.ledger.audit import prove_chain, prove_payloads, prove_replay
from percuss.ledger.blobs import SlicedDigest, table_digest
from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import Span, State, fold, state_tables
from percuss.ledger.rows import commit_bytes
from percuss.maker import this_maker
from percuss.session import Session
from percuss.study.load import load_study
from percuss.work.design import Request, create_design, plan_design

STUDY = """
[model]
kind = "benchmark"
function = "ishigami"
[parameters]
x1.prior = { kind = "uniform", low = -3, high = 3 }
[cases.near]
x2 = 0
x3 = 0
[cases.far]
x2 = 1
x3 = 0
"""


@given(
    st.lists(st.tuples(st.none() | st.floats(), st.none() | st.text(), st.none() | st.lists(st.integers(0, 9)))),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_a_table_in_slices_has_the_digest_of_the_whole(rows: list[Any], step: int, group: int) -> None:
    schema = pl.Schema({"a": pl.Float64(), "b": pl.String(), "c": pl.List(pl.Int64())})
    table = pl.DataFrame(rows, schema, orient="row").with_columns(d=pl.col("a") > 0)
    digest = SlicedDigest(table.width)
    for start in range(0, table.width, group):
        names = table.columns[start : start + group]
        pieces = [table.select(names).slice(i, step) for i in range(0, max(1, table.height), step)]
        assert digest.add(pieces) == table.height
    assert digest.hexdigest() == table_digest(table)


@given(st.lists(st.lists(st.integers(0, 40), max_size=6), max_size=8), st.integers(1, 9))
def test_windows_have_every_sample_once_and_in_order(batches: list[list[int]], most: int) -> None:
    listed = projections.windows([Span.of(batch) for batch in batches], most)
    assert all(a.end == b.low for a, b in itertools.pairwise(listed))
    met = [
        sorted((s, n) for n in window.batches for s in batches[n] if window.low <= s < window.end) for window in listed
    ]
    assert [pair for part in met for pair in part] == sorted((s, n) for n, batch in enumerate(batches) for s in batch)


@pytest.fixture
def session(tmp_path: Any) -> Session:
    (tmp_path / "study.toml").write_text(STUDY)
    session = Session(Ledger.open(tmp_path / "ledger", this_maker([]), create=True))
    design = create_design(session, plan_design(load_study(tmp_path / "study.toml"), Request(n=8))).stored
    inputs = [("study", session.state.events[design.input("study")]), ("design", design)]
    # Out of order, over each other, and failed: of a run that is there twice the first one counts.
    for case, samples in (("near", [4, 5, 6]), ("far", [0, 1]), ("near", [0, 1, 2]), ("near", [2, 3]), ("far", [2, 7])):
        table = pl.DataFrame({"sample": samples, "y": [s + len(samples) / 8 for s in samples]})
        blob = session.ledger.put_table("runs", table)
        session.append([Draft("runs.completed", {"case": case, "samples": samples}, design.study, inputs, [blob], 0)])
    failed = {"case": "near", "samples": [1, 7], "reasons": {"1": "late", "7": "alone"}}
    session.append([Draft("runs.failed", failed, design.study, inputs, seed=0, outcome="failed")])
    return session


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_a_campaign_and_the_table_of_runs(session: Session, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    from percuss.designs.design import read_design

    state = session.state
    (id,) = state.designs
    design = read_design(session, state.events[id])
    whole = campaign_table(session.ledger, state.batches[id], design)
    monkeypatch.setattr(projections, "RUNS_AT_ONCE", most)
    facts = campaign_facts(session.ledger, state.batches[id], design)
    assert facts.digest == table_digest(whole)
    assert (facts.completed, facts.failed) == (11, 1)
    runs = state_tables(state)["runs"]
    expected = sorted((case, s, event.id, reason) for (case, s), (event, reason) in state.runs(id).items())
    assert runs.select("case", "sample", "event", "failed").rows() == expected


@pytest.mark.parametrize("change", ["none", "value", "row"])
def test_large_payloads_are_looked_at_in_slices(session: Session, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.setattr(blobs, "SLICED_BYTES", 0)
    monkeypatch.setattr(blobs, "NUMBERS_AT_ONCE", 4)
    monkeypatch.setattr(blobs, "COLUMNS_AT_ONCE", 1)
    event = session.event("@last:runs.completed")
    place, blob = session.ledger.place, event.blobs[0]
    table = blobs.get_table(place, blob)
    assert blobs.get_rows(place, blob, 1, 1).equals(table.slice(1, 1))
    if change != "none":
        table = table.with_columns(y=table["y"] + 1) if change == "value" else table.head(1)
        other = blobs.put_table(place, "runs", table)
        forged = type(blob)(blob.role, other.sha256, blob.digest, blob.rows, other.bytes)
        inputs = [(item.role, session.state.events[item.id]) for item in event.inputs]
        session.append([Draft(event.kind, event.data, event.study, inputs, [forged], 0)])
    proof = prove_payloads(place, prove_chain(place))
    assert proof.holds == (change == "none")


def test_a_cache_that_gives_other_events_is_a_fault(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pack with other words that ends with the right hash, as a stranger may send it along."""
    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 1)
    place = session.ledger.place
    state = fold(prove_chain(place).visible)
    assert prove_replay(session.ledger, state).holds
    (pack,) = (place.cache / "streams" / "main").glob("*.parquet")
    honest = streams.read_frame(pack)
    forged = honest.with_columns(body=pl.col("body").str.replace("late", "soon"))
    for rows in (forged, pl.concat([honest.head(1), honest.tail(1)])):
        pack.write_bytes(commit_bytes(rows, place.format))
        proof = prove_replay(session.ledger, state)
        # Rows that are missing are missed when the pack is read, and the originals are taken.
        assert proof.holds == (rows is not forged)
    assert "is another one in the cache" in _faults_with(session, pack, forged, state)


def _faults_with(session: Session, pack: Path, rows: pl.DataFrame, state: State) -> str:
    pack.write_bytes(commit_bytes(rows, session.ledger.place.format))
    return " ".join(prove_replay(session.ledger, state).faults)
