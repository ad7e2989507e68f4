"""Verdicts of repetition: same bits, within a stated bound, cannot be compared here, differs; and what is drawn."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from tests.conftest import Call

from percuss.errors import InputError
from percuss.kinds.audit_made import AuditMade
from percuss.kinds.table import KINDS
from percuss.ledger import files
from percuss.ledger.audit import prove_chain, prove_payloads
from percuss.ledger.event import Draft, Event, Maker, OpenCall
from percuss.ledger.ledger import Ledger
from percuss.maker import environment, software, this_maker
from percuss.session import Session
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.work import repeat_design, repeated, repetition
from percuss.work.audit import audit, record
from percuss.work.design import Request, create_design, plan_design
from percuss.work.repetition import elsewhere, judged
from percuss.work.run import run_design

STUDIES = Path(__file__).parents[3] / "studies"
GOLDEN = Path(__file__).parents[2] / "golden" / "ledger" / "format-2.tar.xz"


def _maker(**changes: dict[str, Any]) -> Maker:
    record = {key: value | changes.get(key, {}) for key, value in environment().items()}
    data = json.dumps(record).encode()
    return replace(this_maker([], OpenCall("python", "test", [])), environment=lambda: data)


def _session(root: Path, maker: Maker) -> Session:
    return Session(Ledger.open(root, maker, create=True))


def _note(session: Session) -> Event:
    return session.append([Draft("note.added", {"text": "x"})])[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"os": {"release": "other kernel"}, "python": {"version": "9"}}, ""),
        ({"cpu": {"numpy": ["X86_V9"]}}, "CPU level of numpy (X86_V9, here"),
        ({"blas": {"core": "Katmai"}}, "BLAS"),
        ({"packages": {"numpy": "0.1"}}, "another numpy (0.1, here"),
        ({"os": {"libc": "musl"}}, "C library"),
    ],
)
def test_what_bits_hang_on_is_named(tmp_path: Path, changes: Any, words: str) -> None:
    session = _session(tmp_path / "ledger", _maker(**changes))
    makings = elsewhere(session, _note(session))
    assert bool(makings) == bool(words)
    assert words in makings.words


def test_a_long_claim_does_not_drown_what_is_found(tmp_path: Path) -> None:
    session = _session(tmp_path / "ledger", _maker(packages={"numpy": "9" * 100_000}))
    (words,) = elsewhere(session, _note(session)).environment
    assert words.startswith("another numpy (9999") and len(words) < 200


def test_a_record_as_large_as_a_disk_is_not_read(tmp_path: Path) -> None:
    """A file full of holes takes no space, and would take all memory."""
    session = _session(tmp_path / "ledger", _maker(packages={"numpy": "9" * (1 << 20)}))
    event = _note(session)
    (words,) = elsewhere(session, event).environment
    assert words.startswith("an environment that cannot be read") and "at most 1048576 are read" in words
    faults = prove_payloads(session.ledger.place, prove_chain(session.ledger.place)).faults
    assert len(faults) == 1 and "at most 1048576 are read" in faults[0]


def test_verdicts(tmp_path: Path) -> None:
    here = _session(tmp_path / "here", _maker())
    other = _session(tmp_path / "other", _maker(cpu={"numpy": ["X86_V9"]}))
    unknown = _session(tmp_path / "unknown", replace(_maker(), call=None, environment=None))
    built = replace(_maker(), software=replace(software(), core="another"))
    build = _session(tmp_path / "build", built)
    events = {session: _note(session) for session in (here, other, unknown, build)}
    here_core = software().core
    cases = [
        (here, True, None, "same"),
        (other, True, None, "same"),
        (here, False, None, "differs"),
        (other, False, None, "within"),
        (other, False, "far", "cannot"),
        (unknown, False, None, "within"),
        (unknown, False, "far", "cannot"),
    ]
    for session, same, outside, verdict in cases:
        again = judged(session, events[session], "what", same=same, near=lambda outside=outside: (outside, "1e-6"))
        assert again.verdict == verdict
        assert again.checked == (verdict != "cannot")
    build.ledger._maker = replace(built, software=replace(software(), core=here_core))  # read by this build
    assert judged(build, events[build], "what", same=False, near=lambda: (None, "b")).verdict == "within"
    assert judged(build, events[build], "what", same=False, near=lambda: ("far", "b")).verdict == "differs"


@pytest.fixture
def ran(tmp_path: Path) -> Session:
    """A session with a campaign, made with another CPU level of numpy."""
    session = _session(tmp_path / "ledger", _maker(cpu={"numpy": ["X86_V9"]}))
    design = create_design(session, plan_design(load_study(STUDIES / "ishigami"), Request(n=12, skip=1)))
    run_design(session, design.stored)
    return session


def test_an_intact_ledger_of_another_cpu_level_is_never_broken(ran: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Study.evaluate
    for factor, verdict in ((1.0, "same"), (1 + 1e-13, "within"), (None, "cannot")):

        def evaluate(*args: Any, by: float | None = factor) -> dict[str, float]:
            # Without a factor it goes another way from the last bit, as an impact or a search may.
            return {k: (1 + 0.01 * (hash(v) % 97) if by is None else by) * v for k, v in real(*args).items()}

        monkeypatch.setattr(Study, "evaluate", evaluate)
        result = audit(ran, rerun=12)
        assert result.holds
        assert result.repeated
        assert result.repeated.verdicts[verdict] >= 10  # some of them are zero
        reached = {tier.name: tier.reached for tier in result.tiers}
        assert reached["repeated"] == (verdict != "cannot")
    assert "X86_V9" in result.proofs[-1].note
    assert result.repeated.by_claim == result.repeated.verdicts["cannot"]
    assert "only the environment they claim excuses them" in result.tiers[-1].sentence


def test_claiming_another_environment_does_not_hide_what_rounding_cannot_explain(
    ran: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forger wrote outputs that are 0.1 % off, and that numpy was another one."""
    real = Study.evaluate
    monkeypatch.setattr(Study, "evaluate", lambda *args: {k: 1.001 * v for k, v in real(*args).items()})
    result = audit(ran, rerun=12)
    assert not result.holds
    assert result.repeated and result.repeated.verdicts["differs"] >= 10
    assert "which no rounding explains (made with another CPU level" in result.proofs[-1].faults[0]


@pytest.mark.parametrize(("claim", "verdict"), [("cpu", "differs"), ("packages", "cannot")])
def test_made_up_points_of_another_environment(tmp_path: Path, claim: str, verdict: str) -> None:
    """Only another numpy or scipy could have drawn other points; whoever doubts that can install the one it names."""
    changes = {"cpu": {"numpy": ["X86_V9"]}, "packages": {"numpy": "0.1"}}[claim]
    session = _session(tmp_path / "ledger", _maker(**{claim: changes}))
    design = create_design(session, plan_design(load_study(STUDIES / "ishigami"), Request(n=12, skip=1))).stored
    table = session.table(design, "design")
    blob = session.ledger.put_table("design", table.with_columns(x1=table["x1"] * 1.01))
    forged = Draft(design.kind, design.data, design.study, _inputs(session, design), [blob], design.seed)
    again = KINDS["design.created"].repeater()(session, session.append([forged])[0], 0)  # type: ignore[misc]
    assert (again.verdict, again.by_claim) == (verdict, verdict == "cannot")


@pytest.mark.parametrize(
    ("sampler", "options"),
    [("sobol", {"scramble": True}), ("sobol", {}), ("halton", {}), ("monte-carlo", {}), ("latin-hypercube", {})],
)
def test_long_designs_are_repeated_some_points_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sampler: str, options: dict[str, object]
) -> None:
    session = _session(tmp_path / "ledger", _maker())
    skip = 1 if sampler in ("sobol", "halton") else 0
    asked = Request(sampler=sampler, n=43, skip=skip, options=options)
    design = create_design(session, plan_design(load_study(STUDIES / "ishigami"), asked)).stored
    made: list[int] = []
    real = repeat_design.make_design
    monkeypatch.setattr(repeat_design, "make_design", lambda *args: made.append(args[2]) or real(*args))
    repeat = KINDS["design.created"].repeater()
    assert repeat
    assert repeat(session, design, 0).verdict == "same"
    assert made == [43]
    made.clear()
    monkeypatch.setattr(repeat_design, "POINTS_AT_ONCE", 10)
    assert repeat(session, design, 0).verdict == "same"
    assert made == ([43] if sampler == "latin-hypercube" else [10, 10, 10, 10, 3])
    # Any point that is another, and one more or less, differs; and it is the whole that is held against it.
    table = session.table(design, "design")
    last = table["sample"] == 42
    one_off = table.with_columns(pl.when(last).then(table["x1"] * (1 + 1e-15)).otherwise(table["x1"]).alias("x1"))
    for forged, count in (
        (one_off, 43),
        (table.head(42), 43),
        (table.head(42), 42),
        (pl.concat([table, table[:1]]), 43),
    ):
        blob = session.ledger.put_table("design", forged)
        body = design.data | {"n": count}
        draft = Draft(design.kind, body, design.study, _inputs(session, design), [blob], design.seed)
        again = repeat(session, session.append([draft])[0], 0)
        honest = (len(forged), count) == (42, 42) and sampler != "latin-hypercube"
        assert again.verdict == ("same" if honest else "differs")


def _inputs(session: Session, event: Event) -> list[tuple[str, Event]]:
    return [(item.role, session.state.events[item.id]) for item in event.inputs]


def test_forged_checks_and_states_of_rest_differ(tmp_path: Path) -> None:
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(tmp_path, filter="data")
    session = Session(Ledger.open(tmp_path / "ledger", _maker()))
    check, rest = session.event("@last:check"), session.event("@last:scene")
    moved = [item | {"found": 1.5, "holds": True} for item in check.data["values"]]
    forged = [
        # What came out, whether it held, how many did, that a value moved.
        check.data | {"values": moved},
        check.data | {"values": [item | {"holds": not item["holds"]} for item in check.data["values"]]},
        check.data | {"moved": check.data["moved"] + 1},
    ]
    for body in forged:
        event = session.append([Draft(check.kind, body, check.study, _inputs(session, check), seed=0)])[0]
        assert KINDS[check.kind].repeater()(session, event, 0).verdict == "differs"  # type: ignore[misc]
    other = "check.passed" if check.kind == "check.failed" else "check.failed"
    event = session.append([Draft(other, check.data, check.study, _inputs(session, check), seed=0)])[0]
    assert KINDS[other].repeater()(session, event, 0).verdict == "differs"  # type: ignore[misc]
    state = bytearray(session.ledger.files(rest)["state"])
    state[-3] ^= 1
    for body, data in ((rest.data, bytes(state)), (rest.data | {"steps": 1}, session.ledger.files(rest)["state"])):
        blob = session.ledger.put_file("state", data)
        event = session.append([Draft(rest.kind, body, rest.study, _inputs(session, rest), [blob])])[0]
        assert KINDS[rest.kind].repeater()(session, event, 0).verdict == "differs"  # type: ignore[misc]


def test_a_record_of_the_draw(ran: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    done = audit(ran, rerun=2, beacon="pulse 1")
    before = len(ran.state.events)
    event = record(ran, done, 2)
    body = AuditMade.of(event)
    assert (body.beacon, body.head, body.events, body.holds) == ("pulse 1", done.head, before, True)
    assert [item.verdict for item in body.drawn] == ["same"] * 3
    assert {item.event for item in body.drawn} == {item.id for item in event.inputs_as("drawn")}
    # It is about what it names, not made from it; and the ledger holds with it.
    assert audit(ran, rerun=0).holds
    again = audit(ran, rerun=2, beacon=body.beacon)
    assert again.repeated and tuple(again.repeated.drawn) == body.drawn


def test_a_ledger_that_cannot_be_written_to_is_audited(percuss: Call, folder: Path, monkeypatch: Any) -> None:
    percuss("run", percuss("design", "ishigami", "--n", 4).id)

    class ReadOnly(files.System):
        def open(self, path: Path, flags: int) -> int:
            if flags & os.O_CREAT:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
            return super().open(path, flags)

    with monkeypatch.context() as patch:
        patch.setattr(files, "system", ReadOnly())
        said = percuss("audit", "--record", "--json")
    assert said.code == 0 and "is not recorded" in said.err and "Read-only" in said.err
    assert json.loads(said.out)["recorded"] is None and len(json.loads(said.out)["drawn"]) == 4
    said = percuss("audit", "--record", "--json")
    assert percuss("show", json.loads(said.out)["recorded"]).code == 0


def test_the_draw_is_another_each_time_and_can_be_given(ran: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(
        "percuss.work.repeat.repeat_run",
        lambda session, event, part: drawn.append(part) or repetition.Repetition("same", 1),
    )

    def draw(beacon: str | None = None) -> tuple[int, ...]:
        drawn.clear()
        result = audit(ran, rerun=3, beacon=beacon)
        assert result.repeated
        assert beacon in (None, result.repeated.beacon)
        return tuple(drawn)

    assert len({draw() for _ in range(8)}) > 1
    assert draw("pulse 1") == draw("pulse 1") != draw("pulse 2")
    assert len(set(draw("pulse 1"))) == 3
    counts = Counter(part for number in range(60) for part in draw(f"pulse {number}"))
    assert set(counts) == set(range(12))  # any of them may be drawn
    with pytest.raises(InputError, match="--beacon"):
        audit(ran, beacon="")


def test_runs_of_an_unknown_case_are_a_fault_and_no_crash(ran: Session) -> None:
    event = ran.event("@last:runs")
    inputs = [(item.role, ran.state.events[item.id]) for item in event.inputs]
    ran.append([Draft(event.kind, event.data | {"case": "nowhere"}, event.study, inputs, event.blobs, seed=0)])
    result = audit(ran, rerun=100)
    assert not result.holds
    assert any("nowhere" in fault for proof in result.proofs for fault in proof.faults)


def test_every_computed_kind_says_how_it_is_repeated() -> None:
    words = {"note.added", "event.superseded", "stream.adopted", "stream.sealed", "study.registered", "crate.imported"}
    words |= {"payloads.pruned", "audit.made"}
    # Every one of them is put together from its runs again by the proof of replay: none is left to a draw.
    replayed = {"campaign.completed"}
    for name, kind in KINDS.items():
        assert bool(kind.repeat) != (name in words | replayed), name
        assert not kind.repeat or callable(kind.repeater()), name


def test_every_kind_of_the_golden_ledger_comes_out(tmp_path: Path) -> None:
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(tmp_path, filter="data")
    session = Session(Ledger.open(tmp_path / "ledger"))
    cannot = ("filter.updated", "design.created")  # of a file, of points that were given
    before = sorted(path.name for path in (tmp_path / "ledger").rglob("*"))
    for name, kind in KINDS.items():
        repeat = kind.repeater()
        events = [event for event in session.state.events.values() if event.kind == name]
        for event in events[:1] if repeat and name != "validation.computed" else ():
            assert repeat is not None
            again = repeat(session, event, 0)
            # Of another environment than this one it may be that nothing can be compared.
            # A state of rest is the same to the bit or, of another build, not to be compared: there is no "within".
            makings = elsewhere(session, event)
            free = name in cannot or makings.environment or (name == "scene.settled" and makings.build)
            assert again.verdict in ("same", "within", *(["cannot"] if free else [])), (name, again)
    assert sorted(path.name for path in (tmp_path / "ledger").rglob("*")) == before


def test_with_another_cpu_level_of_numpy_it_is_not_broken(tmp_path: Path) -> None:
    """The real thing: numpy of the auditor is told to leave the instruction sets that numpy of the writer used."""
    levels = environment()["cpu"]["numpy"]
    baseline = {"X86_V2", "X86_V3"} & set(levels)
    if "X86_V3" not in baseline:
        pytest.skip("this processor has no level of numpy that could be left")
    root = tmp_path / "ledger"
    session = _session(root, _maker())
    design = create_design(session, plan_design(load_study(STUDIES / "linear-gaussian"), Request(n=16, skip=1)))
    run_design(session, design.stored)
    from percuss.surrogates.model import Settings
    from percuss.work.surrogate import fit_surrogates

    fit_surrogates(session, session.event("@last:campaign"), Settings(degrees=(1, 2), bootstrap=0))
    shutil.copytree(root, tmp_path / "copy")
    said = subprocess.run(
        [sys.executable, "-m", "percuss", "audit", "--ledger", str(tmp_path / "copy"), "--json"],
        env=os.environ | {"NPY_DISABLE_CPU_FEATURES": "X86_V3", "OPENBLAS_CORETYPE": "Nehalem"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    verdicts = json.loads(said.stdout)["verdicts"]
    assert "differs" not in verdicts
    assert verdicts["same"] >= 1


@pytest.mark.parametrize(("code", "apart"), [(True, 0.0), (False, float("inf"))])
def test_a_column_that_older_code_did_not_write_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, code: bool, apart: float
) -> None:
    """With the same code a missing column is one; and the columns that are there are compared all the same."""
    stored = pl.DataFrame({"name": ["a", "b"], "loo": [1.0, 2.0]})
    session: Any = SimpleNamespace(table=lambda event, role: stored)
    event: Any = SimpleNamespace(blob=lambda role: role, blobs=())
    monkeypatch.setattr(repeated, "elsewhere", lambda *of: repetition.Elsewhere(False, (), code))
    now = stored.with_columns(loo_pit=pl.Series([0.1, 0.9]))
    assert repeated.farthest(session, event, "data", now) == apart
    assert repeated.farthest(session, event, "data", now.with_columns(loo=pl.Series([1.0, 4.0]))) >= 0.5
    # What the event has and code no longer writes is not excused.
    assert repeated.farthest(session, event, "data", now.drop("loo")) == float("inf")
