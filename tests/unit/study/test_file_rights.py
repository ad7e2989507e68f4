"""`[files]` of a study: licence and DOI of its data files."""

from __future__ import annotations

from pathlib import Path

import pytest

from percuss.study.faults import StudyError
from percuss.study.file_rights import FileRights, file_rights
from percuss.study.load import load_study
from percuss.study.study import Study

STUDY = """
[model]
kind = "benchmark"
function = "impact"
gap = "20 cm"
[parameters.speed]
unit = "m/s"
prior = { kind = "uniform", low = 1, high = 3 }
[observations]
file = "drops.csv"
std = { rest_position = "1 mm" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study with a data file."""
    where = tmp_path / "drops"
    where.mkdir()
    (where / "drops.csv").write_text("output,value\nrest_position,0.5\n")
    return where


def _load(folder: Path, more: str) -> Study:
    (folder / "study.toml").write_text(STUDY + more)
    return load_study(folder)


def test_they_are_part_of_the_resolved_study(folder: Path) -> None:
    plain = _load(folder, "")
    study = _load(folder, '[files."drops.csv"]\nlicence = "CC-BY-4.0"\ndoi = "10.5281/zenodo.1234567"\n')
    assert file_rights(study) == {"drops.csv": FileRights("CC-BY-4.0", "10.5281/zenodo.1234567")}
    assert file_rights(Study.from_resolved(study.resolved(), study.files)) == file_rights(study)
    assert study.digest != plain.digest
    assert file_rights(plain) == {}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('[files."drop.csv"]\nlicence = "CC0-1.0"\n', "drops.csv"),
        ('[files."drops.csv"]\ndoi = "zenodo.1234567"\n', "is no DOI"),
        ('[files."drops.csv"]\nlicence = "a\\nb"\n', "one line"),
        ('[files."drops.csv"]\nlicense = "CC0-1.0"\n', "licence"),
        ('[files]\n"drops.csv" = "CC0-1.0"\n', "a table with licence and doi"),
    ],
)
def test_faults_are_named(folder: Path, more: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        _load(folder, more)
