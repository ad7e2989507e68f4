"""The kinds of events: what each says, from which events it must come, and how its older versions are read.

A new kind is one line of the table. When the body of a kind changes, its version goes up and an upcaster from the
version before is put beside it: events are never rewritten, they are read in their newest meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Kind:
    """One kind of event.

    `needs` maps each role an event of this kind must have among its inputs to the kinds that can fill it: `audit`
    follows them to prove that nothing stands on air. `upcasters[v]` turns a body of version v into one of v + 1.
    """

    says: str
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: int = 1
    upcasters: Mapping[int, Upcaster] = field(default_factory=dict)


Needs = dict[str, tuple[str, ...]]
_STUDY: Needs = {"study": ("study.registered",)}
_DESIGN: Needs = _STUDY | {"design": ("design.created",)}
_RUNS: Needs = {"runs": ("runs.completed", "runs.failed")}
_CAMPAIGN: Needs = {"campaign": ("campaign.completed",)}

KINDS: dict[str, Kind] = {
    "study.registered": Kind("a study file in its resolved form, with the digests of its data files"),
    "design.created": Kind("sample points of a study's parameters", _STUDY),
    "runs.completed": Kind("outputs of a batch of runs of one case of a design", _DESIGN),
    "runs.failed": Kind("runs of a batch that failed, each with its reason", _DESIGN),
    "campaign.completed": Kind("every run of a design is in: the list of its batches", _DESIGN | _RUNS),
    "surrogate.fitted": Kind("surrogates of all outputs of a design's runs, with their errors", _DESIGN | _CAMPAIGN),
    "indices.computed": Kind("sensitivity indices, from a surrogate or straight from runs", _STUDY),
    "check.passed": Kind("a regression study gave what it should", _STUDY),
    "check.failed": Kind("a regression study moved, and by how much", _STUDY),
    "note.added": Kind("words of a person about an event", {"about": ()}),
    "event.superseded": Kind("an event is not to be used any more, and which one stands for it", {"old": ()}),
    "stream.adopted": Kind("the events of another stream, up to a hash, became part of this one"),
    "stream.sealed": Kind("commits were packed into one file; rows and hashes unchanged"),
}


def is_known(kind: str, version: int) -> bool:
    """Whether this percuss can read events of that kind and version."""
    known = KINDS.get(kind)
    return known is not None and 1 <= version <= known.version


def upcast(kind: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
    """The body in the newest version of its kind. Unknown kinds and newer versions are left as they are."""
    if not is_known(kind, version):
        return body
    known = KINDS[kind]
    for step in range(version, known.version):
        body = known.upcasters[step](body)
    return body
