"""Faults of the writing process: killed at any moment, interrupted, in a crowd. Nothing that was reported is lost."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from percuss.ledger.ledger import Ledger

APPENDER = Path(__file__).parent / "appender.py"


def _append(*args: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(APPENDER), *(str(a) for a in args)], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.split()


def test_two_hundred_kills(percuss, folder, ledger) -> None:
    from percuss.ledger.event import Draft
    from percuss.ledger.leftovers import stray_files

    told = _append("kill", ledger.place.root, 200, 20)
    assert len(told) > 100, "the kills came too early to show anything"
    said = percuss("audit", "--json")
    assert said.code == 0, said.out
    kept = [event.id for event in ledger.events()]
    assert set(told) <= set(kept)
    # A kill between the link and the telling leaves an event more than was told, never one less; one a kill at most.
    assert len(kept) - len(told) <= 200
    last = ledger.append([Draft("note.added", {"text": "after"})])[0]
    assert last.seq == len(kept) + 1

    from percuss.ledger.audit import prove_chain

    walk = prove_chain(ledger.place)
    assert walk.proof.holds
    for path in stray_files(ledger.place, walk.streams):
        assert path.name.startswith(".tmp-") or path.parts[-3] == "blobs", path


def test_eight_writers_fifty_appends_each(percuss, folder) -> None:
    """The eight also start the ledger, all at once."""
    from percuss.ledger.ledger import Ledger

    told = _append("race", folder / "ledger", 8, 50)
    assert len(set(told)) == 400
    events = Ledger.open(folder / "ledger").events()
    assert sorted(event.id for event in events) == sorted(told)
    assert [event.seq for event in events] == list(range(1, 401))
    assert percuss("audit").code == 0


def test_readers_sealers_and_writers_at_once(percuss, folder) -> None:
    """Nobody locks, nobody sees half of anything: readers and auditors find whole chains all the time."""
    told = _append("mixed", folder / "ledger", 3, 40)
    assert len(told) == 120
    events = json.loads(percuss("log", "--limit", 0, "--json").out)
    assert set(told) <= {event["id"] for event in events}
    assert sum(event["kind"] == "stream.sealed" for event in events) > 0
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    audit = percuss("audit")
    assert audit.code == 0, audit.out


def _slow_design(percuss, make_study, points: int, delay: str) -> str:
    make_study("slow", f'delay = "{delay}"')
    return percuss("design", "slow", "--n", points).id


def _runs(folder: Path) -> list[tuple[str, int]]:
    runs = [event.data for event in Ledger.open(folder / "ledger").events() if event.kind.startswith("runs.")]
    return [(body["case"], sample) for body in runs for sample in body["samples"]]


def _wait_for_runs(folder: Path, at_least: int) -> None:
    give_up = time.monotonic() + 60
    while len(_runs(folder)) < at_least:
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_interrupt_keeps_what_finished_and_the_rest_is_run_again(percuss, make_study, folder, spawn) -> None:
    design = _slow_design(percuss, make_study, 64 * 8, "5 ms")
    (folder / "percuss.toml").write_text("flush_s = 0.1\n")
    process = spawn("run", design, "--jobs", 2)
    _wait_for_runs(folder, 64)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    kept = _runs(folder)
    assert f"interrupted: {len(kept)} runs kept, {512 - len(kept)} left" in err
    assert 64 <= len(kept) < 512
    assert len(set(kept)) == len(kept)

    again = json.loads(percuss("run", design, "--json").out)
    assert again["done"] == 512 - len(kept)
    assert again["completed"] == 512
    assert len(_runs(folder)) == 512
    assert percuss("audit").code == 0


def test_interrupt_keeps_what_finished_within_a_batch(percuss, make_study, folder, spawn) -> None:
    """One batch of 64 runs that would take 6 seconds, and one of a single run, which is in the ledger first."""
    design = _slow_design(percuss, make_study, 65, "0.1 s")
    (folder / "percuss.toml").write_text("flush_s = 0.05\n")
    process = spawn("run", design, "--jobs", 2)
    _wait_for_runs(folder, 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    kept = _runs(folder)
    assert f"interrupted: {len(kept)} runs kept, {65 - len(kept)} left" in err
    # The long batch was begun with the other: at least the slice that was under way is kept, and not all of it was.
    assert 1 < len(kept) < 65
    assert len(set(kept)) == len(kept)
    make_study("slow")
    again = percuss("design", "slow", "--n", 65, "--ledger", "quick").id
    quick = json.loads(percuss("run", again, "--ledger", "quick", "--json").out)
    rest = json.loads(percuss("run", design, "--jobs", 8, "--json").out)
    assert rest["done"] == 65 - len(kept)
    assert rest["content"] == quick["content"]
    assert len(_runs(folder)) == 65
    assert percuss("audit", "--rerun", 2).code == 0


def test_a_slow_batch_is_appended_in_parts(percuss, make_study, monkeypatch, folder) -> None:
    """What is in the ledger already is not lost with the process, and the campaign is the same in the end."""
    from percuss.execution import batch, campaign

    make_study("slow", 'delay = "10 ms"')
    (folder / "percuss.toml").write_text("flush_s = 0\n")
    whole = json.loads(percuss("run", percuss("design", "slow", "--n", 16).id, "--json").out)
    assert len(json.loads(percuss("log", "--kind", "runs", "--json").out)) == 1
    monkeypatch.setattr(batch, "SLICE_S", 0.03)
    other = percuss("design", "slow", "--n", 16, "--ledger", "sliced").id
    sliced = json.loads(percuss("run", other, "--ledger", "sliced", "--json").out)
    assert len(json.loads(percuss("log", "--kind", "runs", "--ledger", "sliced", "--json").out)) == 1
    monkeypatch.setattr(campaign, "PARTS_S", 0.0)
    other = percuss("design", "slow", "--n", 16, "--ledger", "parts").id
    parts = json.loads(percuss("run", other, "--ledger", "parts", "--json").out)
    assert len(json.loads(percuss("log", "--kind", "runs", "--ledger", "parts", "--json").out)) > 1
    assert whole["content"] == sliced["content"] == parts["content"]
    assert percuss("audit", "--rerun", 16, "--ledger", "parts").code == 0


def test_killed_run_is_resumed(percuss, make_study, folder, spawn) -> None:
    make_study("slow", 'delay = "2 ms"')
    (folder / "percuss.toml").write_text("flush_s = 0.05\n")
    design = percuss("design", "slow", "--n", 64 * 8).id
    chance = random.Random(7)
    kills = 0
    for _ in range(3):
        before = len(_runs(folder))
        process = spawn("run", design, "--jobs", 2)
        _wait_for_runs(folder, min(before + 1, 512))
        time.sleep(chance.uniform(0, 0.2))
        if process.poll() is None:
            process.kill()
            kills += 1
        process.communicate(timeout=60)
        assert percuss("audit", "--rerun", 1).code == 0
    assert kills
    kept = len(_runs(folder))
    again = json.loads(percuss("run", design, "--json").out)
    assert again["done"] == 512 - kept
    assert again["completed"] == 512
    clean = json.loads(
        percuss("run", percuss("design", "slow", "--n", 512, "--ledger", "other").id, "--ledger", "other", "--json").out
    )
    assert clean["content"] == again["content"]


def test_two_runs_of_one_design_at_once_share_it(percuss, make_study, folder, spawn) -> None:
    make_study("slow", 'delay = "2 ms"\nbatch = 16')
    design = percuss("design", "slow", "--n", 64 * 12).id
    (folder / "percuss.toml").write_text("flush_s = 0.05\n")
    both = [spawn("run", design, "--jobs", 1, "--json") for _ in range(2)]
    said = [json.loads(process.communicate(timeout=100)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(s["done"] for s in said) == 768
    assert sorted(_runs(folder)) == [("base", sample) for sample in range(768)]
    assert said[0]["id"] == said[1]["id"]
    assert len(json.loads(percuss("log", "--kind", "campaign", "--json").out)) == 1
    audit = percuss("audit", "--rerun", 2, "--json")
    assert audit.code == 0, audit.out


def test_a_run_takes_over_from_one_that_was_killed(percuss, make_study, folder, spawn) -> None:
    """What the killed one had claimed and not recorded is done by the other, and nothing is done twice."""
    make_study("slow", 'delay = "10 ms"\nbatch = 16')
    design = percuss("design", "slow", "--n", 16 * 12).id
    (folder / "percuss.toml").write_text("flush_s = 0.05\n")
    doomed = spawn("run", design, "--jobs", 1)
    _wait_for_runs(folder, 16)
    other = spawn("run", design, "--jobs", 1, "--json")
    _wait_for_runs(folder, 32)
    doomed.kill()
    said = json.loads(other.communicate(timeout=100)[0])
    assert said["completed"] == 192
    assert sorted(_runs(folder)) == [("base", sample) for sample in range(192)]
