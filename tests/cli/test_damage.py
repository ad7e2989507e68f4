"""A damaged, full, read-only or newer ledger: one clear sentence, the right exit code, nothing lost."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.drafts import study_draft

if TYPE_CHECKING:
    from tests.conftest import Said

IMPACT = """
[study]
title = "A block against a stop"
source = "closed form"

[model]
kind = "benchmark"
function = "impact"
gap = "23 mm"
samples = 21

[parameters.speed]
unit = "m/s"
prior = {{ kind = "uniform", low = 0.1, high = 2 }}

[outputs.rest_position]
unit = "mm"
{settings}
"""


@pytest.fixture
def full(percuss, make_study, folder, monkeypatch, once):
    """A ledger with all there can be: sealed, adopted and loose commits, a cache, tables, curves and attached files."""
    from percuss.ledger import streams

    def make() -> None:
        make_study("impact", text=IMPACT)
        design = percuss("design", "ishigami", "--n", 150).id
        for part in ("1/2", "2/2"):
            percuss("run", design, "--shard", part)
        assert percuss("adopt").code == 0
        percuss("run", design)
        percuss("simulate", "impact", "--set", "speed=1")
        assert percuss("seal").code == 0
        for word in ("one", "two", "three"):
            percuss("note", "@last", word)
        _attach_file(folder)
        with monkeypatch.context() as patch:
            patch.setattr(streams, "LOOSE_BEFORE_CACHING", 2)
            assert percuss("log").code == 0
        assert percuss("audit", "--rerun", 1).code == 0

    return once("full", make)


def _attach_file(folder: Path) -> None:
    """A study event that carries a file, as studies with data do."""
    from percuss.cli.options import open_ledger

    book = open_ledger(None)
    blob = book.put_file("observations/gauge.csv", b"t,a\n0,1\n")
    book.append([study_draft([blob])])


def _files(root: Path) -> list[Path]:
    return sorted(p for p in root.rglob("*") if p.is_file() and p.stat().st_size)


def test_the_ledger_under_test_has_every_kind_of_file(full) -> None:
    kinds = {(p.relative_to(full).parts[0], p.suffix) for p in _files(full)}
    assert kinds == {
        ("ledger.toml", ".toml"),
        ("streams", ".parquet"),
        ("sealed", ".parquet"),
        ("blobs", ".parquet"),
        ("blobs", ".bin"),
        ("cache", ".parquet"),
    }
    assert len({p.parent for p in _files(full / "streams")}) == 3


def test_one_flipped_bit_anywhere_is_found_and_its_file_named(full, percuss) -> None:
    chance = random.Random(3)
    for path in _files(full):
        whole = path.read_bytes()
        places = {0, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(3))}
        if path.name == "ledger.toml":
            places = set(range(0, len(whole), 7))
        for place in places:
            broken = bytearray(whole)
            broken[place] ^= 1 << chance.randrange(8)
            path.write_bytes(broken)
            said = percuss("audit", "--rerun", 0)
            assert said.code in (1, 4), (path, place, said.out)
            assert str(path.relative_to(full.parent)) in said.out + said.err, (path, place, said.out, said.err)
            assert "Traceback" not in said.err
        path.write_bytes(whole)
    assert percuss("audit", "--rerun", 0).code == 0


def test_every_byte_of_a_commit_counts(full) -> None:
    from percuss.ledger.files import check_bytes

    whole = max((full / "streams" / "main").glob("*.parquet")).read_bytes()
    assert check_bytes(whole)
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 0x20
        assert not check_bytes(bytes(broken)), place


@pytest.mark.parametrize("size", [0, 1, 100])
def test_truncated_files(full, percuss, size) -> None:
    for path in [max((full / "streams" / "main").glob("*.parquet")), next((full / "sealed").rglob("*.parquet"))]:
        whole = path.read_bytes()
        os.truncate(path, size)
        shown = str(path.relative_to(full.parent))
        percuss("log").refused(4, shown)
        percuss("note", "@last", "more").refused(4, shown)
        said = percuss("audit")
        assert said.code == 1
        assert shown in said.out
        path.write_bytes(whole)
    assert percuss("audit", "--rerun", 0).code == 0


def test_truncated_identity(full, percuss) -> None:
    os.truncate(full / "ledger.toml", 20)
    for command in (["log"], ["audit"], ["doctor"], ["design", "ishigami", "--n", 4]):
        percuss(*command).refused(4, "ledger.toml")


def test_missing_payload(full, percuss) -> None:
    shown = json.loads(percuss("show", "@last:design", "--json").out)
    sha256 = shown["blobs"][0]["sha256"]
    path = full / "blobs" / sha256[:2] / f"{sha256}.parquet"
    kept = path.read_bytes()
    path.unlink()
    percuss("export", "csv", shown["id"]).refused(4, sha256, "missing")
    said = percuss("audit")
    assert said.code == 1
    assert f"{sha256}.parquet: missing" in said.out
    path.write_bytes(kept)
    assert percuss("audit", "--rerun", 0).code == 0


def test_a_damaged_payload_is_put_right_by_storing_it_again(ledger) -> None:
    blob = ledger.put_file("a", b"some bytes")
    path = next(ledger.place.root.rglob("*.bin"))
    path.write_bytes(b"same count")
    assert ledger.put_file("a", b"some bytes") == blob
    assert path.read_bytes() == b"some bytes"


def test_missing_commit(full, percuss) -> None:
    loose = sorted((full / "streams" / "main").glob("*.parquet"))
    loose[1].unlink()
    shown = str(loose[1].relative_to(full.parent))
    percuss("log", "--ledger", "ledger").refused(4, "missing")
    said = percuss("audit")
    assert said.code == 1
    assert str(loose[2].relative_to(full.parent)) in said.out
    assert shown not in percuss("doctor").out


def test_missing_adopted_stream(full, percuss) -> None:
    shutil.rmtree(next((full / "streams").glob("shard-*")))
    percuss("log").refused(4, "adopted")
    assert percuss("audit").code == 1


def test_ledger_of_a_newer_format(full, percuss) -> None:
    path = full / "ledger.toml"
    path.write_text(path.read_text().replace("format = 2", "format = 3"))
    before = {p: p.read_bytes() for p in _files(full)}
    for command in (["log"], ["audit"], ["note", "@last", "x"], ["doctor"], ["design", "ishigami", "--n", 4]):
        percuss(*command).refused(4, "ledger.toml", "format 3", "newer percuss")
    assert {p: p.read_bytes() for p in _files(full)} == before


def test_no_ledger(percuss, folder) -> None:
    percuss("log").refused(4, "there is no ledger here")
    (folder / "ledger").mkdir()
    (folder / "ledger" / "diary.txt").write_text("mine")
    percuss("design", "ishigami", "--n", 4).refused(4, "folder of something else")
    assert percuss("design", "ishigami", "--n", 4, "--ledger", "percuss.txt/x").id  # folders are made
    (folder / "file").write_text("")
    percuss("design", "ishigami", "--n", 4, "--ledger", "file").refused(4, "is a file")
    percuss("design", "ishigami", "--n", 4, "--ledger", "file/below").refused(4, "file/below")


def _limit_file_size(limit: int):  # type: ignore[no-untyped-def]
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def test_file_size_limit(percuss, program, folder) -> None:
    percuss("design", "ishigami", "--n", 4)
    before = percuss("log", "--json").out
    said = program("note", "@last", "x" * 9000, preexec_fn=_limit_file_size(4000))
    said.refused(4, "File too large", "nothing was appended")
    assert percuss("log", "--json").out == before
    assert percuss("audit").code == 0
    assert not list((folder / "ledger").rglob(".tmp-*"))
    assert percuss("note", "@last", "x" * 9000).id


@pytest.fixture
def small_disk(folder):
    """A disk of two megabytes."""
    place = folder / "disk"
    place.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True).returncode
    ):
        pytest.skip("mounting a small disk needs root")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_disk_full_before_an_append(percuss, small_disk) -> None:
    book = small_disk / "ledger"
    percuss("design", "ishigami", "--n", 4, "--ledger", book)
    before = percuss("log", "--json", "--ledger", book).out
    _fill(small_disk / "filler")
    percuss("note", "@last", "x", "--ledger", book).refused(4, "No space left", "nothing was appended")
    assert percuss("log", "--json", "--ledger", book).out == before
    assert percuss("audit", "--ledger", book).code == 0
    (small_disk / "filler").unlink()
    assert percuss("note", "@last", "x", "--ledger", book).id


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def test_disk_full_in_the_middle_of_a_campaign(percuss, make_study, small_disk, folder) -> None:
    make_study("slow", 'delay = "1 ms"')
    (folder / "percuss.toml").write_text("flush_s = 0.01\n")
    book = small_disk / "ledger"
    design = percuss("design", "slow", "--n", 64 * 20, "--ledger", book).id
    with (small_disk / "filler").open("wb") as file:
        free = os.statvfs(small_disk)
        file.write(bytes(free.f_bavail * free.f_frsize - 160_000))
    percuss("run", design, "--jobs", 1, "--ledger", book).refused(4, "No space left")
    (small_disk / "filler").unlink()
    assert percuss("audit", "--ledger", book).code == 0
    kept = sum(e["kind"] == "runs.completed" for e in json.loads(percuss("log", "--json", "--ledger", book).out))
    assert 0 < kept < 20
    again = json.loads(percuss("run", design, "--ledger", book, "--json").out)
    assert again["done"] == 1280 - 64 * kept
    assert again["completed"] == 1280


@pytest.fixture
def read_only(full):
    """The full ledger on a file system mounted read-only; or, without root, with no right to write."""
    if os.geteuid() == 0:
        bound = subprocess.run(["mount", "--bind", full, full], capture_output=True).returncode
        if bound or subprocess.run(["mount", "-o", "remount,ro,bind", full], capture_output=True).returncode:
            pytest.skip("root that may not mount cannot be kept from writing")
        yield full
        subprocess.run(["umount", "-l", full], check=True)
        return
    folders = [full, *(p for p in full.rglob("*") if p.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield full
    for folder in folders:
        folder.chmod(0o755)


def test_read_only_folder(read_only, percuss, monkeypatch) -> None:
    from percuss.ledger import streams

    # Reading works, also where the cache is out of date and cannot be renewed.
    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 0)
    ids = [event["id"] for event in json.loads(percuss("log", "--json").out)]
    assert percuss("audit", "--rerun", 1).code == 0
    assert percuss("replay").code == 0
    for command in (["note", "@last", "x"], ["design", "ishigami", "--n", 8], ["seal"], ["run", "@last:design"]):
        said = percuss(*command)
        if command[0] == "run":
            continue  # nothing is missing, so nothing is written
        said.refused(4, str(read_only.relative_to(read_only.parent)))
    assert [event["id"] for event in json.loads(percuss("log", "--json").out)] == ids


def test_folder_of_somebody_else(full, percuss) -> None:
    """A user without the right to read, or to write, is told so."""
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    for parent in full.parents:
        if parent.is_relative_to(full.parents[3]) and not parent.stat().st_mode & 0o5:
            parent.chmod(parent.stat().st_mode | 0o055)
    commands = (["note", "@last", "x"], ["log"], ["audit"], ["doctor"], ["seal"], ["design", "ishigami", "--n", 8])

    def as_nobody() -> list[tuple[str, Said]]:
        # What is imported at need is imported by now: nobody may not be able to read this installation.
        os.seteuid(65534)
        try:
            return [(command[0], percuss(*command)) for command in commands]
        finally:
            os.seteuid(0)

    for command in commands:
        assert percuss(*command).code == 0
    files = _files(full)
    for name, said in as_nobody():
        if name in ("log", "audit", "doctor"):
            assert said.code == 0, said
        else:
            said.refused(4, "Permission denied")
    for closed in (full / "streams" / "main", full / "streams", full / "blobs", full):
        closed.chmod(0o700)
        for name, said in as_nobody():
            told = said.out + said.err
            assert "fault" not in told.replace("--faults", ""), told
            assert said.code == (0 if (name, closed.name) == ("log", "blobs") else 4) or name in ("audit", "doctor"), (
                told
            )
            assert "Permission denied" in told or closed.name == "blobs" or name == "doctor", (name, closed, told)
        closed.chmod(0o755)
    assert _files(full) == files
