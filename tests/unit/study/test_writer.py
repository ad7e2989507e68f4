"""A resolved study is written as a study file that is read as the same study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from percuss.study.load import check_study, find_studies, load_study
from percuss.study.study import Study
from percuss.study.writer import study_text

STUDIES = Path(__file__).parents[3] / "studies"


def _again(study: Study, where: Path) -> Study:
    folder = where / study.name
    for name, data in study.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(study_text(study))
    assert not check_study(folder)
    return load_study(folder)


@pytest.mark.parametrize("name", find_studies(STUDIES))
def test_every_study_comes_back_with_its_digest(name: str, tmp_path: Path) -> None:
    study = load_study(STUDIES / name)
    assert _again(study, tmp_path).digest == study.digest
    # What the ledger has of it is its resolved form.
    resolved = Study.from_resolved(study.resolved(), study.files)
    assert study_text(resolved) == study_text(study)


HARD = """
[study]
title = 'quotes " and \\ and a control \u0080 and ü'
notes = "two\\nlines"
[model]
kind = "benchmark"
function = "impact"
duration = "900 ms"
[parameters.speed]
unit = "km/h"
prior = { kind = "lognormal", mu = 1.1, sigma = 0.3 }
[parameters.gap]
unit = "mm"
prior = { kind = "truncated-normal", mean = 200, std = "1 cm", low = 0.1 }
[parameters.restitution]
unit = "%"
prior = { kind = "beta", alpha = 2, beta = 2, low = 10, high = 90 }
[cases."dry.1"]
friction = 0.6
hold = ["gap"]
[cases.wet]
friction = "30 %"
[outputs.peak]
quantity = "position"
reduce = "max"
to = "0.5 s"
unit = "mm"
[outputs.rest_position]
"""


def test_units_logarithms_held_parameters_and_odd_texts(tmp_path: Path) -> None:
    (tmp_path / "a" / "hard").mkdir(parents=True)
    (tmp_path / "a" / "hard" / "study.toml").write_text(HARD)
    study = load_study(tmp_path / "a" / "hard")
    again = _again(study, tmp_path / "b")
    assert again.digest == study.digest and again == replace(study, text=again.text)


@pytest.mark.parametrize("mu", [-20.7, -1.0, 0.1, 3.3, 12.34567890123])
@pytest.mark.parametrize("unit", ["km/h", "mm/s", "in/s", "m/s"])
def test_means_of_logarithms_come_back_to_the_bit(mu: float, unit: str, tmp_path: Path) -> None:
    (tmp_path / "a" / "logs").mkdir(parents=True)
    (tmp_path / "a" / "logs" / "study.toml").write_text(
        f'[model]\nkind = "benchmark"\nfunction = "impact"\ngap = 0.2\n[parameters.speed]\nunit = "{unit}"\n'
        f'prior = {{ kind = "lognormal", mu = {mu}, sigma = 0.1 }}\n'
    )
    study = load_study(tmp_path / "a" / "logs")
    assert _again(study, tmp_path / "b").digest == study.digest
