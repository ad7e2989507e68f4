"""What tests of operations start from: a session over a new ledger, and a study whose runs have curves."""

from __future__ import annotations

from pathlib import Path

import pytest

from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker
from percuss.session import Session
from percuss.study.load import load_study
from percuss.study.study import Study

IMPACT = """
[study]
title = "A body that hits a wall"

[model]
kind = "benchmark"
function = "impact"
samples = 11
restitution = 0.5

[parameters.speed]
unit = "m/s"
prior = { kind = "uniform", low = 1, high = 3 }
[parameters.gap]
unit = "mm"
prior = { kind = "uniform", low = 100, high = 500 }

[cases.near]
friction = 0.2
[cases.far]
friction = 0.3
"""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session over a ledger that is begun when something is put into it."""
    return Session(lambda: Ledger.open(tmp_path / "ledger", this_maker([]), create=True))


@pytest.fixture
def impact(tmp_path: Path) -> Study:
    """A study of two cases."""
    (tmp_path / "impact").mkdir()
    (tmp_path / "impact" / "study.toml").write_text(IMPACT)
    return load_study(tmp_path / "impact")
