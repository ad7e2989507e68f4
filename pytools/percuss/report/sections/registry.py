"""The table of sections. A new section is one module with `section` and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol, cast

from percuss.kinds.table import is_known
from percuss.ledger.event import Event
from percuss.report.blocks import Section
from percuss.report.source import Source


class SectionModule(Protocol):
    """What a module of this folder offers: the section of one event, or None where it has nothing to say."""

    @property
    def section(self) -> Callable[[Source, Event], Section | None]: ...


# Kind of event to module, in the order of the page.
SECTIONS: tuple[tuple[str, str], ...] = (
    ("study.registered", "study"),
    ("design.created", "design"),
    ("design.created", "runs"),
    ("design.created", "energy"),
    ("surrogate.fitted", "surrogate"),
    ("indices.computed", "sensitivity"),
    ("region.computed", "region"),
    ("fragility.fitted", "fragility"),
    ("observations.imported", "observations"),
    ("posterior.sampled", "posterior"),
    ("prediction.made", "prediction"),
    ("validation.computed", "validation"),
    ("reliability.estimated", "reliability"),
    ("comparison.made", "comparison"),
    ("convergence.checked", "convergence"),
    ("check.passed", "check"),
    ("check.failed", "check"),
)
# What stands at the end of every report, whatever it is on; once, for the event reported on.
LAST = ("provenance", "reproduce")


def planned(source: Source) -> list[tuple[str, Event]]:
    """Which sections the report will have: module and event."""
    sections = [
        (module, event)
        for kind, module in SECTIONS
        for event in (source.designs() if kind == "design.created" else source.of_kind(kind))
        if is_known(kind, event.version)
    ]
    return [*sections, *((module, source.roots[0]) for module in LAST)]


def section_of(module: str, source: Source, event: Event) -> Section | None:
    """One section."""
    loaded = cast(SectionModule, importlib.import_module(f"percuss.report.sections.{module}"))
    return loaded.section(source, event)
