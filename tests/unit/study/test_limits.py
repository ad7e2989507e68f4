"""`[limits.NAME]`: every fault with its key, thresholds in SI, systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.study.faults import StudyError
from percuss.study.limits import find_limit
from percuss.study.load import study_of_tables
from percuss.study.sections import normal
from percuss.study.study import Study


def block(limits: dict[str, Any], **more: Any) -> Study:
    """A block that slides against a stop."""
    tables = {
        "model": {"kind": "benchmark", "function": "impact", "restitution": 0.5},
        "parameters": {
            "speed": {"unit": "m/s", "prior": {"kind": "lognormal", "mean": 2, "std": 0.2}},
            "gap": {"unit": "mm", "prior": {"kind": "uniform", "low": 100, "high": 500}},
        },
        "outputs": {"rest_position": {"unit": "mm"}, "rebound_speed": {}},
        "limits": limits,
    }
    return study_of_tables("block", tables | more)


SPEED = {"quantity": "rebound_speed", "threshold": "30 cm/s"}


def test_thresholds_come_in_si() -> None:
    study = block({"fast": SPEED, "far": {"quantity": "rest_position", "threshold": 300, "fails": "below"}})
    assert find_limit(study, "fast").threshold == 0.3
    far = find_limit(study, "far")
    assert far.threshold == 0.3 and not far.above  # a bare number is in the unit of the output
    np.testing.assert_allclose(far.margin(np.array([0.2, 0.3, 0.6])), [-1 / 3, 0, 1])
    assert normal(study).digest == study.digest


def test_systems() -> None:
    study = block({
        "a": SPEED,
        "b": {"quantity": "rest_position - gap / 2", "threshold": 0},
        "both": {"parallel": ["a", "b"]},
        "any": {"series": ["both", "a"]},
    })  # fmt: skip
    state = find_limit(study, None)
    assert state.name == "any" and state.has_parallel
    assert [leaf.name for leaf in state.leaves()] == ["a", "b", "a"]
    columns = np.array([[1.0, -1, 1], [-1, -2, 3], [1, 1, -0.5]])
    np.testing.assert_array_equal(state.combine(columns), [1, -1, -0.5])


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            {"a": SPEED | {"threshold": "3 mm"}},
            r"limits.a.threshold: `3 mm` is in mm \(m\) where m/s is wanted",
        ),
        ({"a": {"quantity": "rebound_speed"}}, r"limits.a.threshold: missing"),
        ({"a": SPEED | {"quantity": "rebound"}}, r"limits.a.quantity: no output or parameter `rebound`"),
        ({"a": {"quantity": "gap", "threshold": 1}}, r"limits.a.quantity: `gap` names no output"),
        ({"a": SPEED | {"quantity": "rebound_speed + gap"}}, r"puts m/s and m together"),
        ({"a": SPEED | {"fails": "over"}}, r"limits.a.fails: .over. is not known"),
        ({"a": SPEED | {"series": ["a", "a"]}}, r"takes one of quantity, series and parallel"),
        ({"a": {"doc": "nothing"}}, r"takes one of quantity, series and parallel, not none"),
        ({"a": SPEED, "s": {"series": ["a", "b"]}}, r"limits.s.series: no limit `b`"),
        ({"a": SPEED, "s": {"series": ["a"]}}, r"takes two limits or more"),
        ({"a": SPEED, "s": {"series": ["a", "s"]}}, r"a circle"),
        ({"a": SPEED, "s": {"series": ["a", "a"], "threshold": 1}}, r"goes with quantity, not with series"),
        ({"a": SPEED | {"aleatory": ["sped"]}}, r"limits.a.aleatory: no parameter `sped`"),
        ({"a": SPEED | {"case": "near"}}, r"limits.a.case: no such case"),
        ({"a": SPEED | {"limit": 3}}, r"limits.a.limit: unknown key"),
    ],
)
def test_faults_name_their_key(limits: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        block(limits)


def test_several_cases_must_be_told_apart() -> None:
    cases = {"slow": {"friction": 0.3}, "quick": {"friction": 0.2}}
    with pytest.raises(StudyError, match=r"limits.a.case: missing: the study has several cases: slow, quick"):
        block({"a": SPEED}, cases=cases)
    assert find_limit(block({"a": SPEED | {"case": "quick"}}, cases=cases), "a").case == "quick"


def test_a_limit_must_be_named_where_there_are_several() -> None:
    with pytest.raises(InputError, match="has several limits: --limit one of a, b"):
        find_limit(block({"a": SPEED, "b": SPEED}), None)
    with pytest.raises(InputError, match="--limit c: study block has no such limit"):
        find_limit(block({"a": SPEED}), "c")
    with pytest.raises(InputError, match=r"study block has no \[limits\]"):
        find_limit(block({}), "c")
