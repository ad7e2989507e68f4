"""Small files that stand for large tables, in ledgers and beside them: refused before they are unpacked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.bombs import parquet_bomb
from tests.drafts import study_draft

from percuss.errors import InputError, LedgerError
from percuss.ledger import files
from percuss.ledger.audit import prove_chain, prove_payloads
from percuss.ledger.blobs import blob_path, get_rows, get_table, payload_fault
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Blob
from percuss.ledger.ledger import Ledger
from percuss.measured import parse_measured

MANY = 2**31 - 1
STANDS_FOR = r"bytes that stand for a table of \d{11,}, and at most \d+ are read"


def test_a_file_that_is_no_bomb_is_read() -> None:
    """Else all that follows would prove nothing."""
    assert files.parse_parquet(Path("x"), parquet_bomb(1000, pages=3))["x"].to_list() == [0] * 3000
    assert files.parse_parquet(Path("x"), parquet_bomb(10, "word"))["x"].to_list() == ["word"] * 10
    assert files.check_bytes(parquet_bomb(10))


@pytest.mark.parametrize(
    "bomb",
    [parquet_bomb(MANY), parquet_bomb(MANY, "x"), parquet_bomb(MANY, pages=9), parquet_bomb(MANY, named=10)],
    ids=["numbers", "text", "pages", "footer"],
)
def test_many_rows_in_few_bytes(ledger, bomb) -> None:
    """In a commit, a segment, a payload: whatever reads it."""
    assert len(bomb) < 1000
    ledger.append([study_draft()])
    path = ledger.place.commit("main", 1)
    path.write_bytes(bomb)
    with pytest.raises(LedgerError, match=STANDS_FOR):
        Ledger.open(ledger.place.root).events()
    with pytest.raises(LedgerError, match=STANDS_FOR):
        ledger.head()
    (fault,) = prove_chain(ledger.place).proof.faults
    assert fault.startswith(f"{path}: ") and "stand for a table of" in fault


def _forged(book: Ledger, data: bytes, rows: int) -> Blob:
    blob = Blob("runs", sha256_hex(data), "0" * 64, rows, len(data))
    path = blob_path(book.place, blob)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return blob


def test_a_payload(ledger) -> None:
    blob = _forged(ledger, parquet_bomb(MANY), MANY)
    ledger.append([study_draft([blob])])
    walk = prove_chain(ledger.place)
    (fault,) = prove_payloads(ledger.place, walk).faults
    assert str(blob_path(ledger.place, blob)) in fault and "stand for a table of" in fault
    for read in (get_table, payload_fault, lambda *args: get_rows(*args, 0, 10)):
        with pytest.raises(LedgerError, match=STANDS_FOR):
            read(ledger.place, blob)


def test_a_large_payload_that_is_read_in_slices(ledger, monkeypatch) -> None:
    monkeypatch.setattr("percuss.ledger.blobs.SLICED_BYTES", 10)
    blob = _forged(ledger, parquet_bomb(MANY), MANY)
    for read in (payload_fault, lambda *args: get_rows(*args, 0, 10)):
        with pytest.raises(LedgerError, match=STANDS_FOR):
            read(ledger.place, blob)


def test_one_long_text_in_many_rows(ledger, monkeypatch) -> None:
    """Readers keep it once, and whoever lays it out needs a terabyte."""
    bomb = parquet_bomb(1_000_000, "x" * 1_000_000)
    with pytest.raises(LedgerError, match="texts of 1000000000000 bytes, and at most"):
        files.parse_parquet(Path("x"), bomb)
    blob = _forged(ledger, bomb, 1_000_000)
    monkeypatch.setattr("percuss.ledger.blobs.SLICED_BYTES", 10)
    with pytest.raises(LedgerError, match=r"texts of \d{12,} bytes, and at most"):
        payload_fault(ledger.place, blob)


def test_texts_in_lists_and_structs_are_counted(monkeypatch) -> None:
    monkeypatch.setattr(files, "LARGEST_TABLE_BYTES", 100)
    for column in ([["x" * 60, "y" * 60]], [{"a": "x" * 60, "b": [{"c": "y" * 60}]}], ["x" * 120]):
        with pytest.raises(InputError, match="texts of 120 bytes, and at most 100 are read"):
            files.check_text_size([pl.Series(column)])
        files.check_text_size([pl.Series(column[:0], dtype=pl.Series(column).dtype)])
    files.check_text_size([pl.Series(["x" * 99]), pl.Series([1.0]), pl.Series([[1]]), pl.Series([None, None])])


def test_what_would_not_be_read_is_not_written(ledger, monkeypatch) -> None:
    monkeypatch.setattr(files, "LARGEST_SMALL_TABLE_BYTES", 1000)
    monkeypatch.setattr(files, "LARGEST_RATIO", 1)
    with pytest.raises(InputError, match=r"table runs: \d+ bytes that stand for a table of 1000"):
        ledger.put_table("runs", pl.select(x=pl.repeat(1.0, 10_000)))
    assert not (ledger.place.root / "blobs").exists()


def test_a_table_to_import() -> None:
    with pytest.raises(InputError, match=rf"^a\.parquet: \d+ {STANDS_FOR}$"):
        parse_measured("a.parquet", parquet_bomb(MANY, named=10))


def test_real_tables_are_not_taken_for_bombs(ledger) -> None:
    """Ten million equal numbers, as a campaign whose runs all fail may leave them; long texts that compress well."""
    for frame in (
        pl.select(x=pl.repeat(0.0, 10_000_000), y=pl.repeat(None, 10_000_000, dtype=pl.Float64)),
        pl.DataFrame({"text": ["line\n" * 20_000] * 500}),
        pl.DataFrame({"curve": [[0.0] * 1000] * 5000}),
        pl.DataFrame({"x": []}, schema={"x": pl.Float64}),
    ):
        blob = ledger.put_table("runs", frame)
        assert payload_fault(ledger.place, blob) is None


PEAK = """
import sys
from percuss.cli.app import main
try:
    main()
finally:
    print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("verb", ["log", "audit"])
def test_memory_stays_small(ledger, verb) -> None:
    """A process of its own reads a commit that stands for 17 GB, and is done with it."""
    ledger.append([study_draft()])
    ledger.place.commit("main", 1).write_bytes(parquet_bomb(MANY))
    command = [sys.executable, "-c", PEAK, verb, "--ledger", str(ledger.place.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == {"log": 4, "audit": 1}[verb], done
    assert (done.stdout + done.stderr).count("stand for a table of") == 1, done
    assert int(done.stdout.split()[-1]) < 400 * 1024
