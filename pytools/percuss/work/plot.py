"""Pictures of events: curves of runs, regions of them, or paths of parameters in validations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.designs.records import load_design
from percuss.errors import InputError
from percuss.kinds.validation_computed import ValidationComputed
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.spelling import did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from percuss.models.model import Quantity
    from percuss.report.figures import Line


@dataclass(frozen=True)
class Request:
    """What to draw: `curves`, one panel each, of at most so many `samples` of each event and case; `window` (in s) and
    `ladder` are of validations.
    """

    curves: Sequence[str] = ()
    title: str = ""
    samples: int = 8
    window: tuple[float, float] | None = None
    ladder: bool = False


@dataclass(frozen=True)
class Picture:
    """What was drawn; `lines` of curves alone."""

    panels: int
    lines: int | None = None


def plot(session: Session, events: Sequence[Event], request: Request, path: Path) -> Picture:
    """Draw events of one sort into a file."""
    kinds = {event.kind for event in events}
    if kinds == {"validation.computed"}:
        return _plot_validations(session, events, request, path)
    if kinds == {"region.computed"} and len(events) == 1:
        return _plot_region(session, events[0], request, path)
    return _plot_curves(session, events, request, path)


def _plot_curves(session: Session, events: Sequence[Event], request: Request, path: Path) -> Picture:
    from percuss.report.figures import Panel, check_picture, draw
    from percuss.work.curves import curves_table

    if not request.curves:
        raise InputError("--curve: must name a curve of the runs")
    check_picture(path)
    panels: dict[str, list[Line]] = {name: [] for name in request.curves}
    labels: dict[str, tuple[str, str]] = {}
    for event in events:
        quantities = load_design(session, event).study.model().quantities
        axes = {name: _axis(quantities, name) for name in request.curves}
        table = curves_table(session, event, request.samples)
        for name, axis in axes.items():
            labels[name] = (f"{axis} [{quantities[axis].unit}]", f"{name} [{quantities[name].unit}]")
            panels[name] += _lines(table, axis, name)
    draw([Panel(*labels[name], lines) for name, lines in panels.items()], path, request.title)
    return Picture(len(panels), sum(len(lines) for lines in panels.values()))


def _axis(quantities: Mapping[str, Quantity], name: str) -> str:
    """What a curve is drawn over."""
    if name not in quantities or not quantities[name].curve:
        curves = [key for key, quantity in quantities.items() if quantity.curve]
        raise InputError(f"--curve {name}: {did_you_mean(name, curves)}")
    return quantities[name].axis or name


def _lines(table: pl.DataFrame, axis: str, name: str) -> list[Line]:
    """A line for each run."""
    from percuss.report.figures import Line

    lines = []
    for (case,), runs in table.group_by("case", maintain_order=True):
        several = runs["sample"].n_unique() > 1
        for (sample,), part in runs.group_by("sample", maintain_order=True):
            label = f"{case} {sample}" if several else str(case)
            lines.append(Line(label, part[axis].to_numpy(), part[name].to_numpy()))
    return lines


def _plot_region(session: Session, event: Event, request: Request, path: Path) -> Picture:
    from percuss.kinds.region_computed import RegionComputed
    from percuss.report.regions import write_regions

    table = session.table(event, "region")
    return Picture(write_regions(session.study(event), RegionComputed.of(event), table, list(request.curves), path))


def _plot_validations(session: Session, events: Sequence[Event], request: Request, path: Path) -> Picture:
    from percuss.report.drift import Shown, default_names, write_paths

    shown = [Shown(session.load(event), session.study(event), ValidationComputed.of(event).model) for event in events]
    names = list(request.curves) or default_names(shown)
    return Picture(write_paths(shown, names, path, window=request.window, ladder=request.ladder, title=request.title))
