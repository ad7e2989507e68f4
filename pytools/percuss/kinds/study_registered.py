"""A study in its resolved form, with the digests of its data files: what every other event of it depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from percuss.kinds.body import Body, Value
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class About:
    """Who a study is."""

    name: str
    title: str
    source: str
    notes: str


@dataclass(frozen=True, kw_only=True)
class Model:
    """Its model, as it was configured."""

    kind: str
    settings: dict[str, Any]
    fixed: dict[str, Value]


@dataclass(frozen=True, kw_only=True)
class StudyRegistered(Body):
    """`Study.resolved()`: everything in SI; `Study.from_resolved` builds the study again."""

    format: int
    study: About
    model: Model
    parameters: tuple[dict[str, Any], ...]
    cases: tuple[dict[str, Any], ...]
    outputs: tuple[dict[str, Any], ...]
    sections: dict[str, Any]
    files: dict[str, str]


KIND = Kind(
    "study.registered",
    StudyRegistered,
    "a study file in its resolved form, with the digests of its data files",
    summary=lambda body: body.study.title[:60],
)
