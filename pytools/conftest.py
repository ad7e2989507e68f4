"""What the examples in docstrings start from: a ledger of their own, in a folder with the studies."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

STUDIES = Path(__file__).parent.parent / "studies"


@pytest.fixture(autouse=True)
def _examples(
    request: pytest.FixtureRequest,
    doctest_namespace: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Examples of `percuss.api` are written as a notebook would have them."""
    if "percuss/api" not in str(request.path):
        return
    import percuss

    monkeypatch.chdir(tmp_path)
    shutil.copytree(STUDIES / "ishigami", tmp_path / "studies" / "ishigami")
    doctest_namespace["percuss"] = percuss
    if request.node.name.split(".")[-1] != "open_ledger":
        doctest_namespace["ledger"] = percuss.open_ledger("ledger", progress=False)
