"""Files with some bytes changed, as strangers and bad disks make them: refused or read, never a fault of percuss.

`make fuzz` takes many more of them. What a change finds becomes a test of its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import polars as pl
import pytest
from hypothesis import strategies as st
from tests.bombs import resealed

from percuss.errors import LedgerError, PercussError
from percuss.ledger import files

Change = tuple[str, float, bytes]
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["set", "insert", "delete", "cut", "repeat"]),
        st.floats(0, 1, exclude_max=True),
        st.one_of(
            st.binary(min_size=1, max_size=9), st.sampled_from([b"\x00" * 8, b"\xff" * 8, b"[[", b"nan", b"1e999"])
        ),
    ),
    min_size=1,
    max_size=4,
)


def changed(data: bytes, changes: list[Change]) -> bytes:
    """Bytes with these changes made to them."""
    for what, where, other in changes:
        at = int(where * len(data))
        match what:
            case "set":
                data = data[:at] + other + data[at + len(other) :]
            case "insert":
                data = data[:at] + other + data[at:]
            case "delete":
                data = data[:at] + data[at + len(other) :]
            case "cut":
                data = data[:at]
            case "repeat":
                data = data[:at] + data[max(at - 40, 0) : at] + data[at:]
    return data


@contextlib.contextmanager
def silence(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """No panic and no traceback is shown."""
    yield
    said = capfd.readouterr()
    assert "panicked" not in said.err, said.err
    assert "Traceback" not in said.err, said.err


WITHOUT_RESET = hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])


@WITHOUT_RESET
@hypothesis.given(CHANGES)
def test_studies(tmp_path, capfd, changes) -> None:
    from tests.conftest import ISHIGAMI

    from percuss.study.load import load_study

    path = tmp_path / "study.toml"
    path.write_bytes(changed(ISHIGAMI.format(settings="").encode(), changes))
    with silence(capfd), contextlib.suppress(PercussError):
        load_study(path).resolved()


TABLE = pl.DataFrame({"x1": [1.0, 2.0, None], "name": ["a", "b", "c"], "n": [1, 2, 3], "l": [[1.0], [], [2.0]]})


@WITHOUT_RESET
@hypothesis.given(CHANGES, st.sampled_from([".parquet", ".csv"]))
def test_tables(tmp_path, capfd, changes, suffix) -> None:
    from percuss.measured import parse_measured

    path = tmp_path / f"table{suffix}"
    if suffix == ".parquet":
        TABLE.write_parquet(path)
    else:
        TABLE.drop("l").write_csv(path)
    with silence(capfd), contextlib.suppress(PercussError):
        parse_measured(str(path), changed(path.read_bytes(), changes))


@pytest.fixture(scope="module")
def commits() -> tuple[bytes, bytes]:
    """A commit and the identity of a ledger."""
    from percuss.ledger.event import Draft, Maker, Software
    from percuss.ledger.place import identity_bytes
    from percuss.ledger.rows import to_frame
    from percuss.ledger.streams import Head, chain

    maker = Maker(("percuss",), "me", "here", Software("1", "c", "core", "lock"))
    events = chain(
        [Draft("note.added", {"text": "x"}), Draft("note.added", {"text": ""})], "main", Head(0, 0, "0"), maker, 1
    )
    return files.parquet_bytes(to_frame(events)), identity_bytes("01890a5d-ac96-774b-bcce-b302099a8057")


@WITHOUT_RESET
@hypothesis.given(CHANGES, st.booleans())
def test_ledgers(tmp_path, capfd, commits, changes, again) -> None:
    from percuss.ledger.audit import prove_chain
    from percuss.ledger.ledger import Ledger
    from percuss.ledger.place import open_place

    root = tmp_path / "ledger"
    (root / "streams" / "main").mkdir(parents=True, exist_ok=True)
    (root / "ledger.toml").write_bytes(commits[1])
    path = root / "streams" / "main" / "0000000001.parquet"
    data = changed(commits[0], changes)
    path.write_bytes(resealed(data) if again else data)
    with silence(capfd):
        with contextlib.suppress(LedgerError):
            Ledger.open(root).events(cached=False)
        assert not prove_chain(open_place(root)).proof.holds
        (root / "ledger.toml").write_bytes(changed(commits[1], changes))
        with contextlib.suppress(LedgerError):
            open_place(root)


@WITHOUT_RESET
@hypothesis.given(CHANGES)
def test_contact_problems(tmp_path, capfd, changes) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    from percuss import fclib

    path = tmp_path / "problem.hdf5"
    if not path.exists():
        with h5py.File(path, "w") as file:
            group = file.create_group("fclib_local")
            group["spacedim"], group["vectors/q"], group["vectors/mu"] = [3], [-1.0, 3.0, 0.0], [0.4]
            group["W/m"], group["W/n"], group["W/nz"] = [3], [3], [3]
            group["W/i"], group["W/p"], group["W/x"] = [0, 1, 2], [0, 1, 2], [0.5, 0.5, 0.5]
    other = Path(tmp_path / f"other-{os.getpid()}.hdf5")
    other.write_bytes(changed(path.read_bytes(), changes))
    with silence(capfd), contextlib.suppress(PercussError):
        fclib.compare(fclib.read(other), ["nsgs"], max_iterations=5)


NUMBERS = st.one_of(
    st.integers(-5, 5), st.sampled_from([2**31, -(2**31), 2**62, float("nan"), float("inf"), 1e308, 0.5])
)


@WITHOUT_RESET
@hypothesis.given(
    st.fixed_dictionaries(
        {
            key: st.lists(NUMBERS, max_size=5)
            for key in ("spacedim", "vectors/q", "vectors/mu", "W/m", "W/n", "W/nz", "W/i", "W/p", "W/x")
        }
    ),
    st.sets(st.sampled_from(["spacedim", "vectors/q", "vectors/mu", "W/m", "W/n", "W/nz", "W/i", "W/p", "W/x"])),
    st.sampled_from([3, -1, -2]),
)
def test_contact_problems_of_odd_numbers(tmp_path, capfd, values, odd, layout) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    from percuss import fclib

    good = {
        "spacedim": [3], "vectors/q": [-1.0, 3.0, 0.0], "vectors/mu": [0.4], "W/m": [3], "W/n": [3], "W/nz": [layout],
        "W/i": [0, 1, 2], "W/p": [0, 1, 2, 3] if layout < 0 else [0, 1, 2], "W/x": [0.5, 0.5, 0.5],
    }  # fmt: skip
    path = tmp_path / "problem.hdf5"
    with h5py.File(path, "w") as file:
        for key, value in good.items():
            file[f"fclib_local/{key}"] = values[key] if key in odd else value
    with silence(capfd), contextlib.suppress(PercussError):
        fclib.compare(fclib.read(path), ["nsgs"], max_iterations=5)
