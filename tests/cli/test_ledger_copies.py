"""Ledgers travel: copies in folders and in object stores, resumed, verified, and never overwritten.

The object stores are real servers on this machine: `s3s-fs` (cargo install s3s-fs --features binary) if it is on the
PATH, and the server of moto (extra `test`).
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from percuss.errors import InputError, LedgerError
from percuss.ledger.copies import copy_ledger
from percuss.ledger.ledger import Ledger
from percuss.ledger.stores import Folder, open_store


@pytest.fixture
def filled(percuss, once, folder) -> Path:
    """A ledger with payloads, a sealed segment and loose commits."""

    def make() -> None:
        for n in (8, 16, 24):
            percuss("run", percuss("design", "ishigami", "--n", n).id)
        percuss("seal")
        percuss("note", "@last:campaign", "sealed before this")

    return once("filled", make)


def _same(percuss, one: str, other: str) -> None:
    logs = [percuss("log", "--limit", 0, "--json", "--ledger", name).out for name in (one, other)]
    assert logs[0] == logs[1]
    assert percuss("audit", "--ledger", other).code == 0


def test_copy_and_pull(percuss, filled, folder) -> None:
    said = percuss("ledger", "copy", "ledger", "copy", "--json")
    first = json.loads(said.out)
    assert first["payloads"] > 5
    assert first["events"]["main"] == len(Ledger.open(filled).events())
    _same(percuss, "ledger", "copy")
    assert "nothing was missing" in percuss("ledger", "copy", "ledger", "copy").err

    percuss("note", "@last:campaign", "later")
    percuss("run", percuss("design", "ishigami", "--n", 4).id)
    percuss("seal")
    head = percuss("audit", "--json").out
    again = json.loads(percuss("ledger", "pull", "ledger", "copy", "--json").out)
    assert 0 < again["bytes"] < first["bytes"]
    assert again["head"] == json.loads(head)["head"]
    _same(percuss, "ledger", "copy")


def test_pull_needs_a_ledger_and_copy_a_source(percuss, filled) -> None:
    percuss("ledger", "pull", "ledger", "nowhere").refused(4, "nowhere", "there is no ledger")
    percuss("ledger", "copy", "nowhere", "copy").refused(4, "nowhere", "there is no ledger")
    assert not Path("copy").exists()


def test_ledgers_that_went_separate_ways(percuss, filled) -> None:
    percuss("ledger", "copy", "ledger", "copy")
    percuss("note", "@last", "here", "--ledger", "ledger")
    percuss("note", "@last", "there", "--ledger", "copy")
    before = percuss("log", "--json", "--ledger", "copy").out
    for source, target in (("ledger", "copy"), ("copy", "ledger")):
        said = percuss("ledger", "copy", source, target).refused(2, "stream main", "separate ways")
        assert "--shard" in said.err
    assert percuss("log", "--json", "--ledger", "copy").out == before
    percuss("design", "ishigami", "--n", 2, "--ledger", "other")
    percuss("ledger", "copy", "ledger", "other").refused(2, "another ledger")


def test_a_copy_that_is_ahead_is_left_alone(percuss, filled) -> None:
    percuss("ledger", "copy", "ledger", "copy")
    percuss("note", "@last", "there", "--ledger", "copy")
    assert "nothing was missing" in percuss("ledger", "copy", "ledger", "copy").err
    assert percuss("ledger", "pull", "copy").code == 0
    _same(percuss, "copy", "ledger")


class Breaking(Folder):
    """A folder on a line that breaks after some writes."""

    def __init__(self, root: Path, writes: int) -> None:
        super().__init__(root)
        self.left = writes

    def put_if_absent(self, name: str, data: bytes) -> bool:
        self.left -= 1
        if self.left < 0:
            raise LedgerError("the line broke")
        return super().put_if_absent(name, data)


def test_a_copy_that_breaks_off_is_whole_and_is_taken_up_again(percuss, filled, folder, monkeypatch) -> None:
    from percuss.ledger import copies

    monkeypatch.setattr(copies, "AT_A_TIME", 1)
    total = len([p for p in filled.rglob("*.*") if p.is_file() and "cache" not in p.parts and p.suffix != ".lock"])
    broken = 0
    for writes in range(2, total + 3):
        try:
            copy_ledger(Folder(filled), Breaking(folder / "copy", writes), begin=True)
            break
        except LedgerError as fault:
            assert "the line broke" in str(fault)
            broken += 1
        if (folder / "copy" / "streams").exists() or (folder / "copy" / "sealed").exists():
            assert percuss("audit", "--ledger", "copy", "--rerun", 0).code == 0
    assert broken > 2
    _same(percuss, "ledger", "copy")


def test_damage_does_not_travel(percuss, filled, folder) -> None:
    for pattern in ("blobs/*/*.parquet", "sealed/main/*.parquet", "streams/main/*.parquet"):
        shutil.rmtree(folder / "copy", ignore_errors=True)
        path = sorted(filled.glob(pattern))[0]
        whole = path.read_bytes()
        path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
        with pytest.raises(LedgerError, match="do not match"):
            copy_ledger(Folder(filled), Folder(folder / "copy"), begin=True)
        path.write_bytes(whole)
    (filled / "streams" / "link").symlink_to("/etc")
    with pytest.raises(LedgerError, match="should be a folder or file"):
        copy_ledger(Folder(filled), Folder(folder / "copy"), begin=True)


def test_a_store_that_overwrites_is_refused(filled, folder) -> None:
    class Careless(Folder):
        def put_if_absent(self, name: str, data: bytes) -> bool:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return True

    with pytest.raises(LedgerError, match="written twice") as fault:
        copy_ledger(Folder(filled), Careless(folder / "copy"), begin=True)
    assert "If-None-Match" in str(fault.value.hint)
    assert [p.name for p in (folder / "copy").iterdir()] == ["ledger.toml"]


def test_without_obstore_the_extra_is_named(percuss, filled, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    said = percuss("ledger", "copy", "ledger", "s3://bucket/x").refused(2, "not installed")
    assert "percuss[cloud]" in said.err


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


SERVERS = {
    "s3s-fs": (lambda: shutil.which("s3s-fs"), "s3s-fs is not on the PATH"),
    "moto": (lambda: find_spec("moto") and find_spec("flask"), "moto[server] is not installed"),
}


@pytest.fixture(params=list(SERVERS))
def bucket(request, tmp_path_factory, monkeypatch) -> Iterator[str]:
    """The URL of an empty prefix on a running server."""
    pytest.importorskip("obstore", reason="obstore is not installed (extra `cloud`)")
    there, why = SERVERS[request.param]
    if not there():
        pytest.skip(why)
    port, root = _free_port(), tmp_path_factory.mktemp("s3")
    if request.param == "s3s-fs":
        (root / "bucket").mkdir()
        call = ["s3s-fs", "--host", "127.0.0.1", "--port", port, "--access-key", "key", "--secret-key", "secret", root]
    else:
        call = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", port]
    server = subprocess.Popen([str(item) for item in call], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    give_up = time.monotonic() + 60
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        assert server.poll() is None
        assert time.monotonic() < give_up
        time.sleep(0.05)
    endpoint = f"http://127.0.0.1:{port}"
    if request.param == "moto":
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/bucket", method="PUT")).close()
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    settings = {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "REGION": "us-east-1", "ENDPOINT": endpoint}
    for name, value in {**settings, "ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    yield "s3://bucket/project"
    server.terminate()
    server.wait(30)


def test_an_object_store_keeps_the_first(bucket) -> None:
    store = open_store(bucket)
    assert store.get("a/b") is None
    assert store.put_if_absent("a/b", b"first")
    assert not store.put_if_absent("a/b", b"second")
    assert store.get("a/b") == b"first"
    assert store.sizes("a") == {"a/b": 5}
    assert store.sizes("none") == {}


def test_there_and_back_through_an_object_store(percuss, filled, bucket, folder) -> None:
    assert percuss("ledger", "copy", "ledger", bucket).code == 0
    assert "nothing was missing" in percuss("ledger", "copy", "ledger", bucket).err
    assert percuss("ledger", "copy", bucket, "back").code == 0
    _same(percuss, "ledger", "back")
    percuss("note", "@last", "here", "--ledger", "ledger")
    percuss("note", "@last", "there", "--ledger", "back")
    assert percuss("ledger", "copy", "ledger", bucket).code == 0
    percuss("ledger", "copy", "back", bucket).refused(2, "separate ways")


def test_shards_meet_in_an_object_store(percuss, bucket) -> None:
    """Two machines with nothing in common but a bucket."""
    design = percuss("design", "ishigami", "--n", 200).id
    percuss("ledger", "copy", "ledger", bucket)
    for k in (1, 2):
        assert percuss("ledger", "copy", bucket, f"machine{k}").code == 0
        assert percuss("run", design, "--shard", f"{k}/2", "--ledger", f"machine{k}").code == 0
        assert percuss("ledger", "copy", f"machine{k}", bucket).code == 0
    said = percuss("ledger", "pull", bucket)
    assert "percuss adopt" in said.err
    assert percuss("adopt").code == 0
    done = json.loads(percuss("run", design, "--json").out)
    assert (done["done"], done["completed"]) == (0, 200)
    assert percuss("audit").code == 0


def test_a_server_that_is_not_there(percuss, filled, bucket, monkeypatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    percuss("ledger", "copy", "ledger", "s3://no-such-bucket/x").refused(4, "s3://no-such-bucket/x", "cannot be")
    with pytest.raises(InputError, match="no object store"):
        open_store("nonsense://x")
