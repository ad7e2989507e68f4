"""The description of a crate: RO-Crate 1.1 with the Process Run Crate profile 0.5, as JSON-LD.

Soiland-Reyes et al. (2022), "Packaging research artefacts with RO-Crate", and Leo et al. (2024), "Recording provenance
of workflow runs with RO-Crate". Every event is an action of percuss; what it was made from and what it carries are its
objects and results. PROV relations are written out beside them: an action that used what another one made
`wasInformedBy` it, a file `wasGeneratedBy` its action. Nothing here is executed or looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from percuss.ledger.event import Blob, Event

METADATA = "ro-crate-metadata.json"
EVENTS = "events.parquet"
PROCESS_RUN = "https://w3id.org/ro/wfrun/process/0.5"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
CONTEXT: list[object] = [
    f"{SPECIFICATION}/context",
    {
        # The one term of the profile's own context that is used: what is here need not be fetched.
        "sha256": "https://w3id.org/ro/terms/workflow-run#sha256",
        "prov": "http://www.w3.org/ns/prov#",
        "wasGeneratedBy": {"@id": "prov:wasGeneratedBy", "@type": "@id"},
        "wasInformedBy": {"@id": "prov:wasInformedBy", "@type": "@id"},
    },
]
NO_LICENCE = "#no-licence-stated"
HASH = "#hash"
FORMATS = {
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv",
    ".json": "application/json",
    ".toml": "application/toml",
    ".txt": "text/plain",
}


@dataclass(frozen=True)
class Described:
    """What a crate is about: the event, all it depends on in ledger order, words on each, and where payloads lie.

    `paths` has the path of each payload by its SHA-256, `rights` licence and DOI of data files, `environments` the
    records of environments.
    """

    root: Event
    events: Sequence[Event]
    ledger: str
    summaries: Mapping[str, str]
    paths: Mapping[str, str]
    title: str
    licence: str = ""
    rights: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    environments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    events_file: tuple[str, int] = ("", 0)


def metadata(crate: Described) -> dict[str, Any]:
    """The whole document."""
    files = _files(crate)
    actions = [_action(crate, event) for event in crate.events]
    graph = [
        {
            "@id": METADATA,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": SPECIFICATION},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": crate.title,
            "description": f"{crate.root.kind} {crate.root.id} of a percuss ledger, with all that it depends on: "
            f"{len(crate.events)} events with their payloads.",
            "datePublished": _time(crate.root.at_us),
            "license": {"@id": _licence_id(crate.licence)},
            "author": {"@id": _agent_id(crate.root.actor)},
            "conformsTo": {"@id": PROCESS_RUN},
            "identifier": {"@id": HASH},
            "hasPart": _refs([item["@id"] for item in files]),
            "mentions": _refs([item["@id"] for item in actions]),
        },
        {"@id": PROCESS_RUN, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
        {
            "@id": HASH,
            "@type": "PropertyValue",
            "name": f"hash of event {crate.root.id} in the ledger {crate.ledger}",
            "value": crate.root.hash,
        },
        *_licences(crate),
        *_agents(crate),
        *_programs(crate),
        *files,
        *actions,
    ]
    return {"@context": CONTEXT, "@graph": graph}


def licence_in(document: Mapping[str, Any]) -> str:
    """The licence that the root of a document names, as `metadata` takes it."""
    for item in document.get("@graph", []):
        if isinstance(item, dict) and item.get("@id") == "./" and isinstance(item.get("license"), dict):
            id = str(item["license"].get("@id", ""))
            return "" if id == NO_LICENCE else id.removeprefix("https://spdx.org/licenses/")
    return ""


def _action(crate: Described, event: Event) -> dict[str, Any]:
    start = datetime.fromtimestamp(event.at_us / 1e6, UTC) - timedelta(microseconds=event.cost.wall_us)
    inside = {item.id: item for item in crate.events}
    sources = [inside[item.id] for item in event.inputs if item.id in inside]
    failed = event.outcome != "ok"
    action: dict[str, Any] = {
        "@id": action_id(event),
        "@type": "CreateAction",
        "name": f"{event.kind}: {crate.summaries.get(event.id) or event.id}",
        "description": " ".join(event.argv),
        "startTime": start.isoformat(timespec="milliseconds"),
        "endTime": _time(event.at_us),
        "agent": {"@id": _agent_id(event.actor)},
        "instrument": {"@id": _program_id(event)},
        "actionStatus": f"http://schema.org/{'Failed' if failed else 'Completed'}ActionStatus",
        "object": _refs([*(crate.paths[b.sha256] for source in sources for b in source.blobs), EVENTS]),
        "result": _refs([*(crate.paths[blob.sha256] for blob in event.blobs), EVENTS]),
        "identifier": event.hash,
    }
    if sources:
        action["wasInformedBy"] = _refs([action_id(source) for source in sources])
    return action | ({"error": event.reason or event.outcome} if failed else {})


def action_id(event: Event) -> str:
    """The name of an event in a crate."""
    return f"#{event.id}"


def _files(crate: Described) -> list[dict[str, Any]]:
    sha256, size = crate.events_file
    rows = {
        "@id": EVENTS,
        "@type": "File",
        "name": "The events",
        "description": "One row for each event, with the columns and hashes of a commit of a percuss ledger.",
        "encodingFormat": FORMATS[".parquet"],
        "contentSize": str(size),
        "sha256": sha256,
    }
    files: dict[str, dict[str, Any]] = {EVENTS: rows}
    for event in crate.events:
        for blob in event.payloads:
            path = crate.paths[blob.sha256]
            if path not in files:
                files[path] = _file(path, event, blob, *crate.rights.get(blob.sha256, ("", "")))
    return list(files.values())


def _file(path: str, event: Event, blob: Blob, licence: str, doi: str) -> dict[str, Any]:
    name = blob.role.removeprefix("file:")
    suffix = "." + path.rsplit(".", 1)[-1] if "." in path.rsplit("/", 1)[-1] else ""
    entity: dict[str, Any] = {
        "@id": path,
        "@type": "File",
        "name": f"{name} of {event.kind}",
        "encodingFormat": FORMATS.get(suffix.lower(), "application/octet-stream"),
        "contentSize": str(blob.bytes),
        "sha256": blob.sha256,
        "wasGeneratedBy": {"@id": action_id(event)},
    }
    if licence:
        entity["license"] = {"@id": _licence_id(licence)}
    return entity | ({"identifier": f"https://doi.org/{doi}"} if doi else {})


def _licences(crate: Described) -> list[dict[str, Any]]:
    names = dict.fromkeys([crate.licence, *(licence for licence, _ in crate.rights.values() if licence)])
    return [
        {"@id": _licence_id(name), "@type": "CreativeWork", "name": name}
        if name
        else {
            "@id": NO_LICENCE,
            "@type": "CreativeWork",
            "name": "No licence stated",
            "description": "Whoever wrote this crate stated no licence: ask before using it.",
        }
        for name in names
    ]


def _licence_id(name: str) -> str:
    if not name:
        return NO_LICENCE
    return name if "://" in name else f"https://spdx.org/licenses/{name}"


def _agents(crate: Described) -> list[dict[str, Any]]:
    actors = dict.fromkeys(event.actor for event in crate.events)
    return [{"@id": _agent_id(actor), "@type": "Person", "name": actor or "unknown"} for actor in actors]


def _agent_id(actor: str) -> str:
    from urllib.parse import quote

    return actor if actor.startswith("https://orcid.org/") else f"#by-{quote(actor, safe='')}"


def _programs(crate: Described) -> list[dict[str, Any]]:
    programs: dict[str, dict[str, Any]] = {}
    for event in crate.events:
        made = event.software
        record = crate.environments.get(event.environment.sha256, {}) if event.environment else {}
        needs = _requirements(record)
        programs |= {need["@id"]: need for need in needs}
        programs[_program_id(event)] = {
            "@id": _program_id(event),
            "@type": "SoftwareApplication",
            "name": "percuss",
            "version": made.version,
            "description": f"source commit {made.commit}; core {made.core}; Cargo.lock {made.lock}",
        }
        if needs:
            programs[_program_id(event)]["softwareRequirements"] = _refs([need["@id"] for need in needs])
    return list(programs.values())


def _program_id(event: Event) -> str:
    from percuss.ledger.canonical import encode, sha256_hex

    made, record = event.software, event.environment.sha256 if event.environment else ""
    facts = encode([made.version, made.commit, made.core, made.lock, record])
    return f"urn:percuss:build:{sha256_hex(facts)[:32]}"


def _requirements(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What percuss ran on: Python and packages, as a record of an environment has them."""
    python, packages = record.get("python"), record.get("packages")
    versions = {str(python.get("implementation")): python.get("version")} if isinstance(python, Mapping) else {}
    versions |= dict(packages) if isinstance(packages, Mapping) else {}
    return [
        {"@id": f"#{name}-{version}", "@type": "SoftwareApplication", "name": name, "version": str(version)}
        for name, version in versions.items()
        if version
    ]


def _refs(ids: Sequence[str]) -> list[dict[str, str]] | dict[str, str]:
    """References, each once; one by itself is no list."""
    refs = [{"@id": id} for id in dict.fromkeys(ids)]
    return refs[0] if len(refs) == 1 else refs


def _time(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / 1e6, UTC).isoformat(timespec="milliseconds")
