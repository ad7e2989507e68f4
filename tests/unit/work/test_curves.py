"""Curves of campaigns: one table, whether they were kept or are made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
import pytest

from percuss.errors import AnswerIsNo, InputError
from percuss.execution import batch
from percuss.ledger.event import Event
from percuss.models.benchmark import Benchmark
from percuss.session import Session
from percuss.study.study import Study
from percuss.work.curves import curves_table
from percuss.work.design import Request, create_design, plan_design
from percuss.work.export import export_table
from percuss.work.run import run_design

Campaign = Callable[..., Event]


@pytest.fixture
def campaign(session: Session, impact: Study) -> Campaign:
    """A campaign of five points and two cases."""

    def make(*, keep_curves: bool) -> Event:
        planned = plan_design(impact, Request(n=5, skip=1, keep_curves=keep_curves))
        return run_design(session, create_design(session, planned).stored).event

    return make


def test_curves_made_again_are_those_that_would_have_been_kept(session: Session, campaign: Campaign) -> None:
    kept, bare = campaign(keep_curves=True), campaign(keep_curves=False)
    before = len(session.state.events)
    table = curves_table(session, bare)
    assert table.equals(curves_table(session, kept)), "to the bit"
    assert table.columns[:2] == ["case", "sample"] and {"t_s", "position"} <= set(table.columns)
    assert table["case"].unique(maintain_order=True).to_list() == ["near", "far"]
    assert table.height == 2 * 5 * 11
    assert (
        table.group_by("case", maintain_order=True)
        .agg(pl.col("sample").unique(maintain_order=True))["sample"]
        .to_list()
        == [[0, 1, 2, 3, 4]] * 2
    )
    assert len(session.state.events) == before, "nothing is appended"


def test_only_as_many_runs_as_are_asked_for_are_made_again(
    session: Session, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = campaign(keep_curves=False)
    ran: list[int] = []
    real = Benchmark.run

    def counted(self: Benchmark, points: Sequence[object], seeds: Sequence[int]) -> object:
        ran.append(len(points))
        return real(self, points, seeds)  # type: ignore[arg-type]

    monkeypatch.setattr(Benchmark, "run", counted)
    assert curves_table(session, bare, most=2)["sample"].unique().sort().to_list() == [0, 1]
    assert sum(ran) == 4, "two of each case"


def test_a_table_of_curves_has_units_in_its_names(session: Session, campaign: Campaign) -> None:
    bare = campaign(keep_curves=False)
    table = export_table(session, bare, "curves")
    assert table.columns[:2] == ["case", "sample"]
    assert {"t_s_s", "position_m"} <= set(table.columns)
    assert export_table(session, session.state.events[bare.input("design")], "curves").equals(table)
    runs = next(event for event in session.state.events.values() if event.kind == "runs.completed")
    assert export_table(session, runs, "curves").columns[0] == "sample"
    with pytest.raises(InputError, match="has no table 'curve'") as refused:
        export_table(session, bare, "curve")
    assert refused.value.hint == "--table runs or curves"


def test_runs_that_come_out_otherwise_give_no_curves(
    session: Session, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that says it is the one that made the runs, and is not."""
    bare = campaign(keep_curves=False)
    real = Study.evaluate
    monkeypatch.setattr(Study, "evaluate", lambda *given: {name: 1.001 * value for name, value in real(*given).items()})
    with pytest.raises(AnswerIsNo, match="made again, its outputs differ by up to"):
        curves_table(session, bare)
    monkeypatch.setattr(Study, "evaluate", real)
    monkeypatch.setattr(batch, "_take", lambda result, _, sample, outcome: result.failures.update({sample: "cracked"}))
    with pytest.raises(AnswerIsNo, match=r"sample 0 fails \(cracked\)"):
        curves_table(session, bare)


def test_a_model_without_curves_says_so(session: Session, tmp_path) -> None:  # type: ignore[no-untyped-def]
    from tests.conftest import write_study

    from percuss.study.load import load_study

    planned = plan_design(load_study(write_study(tmp_path)), Request(n=2))
    done = run_design(session, create_design(session, planned).stored)
    with pytest.raises(InputError, match="has no curves") as refused:
        curves_table(session, done.event)
    assert "benchmark" in str(refused.value.hint)
