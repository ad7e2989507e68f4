"""Verdicts: stored and read back, inherited by what uses them, accepted by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from percuss.calibration import advice_check, fit, groups, rank_check, verification
from percuss.execution.convergence import Tolerance
from percuss.filtering import update
from percuss.fragility import compute as fragility
from percuss.inference.samplers.sample import Stopping
from percuss.kinds.table import upcast
from percuss.surrogates import assessment
from percuss.trust import GATES, Verdict, accept, failures, inherited, is_trust, read_trust, write_trust
from percuss.work import limit_estimate, reliability
from percuss.work.predict import Request

FAILED = Verdict("skill", False, "u2 is not told", 0.9, 0.5, ("base/u2",))
PASSED = Verdict("convergence", True, "converged", 1.001, 1.01)


def test_verdicts_are_read_back_as_they_were_written() -> None:
    assert read_trust({"trust": write_trust([FAILED, PASSED])}) == (FAILED, PASSED)
    assert read_trust({}) == ()


def test_only_failures_are_inherited_and_the_first_event_that_failed_stays_named() -> None:
    (first,) = inherited("a", [FAILED, PASSED])
    assert first.source == "a"
    assert inherited("b", [first]) == (first,)


def test_what_a_result_does_not_use_is_not_inherited() -> None:
    assert inherited("a", [FAILED], about=["base/u1"]) == ()
    assert len(inherited("a", [FAILED], about=["base/u2", "base/u1"])) == 1
    whole = Verdict("fit", False, "the model does not explain the data")
    assert len(inherited("a", [whole], about=["base/u1"])) == 1


def test_an_accepted_failure_does_not_stop_and_stays_a_failure() -> None:
    (taken,) = accept([FAILED], {"skill"})
    assert taken.accepted and not taken.stops and failures([taken]) == [taken]
    assert accept([FAILED], {"fit"})[0].stops
    assert not accept([PASSED], {"convergence"})[0].accepted
    assert inherited("a", [taken])[0].accepted


def test_failures_stand_in_the_order_of_the_gates() -> None:
    fit = Verdict("fit", False, "no")
    assert failures([FAILED, fit, PASSED, fit]) == [fit, FAILED]


@pytest.mark.parametrize("wrong", [None, {}, [1], [{"gate": "fit"}], [{**FAILED.to_json(), "gate": "none"}]])
def test_what_a_stranger_wrote_is_not_taken_for_a_verdict(wrong: object) -> None:
    assert not is_trust(wrong)


DOCS = (Path(__file__).parents[2] / "docs" / "trust.md").read_text()
# What each gate is held against, from the code that asks; of the others, words.
THRESHOLDS: dict[str, list[float | str]] = {
    "superseded": ["no threshold"],
    "runs": ["threshold is 0"],
    "effective-sample": [update.LEAST_EFFECTIVE, update.LEAST_EACH],
    "convergence": [Stopping().r_hat, Stopping().ess, f"{Stopping().std_error:.1%}"],
    "measurement-error": [groups.LEAST_ERROR, "Threshold: no datum"],
    "fit": [fit.LEAST_P, fit.LEAST_TAIL, f"{fit.FALSE_ALARMS:.0%}", update.LEAST_P],
    "coverage": [fit.FARTHER, f"{fit.MOST:.0%}"],
    "skill": [assessment.WORTHLESS],
    "verification": [verification.KEPT, Request.tolerance],
    "twins": [rank_check.FALSE_ALARMS, f"{rank_check.MOST_UNCONVERGED:.0%}"],
    "advice": [f"{advice_check.TOLERATED:.0%}", advice_check.LEAST_EFFECTIVE, f"{advice_check.MISSED:.0%}"],
    "probability": [limit_estimate.DEFAULT_CV, limit_estimate.WIDEST],
    "limit-surface": [reliability.TOLERATED],
    "exceedances": [fragility.FEWEST],
    "model-error": ["No slack"],
    "extrapolation": [f"{fragility.MOST_OUTSIDE:.0%}"],
    "lognormal": [fragility.SMALLEST_CHANCE],
    "step": [f"{Tolerance.share:.0%}"],
}


def test_docs_list_every_gate_and_have_a_section_on_it() -> None:
    for gate, asks in GATES.items():
        assert f"| `{gate}` | {asks} |" in DOCS
    headings = re.findall(r"^## (.+)", DOCS, re.MULTILINE)
    assert sorted(gate for heading in headings for gate in re.findall("`(.+?)`", heading)) == sorted(GATES)


@pytest.mark.parametrize("gate", GATES)
def test_docs_state_the_threshold_that_is_asked_for(gate: str) -> None:
    found = re.search(rf"^## [^\n]*`{gate}`.*?\n(.+?)(?=^## |\Z)", DOCS, re.MULTILINE | re.DOTALL)
    assert found
    words = re.findall(r"[\d.]+(?:e-\d+)?(?: %)?", found[1])
    stated = {word.replace(" ", "").rstrip(".") for word in words} | {word.rstrip(" %.") for word in words}
    for threshold in THRESHOLDS[gate]:
        if isinstance(threshold, str) and not threshold.endswith("%"):
            assert threshold in found[1]
        else:
            number = threshold if isinstance(threshold, str) else f"{threshold:g}".replace("e-0", "e-")
            assert number in stated, f"{gate}: {number} is not in its section"


@pytest.mark.parametrize(
    ("kind", "body", "found"),
    [
        ("posterior.sampled", {"converged": True, "reasons": [], "accepted_unconverged": False}, None),
        ("posterior.sampled", {"converged": False, "reasons": ["R-hat"], "accepted_unconverged": False}, False),
        ("posterior.sampled", {"converged": False, "reasons": ["R-hat"], "accepted_unconverged": True}, True),
        ("prediction.made", {"accepted_unconverged": True}, True),
        ("comparison.made", {"accepted_unconverged": False}, None),
        ("surrogate.fitted", {"names": []}, None),
    ],
)
def test_marks_of_older_events_are_read_as_verdicts(kind: str, body: dict[str, object], found: bool | None) -> None:
    trust = read_trust(upcast(kind, 1, body))
    assert [(v.gate, v.passed, v.accepted) for v in trust] == ([] if found is None else [("convergence", False, found)])
    assert "accepted_unconverged" not in upcast(kind, 1, body)


ROOT = Path(__file__).parents[2]


def test_every_study_passes_its_gates_or_says_why_not() -> None:
    """A row a study. What its commands accept is among what does not pass, and what does not pass is in its README."""
    lines = (ROOT / "docs/trust.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "](../studies/" in line]
    rows = [(re.sub(r"\[([\w-]+)\].*", r"\1", study), passes, fails) for study, passes, fails in cells]
    assert [name for name, _, _ in rows] == sorted(path.parent.name for path in ROOT.glob("studies/*/study.toml"))
    for name, passes, fails in rows:
        readme = (ROOT / "studies" / name / "README.md").read_text()
        passed, failed = (
            {word for word in re.findall(r"`([\w-]+)`", text) if word in GATES} for text in (passes, fails)
        )
        assert set(re.findall(r"--accept ([\w-]+)", readme)) == failed, name
        assert not passed & failed and passes + fails, name
