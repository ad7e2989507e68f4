"""Studies resolve to the same bytes for ever: ledgers hold their digests.

`study_digests.json` was written once, by `python tests/golden/test_study_digests.py` at the commit it names, and is not
to be written again when this test fails: a study whose resolved form changed would no longer be found in the ledgers
that hold its runs. A new study gets its line the same way. `digest` is that of the canonical form, `as_written` that of
the resolved form with its keys in the order of the file.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from percuss.ledger.canonical import sha256_hex
from percuss.study.load import find_studies, load_study
from percuss.study.sections import normal
from percuss.study.study import Study

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "studies"
GOLDEN = Path(__file__).with_name("study_digests.json")


def digests(name: str) -> dict[str, str]:
    """What is recorded of a study."""
    study = load_study(STUDIES / name)
    return {"digest": study.digest, "as_written": sha256_hex(json.dumps(study.resolved()).encode())}


def test_every_study_is_recorded() -> None:
    assert find_studies(STUDIES) == sorted(json.loads(GOLDEN.read_text())["studies"])


@pytest.mark.parametrize("name", find_studies(STUDIES))
def test_resolved_form_is_byte_identical(name: str) -> None:
    assert digests(name) == json.loads(GOLDEN.read_text())["studies"][name]


@pytest.mark.parametrize("name", find_studies(STUDIES))
def test_what_is_resolved_resolves_to_itself(name: str) -> None:
    study = load_study(STUDIES / name)
    again = Study.from_resolved(study.resolved(), study.files)
    assert normal(again).digest == study.digest


if __name__ == "__main__":
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    content = {
        "provenance": f"python tests/golden/test_study_digests.py at commit {head.stdout.strip()}",
        "studies": {name: digests(name) for name in find_studies(STUDIES)},
    }
    GOLDEN.write_text(json.dumps(content, indent=1) + "\n")
