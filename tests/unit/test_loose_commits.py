"""Many loose commits, which the core reads, checks and puts together: the same rows as one by one, and the same words
of a file that is not as it should be."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

from percuss.errors import LedgerError
from percuss.ledger import files
from percuss.ledger.audit import prove_chain
from percuss.ledger.event import Draft
from percuss.ledger.files import parquet_bytes, read_frame, read_frames
from percuss.ledger.ledger import Ledger
from percuss.ledger.rows import parquet_schema
from percuss.ledger.streams import read_commits

COMMITS = 5


class OneByOne(files.System):
    """A machine without a core that reads many files at once."""

    def together(self, paths: Sequence[Path]) -> bytes:
        raise ValueError


class Counting(files.System):
    """A machine that counts the files that are opened one by one."""

    opened = 0

    def open(self, path: Path, flags: int) -> int:
        self.opened += path.suffix == ".parquet"
        return super().open(path, flags)


@pytest.fixture
def paths(ledger: Ledger) -> list[Path]:
    """Some commits of notes."""
    for number in range(COMMITS):
        ledger.append([Draft("note.added", {"text": f"note {number}" * number}) for _ in range(number % 2 + 1)])
    return [Path(path) for path in ledger.place.commits("main", range(1, COMMITS + 1))]


def _read(paths: list[Path], columns: list[str] | None = None) -> pl.DataFrame:
    return pl.concat(read_frames([[str(path) for path in paths]], parquet_schema(), columns))


def test_groups_of_files_are_a_frame_each(paths, monkeypatch) -> None:
    monkeypatch.setattr(files, "FILES_AT_A_TIME", 2)
    names = [str(path) for path in paths]
    frames = list(read_frames([names[:3], names[3:]], parquet_schema()))
    assert [frame.equals(_read(some)) for frame, some in zip(frames, (paths[:3], paths[3:]), strict=True)] == [True] * 2


@pytest.mark.parametrize("columns", [None, ["seq", "body"]])
def test_rows_are_those_of_the_files_one_by_one(paths, columns, monkeypatch) -> None:
    machine = Counting()
    monkeypatch.setattr(files, "system", machine)
    together = _read(paths, columns)
    assert machine.opened == 0
    monkeypatch.setattr(files, "system", OneByOne())
    assert together.equals(_read(paths, columns))
    assert together.equals(pl.concat(read_frame(path, columns) for path in paths))


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def _linked(path: Path) -> None:
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _without_digest(path: Path) -> None:
    frame = read_frame(path)
    frame.write_parquet(path, compression="zstd", statistics=False)


def _of_other_columns(path: Path) -> None:
    path.write_bytes(parquet_bytes(read_frame(path).drop("cause")))


def _no_parquet(path: Path) -> None:
    path.write_bytes(b"percuss.sha256")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_flipped, "do not match the digest"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "do not match the digest"),
        (_without_digest, "do not match the digest"),
        (_no_parquet, "do not match the digest"),
        (Path.unlink, "missing"),
        (_linked, "symbolic link"),
        (_pipe, "not a regular file"),
        (_folder, "not a regular file"),
        (_of_other_columns, "columns are not those of a commit"),
        (lambda path: os.truncate(path, files.LARGEST_COMMIT_BYTES + 1), "at most"),
    ],
)
@pytest.mark.parametrize("number", [0, 3])
def test_a_file_that_is_not_as_it_should_be_is_named(
    ledger: Ledger,
    paths: list[Path],
    damage: Callable[[Path], object],
    words: str,
    number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first, whose columns the others are held against, and one among them."""
    damage(paths[number])
    said = set()
    for machine in (files.System(), OneByOne()):
        monkeypatch.setattr(files, "system", machine)
        with pytest.raises(LedgerError, match=words) as caught:
            read_commits(ledger.place, "main", range(1, COMMITS + 1))
        said.add(str(caught.value))
    assert len(said) == 1 and said.pop().startswith(str(paths[number]))
    faults = prove_chain(ledger.place).proof.faults
    named = f"commit {number + 1} of stream main" if words == "missing" else str(paths[number])
    assert any(named in fault for fault in faults), faults


def test_a_file_of_another_writer_is_read_by_itself(paths, monkeypatch) -> None:
    """Whose Parquet the core does not put together: another compression, with a digest that it matches."""
    whole = _read(paths)
    real = pl.DataFrame.write_parquet
    monkeypatch.setattr(
        pl.DataFrame, "write_parquet", lambda frame, file, **how: real(frame, file, **how | {"compression": "gzip"})
    )
    paths[2].write_bytes(parquet_bytes(read_frame(paths[2])))
    machine = Counting()
    monkeypatch.setattr(files, "system", machine)
    assert _read(paths).equals(whole)
    assert machine.opened == COMMITS
