"""Faults of the writing process: killed at any moment, interrupted, in a crowd. Nothing that was reported is lost."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

APPENDER = Path(__file__).parent / "appender.py"


def _append(*args: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(APPENDER), *(str(a) for a in args)], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.split()


def test_two_hundred_kills(percuss, folder, ledger) -> None:
    from percuss.ledger.audit import stray_files
    from percuss.ledger.event import Draft

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
    for path in stray_files(ledger.place, walk):
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


def _runs(percuss) -> list[tuple[str, int]]:
    events = json.loads(percuss("log", "--kind", "runs", "--limit", 0, "--json").out)
    found = []
    for event in events:
        body = json.loads(percuss("show", event["id"], "--json").out)["body"]
        found += [(body["case"], sample) for sample in body["samples"]]
    return found


def _wait_for_runs(percuss, at_least: int) -> None:
    give_up = time.monotonic() + 60
    while len(_runs(percuss)) < at_least:
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_interrupt_keeps_what_finished_and_the_rest_is_run_again(percuss, make_study, folder, spawn) -> None:
    design = _slow_design(percuss, make_study, 64 * 8, "5 ms")
    (folder / "percuss.toml").write_text("flush_s = 0.1\n")
    process = spawn("run", design, "--jobs", 2)
    _wait_for_runs(percuss, 64)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    kept = _runs(percuss)
    assert f"interrupted: {len(kept)} runs kept, {512 - len(kept)} left" in err
    assert 64 <= len(kept) < 512
    assert len(set(kept)) == len(kept)

    again = json.loads(percuss("run", design, "--json").out)
    assert again["done"] == 512 - len(kept)
    assert again["completed"] == 512
    assert len(_runs(percuss)) == 512
    assert percuss("audit").code == 0


def test_interrupt_of_a_batch_that_does_not_end(percuss, make_study, folder, spawn) -> None:
    """Two batches: the one of 64 runs would take 19 seconds, the one of a single run is done at once."""
    design = _slow_design(percuss, make_study, 65, "0.3 s")
    process = spawn("run", design, "--jobs", 2)
    _wait_for_runs(percuss, 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    # Five seconds of grace, not the nineteen the batch would take: then nothing would be left.
    assert "1 runs kept, 64 left" in err


def test_killed_run_is_resumed(percuss, make_study, folder, spawn) -> None:
    make_study("slow", 'delay = "2 ms"')
    (folder / "percuss.toml").write_text("flush_s = 0.05\n")
    design = percuss("design", "slow", "--n", 64 * 8).id
    chance = random.Random(7)
    kills = 0
    for _ in range(3):
        before = len(_runs(percuss))
        process = spawn("run", design, "--jobs", 2)
        _wait_for_runs(percuss, min(before + 1, 512))
        time.sleep(chance.uniform(0, 0.2))
        if process.poll() is None:
            process.kill()
            kills += 1
        process.communicate(timeout=60)
        assert percuss("audit", "--rerun", 1).code == 0
    assert kills
    kept = len(_runs(percuss))
    again = json.loads(percuss("run", design, "--json").out)
    assert again["done"] == 512 - kept
    assert again["completed"] == 512
    clean = json.loads(
        percuss("run", percuss("design", "slow", "--n", 512, "--ledger", "other").id, "--ledger", "other", "--json").out
    )
    assert clean["content"] == again["content"]


def test_two_runs_of_one_design_at_once(percuss, make_study, folder, spawn) -> None:
    design = _slow_design(percuss, make_study, 64 * 6, "2 ms")
    (folder / "percuss.toml").write_text("flush_s = 0.05\n")
    both = [spawn("run", design, "--jobs", 1, "--json") for _ in range(2)]
    said = [json.loads(process.communicate(timeout=100)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert {s["completed"] for s in said} == {384}
    assert said[0]["content"] == said[1]["content"]
    audit = percuss("audit", "--rerun", 2, "--json")
    assert audit.code == 0, audit.out
    exported = percuss("export", "csv", "@last:campaign").out.splitlines()
    assert len(exported) == 385
