"""The audit: how often it reads, folds and builds, and what it says of what it computed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from percuss.kinds.kind import Kind
from percuss.kinds.runs_completed import RunsCompleted
from percuss.kinds.table import KINDS
from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker
from percuss.session import Session
from percuss.study.study import Study
from percuss.work import repeat
from percuss.work.audit import audit
from percuss.work.design import Request, create_design, plan_design
from percuss.work.import_runs import import_runs
from percuss.work.repetition import Repetition
from percuss.work.run import run_design


@pytest.fixture
def ran(session: Session, impact: Study) -> Session:
    """A session whose ledger has two campaigns of one study."""
    for seed in (0, 1):
        planned = plan_design(impact, Request(n=6, seed=seed))
        run_design(session, create_design(session, planned).stored)
    return session


def test_it_reads_the_ledger_once_and_builds_each_study_once(
    ran: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: three folds, three reads of the events and eight rebuilds of studies.

    Counted is all that goes through `visible_frame`, `read_stream`, `fold` and `Study.from_resolved`. Not counted is
    the walk along the chain, which opens the original files by itself on purpose, and what the cache is held against.
    """
    counts: Counter[str] = Counter()

    def count(place: str, name: str, what: Callable[..., Any]) -> None:
        def counted(*args: Any, **more: Any) -> Any:
            counts[name] += 1
            return what(*args, **more)

        monkeypatch.setattr(place, counted)

    from percuss.ledger import ledger, projections, streams

    count("percuss.ledger.ledger.visible_frame", "reads", ledger.visible_frame)
    count("percuss.ledger.audit.read_stream", "reads", streams.read_stream)
    count("percuss.session.fold", "folds", projections.fold)
    count("percuss.study.study.Study.from_resolved", "studies", Study.from_resolved)
    done = audit(Session(Ledger.open(tmp_path / "ledger", this_maker([]))), rerun=5)
    assert done.holds
    assert counts == {"reads": 1, "folds": 1, "studies": 1}


def test_a_run_that_comes_out_otherwise_is_a_fault(ran: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Study.evaluate
    monkeypatch.setattr(Study, "evaluate", lambda *given: {k: 1.001 * v for k, v in real(*given).items()})
    done = audit(ran, rerun=2)
    assert not done.holds
    assert len(done.proofs[-1].faults) == 2 and " was " in done.proofs[-1].faults[0]
    assert "sample" in done.proofs[-1].faults[0]


def test_all_runs_are_made_again_if_so_many_are_asked_for(ran: Session) -> None:
    proof = audit(ran, rerun=100).proofs[-1]
    assert (proof.holds, proof.checked, proof.note) == (True, 26, "2 of 2 designs; 24 of 24 runs")
    assert audit(ran, rerun=0).proofs[-1].note == "0 of 2 designs; 0 of 24 runs"


def test_runs_of_another_build_are_held_to_a_tolerance(ran: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "core", "another build")
    assert audit(ran, rerun=3).repeated.verdicts == {"same": 5}
    real = Study.evaluate
    monkeypatch.setattr(Study, "evaluate", lambda *given: {k: (1 + 1e-12) * v for k, v in real(*given).items()})
    assert "3 made by another build, compared within 1e-09" in audit(ran, rerun=3).proofs[-1].note
    monkeypatch.setattr(Study, "evaluate", lambda *given: {k: (1 + 1e-8) * v for k, v in real(*given).items()})
    assert len(audit(ran, rerun=3).proofs[-1].faults) == 3


def test_what_cannot_be_made_again_is_neither_proof_nor_fault(
    ran: Session, impact: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"speed": [2.0], "gap": [300.0]} | {name: [1.0] for name in impact.outputs}
    pl.DataFrame(columns).write_csv(tmp_path / "runs.csv")
    import_runs(ran, impact, "near", tmp_path / "runs.csv", {})
    proof = audit(ran, rerun=1000).proofs[-1]
    assert proof.holds
    assert proof.note == (
        "2 of 3 designs; 1 designs of points that were not chosen by a sampler (imported); "
        "24 of 24 runs; 1 imported tables cannot be run again"
    )
    monkeypatch.setattr(repeat, "repeat_run", lambda *_: Repetition("cannot", 0, "need a plugin that is not here"))
    proof = audit(ran, rerun=3).proofs[-1]
    assert (proof.holds, proof.checked) == (True, 2)
    assert "0 of 24 runs; 24 need a plugin that is not here" in proof.note


def test_a_kind_that_says_how_is_made_again(ran: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind is made again by what its line in the table names: nothing else knows of it."""
    monkeypatch.setattr(repeat, "repeat_wrongly", lambda *_: Repetition("differs", 1, "was 1, is 2"), raising=False)
    wrong = Kind("runs.completed", RunsCompleted, "runs", repeat="percuss.work.repeat:repeat_wrongly")
    monkeypatch.setitem(KINDS, "runs.completed", wrong)
    proof = audit(ran, rerun=1).proofs[-1]
    assert len(proof.faults) == 1 and proof.faults[0].endswith(": was 1, is 2")
