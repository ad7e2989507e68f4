"""`percuss reproduce`: what was recorded comes out again, and what was made up does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
from tests.conftest import Call

from percuss.ledger.event import Draft, OpenCall
from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker


def _verdicts(text: str) -> dict[str, str]:
    return {event["kind"]: event["verdict"] for event in json.loads(text)["events"]}


def test_a_surrogate_and_all_under_it_come_out_again(percuss: Call, folder: Path, linear: str) -> None:
    before = len(Ledger.open(folder / "ledger").events())
    said = percuss("reproduce", linear, "--json")
    assert said.code == 0 and json.loads(said.out)["verdict"] == "same"
    verdicts = _verdicts(said.out)
    assert {kind for kind, verdict in verdicts.items() if verdict == "same"} >= {
        "study.registered",
        "runs.completed",
        "campaign.completed",
        "surrogate.fitted",
    }
    assert len(Ledger.open(folder / "ledger").events()) == before
    told = percuss("reproduce", linear, "--runs", 2)
    assert told.code == 0 and "same bits" in told.out.splitlines()[-1]
    compared = {
        e["kind"]: (e["compared"], e["of"])
        for e in json.loads(percuss("reproduce", linear, "--runs", 2, "--json").out)["events"]
    }
    assert compared["runs.completed"] == (2, 16)


def _forged(folder: Path, kind: str, **change: object) -> str:
    """Append an event like the last one of a kind, in a chain that is whole, with something made up in it."""
    book = Ledger.open(folder / "ledger", this_maker([], OpenCall("python", "test", [])))
    true = book.event(f"@last:{kind}")
    inputs = [(item.role, book.event(item.id)) for item in true.inputs]
    blobs = list(true.blobs)
    if "table" in change:
        table = change.pop("table")
        assert isinstance(table, pl.DataFrame)
        blobs = [book.put_table(blob.role, table) if blob.role == "runs" else blob for blob in blobs]
    draft = Draft(true.kind, {**true.data, **change}, true.study, inputs, blobs, true.seed)
    return book.append([draft])[0].id


def test_made_up_runs_and_digests_differ(percuss: Call, folder: Path) -> None:
    percuss("run", percuss("design", "ishigami", "--n", 4).id)
    book = Ledger.open(folder / "ledger")
    table = book.table(book.event("@last:runs"), "runs")
    forged = _forged(folder, "runs", table=table.with_columns(y=pl.col("y") * (1 + 1e-15)))
    said = percuss("reproduce", forged)
    assert said.code == 1 and "DIFFERS" in said.out and "y was" in said.out
    campaign = _forged(folder, "campaign", content="0" * 64)
    said = percuss("reproduce", campaign, "--json")
    assert said.code == 1 and _verdicts(said.out)["campaign.completed"] == "differs"
    # A digest of its own for a study that says otherwise.
    true = Ledger.open(folder / "ledger", this_maker([], OpenCall("python", "test", [])))
    study = true.event("@last:study")
    assert study.study
    reference = replace(study.study, digest="0" * 64)
    id = true.append([Draft(study.kind, study.data, reference, (), study.blobs)])[0].id
    assert percuss("reproduce", id).code == 1


def test_nothing_compared_is_not_a_proof(percuss: Call, folder: Path) -> None:
    (folder / "t.csv").write_text("x1,x2,x3,y\n1,1,1,2\n")
    percuss("import", "t.csv", "--study", "ishigami")
    said = percuss("reproduce", "@last:runs", "--json")
    assert _verdicts(said.out)["runs.completed"] == "cannot"
    note = percuss("note", "@last:design", "words").id
    said = percuss("reproduce", note)
    assert said.code == 0  # what it is about: the study, whose digest comes out


def test_a_payload_that_is_gone_differs(percuss: Call, folder: Path) -> None:
    percuss("run", percuss("design", "ishigami", "--n", 4).id)
    blob = Ledger.open(folder / "ledger").event("@last:runs").blobs[0].sha256
    (folder / "ledger" / "blobs" / blob[:2] / f"{blob}.parquet").unlink()
    said = percuss("reproduce", "@last:campaign")
    assert said.code == 1 and "cannot be computed again" in said.out
