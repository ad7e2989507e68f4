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
    ("filter.updated", "filter"),
    ("observations.imported", "observations"),
    ("posterior.sampled", "posterior"),
    ("prediction.made", "prediction"),
    ("twins.checked", "twins"),
    ("advice.computed", "advice"),
    ("validation.computed", "validation"),
    ("reliability.estimated", "reliability"),
    ("comparison.made", "comparison"),
    ("convergence.checked", "convergence"),
    ("check.passed", "check"),
    ("check.failed", "check"),
    ("payloads.pruned", "pruned"),
    ("audit.made", "audit"),
)
# What stands at the end of every report, whatever it is on; once, for the event reported on.
LAST = ("provenance", "reproduce")
# Runs are told of by the sections of their design; how its points were chosen is on the way to them.
RUNS_KINDS = ("runs.completed", "runs.failed", "campaign.completed")
WAY = ("design",)


def planned(source: Source) -> list[tuple[str, Event, bool]]:
    """Which sections the report will have: module, event, and whether it is only on the way to the result.

    The result asked for is first, then what was checked of it, then the way to it.
    """
    asked = {event.id for event in source.roots}
    asked |= {item.id for root in source.roots if root.kind in RUNS_KINDS for item in root.inputs_as("design")}
    planned_sections = [
        (module, event)
        for kind, module in SECTIONS
        for event in (source.designs() if kind == "design.created" else source.of_kind(kind))
        if is_known(kind, event.version)
    ]
    results = [
        (module, event)
        for module, event in planned_sections
        if event.id in asked and (module not in WAY or event in source.roots)
    ]
    way = [pair for pair in planned_sections if pair not in results]
    verdicts = [("trust", root, False) for root in source.roots]
    last = [(module, source.roots[0], True) for module in LAST]
    return [*((*pair, False) for pair in results), *verdicts, *((*pair, True) for pair in way), *last]


def section_of(module: str, source: Source, event: Event) -> Section | None:
    """One section."""
    loaded = cast(SectionModule, importlib.import_module(f"percuss.report.sections.{module}"))
    return loaded.section(source, event)
