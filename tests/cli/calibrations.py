"""Studies for tests of calibrations."""

from __future__ import annotations

import shutil
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "studies"
IMPACT = """
[model]
kind = "benchmark"
function = "impact"
samples = 21
restitution = 0.5

[parameters.speed]
unit = "m/s"
prior = { kind = "uniform", low = 1, high = 3 }
[parameters.gap]
unit = "mm"
prior = { kind = "uniform", low = 100, high = 500 }

[observations]
file = "measured.csv"
std = { rest_position = "1 mm", rest_time = "1 ms" }

[calibration.blind]
surrogate_error = false
[calibration.fair]
"""


def known(folder: Path, name: str) -> Path:
    """A study of the project, in the working folder."""
    shutil.copytree(SOURCES / name, folder / "studies" / name, dirs_exist_ok=True)
    return folder / "studies" / name


def add_blocks(folder: Path, text: str, study: str = "linear-gaussian") -> None:
    """More blocks in the study file, for `--study`."""
    file = folder / "studies" / study / "study.toml"
    file.write_text(file.read_text() + text)
