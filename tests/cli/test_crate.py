"""Crates: written, read on another machine, and refused when anything in them was changed."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Call

from percuss.ledger.canonical import sha256_hex
from percuss.ledger.files import parquet_bytes
from percuss.ledger.rows import from_frame, to_frame
from percuss.work import crate_reading

METADATA = "ro-crate-metadata.json"


@pytest.fixture
def crate(percuss: Call, folder: Path, linear: str) -> Path:
    """A crate of a surrogate with all under it, as a folder."""
    assert percuss("export", "crate", linear, "--to", "crate", "--licence", "CC-BY-4.0").code == 0
    return folder / "crate"


def test_what_a_crate_says_and_that_it_comes_out_elsewhere(
    percuss: Call, folder: Path, crate: Path, linear: str
) -> None:
    document = json.loads((crate / METADATA).read_text())
    entities = {item["@id"]: item for item in document["@graph"]}
    root = entities["./"]
    assert entities[METADATA]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert root["conformsTo"] == {"@id": "https://w3id.org/ro/wfrun/process/0.5"}
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    files = [item for item in entities.values() if item["@type"] == "File"]
    assert {item["@id"] for item in root["hasPart"]} == {item["@id"] for item in files}
    for item in files:
        data = (crate / item["@id"]).read_bytes()
        assert (item["sha256"], item["contentSize"]) == (sha256_hex(data), str(len(data)))
    on_disk = {str(p.relative_to(crate)) for p in crate.rglob("*") if p.is_file()}
    assert on_disk == {METADATA} | {item["@id"] for item in files}
    assert any(name.endswith("/files/study.toml") for name in on_disk)
    # Every reference leads somewhere.
    for item in entities.values():
        for value in item.values():
            for reference in value if isinstance(value, list) else [value]:
                if isinstance(reference, dict) and not reference["@id"].startswith("https://w3id.org/ro/crate"):
                    assert reference["@id"] in entities, reference
    fitted = next(item for item in entities.values() if str(item.get("name", "")).startswith("surrogate.fitted"))
    assert fitted["@type"] == "CreateAction" and len(fitted["wasInformedBy"]) == 3

    # On another machine: no ledger, no study.
    shutil.rmtree(folder / "ledger")
    shutil.rmtree(folder / "studies")
    said = percuss("reproduce", crate, "--json")
    assert said.code == 0 and json.loads(said.out)["verdict"] == "same"
    assert not (folder / "ledger").exists()


def test_zips_are_the_same_bits_and_are_imported_as_evidence(
    percuss: Call, folder: Path, crate: Path, linear: str
) -> None:
    hash = percuss("export", "crate", linear, "--to", "a.zip").out.strip()
    percuss("export", "crate", linear, "--to", "b.zip")
    assert (folder / "a.zip").read_bytes() == (folder / "b.zip").read_bytes()
    percuss("export", "crate", linear, "--to", "a.zip").refused(2, "is there already")
    percuss("export", "crate", linear, "--to", "ledger/a.zip").refused(2, "is inside the ledger")
    percuss("export", "crate", linear, "--to", "c.zip", "--licence", "a\x1b b").refused(2, "SPDX")
    percuss("export", "crate", linear, "--to", "no/where.zip").refused(2, "cannot be written")

    id = percuss("import", "crate", "a.zip", "--hash", hash, "--ledger", "other").id
    body = json.loads(percuss("show", id, "--ledger", "other", "--json").out)["body"]
    assert body["hash"] == hash and body["kind"] == "surrogate.fitted"
    assert percuss("audit", "--ledger", "other").code == 0
    assert len(percuss("log", "--ledger", "other").out.splitlines()) == 2  # one event, and the heads
    said = percuss("import", "crate", "a.zip", "--hash", "0" * 64, "--ledger", "third")
    said.refused(2, "has the hash", hash)
    assert not (folder / "third").exists()
    percuss("reproduce", linear, "--hash", hash).refused(2, "--hash")


def test_any_file_that_is_changed_missing_or_more_is_refused(percuss: Call, folder: Path, crate: Path) -> None:
    names = sorted(str(p.relative_to(crate)) for p in crate.rglob("*") if p.is_file())
    for name in names:
        path = crate / name
        data = path.read_bytes()
        if name != METADATA:
            for place in (0, len(data) // 2, len(data) - 1):
                path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
                percuss("reproduce", crate).refused(2, "is refused")
            path.write_bytes(data + b"x")
            percuss("reproduce", crate).refused(2)
        path.unlink()
        said = percuss("import", "crate", crate, "--ledger", "other")
        said.refused(2, "crate")
        path.symlink_to("/etc/hostname")
        said = percuss("import", "crate", crate, "--ledger", "other")
        said.refused(2)
        path.unlink()
        path.write_bytes(data)
    (crate / "events" / "more.txt").write_text("x")
    percuss("import", "crate", crate, "--ledger", "other").refused(2, "events/more.txt belongs to no event")
    assert not (folder / "other").exists()


@pytest.mark.parametrize("what", ["hash", "sha256", "contentSize", "graph", "nothing", "deep"])
def test_a_description_that_does_not_fit_is_refused(percuss: Call, crate: Path, what: str) -> None:
    path = crate / METADATA
    document = json.loads(path.read_text())
    entities = {item["@id"]: item for item in document["@graph"]}
    if what == "hash":
        entities["#hash"]["value"] = "0" * 64
    elif what in ("sha256", "contentSize"):
        next(i for i in entities.values() if i["@type"] == "File" and "draws" not in i["@id"])[what] = "1"
    elif what == "graph":
        document["@graph"] = [1]
    text = {"nothing": "", "deep": "[" * 100_000}.get(what, json.dumps(document))
    path.write_text(text)
    percuss("reproduce", crate).refused(2, "crate")


def _rewritten(crate: Path, change) -> None:  # type: ignore[no-untyped-def]
    """Write the events of a crate anew, as a forger would: hashes, digests and description all fitting."""
    events = from_frame(pl.read_parquet(crate / "events.parquet"))
    table = events[2].blob("runs")
    assert table
    forged = change(pl.read_parquet(crate / "events" / events[2].id / "runs.parquet"))
    from percuss.ledger.blobs import table_digest

    forged.write_parquet(crate / "events" / events[2].id / "runs.parquet", compression="zstd")
    data = (crate / "events" / events[2].id / "runs.parquet").read_bytes()
    blob = replace(table, sha256=sha256_hex(data), digest=table_digest(forged), bytes=len(data))
    hashes: dict[str, str] = {}
    rewritten = []
    for event in events:
        inputs = tuple(replace(item, hash=hashes[item.id]) for item in event.inputs)
        blobs = tuple(blob if item.sha256 == table.sha256 else item for item in event.blobs)
        draft = replace(event, inputs=inputs, blobs=blobs)
        draft = replace(draft, hash=draft.computed_hash())
        hashes[event.id] = draft.hash
        rewritten.append(draft)
    rows = parquet_bytes(to_frame(rewritten))
    (crate / "events.parquet").write_bytes(rows)
    document = json.loads((crate / METADATA).read_text())
    for item in document["@graph"]:
        if item["@id"] == "#hash":
            item["value"] = rewritten[-1].hash
        if item["@id"] == "events.parquet":
            item["sha256"], item["contentSize"] = sha256_hex(rows), str(len(rows))
        if item["@id"].endswith("/runs.parquet"):
            item["sha256"], item["contentSize"] = blob.sha256, str(blob.bytes)
    (crate / METADATA).write_text(json.dumps(document))


def test_a_forger_who_rewrites_all_hashes_is_found_by_the_hash_and_by_computing(
    percuss: Call, crate: Path, linear: str
) -> None:
    hash = json.loads(percuss("export", "crate", linear, "--to", "true.zip", "--json").out)["hash"]
    _rewritten(crate, lambda table: table.with_columns(y1=pl.col("y1") + 1e-9))
    percuss("reproduce", crate, "--hash", hash).refused(2, "has the hash")
    said = percuss("reproduce", crate, "--json")
    assert said.code == 1
    verdicts = {event["kind"]: event["verdict"] for event in json.loads(said.out)["events"]}
    assert verdicts["runs.completed"] == "differs"


def test_hostile_zips(percuss: Call, folder: Path, crate: Path) -> None:
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 nonsense")
    percuss("import", "crate", "broken.zip").refused(2, "is no readable zip")
    with zipfile.ZipFile(folder / "out.zip", "w") as archive:
        for path in crate.rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(crate))
        archive.writestr("../../outside", "x")
    percuss("import", "crate", "out.zip").refused(2, "../../outside belongs to no event")
    assert not (folder.parent / "outside").exists()
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in crate.rglob("*"):
            name = str(path.relative_to(crate))
            if path.is_file():
                archive.writestr(
                    name, path.read_bytes() + (bytes(50_000_000) if name.endswith("runs.parquet") else b"")
                )
    percuss("import", "crate", "bomb.zip").refused(2, "is larger than")
    # Who has the hash from its writer unpacks nothing that somebody else made.
    percuss("import", "crate", "bomb.zip", "--hash", "0" * 64).refused(2, "its event has the hash")
    percuss("import", "crate", "nowhere.zip").refused(2, "nowhere.zip")
    os.mkfifo(folder / "pipe.zip")
    percuss("reproduce", "pipe.zip").refused(2)


def test_a_zip_that_unpacks_to_much(percuss: Call, folder: Path, crate: Path, monkeypatch) -> None:
    """Its events, which anybody can write, say how much: without a hash of its writer nobody vouches for that."""
    shutil.make_archive(str(folder / "whole"), "zip", crate)
    monkeypatch.setattr(crate_reading, "LARGEST_UNPROVEN", 1000)
    for verb in ("import", "crate"), ("reproduce",):
        percuss(*verb, "whole.zip").refused(2, "bytes, and at most 1000 are unpacked of a zip")
    rows = pl.read_parquet(crate / "events.parquet")
    assert percuss("import", "crate", "whole.zip", "--hash", rows["hash"][-1]).code == 0
    assert percuss("import", "crate", crate).code == 0


# Terms of https://w3id.org/ro/crate/1.1/context that crates use. The context that the package `rocrate` brings is of a
# newer version, which has more.
SCHEMA_ORG = [
    "CreateAction",
    "CreativeWork",
    "Dataset",
    "Person",
    "PropertyValue",
    "SoftwareApplication",
    "about",
    "actionStatus",
    "agent",
    "author",
    "contentSize",
    "datePublished",
    "description",
    "encodingFormat",
    "endTime",
    "error",
    "hasPart",
    "identifier",
    "instrument",
    "license",
    "mentions",
    "name",
    "object",
    "result",
    "softwareRequirements",
    "startTime",
    "value",
    "version",
]
CONTEXT_1_1 = {name: f"http://schema.org/{name}" for name in SCHEMA_ORG} | {
    "File": "http://schema.org/MediaObject",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
    "prov": "http://www.w3.org/ns/prov#",
}


def test_every_term_is_one_of_the_context_or_defined(crate: Path) -> None:
    document = json.loads((crate / METADATA).read_text())
    address, own = document["@context"]
    assert address == "https://w3id.org/ro/crate/1.1/context"
    types = [item["@type"] for item in document["@graph"]]
    used = {name for item in document["@graph"] for name in item if not name.startswith("@")}
    used |= {name for kind in types for name in (kind if isinstance(kind, list) else [kind])}
    assert used <= {*CONTEXT_1_1, *own}


def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give validators what crates use of the context of RO-Crate 1.1: tests fetch nothing."""
    import email.message
    import io
    import urllib.request

    context = json.dumps({"@context": CONTEXT_1_1}).encode()

    class Answer(io.BytesIO):
        headers = email.message.Message()
        headers["Content-Type"] = "application/ld+json"
        status = code = 200
        msg = "OK"

        def info(self) -> email.message.Message:
            return self.headers

        def geturl(self) -> str:
            return "https://w3id.org/ro/crate/1.1/context"

    def answer(self: object, request: object, *rest: object, **more: object) -> Answer:
        assert "w3id.org/ro/crate/1.1/context" in str(getattr(request, "full_url", request))
        return Answer(context)

    def respond(self: object, method: str, url: str, *rest: object, **more: object) -> object:
        assert "w3id.org/ro/crate/1.1/context" in url
        response = requests.Response()
        response.status_code, response._content, response.url = 200, context, url
        response.headers["Content-Type"] = "application/ld+json"
        return response

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", answer)
    requests = pytest.importorskip("requests", reason="requests is not installed")
    monkeypatch.setattr(requests.Session, "request", respond)


def test_the_public_readers_take_it(percuss: Call, folder: Path, crate: Path, linear: str) -> None:
    rocrate = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")
    percuss("export", "crate", linear, "--to", "crate.zip")
    for place in ("crate", "crate.zip"):
        found = rocrate.ROCrate(str(folder / place))
        assert len(found.data_entities) > 8 and found.root_dataset["conformsTo"].id.endswith("/process/0.5")
    runcrate = pytest.importorskip("runcrate.report", reason="runcrate is not installed")
    runcrate.dump_crate_actions(str(crate))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the validator's own libraries
def test_the_public_validator_passes_it(crate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = pytest.importorskip("rocrate_validator.services", reason="roc-validator is not installed")
    models = pytest.importorskip("rocrate_validator.models", reason="roc-validator is not installed")
    _offline(monkeypatch)
    settings = services.ValidationSettings(
        rocrate_uri=models.URI(str(crate)) if hasattr(models, "URI") else str(crate),
        profile_identifier="process-run-crate-0.5",
        requirement_severity=models.Severity.REQUIRED,
    )
    issues = services.validate(settings).get_issues()
    assert not issues, [str(issue.message) for issue in issues]
