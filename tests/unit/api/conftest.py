"""A working folder with studies, for what a notebook does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import percuss

STUDIES = Path(__file__).parents[3] / "studies"


@pytest.fixture
def studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the studies that the tests need."""
    monkeypatch.chdir(tmp_path)
    for name in ("ishigami", "linear-gaussian", "sliding-block", "pounding-twin"):
        shutil.copytree(STUDIES / name, tmp_path / "studies" / name)
    return tmp_path


@pytest.fixture
def ledger(studies: Path) -> percuss.Ledger:
    """A new ledger."""
    return percuss.open_ledger("ledger", progress=False)
