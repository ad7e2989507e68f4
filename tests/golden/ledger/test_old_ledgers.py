"""Ledgers of every format, as they were when every kind of event was first there, are read to the bit."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from percuss.ledger.blobs import table_digest
from percuss.ledger.canonical import canonical_json, sha256_hex
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import fold, state_tables

HERE = Path(__file__).parent


@pytest.fixture(scope="module", params=["format-1", "format-2"])
def name(request: pytest.FixtureRequest) -> str:
    """Which ledger."""
    return str(request.param)


@pytest.fixture(scope="module")
def told(name: str) -> dict[str, Any]:
    """What was read of it then."""
    facts: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text())
    return facts


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """The ledger, unpacked."""
    where = tmp_path_factory.mktemp("old")
    with tarfile.open(HERE / f"{name}.tar.xz") as archive:
        archive.extractall(where, filter="data")
    return where / "ledger"


def test_every_event_and_table_reads_as_it_did(old: Path, told: dict[str, Any]) -> None:
    book = Ledger.open(old)
    events = book.events()
    assert [(e.id, e.kind, e.version, e.hash) for e in events] == [
        (e["id"], e["kind"], e["version"], e["hash"]) for e in told["events"]
    ]
    for event, expected in zip(events, told["events"], strict=True):
        assert event.computed_hash() == event.hash
        assert sha256_hex(canonical_json(event.data).encode()) == expected["body"], event.kind
        for role, digest in expected["tables"].items():
            assert table_digest(book.table(event, role)) == digest, (event.kind, role)


def test_the_state_is_the_same(old: Path, told: dict[str, Any]) -> None:
    tables = state_tables(fold(Ledger.open(old).events()))
    assert {name: table_digest(table) for name, table in tables.items()} == told["state"]


def test_the_reader_from_the_page_reads_it(old: Path, told: dict[str, Any]) -> None:
    from tests.golden.ledger.plain_reader import read_ledger

    _, streams = read_ledger(old)
    hashes = {row["hash"] for rows in streams.values() for row in rows}
    assert hashes == {event["hash"] for event in told["events"]}


def test_a_ledger_goes_on_in_the_format_it_was_begun_with(old: Path, name: str, percuss) -> None:
    from tests.golden.ledger.plain_reader import read_ledger

    id = percuss("note", "@last", "gone on with", "--ledger", old).id
    percuss("seal", "--ledger", old)
    event = Ledger.open(old).event(id)
    assert (event.call is None) == (name == "format-1")
    assert percuss("audit", "--ledger", old, "--rerun", 0).code == 0
    read_ledger(old)


def test_the_audit_holds(percuss, old: Path) -> None:
    said = percuss("audit", "--ledger", old, "--rerun", 1)
    assert said.code == 0, said.out


# Columns that builds after these ledgers write: whoever reads one must do without it.
ADDED = {("posterior.sampled", "data"): {"loo_pit"}}


def test_tables_are_those_that_kinds_declare(old: Path) -> None:
    """Every table an event carries is declared by its kind, with the columns it has; what always is there, is."""
    from percuss.kinds.table import KINDS

    book = Ledger.open(old)
    for event in book.events():
        declared = KINDS[event.kind].tables
        carried = {blob.role for blob in event.blobs if not blob.role.startswith("file:")}
        assert carried <= set(declared), (event.kind, carried - set(declared))
        assert {role for role, table in declared.items() if table.always} <= carried, event.kind
        for role in carried:
            columns = set(book.table(event, role).columns)
            missing = set(declared[role].columns) - columns - ADDED.get((event.kind, role), set())
            assert not missing, (event.kind, role, missing)


def test_exported_tables_carry_the_units_that_kinds_declare(percuss, old: Path) -> None:
    said = percuss("export", "csv", "@last:validation", "--table", "course", "--ledger", old)
    assert said.out.splitlines()[0].startswith("t_s,")
    draws = percuss("export", "csv", "@last:posterior", "--table", "draws", "--ledger", old)
    assert draws.out.splitlines()[0] == "chain,draw,x1,x2,log_likelihood,log_prior"
