"""Draw the figures of the README from the ensembles beside it.

python studies/toyoura-triaxial/figures.py

Densities and runs are those that `percuss filter --densities` and `--runs` draw of the events these ensembles come
from. Their course over the observations needs the measured curves, which are not ours to ship; `identified.svg` has
what it ends with, for each law and pressure, beside the tables of Cheng et al. (2018).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.filtering import identified
from percuss.plots.drawing import BLUE, INK, ORANGE, WIDE, canvas, drawing, key, picture
from percuss.plots.figure import Figure
from percuss.plots.files import save
from percuss.plots.filtering import draw_densities, draw_runs
from percuss.plots.labels import Scale, output_scale, parameter_scale
from percuss.study.load import load_study
from percuss.study.study import Study

HERE = Path(__file__).parent
LAWS = {"hm": "Hertz-Mindlin", "cl": "linear"}
PRESSURES = ("0.2", "0.5", "1.0")
OUTPUTS = ("peak_friction_angle", "young_bulk", "poisson_bulk")
GRID, PAIR_GRID = 201, 65
# Tables 5 and 4 of the paper: modulus (GPa), Poisson's ratio, rolling stiffness and friction, friction angle (deg).
PAPER = {
    "hm-0.2": (4.123, 0.064, 0.148, 0.202, 30.387),
    "hm-0.5": (5.882, 0.304, 0.344, 0.567, 24.027),
    "hm-1.0": (8.324, 0.049, 0.363, 0.480, 24.951),
    "cl-0.2": (0.545, 0.080, 0.564, 0.194, 30.203),
    "cl-0.5": (0.545, 0.080, 0.564, 0.194, 30.203),
    "cl-1.0": (1.252, 0.439, 0.076, 0.726, 22.043),
}


def ensemble(study: Study, case: str) -> pl.DataFrame:
    """Samples of a case with their weight: parameters as `at NAME`, outputs by name, SI."""
    table = pl.read_csv(HERE / "ensembles" / f"{case}.csv")
    bare = {name: name.removesuffix("_pa").removesuffix("_rad") for name in table.columns}
    named = table.rename(bare)
    named = named.rename({name: f"at {name}" for name in study.parameters})
    return named.with_columns(pl.col("weight") / pl.col("weight").sum())


def densities(study: Study, table: pl.DataFrame, scales: list[Scale]) -> Figure:
    """Weighted kernel densities of one parameter and of two, over where the weight is."""
    weights = table["weight"].to_numpy()
    values = {own.name: table[f"at {own.name}"].to_numpy() for own in scales}
    alone, both = [], []
    for own in scales:
        prior = study.parameters[own.name].prior
        grid = _grid(weights, values[own.name], prior.support(), GRID)
        density = identified.density(weights, values[own.name], prior, grid)
        alone.append(pl.DataFrame({"parameter": [own.name] * GRID, "value": grid, "density": density}))
    for j, left in enumerate(scales):
        for own in scales[j + 1 :]:
            pair = np.column_stack([values[left.name], values[own.name]])
            grids = tuple(
                _grid(weights, values[one.name], study.parameters[one.name].prior.support(), PAIR_GRID)
                for one in (left, own)
            )
            density = identified.pair_density(weights, pair, (grids[0], grids[1]))
            x, y = np.meshgrid(*grids, indexing="ij")
            columns = {"x": x.ravel(), "y": y.ravel(), "density": density.ravel()}
            both.append(pl.DataFrame(columns).with_columns(first=pl.lit(left.name), second=pl.lit(own.name)))
    return draw_densities(scales, pl.concat(alone), pl.concat(both))


def _grid(weights: NDArray[Any], values: NDArray[Any], support: tuple[float, float], count: int) -> NDArray[Any]:
    """Four widths of the kernel beyond the samples that have weight, within the prior."""
    heavy = values[weights > 1e-3 * weights.max()]
    more = 4 * identified.bandwidth(weights, values, 1)
    return np.linspace(max(heavy.min() - more, support[0]), min(heavy.max() + more, support[1]), count)


def estimates(study: Study, scales: list[Scale]) -> Figure:
    """Mean and nine tenths of each parameter at each pressure, with both laws, and what the paper gives."""
    figure, axes = canvas(len(LAWS), len(scales), WIDE, 2.1 * len(LAWS), sharex=True)
    places = np.arange(len(PRESSURES))
    said = []
    for row, (law, words) in enumerate(LAWS.items()):
        for column, own in enumerate(scales):
            axis, found = axes[row, column], []
            for pressure in PRESSURES:
                table = ensemble(study, f"{law}-{pressure}")
                weights, values = table["weight"].to_numpy(), table[f"at {own.name}"].to_numpy()
                found.append([weights @ values, *identified.quantiles(weights, values, np.array([0.05, 0.95]))])
            mean, low, high = own.of(np.array(found)).T
            axis.vlines(places, low, high, color=BLUE, linewidth=2.5, alpha=0.7, label="5 to 95 %")
            axis.plot(places, mean, "o", color=INK, markersize=4, label="mean")
            theirs = [PAPER[f"{law}-{pressure}"][column] for pressure in PRESSURES]
            axis.plot(places, theirs, "D", color=ORANGE, markersize=4, fillstyle="none", label="paper, most probable")
            axis.set_xticks(places, PRESSURES)
            axis.set_xlim(-0.5, len(places) - 0.5)
            axis.grid(axis="y")
            axis.set_title(own.label if row == 0 else "")
            said.append(f"{words} {own.label} {', '.join(f'{value:.3g}' for value in mean)}")
        axes[row, 0].set_ylabel(words)
    for axis in axes[-1]:
        axis.set_xlabel("pressure [MPa]")
    key(figure, axes[0, 0])
    return picture(figure, f"Means at {', '.join(PRESSURES)} MPa: {'; '.join(said)}")


def main() -> None:
    study = load_study(HERE / "study.toml")
    scales = [parameter_scale(study, name) for name in study.parameters]
    outputs = [output_scale(study, name) for name in OUTPUTS]
    with drawing(style="screen"):
        figures = {"identified": estimates(study, scales)}
        for case in ("hm-0.2", "cl-0.2"):
            table = ensemble(study, case)
            figures[f"densities-{case}"] = densities(study, table, scales)
            figures[f"runs-{case}"] = draw_runs(outputs, scales, table, case)
        for name, figure in figures.items():
            # Pictures of thousands of points are smaller as pixels.
            save(figure.canvas, HERE / "figures" / f"{name}.{'svg' if name == 'identified' else 'png'}")


if __name__ == "__main__":
    main()
