"""The same design and runs give the same content digests, however they were run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from percuss import maker
from percuss.calibration import problem
from percuss.maker import software

POINTS = 64 * 3 + 10

NOISY = """
[study]
title = "Linear model with noise from the run's seed"
source = "closed form"

[model]
kind = "benchmark"
function = "linear-gaussian"
inputs = ["u", "v"]
outputs = ["p", "q"]
matrix = [[1.0, 2.0], [3.0, -1.0]]
noise = 0.1
{settings}

[parameters.u]
prior = {{ kind = "normal", mean = 0, std = 1 }}
[parameters.v]
prior = {{ kind = "normal", mean = 0, std = 1 }}

[cases.plain]
[cases.other]
"""


@pytest.fixture
def campaign(percuss, make_study):
    """Design and run the noisy study in a ledger of some name: its digests."""
    make_study("noisy", text=NOISY, settings="fail_above = { u = 1.5 }")

    def run(ledger: str, *options: object) -> dict[str, object]:
        design = json.loads(
            percuss("design", "noisy", "--n", POINTS, "--skip", 1, "--seed", 5, "--ledger", ledger, "--json").out
        )
        done = json.loads(percuss("run", design["id"], "--ledger", ledger, "--json", *options).out)
        assert done["done"] == 2 * POINTS
        assert done["failed"] > 0
        return {"design": design["digest"], "content": done["content"], "payloads": payloads(percuss, ledger)}

    return run


def payloads(percuss, ledger: str) -> list[tuple[str, str, str]]:
    """Digest of every table of every batch, by case and first sample."""
    found = []
    for event in json.loads(percuss("log", "--kind", "runs", "--limit", 0, "--ledger", ledger, "--json").out):
        shown = json.loads(percuss("show", event["id"], "--ledger", ledger, "--json").out)
        found += [
            (event["kind"], shown["body"]["case"], str(shown["body"]["samples"]), b["digest"]) for b in shown["blobs"]
        ]
        if event["kind"] == "runs.failed":
            found.append((event["kind"], shown["body"]["case"], json.dumps(shown["body"])))
    return sorted(found)


def test_one_job_two_jobs_and_a_second_ledger(campaign) -> None:
    first = campaign("one", "--jobs", 1)
    assert first["payloads"]
    assert campaign("two", "--jobs", 2) == first
    assert campaign("three", "--jobs", 7) == first


def test_another_seed_gives_other_digests(percuss, campaign) -> None:
    first = campaign("one")
    design = percuss("design", "noisy", "--n", POINTS, "--skip", 1, "--seed", 6, "--ledger", "two").id
    other = json.loads(percuss("run", design, "--ledger", "two", "--json").out)
    assert other["content"] != first["content"]


def test_after_the_cache_is_deleted(percuss, campaign, folder, monkeypatch) -> None:
    from percuss.ledger import streams

    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 0)
    campaign("one")
    log = percuss("log", "--limit", 0, "--json", "--ledger", "one").out
    tables = percuss("replay", "--json", "--ledger", "one").out
    assert percuss("log", "--limit", 0, "--json", "--ledger", "one").out == log
    assert list((folder / "one" / "cache").rglob("*.parquet"))
    shutil.rmtree(folder / "one" / "cache")
    assert percuss("log", "--limit", 0, "--json", "--ledger", "one").out == log
    assert percuss("replay", "--json", "--ledger", "one").out == tables


def test_shards_and_adoption(percuss, campaign) -> None:
    first = campaign("one")
    design = percuss("design", "noisy", "--n", POINTS, "--skip", 1, "--seed", 5, "--ledger", "two").id
    for part in ("3/3", "1/3", "2/3"):
        assert percuss("run", design, "--shard", part, "--accept", "runs", "--ledger", "two").id
    assert percuss("adopt", "--ledger", "two").code == 0
    closed = json.loads(percuss("run", design, "--ledger", "two", "--json").out)
    assert closed["done"] == 0
    assert closed["content"] == first["content"]
    assert payloads(percuss, "two") == first["payloads"]
    assert percuss("audit", "--rerun", 20, "--ledger", "two").code == 0


def test_shards_on_copies_of_the_ledger(percuss, campaign, folder) -> None:
    first = campaign("one")
    design = percuss("design", "noisy", "--n", POINTS, "--skip", 1, "--seed", 5, "--ledger", "two").id
    for k in (1, 2):
        shutil.copytree(folder / "two", folder / f"copy{k}")
        assert percuss("run", design, "--shard", f"{k}/2", "--accept", "runs", "--ledger", f"copy{k}").id
    for k in (1, 2):
        assert percuss("adopt", "--from", f"copy{k}", "--ledger", "two").code == 0
    closed = json.loads(percuss("run", design, "--ledger", "two", "--json").out)
    assert (closed["done"], closed["content"]) == (0, first["content"])
    assert percuss("audit", "--ledger", "two").code == 0


def test_interruption_and_resumption(percuss, campaign, monkeypatch, folder) -> None:
    """Ctrl-C after the first flush, again and again, until all is in."""
    from percuss.cli import output

    first = campaign("one")
    (folder / "percuss.toml").write_text("flush_s = 0\n")
    design = percuss("design", "noisy", "--n", POINTS, "--skip", 1, "--seed", 5, "--ledger", "two").id
    kept = []
    with monkeypatch.context() as patch:
        patch.setattr(output, "progress", _interrupting)
        patch.setattr("percuss.execution.campaign.IN_HAND", 2)
        for _ in range(30):
            said = percuss("run", design, "--jobs", 1, "--accept", "runs", "--ledger", "two", "--json")
            if said.code == 0:
                break
            assert said.code == 130
            kept.append(said.err)
    closed = json.loads(said.out)
    assert len(kept) > 2
    assert closed["content"] == first["content"]
    assert payloads(percuss, "two") == first["payloads"]


@contextmanager
def _interrupting(what: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Stands for the progress bar: Ctrl-C at its first advance."""
    told: list[int] = []

    def advance(count: int, note: str) -> None:
        told.append(count)
        if len(told) == 1:
            raise KeyboardInterrupt

    yield advance


def test_draws_of_another_build_come_out_within(percuss, folder, linear, monkeypatch) -> None:
    """A build that sums otherwise: the data of its likelihood are off by rounding, and so are all of its draws."""
    other = replace(software(), core="another build")
    make_groups = problem.make_groups

    def off_by_rounding(*args: object) -> object:
        grouped = make_groups(*args)  # type: ignore[arg-type]
        return replace(
            grouped, groups=[replace(group, observed=group.observed * (1 + 1e-13)) for group in grouped.groups]
        )

    with monkeypatch.context() as patch:
        patch.setattr(maker, "software", lambda: other)
        patch.setattr(problem, "make_groups", off_by_rounding)
        posterior = percuss("calibrate", linear, "--evaluations", 200000).id
    said = json.loads(percuss("audit", "--rerun", 3, "--json").out)
    verdicts = {item["event"]: item for item in said["drawn"]}
    assert said["holds"] and said["tiers"]["repeated"]
    assert verdicts[posterior]["verdict"] == "within", verdicts[posterior]
    assert "made by another build, compared within" in verdicts[posterior]["sentence"]

    # The same draws by this very build are none of its own.
    with monkeypatch.context() as patch:
        patch.setattr(problem, "make_groups", off_by_rounding)
        posterior = percuss("calibrate", linear, "--evaluations", 200000).id
    again = percuss("reproduce", posterior, "--json", "--runs", 1)
    assert again.code == 1
    assert [e["verdict"] for e in json.loads(again.out)["events"] if e["id"] == posterior] == ["differs"]
