"""What an update looks like: its evolution, its densities, and its runs as outputs over parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.errors import InputError
from percuss.filtering.update import Updated, evolution, tables
from percuss.report.figures import FORMATS, Line, Panel, draw, load_matplotlib
from percuss.units import from_si

if TYPE_CHECKING:
    import polars as pl

# Edge of one panel, in inches.
EDGE = 1.7


def draw_evolution(updated: Updated, path: Path) -> None:
    """Mean and the band of nine tenths of every parameter, and the effective sample size, over the steps.

    Step 0 is before any observation: one observation is a change, too.
    """
    start = np.exp(updated.ensemble.log_start - np.logaddexp.reduce(updated.ensemble.log_start))
    weights = np.vstack([start, updated.filtered.weights])
    course = evolution(weights, updated.campaign.names, updated.ensemble.theta)
    x = np.arange(len(weights), dtype=float)
    panels = []
    for name in updated.campaign.names:
        lines = [Line(key, x, course[f"{key}:{name}"]) for key in ("mean", "q05", "q95")]
        panels.append(Panel("step", f"{name} [SI]", lines))
    effective = 1 / (weights**2).sum(axis=1)
    panels.append(Panel("step", "effective samples", [Line("effective", x, effective)]))
    draw(panels, path, f"{updated.campaign.study.name}: identified parameters")


def draw_densities(updated: Updated, path: Path) -> None:
    """Marginal densities on the diagonal, pairwise ones below it."""
    names, units = _parameters(updated)
    by_role = tables(updated)
    size = len(names)
    figure, axes = _panels(size, size, path)
    for i, below in enumerate(names):
        marginal = by_role["densities"].filter(parameter=below)
        axes[i, i].plot(_shown(marginal["value"], units[i]), marginal["density"].to_numpy(), linewidth=0.9)
        axes[i, i].set_yticks([])
        for j, left in enumerate(names):
            if j > i:
                axes[i, j].set_axis_off()
            elif j < i:
                pair = by_role["pairs"].filter(first=left, second=below)
                edge = round(len(pair) ** 0.5)
                x, y = (_shown(pair[key], unit).reshape(edge, edge) for key, unit in (("x", units[j]), ("y", units[i])))
                density = pair["density"].to_numpy().reshape(edge, edge)
                axes[i, j].pcolormesh(x, y, density, shading="nearest", cmap="Blues", rasterized=True)
    _label(axes, names, names, units, units)
    _save(figure, path, f"{updated.campaign.study.name}: densities after the last step")


def draw_runs(updated: Updated, path: Path) -> None:
    """Outputs of the study over every parameter, a point a run, with a ring where its weight is above the average.

    Values at places on a curve are left out, unless there are no other outputs.
    """
    names, units = _parameters(updated)
    training = updated.campaign
    whole = tuple(name for name in training.outputs if training.study.outputs[name].at is None)
    outputs = whole or training.outputs
    case = updated.observations.steps[0].case
    runs = next(item for item in training.cases if item.case == case)
    kept = np.searchsorted(runs.rows, updated.ensemble.rows)
    figure, axes = _panels(len(outputs), len(names), path)
    heavy = updated.last > 1 / len(updated.last)
    for i, output in enumerate(outputs):
        y = _shown(runs.values[kept, training.outputs.index(output)], training.study.outputs[output].unit)
        for j, own in enumerate(units):
            x = _shown(updated.ensemble.theta[:, j], own)
            axes[i, j].plot(x, y, ".", markersize=3)
            axes[i, j].plot(x[heavy], y[heavy], "o", markersize=5, fillstyle="none")
    _label(axes, outputs, names, [training.study.outputs[name].unit for name in outputs], units)
    _save(figure, path, f"{training.study.name}, {case}: runs")


def _parameters(updated: Updated) -> tuple[tuple[str, ...], list[str]]:
    names = updated.campaign.names
    return names, [updated.campaign.study.parameters[name].unit for name in names]


def _shown(values: pl.Series | np.ndarray, unit: str) -> np.ndarray:
    return np.array([from_si(float(value), unit) for value in values])


def _panels(rows: int, columns: int, path: Path) -> tuple[Any, Any]:
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: must end in {', '.join(FORMATS)}")
    load_matplotlib()
    from matplotlib import pyplot

    size = (1 + EDGE * columns, 0.6 + EDGE * rows)
    return pyplot.subplots(rows, columns, sharex="col", squeeze=False, figsize=size, layout="constrained")


def _label(axes: Any, down: tuple[str, ...], across: tuple[str, ...], units: list[str], below: list[str]) -> None:
    for i, name in enumerate(down):
        axes[i, 0].set_ylabel(_with_unit(name, units[i]), fontsize="x-small")
    for j, name in enumerate(across):
        axes[-1, j].set_xlabel(_with_unit(name, below[j]), fontsize="x-small")
    for axis in axes.flat:
        axis.tick_params(labelsize="xx-small")


def _with_unit(name: str, unit: str) -> str:
    return name if unit == "1" else f"{name} [{unit}]"


def _save(figure: Any, path: Path, title: str) -> None:
    from matplotlib import pyplot

    figure.suptitle(title, fontsize="small")
    # Letters as letters: dozens of panels of labels as outlines are most of a file.
    pyplot.rcParams["svg.fonttype"] = "none"
    from percuss.ledger.place import check_outside

    check_outside(path)
    try:
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    except OSError as fault:
        raise InputError(f"{path}: cannot be written ({fault.strerror})") from fault
    finally:
        pyplot.close(figure)
