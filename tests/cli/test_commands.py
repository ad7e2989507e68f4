"""Commands one by one, where their work is not shown by another test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import partial

import polars as pl
import pytest
from tests.drafts import study_draft

from percuss.kinds.body import Body
from percuss.kinds.kind import Kind
from percuss.kinds.table import KINDS
from percuss.ledger.event import Draft


@pytest.fixture
def campaign(percuss, once) -> dict:
    """A design of 70 points, run."""
    once("seventy", lambda: percuss("run", percuss("design", "ishigami", "--n", 70).id))
    event = json.loads(percuss("show", "@last:campaign", "--json").out)
    return {"id": event["id"], "design": next(i["id"] for i in event["inputs"] if i["role"] == "design")}


def _log(percuss, *options: object) -> list[dict]:
    return json.loads(percuss("log", "--limit", 0, "--json", *options).out)


def test_superseded_runs_are_missing_again(percuss, campaign) -> None:
    runs = [event["id"] for event in _log(percuss, "--kind", "runs")]
    assert len(runs) == 2
    said = percuss("supersede", runs[0], "--reason", "wrong gap")
    assert "1 later events were made from it" in said.err
    # Nothing is broken by saying so: the closed campaign is still what it was.
    audit = percuss("audit")
    assert audit.code == 0, audit.out
    assert [event["id"] for event in _log(percuss) if event["superseded"]] == [runs[0]]
    assert "(superseded)" in percuss("log").out
    again = json.loads(percuss("run", campaign["design"], "--json").out)
    assert again["done"] == 64
    assert again["id"] != campaign["id"]
    assert percuss("audit").code == 0
    assert len(percuss("export", "csv", "@last:campaign").out.splitlines()) == 71
    percuss("supersede", runs[0], "--reason", "again").refused(2, "superseded already")
    percuss("supersede", "@last:event", "--reason", "no").refused(2, "cannot be superseded")


def test_superseded_design_cannot_be_run(percuss, campaign) -> None:
    new = percuss("design", "ishigami", "--n", 8).id
    assert percuss("supersede", campaign["design"], "--by", new, "--reason", "too few").id
    percuss("run", campaign["design"]).refused(2, "superseded")
    assert json.loads(percuss("show", "@last:design", "--json").out)["id"] == new
    assert percuss("audit").code == 0
    assert percuss("replay").code == 0


def test_failing_runs_are_recorded_and_not_tried_again(percuss, make_study) -> None:
    make_study("failing", "fail_above = { x1 = 0 }")
    design = percuss("design", "failing", "--n", 100).id
    said = percuss("run", design, "--json")
    first = json.loads(said.out)
    assert first["completed"] + first["failed"] == 100
    assert 40 < first["failed"] < 60
    assert "percuss log --kind runs.failed" in said.err
    assert said.code == 1
    assert f"NOT TRUSTED: {first['failed']} of 100 runs failed: {first['failed']} rehearsed failure" in said.err
    assert percuss("run", design, "--accept", "runs").id == first["id"]
    again = json.loads(percuss("run", design, "--json").out)
    assert (again["done"], again["id"], again["content"]) == (0, first["id"], first["content"])
    (row,) = [line for line in percuss("export", "csv", first["id"]).out.splitlines() if ",3," in line[:8]]
    table = percuss("export", "csv", first["id"]).out
    assert table.count("rehearsed failure") == first["failed"]
    assert percuss("audit", "--rerun", 10).code == 0
    failed = json.loads(percuss("show", "@last:runs.failed", "--json").out)
    assert failed["outcome"]["status"] == "failed"
    assert "rehearsed" in failed["outcome"]["reason"]
    assert row


IMPACT = """
[study]
title = "A block against a stop"
source = "closed form"
[model]
kind = "benchmark"
function = "impact"
gap = "20 mm"
samples = 11
{settings}
[parameters.speed]
unit = "m/s"
prior = {{ kind = "uniform", low = 0.1, high = 2 }}
[outputs.rest_position]
unit = "mm"
"""


def test_curves_are_kept_and_run_again(percuss, make_study) -> None:
    make_study("impact", text=IMPACT)
    percuss("run", percuss("design", "impact", "--n", 5, "--skip", 1, "--curves").id)
    curves = percuss("export", "csv", "@last:runs", "--table", "curves").out.splitlines()
    assert curves[0] == "sample,t_s_s,position_m"
    assert len(curves) == 1 + 5 * 11
    percuss("export", "csv", "@last:runs").refused(2, "several tables")
    assert percuss("simulate", "impact", "--set", "speed=1", "--csv", "history.csv").id
    assert len(pl.read_csv("history.csv")) == 11
    audit = percuss("audit", "--rerun", 6)
    assert audit.code == 0
    assert "6 of 6 runs" in audit.out


def test_rerunning_finds_runs_that_are_not_what_the_model_gives(percuss, make_study, monkeypatch) -> None:
    """A chain can be whole and still lie: only running again shows it."""
    from percuss.models import benchmark

    make_study("impact", text=IMPACT)
    real = benchmark.impact

    def lying(off, longer, duration_s, samples, point, seed):
        return real(duration_s, samples + longer, point | {"gap": point["gap"] + off}, seed)

    for off, longer, words in ((1e-9, 0, "rest_position was"), (0, 1, "curves: t_s differs")):
        with monkeypatch.context() as patch:
            patch.setattr(benchmark, "impact", partial(lying, off, longer))
            assert percuss("simulate", "impact", "--set", "speed=1", "--ledger", f"lie{longer}").id
        said = percuss("audit", "--ledger", f"lie{longer}")
        assert said.code == 1
        assert words in said.out


def test_notes(percuss, campaign) -> None:
    text = "Größe\nzweite Zeile \x1b[2J"
    note = percuss("note", campaign["id"], text).id
    shown = json.loads(percuss("show", note, "--json").out)
    assert shown["body"] == {"text": text, "private": False, "names": ""}
    assert shown["inputs"][0]["id"] == campaign["id"]
    (line,) = [line for line in percuss("log").out.splitlines() if "note.added" in line]
    assert "Größe\\nzweite" in line
    percuss("note", campaign["id"], "x" * 10_001).refused(2, "10001")


def test_lineage_in_three_forms(percuss, campaign) -> None:
    tree = percuss("lineage", campaign["id"]).out.splitlines()
    assert tree[0] == f"campaign.completed {campaign['id']}"
    assert [line.lstrip("├└│─ ").split()[0] for line in tree[1:]] == [
        "study:", "design:", "study:", "runs:", "study:", "design:"
    ]  # fmt: skip
    assert tree[4] == "└─ runs: runs.completed, 70 runs in 2 batches"
    every = percuss("lineage", campaign["id"], "--unfold").out.splitlines()
    assert [line.lstrip("├└│─ ").split()[0] for line in every[1:]] == [
        "study:", "design:", "study:", "runs:", "study:", "design:", "runs:", "study:", "design:"
    ]  # fmt: skip
    graph = json.loads(percuss("lineage", campaign["id"], "--json").out)
    assert graph == json.loads(percuss("lineage", campaign["id"], "--format", "json").out)
    assert [event["kind"] for event in graph["events"]] == [
        "study.registered", "design.created", "runs.completed", "runs.completed", "campaign.completed"
    ]  # fmt: skip
    assert len(graph["edges"]) == 1 + 2 * 2 + 4
    dot = percuss("lineage", campaign["id"], "--format", "dot", "--unfold").out
    assert dot.startswith("digraph lineage {")
    assert dot.count("->") == len(graph["edges"])
    assert percuss("lineage", campaign["id"], "--format", "dot").out.count("->") == 1 + 2 + 3
    if shutil.which("dot"):
        assert subprocess.run(["dot", "-Tsvg"], input=dot, text=True, capture_output=True).returncode == 0
    onwards = json.loads(percuss("lineage", campaign["design"], "--from", "--json").out)
    assert campaign["id"] in [event["id"] for event in onwards["events"]]


def test_lineage_of_any_depth(ledger, percuss, folder) -> None:
    about = ledger.append([study_draft()])[0]
    chain = []
    for i in range(1500):
        chain.append(Draft("note.added", {"text": str(i)}, inputs=[("about", chain[-1] if chain else about)]))
    ledger.append(chain)
    said = percuss("lineage", "@last")
    assert said.code == 0
    assert len(said.out.splitlines()) == 1501
    assert percuss("lineage", about.id, "--from").code == 0


def test_long_lists_of_equals_are_cut(percuss, make_study) -> None:
    make_study("cases")
    design = percuss("design", "ishigami", "--n", 4).id
    for i in range(8):
        percuss("note", design, f"note {i}")
    lines = percuss("lineage", design, "--from").out.rstrip().splitlines()
    assert (len(lines), lines[-1]) == (7, "└─ about: and 3 more")
    assert len(percuss("lineage", design, "--from", "--unfold").out.rstrip().splitlines()) == 9


EXPECTED = """
[run]
sampler = "sobol"
n = 256

[[expect]]
output = "y"
statistic = "mean"
value = {mean}
absolute = 0.01

[[expect]]
output = "y"
statistic = "failed"
value = 0
absolute = 0
"""


def _expect(folder, name: str, text: str) -> None:
    place = folder / "studies" / "ishigami" / "expected"
    place.mkdir(exist_ok=True)
    (place / f"{name}.toml").write_text(text)


def test_check_passes_and_fails(percuss, folder) -> None:
    design = percuss("design", "ishigami", "--n", 256, "--ledger", "other").id
    percuss("run", design, "--ledger", "other")
    percuss("export", "parquet", "@last", "--to", "runs.parquet", "--ledger", "other")
    mean = pl.read_parquet("runs.parquet")["y"].mean()
    _expect(folder, "good", EXPECTED.format(mean=mean))
    said = percuss("check", "ishigami")
    assert said.id
    assert "good: holds (2 values)" in said.err
    _expect(folder, "moved", EXPECTED.format(mean=mean + 1))
    said = percuss("check")
    assert said.code == 1
    assert "MOVED" in said.err
    (row,) = [line for line in said.out.splitlines() if "mean(y)" in line]
    assert row.split()[:2] == ["ishigami", "moved"]
    assert "-1" in row
    assert [event["kind"] for event in _log(percuss, "--kind", "check")] == [
        "check.passed",
        "check.passed",
        "check.failed",
    ]
    assert percuss("check", "ishigami", "--only", "good").code == 0
    percuss("check", "ishigami", "--only", "none").refused(2, "nothing to check")
    facts = json.loads(percuss("check", "ishigami", "--only", "moved", "--json").out)
    assert [value["holds"] for value in facts[0]["values"]] == [False, True]
    assert percuss("audit").code == 0


def test_a_check_in_which_runs_fail_does_not_hold(percuss, folder, make_study) -> None:
    """The mean of those that finished is within its tolerance, and nobody had said that runs would fail."""
    make_study("ishigami", "fail_above = { x1 = 2.9 }")
    mean = EXPECTED.format(mean=0).replace("absolute = 0.01", "absolute = 100")
    _expect(folder, "silent", mean[: mean.rindex("[[expect]]")])
    _expect(folder, "expected", mean.replace("absolute = 0\n", "absolute = 50\n"))
    said = percuss("check", "ishigami", "--only", "silent")
    assert said.code == 1
    assert "failed(y)" in said.out
    assert percuss("check", "ishigami", "--only", "expected").code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["[[expect]]"]),
        ("rubbish", [":1:", "not valid TOML"]),
        ("[runn]\n", ["runn", "run"]),
        ("run = 3\n", ["run: 3 is not a table"]),
        ('expect = "x"\n', [":1: expect: 'x' is not a list"]),
        ("expect = [3]\n", ["expect[0]: 3 is not a table"]),
        ("[run]\nsampler = 3\n[[expect]]\n", ["sampler", "text"]),
        ('[run]\nsampler = "sobol"\nn = "many"\n[[expect]]\n', [":3: run.n: 'many' is not a whole number"]),
        ('[run]\nsampler = "sobol"\nn = true\n[[expect]]\n', ["run.n: True is not a whole number"]),
        ('[run]\nsampler = "sobol"\nn = 4\ncases = "base"\n[[expect]]\n', ["cases", "list"]),
        ('[run]\nsampler = "sobol"\nn = 4\ncases = [3]\n[[expect]]\n', ["run.cases: [3] is not a list of texts"]),
        ("[run]\nset = 3\n[[expect]]\n", ["set", "table"]),
        ("[run]\nset = { x9 = 3 }\n[[expect]]\n", ["x9"]),
        ('[[expect]]\noutput = "z"\n', ["'z'", "y"]),
        ('[[expect]]\noutput = "y"\n', ["expect[0].value: missing", "needs a tolerance"]),
        ('[[expect]]\noutput = "y"\nvalue = 1\nrelative = nan\n', ["not a finite"]),
        ('[[expect]]\noutput = "y"\nvalue = 1\nrelative = "much"\n', ["much"]),
        ('[[expect]]\noutput = "y"\nvalue = 1\nabsolute = -1\n', ["absolute: -1 is outside [0, inf]"]),
        ('[[expect]]\noutput = "y"\nvalue = "1 m"\nabsolute = 1\n', ["1 m"]),
        ('[[expect]]\noutput = "y"\nvalue = 1\nabsolute = 1\nstatistic = "median"\n', ["median"]),
        ('[[expect]]\noutput = "y"\nvalue = 1\nabsolute = 1\ncase = "other"\n', ["other"]),
    ],
)
def test_expectations_that_are_wrong(percuss, folder, text, words) -> None:
    _expect(folder, "wrong", text)
    percuss("check", "ishigami").refused(2, "wrong.toml", *words)
    assert not (folder / "ledger" / "streams").exists()


def test_expectations_outside_the_study_are_not_read(percuss, folder) -> None:
    (folder / "secret").write_text("secret words")
    place = folder / "studies" / "ishigami" / "expected"
    place.mkdir()
    (place / "link.toml").symlink_to(folder / "secret")
    said = percuss("check", "ishigami").refused(2, "link out of the study")
    assert "secret" not in said.err
    (place / "link.toml").unlink()
    os.mkfifo(place / "pipe.toml")
    percuss("check", "ishigami").refused(2, "regular file")
    (place / "pipe.toml").unlink()
    (place / "huge.toml").touch()
    os.truncate(place / "huge.toml", 1 << 30)
    percuss("check", "ishigami").refused(2, "1073741824")


def test_check_interrupted(percuss, folder, monkeypatch) -> None:
    from percuss.execution import campaign

    def interrupted(*args, **more):
        monkeypatch.undo()
        raise KeyboardInterrupt

    _expect(folder, "good", EXPECTED.format(mean=0))
    monkeypatch.setattr(campaign, "wait", interrupted)
    said = percuss("check", "ishigami", "--ledger", folder / "ledger")
    assert said.code == 130
    assert "interrupted: 0 of 1 checks done" in said.err


def test_seal(percuss, campaign, folder) -> None:
    before = percuss("log", "--json").out
    hashes = {event["id"]: event["hash"] for event in json.loads(before)}
    assert percuss("seal").id
    assert {e["id"]: e["hash"] for e in _log(percuss) if e["id"] in hashes} == hashes
    assert len(list((folder / "ledger" / "streams" / "main").glob("*.parquet"))) == 2
    percuss("seal").refused(2, "nothing to pack")
    for word in "abc":
        percuss("note", "@last", word)
    assert percuss("seal").id
    assert len(list((folder / "ledger" / "sealed" / "main").glob("*.parquet"))) == 2
    assert percuss("audit").code == 0
    percuss("seal", "--stream", "nowhere").refused(2, "nothing to pack")


def test_adoption(percuss, folder, campaign) -> None:
    design = percuss("design", "ishigami", "--n", 130, "--seed", 3).id
    shutil.copytree(folder / "ledger", folder / "copy")
    part = percuss("run", design, "--shard", "1/2", "--ledger", "copy")
    stream = json.loads(percuss("show", part.id, "--ledger", "copy", "--json").out or "{}").get("stream")
    assert stream is None, "a shard's events are no part of main before their adoption"
    (stream,) = [p.name for p in (folder / "copy" / "streams").iterdir() if p.name != "main"]
    assert f"percuss adopt {stream}" in percuss("show", part.id, "--ledger", "copy").refused(2, part.id).err
    assert part.id[:12] in percuss("log", "--stream", stream, "--ledger", "copy").out
    percuss("log", "--stream", "shard-none").refused(2, "shard-none")
    said = percuss("adopt", stream, "--from", "copy")
    assert said.id
    assert f"{stream}: 2 new events" in said.err
    again = percuss("adopt", stream, "--from", "copy")
    assert again.id == said.id
    assert "nothing new" in again.err
    # Resumed on the copy, with nothing to do there; the other part here.
    assert percuss("run", design, "--shard", "1/2", "--ledger", "copy").id == part.id
    assert percuss("run", design, "--shard", "2/2").id
    assert "1 new event" in percuss("adopt").err
    assert json.loads(percuss("run", design, "--json").out)["done"] == 0
    assert percuss("audit").code == 0
    percuss("adopt", "nowhere").refused(2, "nowhere")
    percuss("design", "ishigami", "--n", 4, "--ledger", "foreign")
    percuss("adopt", stream, "--from", "foreign").refused(2, "ledger of its own")


def test_adoption_of_a_shard_whose_design_is_not_here(percuss, folder, campaign) -> None:
    shutil.copytree(folder / "ledger", folder / "copy")
    design = percuss("design", "ishigami", "--n", 4, "--ledger", "copy").id
    percuss("run", design, "--shard", "1/1", "--ledger", "copy")
    percuss("adopt", "--from", "copy").refused(2, design, "does not have")
    assert percuss("audit").code == 0


def test_adoption_of_a_broken_shard(percuss, folder, campaign) -> None:
    design = percuss("design", "ishigami", "--n", 70, "--seed", 1).id
    percuss("run", design, "--shard", "1/1")
    (path,) = (folder / "ledger" / "streams").glob("shard-*/*.parquet")
    kept = path.read_bytes()
    path.write_bytes(kept[:-9] + b"X" + kept[-8:])
    percuss("adopt").refused(4, str(path.relative_to(folder)))
    path.write_bytes(kept)
    assert percuss("adopt").id


def test_a_shard_of_a_design_with_fewer_batches(percuss, campaign) -> None:
    percuss("run", campaign["design"], "--shard", "3/3").refused(1, "fewer batches")


@dataclass(frozen=True)
class Rain(Body):
    """A kind that this percuss does not have."""

    rain_mm: int


@dataclass(frozen=True)
class RichNote(Body):
    """A kind in a version that is yet to come."""

    rich_text: str


def test_unknown_kinds_are_kept_and_skipped_with_a_notice(ledger, percuss, folder, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(KINDS, "weather.observed", Kind("weather.observed", Rain, "rain"))
        later = Kind("note.added", RichNote, "words", version=7, upcasters=dict.fromkeys(range(1, 7), dict))
        patch.setitem(KINDS, "note.added", later)
        ledger.append([Draft("weather.observed", {"rain_mm": 3})])
        ledger.append([Draft("note.added", {"rich_text": "x"})])
    said = percuss("log")
    assert "weather.observed" in said.out
    assert "events of kind weather.observed (version 1) are unknown" in said.err
    assert "events of kind note.added (version 7) are unknown" in said.err
    assert json.loads(percuss("show", "@last", "--json").out)["body"] == {"rich_text": "x"}
    audit = percuss("audit")
    assert audit.code == 0
    assert "2 events of kinds this percuss does not know were skipped" in audit.out
    assert "2 events of kinds" in percuss("replay").err
    assert percuss("seal").code == 2
    percuss("design", "ishigami", "--n", 4)
    assert percuss("seal").id
    assert "weather.observed" in percuss("log").out


def test_doctor(percuss, folder, campaign) -> None:
    facts = json.loads(percuss("doctor", "--json").out)
    assert facts["ledger.main"].startswith("5 events")
    assert facts["stray"] == []
    assert facts["percuss"] and facts["polars"] and facts["ledger.file_system"]
    half = folder / "ledger" / "streams" / "main" / ".tmp-1-x"
    half.write_bytes(b"half")
    assert percuss("doctor", "--clean").code == 0
    assert half.exists(), "a young file may belong to a writer at work"
    os.utime(half, (1, 1))
    said = percuss("doctor")
    assert "stray" in said.out
    assert "--clean deletes 1 file " in said.err
    assert percuss("doctor", "--clean").code == 0
    assert not half.exists()
    assert json.loads(percuss("doctor", "--ledger", "none", "--json").out)["ledger.state"] == "none yet"


def test_audit_against_an_anchor(percuss, campaign, folder) -> None:
    head = json.loads(percuss("audit", "--json").out)["head"]
    percuss("note", "@last", "later")
    assert percuss("audit", "--anchor", head).code == 0
    assert percuss("audit", "--anchor", head[:16].upper()).code == 0
    for path in sorted((folder / "ledger" / "streams" / "main").glob("*.parquet"))[-2:]:
        path.unlink()
    assert percuss("audit").code == 0, "a cut cannot be seen from the ledger alone"
    said = percuss("audit", "--anchor", head)
    assert said.code == 1
    assert "cut short or rewritten" in said.out


def test_replay_writes_tables(percuss, campaign, folder) -> None:
    assert percuss("replay", "--to", "a/b").code == 0
    tables = {p.stem: pl.read_parquet(p) for p in (folder / "a" / "b").glob("*.parquet")}
    assert {"studies", "designs", "runs", "superseded", f"runs-{campaign['design']}"} == set(tables)
    assert tables[f"runs-{campaign['design']}"].columns == ["case", "sample", "x1", "x2", "x3", "failed", "y"]
    assert tables["runs"].height == 70


def test_export(percuss, campaign, folder) -> None:
    out = percuss("export", "csv", campaign["design"]).out
    assert out.splitlines()[0] == "sample,x1,x2,x3,unit:x1,unit:x2,unit:x3"
    said = percuss("export", "parquet", campaign["id"], "--to", "runs.parquet", "--json")
    assert json.loads(said.out)["rows"] == 70
    # Every digit: what is read back from CSV is what is in the Parquet file, bit for bit.
    percuss("export", "csv", campaign["id"], "--to", "runs.csv")
    assert pl.read_csv("runs.csv")["y"].to_list() == pl.read_parquet("runs.parquet")["y"].to_list()
    for form in ("csv", "parquet"):
        percuss("export", form, campaign["id"], "--to", "/dev/full").refused(2, "/dev/full", "No space left")


def test_json_knows_no_nan(ledger, percuss, folder) -> None:
    table = ledger.put_table("curves", pl.DataFrame({"a": [1.0, float("nan"), float("inf")]}))
    ledger.append([study_draft([table])])
    shown = json.loads(percuss("show", "@last", "--rows", 3, "--json").out, parse_constant=lambda word: 1 / 0)
    assert shown["tables"]["curves"] == [{"a": 1.0}, {"a": None}, {"a": None}]


def test_simulate(percuss, folder) -> None:
    said = percuss(
        "simulate", "ishigami", "--set", "x1=1", "--set", "x2=0", "--set", "x3=0", "--json", "--csv", "y.csv"
    )
    facts = json.loads(said.out)
    assert facts["outputs"]["y"] == pytest.approx(0.8414709848078965, abs=1e-15)
    assert pl.read_csv("y.csv")["y"].to_list() == [facts["outputs"]["y"]]
    percuss("simulate", "ishigami", "--csv", "no-such-folder/y.csv").refused(2, "no-such-folder")
    assert len(_log(percuss)) == 3, "a file that cannot be written is found before anything is appended"
