"""percuss anchor, and audit --anchor: which wrong ledgers pass, and which do not."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.golden.anchor.plain_verifier import verify

from percuss.anchors.anchor import parse_text
from percuss.ledger.event import hash_fields
from percuss.ledger.place import open_place
from percuss.ledger.rows import commit_bytes, from_frame, to_frame
from percuss.ledger.streams import read_frame


@pytest.fixture
def kept(percuss, folder) -> Path:
    """A ledger with two shards and an anchor of it."""
    design = percuss("design", "ishigami", "--n", 100).id
    for part in ("1/2", "2/2"):
        percuss("run", design, "--shard", part)
    percuss("adopt")
    percuss("run", design)
    said = percuss("anchor", "--to", "anchor.json", "--event", "@last:campaign", "--event", "@last:runs")
    assert said.code == 0, said.err
    assert verify(json.loads((folder / "anchor.json").read_text())) == said.out.strip()
    return folder / "anchor.json"


def _audit(percuss, *more: object):  # type: ignore[no-untyped-def]
    said = percuss("audit", "--rerun", 0, "--anchor", "anchor.json", "--json", *more)
    return said, json.loads(said.out)


def _rewritten(ledger: Path, stream: str) -> None:
    """Write a stream anew from its first event on, in a chain that is whole."""
    place = open_place(ledger)
    prev = place.genesis(stream)
    hashes: dict[str, str] = {}
    for path in sorted((ledger / "streams" / stream).glob("*.parquet")):
        events = []
        for event in from_frame(read_frame(path)):
            inputs = tuple(replace(item, hash=hashes.get(item.id, item.hash)) for item in event.inputs)
            new = replace(event, actor="somebody else", prev=prev, inputs=inputs)
            prev = hash_fields(new)
            hashes[event.id] = prev
            events.append(replace(new, hash=prev))
        path.write_bytes(commit_bytes(to_frame(events), place.format))
    shutil.rmtree(ledger / "cache", ignore_errors=True)


def test_the_ledger_itself_and_one_that_has_grown_hold(kept, percuss, folder) -> None:
    said, told = _audit(percuss)
    assert said.code == 0
    assert told["tiers"] == {"whole": True, "sealed": False, "anchored": True, "repeated": False}
    percuss("note", "@last", "more")
    percuss("seal")
    percuss("note", "@last", "and more")
    said, told = _audit(percuss)
    assert said.code == 0
    assert told["tiers"]["sealed"]
    assert percuss("anchor", "--to", "newer.json", "--since", "anchor.json").code == 0
    newer = json.loads((folder / "newer.json").read_text())
    older = json.loads(kept.read_text())
    verify(newer, older)
    with pytest.raises(AssertionError, match="another anchor"):
        verify(older, newer)
    # A proof that is not of these texts is no proof.
    newer["consistency"]["main"] = newer["consistency"]["main"][::-1] or ["00" * 32]
    with pytest.raises(AssertionError):
        verify(newer)


def test_a_ledger_that_was_cut_short_passes_without_and_fails_with_it(kept, percuss, folder) -> None:
    percuss("note", "@last", "one more")
    kept.unlink()
    percuss("anchor", "--to", "anchor.json")
    max((folder / "ledger" / "streams" / "main").glob("*.parquet")).unlink()
    shutil.rmtree(folder / "ledger" / "cache", ignore_errors=True)
    assert percuss("audit", "--rerun", 0).code == 0
    said, told = _audit(percuss)
    assert said.code == 1
    assert "cut short" in told["anchor"]["faults"][0]
    percuss("anchor", "--to", "new.json", "--since", "anchor.json").refused(2, "does not go on from it")


def test_a_main_that_was_written_anew_fails(kept, percuss, folder) -> None:
    percuss("design", "ishigami", "--n", 4, "--ledger", "other")
    kept.unlink()
    percuss("anchor", "--to", "anchor.json", "--ledger", "other")
    _rewritten(folder / "other", "main")
    assert percuss("audit", "--rerun", 0, "--ledger", "other").code == 0
    said, told = _audit(percuss, "--ledger", "other")
    assert said.code == 1
    assert "rewritten" in told["anchor"]["faults"][0]


def test_an_anchor_of_another_ledger_and_streams_that_changed_places_fail(kept, percuss, folder) -> None:
    percuss("design", "ishigami", "--n", 4, "--ledger", "other")
    said, told = _audit(percuss, "--ledger", "other")
    assert said.code == 1
    assert "another ledger" in told["anchor"]["faults"][0]
    streams = folder / "ledger" / "streams"
    names = sorted(path.name for path in streams.iterdir() if path.name != "main")
    first, second = streams / names[0], streams / names[1]
    first.rename(streams / "x")
    second.rename(first)
    (streams / "x").rename(second)
    shutil.rmtree(folder / "ledger" / "cache", ignore_errors=True)
    said, told = _audit(percuss)
    assert said.code == 1
    assert len(told["anchor"]["faults"]) >= 2


def test_a_file_that_was_changed_is_refused(kept, percuss, folder) -> None:
    text = kept.read_text()
    for wrong in (text.replace("main ", "mian "), text.replace("root ", "root 0"), "{}", "[" * 9999, "x"):
        kept.write_text(wrong)
        percuss("audit", "--anchor", "anchor.json").refused(2, "anchor.json")
    percuss("anchor", "--to", "ledger/anchor.json").refused(2, "inside the ledger")


def test_a_proof_under_the_name_of_another_event(kept, percuss, folder) -> None:
    """What is proved is a hash; the id beside it is anybody's to write."""
    document = json.loads(kept.read_text())
    one, other = document["inclusions"]
    one["event"], other["event"] = other["event"], one["event"]
    verify(document)
    kept.write_text(json.dumps(document))
    said, told = _audit(percuss)
    assert said.code == 1 and not told["tiers"]["anchored"]
    assert f"names the event {one['event']}, and proves another" in said.out


def test_an_anchor_that_leaves_main_out_is_none(kept, percuss, folder) -> None:
    """Of nothing, or of shards alone: every line of it would hold in a ledger whose main was written anew."""
    document = json.loads(kept.read_text())
    checkpoint = parse_text(document["text"], "anchor.json")
    shards = tuple(stream for stream in checkpoint.streams if stream.name != "main")
    main = next(stream for stream in checkpoint.streams if stream.name == "main")
    for streams in ((), shards, (main, main, *shards)):
        forged = {**document, "text": replace(checkpoint, streams=streams).text, "inclusions": []}
        kept.write_text(json.dumps(forged))
        percuss("audit", "--anchor", "anchor.json", "--rerun", 0).refused(2, "anchor.json")
        with pytest.raises(AssertionError):
            verify(forged)


@pytest.fixture
def key(folder) -> Path:
    """An SSH key of this test."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / "key")]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    (folder / "signers").write_text("jane@example.org " + (folder / "key.pub").read_text())
    return folder / "key"


def test_signatures(kept, key, percuss, folder) -> None:
    kept.unlink()
    assert percuss("anchor", "--to", "anchor.json", "--sign", key).code == 0
    said, told = _audit(percuss)
    assert said.code == 0
    assert "nobody said whose it is" in told["anchor"]["testimonies"][0]["sentence"]
    said, told = _audit(percuss, "--signers", "signers")
    assert said.code == 0
    assert "signed by jane@example.org" in told["anchor"]["testimonies"][0]["sentence"]
    assert "jane@example.org" in percuss("audit", "--rerun", 0, "--anchor", "anchor.json", "--signers", "signers").out
    # Of somebody else, of another text, and left out.
    (folder / "signers").write_text((folder / "signers").read_text().replace("AAAAI", "AAAAJ"))
    assert _audit(percuss, "--signers", "signers")[0].code == 1
    document = json.loads(kept.read_text())
    percuss("note", "@last", "more")
    kept.unlink()
    percuss("anchor", "--to", "anchor.json")
    other = json.loads(kept.read_text())
    kept.write_text(json.dumps(other | {"testimonies": document["testimonies"]}))
    said, told = _audit(percuss)
    assert said.code == 1
    assert "not of this text" in told["anchor"]["testimonies"][0]["sentence"]
    kept.write_text(json.dumps(other))
    assert _audit(percuss)[0].code == 0
    assert _audit(percuss, "--signers", "signers")[0].code == 1
    percuss("anchor", "--to", "x.json", "--sign", "no-key").refused(2, "there is no such key")


@pytest.fixture
def authority(folder) -> Iterator[str]:
    """A time stamp authority on this machine: openssl behind a port of 127.0.0.1."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    home = folder / "tsa"
    home.mkdir()
    (home / "serial").write_text("01")
    (home / "tsa.cnf").write_text(
        "[tsa]\ndefault_tsa = one\n[one]\n"
        f"serial = {home}/serial\nsigner_cert = {home}/cert.pem\ncerts = {home}/cert.pem\nsigner_key = {home}/key.pem\n"
        "signer_digest = sha256\ndefault_policy = 1.2.3.4.1\ndigests = sha256\nordering = yes\ntsa_name = yes\n"
    )
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-keyout",
         str(home / "key.pem"), "-out", str(home / "cert.pem"), "-addext", "extendedKeyUsage=critical,timeStamping"],
        check=True, capture_output=True, env=os.environ,
    )  # fmt: skip

    class Stamp(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            (home / "question").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            command = ["openssl", "ts", "-reply", "-config", str(home / "tsa.cnf"), "-section", "one"]
            answer = subprocess.run(
                [*command, "-queryfile", str(home / "question")], check=True, capture_output=True
            ).stdout
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Stamp)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_time_stamps(kept, authority, percuss, folder) -> None:
    kept.unlink()
    said = percuss("anchor", "--to", "anchor.json", "--stamp", authority)
    assert said.code == 0, said.err
    said, told = _audit(percuss)
    assert said.code == 0
    assert "nobody said whom to trust" in told["anchor"]["testimonies"][0]["sentence"]
    said, told = _audit(percuss, "--authorities", "tsa/cert.pem")
    assert said.code == 0
    assert told["anchor"]["testimonies"][0]["trusted"]
    document = json.loads(kept.read_text())
    percuss("note", "@last", "more")
    kept.unlink()
    percuss("anchor", "--to", "anchor.json")
    other = json.loads(kept.read_text())
    kept.write_text(json.dumps(other | {"testimonies": document["testimonies"]}))
    said, told = _audit(percuss)
    assert said.code == 1
    assert "another text" in told["anchor"]["testimonies"][0]["sentence"]
    percuss("anchor", "--to", "x.json", "--stamp", "ftp://x").refused(2, "http")
    percuss("anchor", "--to", "x.json", "--stamp", "http://127.0.0.1:1/").refused(2, "did not answer")


def test_an_anchor_is_never_overwritten(kept, percuss, folder) -> None:
    before = (folder / "anchor.json").read_bytes()
    percuss("anchor", "--to", "anchor.json").refused(2, "anchor.json", "is there already")
    assert (folder / "anchor.json").read_bytes() == before


def test_from_python(kept, folder) -> None:
    import percuss as api

    ledger = api.open_ledger(folder / "ledger", progress=False)
    root = ledger.anchor(folder / "again.json", events=["@last:campaign"], since=kept)
    assert verify(json.loads((folder / "again.json").read_text())) == root
    assert ledger.audit(rerun=0, anchor=folder / "again.json").holds
