"""Verdicts of a verification: what would pass for right without having been shown to be."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from percuss.calibration.verification import Verification
from percuss.kinds.campaign_completed import CampaignCompleted
from percuss.kinds.prediction_made import VerifiedOutput

RIGHT = VerifiedOutput(
    case="base",
    output="y",
    observed=True,
    rms_error=0.1,
    surrogate_std=0.1,
    allowed_std=0.5,
    ratio=0.2,
    could_tell=2.0,
    tells=1.9,
)


def _verification(failed: int = 0, **changed: Any) -> Verification:
    runs = CampaignCompleted(completed=7 - failed, failed=failed, content="")
    event: Any = SimpleNamespace(id="one", content=runs)
    return Verification(event, event, pl.DataFrame(), (RIGHT, replace(RIGHT, **changed)), 2.0)


def test_a_right_surrogate_passes() -> None:
    assert _verification().passed
    assert len(_verification().verdicts()) == 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ratio": 2.1}, "NOT as right at the posterior as it claims"),
        ({"rms_error": None, "ratio": None}, "of some output no run finished"),
        ({"ratio": None}, "its error is inf of what the likelihood allows"),
        ({"tells": 0.0, "could_tell": 4.0}, "comes through it, and 50 % is asked for"),
    ],
)
def test_what_is_wrong_or_not_known_does_not_pass(changed: dict[str, Any], said: str) -> None:
    found = _verification(**changed)
    assert not found.passed
    (failed,) = (verdict for verdict in found.verdicts() if not verdict.passed)
    assert said in failed.sentence
    worst = found.facts().worst
    assert worst is None or math.isfinite(worst)


def test_runs_that_fail_at_the_posterior_are_a_verdict() -> None:
    first, *_ = _verification(failed=2).verdicts()
    assert (first.gate, first.passed, first.figure) == ("runs", False, 2)
    assert "2 of 7 runs" in first.sentence
