"""Results of an older percuss, which asked less of them: today's code cannot compare them and says why. It is no fault;
but what says that this very code made it is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_fragility import SHAKEN
from tests.unit.work.test_reliability import HIGH, line

import percuss
from percuss.kinds.reliability_estimated import ReliabilityEstimated
from percuss.kinds.table import KINDS, plain
from percuss.ledger.event import Draft, Event
from percuss.session import Session
from percuss.work.audit import audit
from percuss.work.limit_estimate import Request
from percuss.work.reliability import compute, limit_source


@pytest.fixture
def book(tmp_path: Path) -> Any:
    """A ledger for its Python interface."""
    return percuss.open_ledger(tmp_path / "ledger", progress=False, jobs=1)


@contextmanager
def _code(session: Session, commit: str) -> Iterator[None]:
    """What is appended is said to be made by the code of another commit; by this one, if none is given."""
    ledger = session.ledger
    maker = ledger._maker
    assert maker
    if commit:
        ledger._maker = replace(maker, software=replace(maker.software, commit=commit))
    try:
        yield
    finally:
        ledger._maker = maker


def _said_by(session: Session, event: Event, body: dict[str, Any], commit: str) -> Event:
    """The event with another body, in its place."""
    inputs = [(item.role, session.state.events[item.id]) for item in event.inputs]
    with _code(session, commit):
        (again,) = session.append([Draft(event.kind, body, event.study, inputs, event.blobs, event.seed)])
    # What it stands for is withdrawn, so that only this one is repeated.
    words = {"old": event.id, "new": again.id, "reason": "as it was"}
    session.append([Draft("event.superseded", words, inputs=[("old", event), ("new", again)])])
    return again


@pytest.mark.parametrize("commit", ["0123abc", ""])
def test_a_subset_whose_first_pass_took_more_than_was_allowed(book: Any, commit: str) -> None:
    session = book.session
    honest = book.reliability(line(HIGH), method="subset", n=20_000, cv=0.3, seed=1).event
    older = _said_by(session, honest, honest.data | {"n": 900}, commit)
    done = audit(session, rerun=1)
    assert done.repeated
    (drawn,) = [item for item in done.repeated.drawn if item.event == older.id]
    if commit:
        assert done.holds and drawn.verdict == "cannot"
        assert "made by other code, whose first pass could take more evaluations" in drawn.sentence
        assert "900 evaluations end before the limit" in drawn.sentence
        assert done.repeated.by_claim == 1 and not done.tiers[-1].reached
    else:
        assert not done.holds and drawn.verdict == "differs"


def test_importance_factors_by_squares_alone(book: Any) -> None:
    """Those of older code are repeated as they were made; others in their place are a fault."""
    honest = book.reliability(line(HIGH), method="monte-carlo", n=20_000, cv=0.1, seed=1).event
    assert honest.data["by_moments"]
    done = ReliabilityEstimated.of(honest)
    study = book.session.study(honest)
    request = Request(study=study, n=done.n, cv=done.cv, seed=1, by_moments=False)
    again = compute(limit_source(book.session, request, None), request)
    slopes = [plain(item) for item in again.body.slopes]
    assert slopes != honest.data["slopes"]
    body = {key: value for key, value in honest.data.items() if key != "by_moments"}
    older = _said_by(book.session, honest, body | {"slopes": slopes}, "0123abc")
    repeat = KINDS[older.kind].repeater()
    assert repeat is not None and repeat(book.session, older, 0).verdict in ("same", "within")
    forged = _said_by(book.session, older, body, "0123abc")
    assert repeat(book.session, forged, 0).verdict == "differs"


# Begins above the intensities that damage.
HAZARD = "intensity [m/s^2],annual_rate\n1.2,1e-2\n1.5,2e-3\n3,1e-5\n"


@pytest.mark.filterwarnings("ignore::percuss.NotTrusted")
@pytest.mark.parametrize("hidden", ["hazard", "fewer", "number"])
@pytest.mark.parametrize("commit", ["0123abc", ""])
def test_a_fragility_whose_hazard_does_not_reach(book: Any, tmp_path: Path, commit: str, hidden: str) -> None:
    """Of what the verdicts of older code hide, only what it did not ask is excused."""
    (tmp_path / "study.toml").write_text(SHAKEN.format(settings=""))
    (tmp_path / "hazard.csv").write_text(HAZARD)
    design = book.design(percuss.load_study(tmp_path / "study.toml"), sampler="sobol", n=64)
    campaign = book.run(design)
    # Motions depend on the name of the study, and so on that of a test's folder: three runs exceed this in any.
    third, fourth = campaign.runs()["largest_drift_ratio"].sort(descending=True)[2:4]
    states = {"slight": 0.002, "severe": 0.006 if hidden != "fewer" else 0.5 * (third + fourth)}
    asked = {"intensity": "intensity", "output": "largest_drift_ratio", "states": states, "draws": 60}
    honest = book.fragility(campaign, hazard=str(tmp_path / "hazard.csv"), **asked).event
    failed = {verdict["gate"] for verdict in honest.data["trust"] if not verdict["passed"]}
    assert "extrapolation" in failed and (hidden == "fewer") == ("exceedances" in failed)
    body = honest.data
    body["trust"] = [verdict | {"passed": True} for verdict in body["trust"]]
    if hidden == "number":
        body["states"][0]["rate"] *= 1.5
    older = _said_by(book.session, honest, body, commit)
    again = KINDS[older.kind].repeater()(book.session, older, 0)  # type: ignore[misc]
    excused = bool(commit) and hidden == "hazard"
    assert again.verdict == ("cannot" if excused else "differs"), again
    if excused:
        assert again.by_claim and "did not ask whether the hazard curve reaches the damage" in again.sentence
