"""`percuss restore`: the study as it was, checked, never over anything."""

from __future__ import annotations

import json
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import Call

from percuss.ledger.event import Draft, OpenCall, StudyRef
from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker
from percuss.session import Session
from percuss.study.load import load_study
from percuss.study.sections import normal
from percuss.work.restore import restore

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger" / "format-1.tar.xz"
STUDIES = Path(__file__).parents[2] / "studies"


def test_a_study_comes_back_to_the_byte(percuss: Call, folder: Path) -> None:
    study = shutil.copytree(STUDIES / "linear-gaussian", folder / "studies" / "linear-gaussian")
    text = (study / "study.toml").read_text() + "\n# a comment\r\n"
    (study / "study.toml").write_text(text)
    design = percuss("design", "linear-gaussian", "--n", 4, "--skip", 1).id
    (study / "study.toml").write_text(text.replace("std = 1.0 }", "std = 0.9 }"))
    percuss("design", "linear-gaussian", "--n", 4, "--skip", 1)

    said = percuss("restore", design, "--to", "back", "--json")
    found = json.loads(said.out)
    assert said.code == 0 and found["as_written"] and found["files"] == ["observations/sensors.csv"]
    back = folder / "back" / "linear-gaussian"
    assert (back / "study.toml").read_bytes() == text.encode()
    assert (back / "observations" / "sensors.csv").read_bytes() == (study / "observations" / "sensors.csv").read_bytes()
    assert percuss("study", "check", back).code == 0
    assert json.loads(percuss("study", "show", back, "--json").out)["digest"] == found["digest"]
    assert sorted(p.name for p in (folder / "back").iterdir()) == ["linear-gaussian"]

    percuss("restore", design, "--to", "back").refused(2, "is there already")
    percuss("restore", design, "--to", "ledger").refused(2, "is inside the ledger")
    (folder / "file").write_text("")
    percuss("restore", design, "--to", "file").refused(2, "is no folder")
    (folder / "links").mkdir()
    (folder / "links" / "linear-gaussian").symlink_to(folder / "nowhere")
    percuss("restore", design, "--to", "links").refused(2, "is there already")


def test_studies_of_old_ledgers_are_written_anew_with_the_same_digest(percuss: Call, folder: Path) -> None:
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(folder / "old", filter="data")
    book = Ledger.open(folder / "old" / "ledger")
    studies = [event for event in book.events() if event.kind == "study.registered"]
    assert len(studies) > 2
    for number, event in enumerate(studies):
        done = restore(Session(book), event, folder / f"back{number}")
        assert not done.as_written
        assert event.study and load_study(done.path).digest == done.digest
        assert done.digest in (event.study.digest, normal(Session(book).study(event)).digest)


def _stranger(folder: Path, name: str, role: str) -> str:
    """A ledger whose writer wants files elsewhere."""
    book = Ledger.open(folder / "ledger", this_maker([], OpenCall("python", "test", [])), create=True)
    study = load_study(folder / "studies" / "ishigami")
    hostile = replace(study, name=name, files={role: b"x"} if role else {})
    blobs = [book.put_file(path, data) for path, data in hostile.files.items()]
    return book.append([Draft("study.registered", hostile.resolved(), StudyRef(name, hostile.digest), blobs=blobs)])[
        0
    ].id


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("../out", ""),
        ("..", ""),
        ("a\x1b[2J", ""),
        ("", ""),
        ("fine", "../out"),
        ("fine", "/tmp/out"),
        ("fine", "a/../../b"),
    ],
)
def test_nothing_is_written_outside(percuss: Call, folder: Path, name: str, role: str) -> None:
    id = _stranger(folder, name, role)
    before = sorted(folder.rglob("*"))
    said = percuss("restore", id, "--to", "back")
    said.refused(2)
    assert "\x1b" not in said.err
    left = [path for path in sorted(folder.rglob("*")) if path not in before and "cache" not in path.parts]
    assert left in ([], [folder / "back"])


def test_a_study_that_does_not_come_out_the_same_is_not_written(percuss: Call, folder: Path) -> None:
    book = Ledger.open(folder / "ledger", this_maker([], OpenCall("python", "test", [])), create=True)
    study = load_study(folder / "studies" / "ishigami")
    id = book.append([Draft("study.registered", study.resolved(), StudyRef("ishigami", "0" * 64))])[0].id
    percuss("restore", id, "--to", "back").refused(1, "has not the digest it says")
    assert not (folder / "back").exists()


def test_events_of_no_study_and_of_several(percuss: Call, folder: Path) -> None:
    percuss("design", "ishigami", "--n", 4)
    assert percuss("restore", "@last:design", "--to", "back").code == 0
    percuss("supersede", "@last:study", "--reason", "wrong")
    shutil.rmtree(folder / "back")
    assert percuss("restore", "@last:design", "--to", "back").code == 0
