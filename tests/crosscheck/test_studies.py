"""Every study that says what to expect gives it: the regressions that `percuss check` compares, run as a user would."""

import subprocess
import sys
from pathlib import Path

import pytest

STUDIES = Path(__file__).parents[2] / "studies"
HELD = sorted({path.parents[1].name for path in STUDIES.glob("*/expected/*.toml")})


@pytest.mark.parametrize("name", HELD)
def test_the_study_gives_what_it_expects(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "percuss", "check", str(STUDIES / name), "--ledger", str(tmp_path / "ledger")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
