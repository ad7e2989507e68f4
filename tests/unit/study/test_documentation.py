"""docs/study-format.md: its examples load, and its tables name what the code knows."""

import re
from pathlib import Path

import pytest

from percuss.calibration.observations import SOURCE
from percuss.models.benchmark import FUNCTIONS, settings
from percuss.study.calibration import BLOCK
from percuss.study.load import MAX_STUDY_BYTES, check_study, load_study
from percuss.study.output import REDUCTIONS
from percuss.study.priors.registry import PRIORS, TENSORS
from percuss.study.schema import MAX_ATTACHED_BYTES, TABLES
from percuss.study.sections import SECTIONS
from percuss.study.tables import MAX_DEPTH
from percuss.units import parse_unit

TEXT = (Path(__file__).parents[3] / "docs" / "study-format.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_load(tmp_path, example):
    (tmp_path / "study.toml").write_text(example)
    assert check_study(tmp_path) == []
    assert load_study(tmp_path).model().quantities


def test_there_are_examples():
    assert len(EXAMPLES) == 4


def test_tables_are_complete():
    for section in (*TABLES, *SECTIONS):
        assert re.search(rf"^\| `\[{section}(\.NAME)?\]`", TEXT, re.MULTILINE), section
    for key in (*SOURCE, "twin", *(key for key in BLOCK if key not in ("doc", "groups"))):
        assert re.search(rf"^\|[^|]*`{key}`[^|]*\|", TEXT, re.MULTILINE), key
    for kind, prior in PRIORS.items():
        (row,) = re.findall(rf"^\| `{kind}` \|.*", TEXT, re.MULTILINE)
        assert all(f"`{field}`" in row for field in prior.roles), kind
    for kind, law in TENSORS.items():
        (row,) = re.findall(rf"^\| `{kind}` \|.*", TEXT, re.MULTILINE)
        assert all(f"`{field}`" in row for field in (*law.needed, *law.optional)), kind
    assert all(f"`{reduction}`" in TEXT for reduction in REDUCTIONS)
    for function in FUNCTIONS:
        (row,) = re.findall(rf"^\| `{function}` \|.*", TEXT, re.MULTILINE)
        assert all(f"`{s.name}`" in row for s in FUNCTIONS[function].settings), function
    assert all(f"`{name}" in TEXT for name in settings({}))


def test_units_and_limits_are_as_said():
    (prefixed,) = re.findall(r"With prefixes .*?: `(.*?)`", TEXT)
    (plain,) = re.findall(r"Without: `(.*?)`", TEXT)
    for symbol in prefixed.split():
        assert parse_unit(f"k{symbol}").scale == 1000 * parse_unit(symbol).scale
    assert all(parse_unit(symbol).scale > 0 for symbol in plain.split())
    assert (MAX_STUDY_BYTES, MAX_ATTACHED_BYTES, MAX_DEPTH) == (10**6, 256 * 2**20, 32)
