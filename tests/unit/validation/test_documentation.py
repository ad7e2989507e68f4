"""docs/validation.md: its study loads, its Python runs, its tables name what the code knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from percuss.study.load import load_study
from percuss.validation import verdict
from percuss.validation.settings import KEYS, read_validation

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "validation.md").read_text()


def test_the_section_shown_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "study.toml").write_text(example)
    asked = read_validation(load_study(tmp_path), None)
    assert asked.track == ("stiffness_1", "coefficient_1") and asked.observed[0].variance == pytest.approx(9e-6)


def test_every_key_is_in_the_table() -> None:
    rows = "\n".join(re.findall(r"^\| `.*", TEXT, re.MULTILINE))
    assert all(f"`{key}`" in rows or f"`{key} =" in rows for key in KEYS)


def test_thresholds_are_those_of_the_code() -> None:
    for name, lines in (("wander", verdict.WANDER), ("gain", verdict.GAIN), ("surprise", verdict.SURPRISE)):
        (row,) = re.findall(rf"^\| {name} \|.*", TEXT, re.MULTILINE)
        assert row.endswith(f"| above {lines[0]:g} | above {lines[1]:g} |"), row


def test_python_shown_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    monkeypatch.chdir(ROOT)
    exec(compile(script, "docs/validation.md", "exec"), {})
    assert "(100, 2)" in capsys.readouterr().out
