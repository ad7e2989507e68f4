"""The table of kinds, and how bodies of any version are read by it.

A new kind is one file beside this one, named after it, and one line of the table. When the body of a kind changes, its
version goes up and an upcaster from the version before is put beside it: events are never rewritten, they are read in
their newest meaning.

msgspec checks bodies: it reads nested dataclasses from plain data in microseconds and names the field that does not
fit; a checker of our own would be slower and longer.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

import msgspec

from percuss.kinds.body import Body
from percuss.kinds.kind import Kind
from percuss.plugins import extend


class Kinds(MutableMapping[str, Kind]):
    """Kinds by name, in the order of work. A file is read when its kind is first asked for: a command needs few of
    them, and all of them take a tenth of a second to load.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._kinds: dict[str, Kind | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Kind:
        kind = self._kinds[name]
        if kind is None:
            kind = importlib.import_module(f"percuss.kinds.{name.replace('.', '_')}").KIND
            self._kinds[name] = kind
        return kind

    def __setitem__(self, name: str, kind: Kind) -> None:
        self._kinds[name] = kind

    def __delitem__(self, name: str) -> None:
        del self._kinds[name]

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


KINDS = Kinds(
    (
        "study.registered",
        "design.created",
        "scene.settled",
        "runs.completed",
        "runs.failed",
        "campaign.completed",
        "surrogate.fitted",
        "indices.computed",
        "region.computed",
        "fragility.fitted",
        "filter.updated",
        "observations.imported",
        "posterior.sampled",
        "prediction.made",
        "comparison.made",
        "twins.checked",
        "advice.computed",
        "validation.computed",
        "reliability.estimated",
        "convergence.checked",
        "check.passed",
        "check.failed",
        "crate.imported",
        "payloads.pruned",
        "audit.made",
        "note.added",
        "event.superseded",
        "stream.adopted",
        "stream.sealed",
    )
)


def all_kinds() -> Mapping[str, Kind]:
    """The table with the kinds that plugins add."""
    return extend(KINDS, "percuss.kinds", lambda plugin: cast(Kind, plugin.load()))


def kind_of(name: str) -> Kind | None:
    """The kind of that name, of percuss or of a plugin; None if there is none."""
    return KINDS.get(name) or all_kinds().get(name)


def is_batch(kind: str) -> bool:
    """Whether one job appends many events of a kind."""
    known = kind_of(kind)
    return known is not None and bool(known.batch)


def is_known(kind: str, version: int) -> bool:
    """Whether this percuss can read events of that kind and version."""
    known = kind_of(kind)
    return known is not None and 1 <= version <= known.version


def upcast(kind: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
    """The body in the newest version of its kind. Unknown kinds and newer versions are left as they are."""
    if not is_known(kind, version):
        return body
    known = KINDS[kind]
    for step in range(version, known.version):
        body = known.upcasters[step](body)
    return body


def check_body(kind: str, data: Mapping[str, Any]) -> None:
    """Raise ValueError where plain data are no body of a kind, in its newest version: before they are appended."""
    body = KINDS[kind].body
    if strange := _unknown_fields(data, body):
        raise ValueError(f"no such field `{strange[0]}`")
    _fitted(data, body)


def body_of(kind: str, version: int, data: Mapping[str, Any]) -> Body | None:
    """Plain data in the newest version of a kind as its body; None where this percuss cannot read the kind.

    Raises ValueError where the data do not fit.
    """
    return _fitted(data, KINDS[kind].body) if is_known(kind, version) else None


def plain(value: Any) -> Any:
    """Plain JSON data of a body, or of whatever is in one."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _unknown_fields(data: Mapping[str, Any], body: type[Body]) -> list[str]:
    """Fields of plain data that a body does not have."""
    known = {item.name for item in fields(body)}  # type: ignore[arg-type]
    return [] if body.open_ended else [name for name in data if name not in known]


def _fitted(data: Mapping[str, Any], body: type[Body]) -> Body:
    """Plain data as a body; raise ValueError with the field that does not fit. Fields it does not know are left out."""
    try:
        return msgspec.convert(data, body)
    except msgspec.ValidationError as fault:
        raise ValueError(str(fault)) from None
