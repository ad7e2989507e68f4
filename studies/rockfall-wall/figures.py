"""Draw the figures of the README from a ledger that holds the campaign and what was made of it.

python studies/rockfall-wall/figures.py LEDGER studies/rockfall-wall/expected [LEDGER-OF-RUNS]

The last names the ledger whose runs have the curves, where it is another than that of the calibrations.

Numbers in brackets are those of the figures of Gupta et al. (2023). The curves of calibrated parameters are runs of the
simulator, made here: ten of them, one after the other.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from percuss.calibration.records import Posterior, load_posterior, load_prediction
from percuss.kinds.design_created import DesignCreated
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import batch_of
from percuss.models.model import Done
from percuss.plots.bands import draw_bands, draw_data
from percuss.plots.corner import Column, corner
from percuss.plots.drawing import (
    BLUE,
    COLOURS,
    DASHES,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SERIES,
    WIDE,
    canvas,
    chosen,
    dots,
    drawing,
    key,
    picture,
)
from percuss.plots.figure import Figure
from percuss.plots.labels import scale
from percuss.session import Session
from percuss.study.priors.registry import prior_from_json
from percuss.surrogates.surrogate import Surrogate, load_surrogate

POINTS = {"top": "Top", "base": "Base", "d": "D", "c": "C"}
INSTANTS = {"init": BLUE, "max": ORANGE, "rest": GREEN}
INIT_S = {"top": 0.1, "base": 0.1, "d": 0.25, "c": 0.25}
CASES = {"e520": "520 kJ", "e1020": "1020 kJ"}
BLOCKS = {"point": ORANGE, "energy": GREEN, "all": BLUE}
# Pairs of groups by what meets; the parts of the energy account.
PAIRS = {
    "projectile on blocks": ("cuboid_projectile", "round_projectile"),
    "block on block": ("round_round",),
    "block on ground": ("round_ground",),
    "bars in disks": ("odd_bar_disk", "even_bar_disk"),
    "slings": ("box_sphere", "stopper_sphere"),
    "projectile and bars on ground": ("projectile_ground", "odd_bar_ground"),
}
Curves = Mapping[str, Any]


class Campaign:
    """What the ledger holds: the last event of each kind, for each case, and runs of the simulator."""

    def __init__(self, folder: Path, runs: Path) -> None:
        self.session = Session(Ledger.open(folder))
        self.simulated = Session(Ledger.open(runs))
        self.state = self.session.state
        self.posteriors: dict[str, Posterior] = {}
        for event in self.of_kind("posterior.sampled"):
            body = PosteriorSampled.of(event)
            if not body.direct and body.twin:
                self.posteriors[body.block] = load_posterior(self.session, event)
        self.study = self.posteriors["all"].study
        used = [self.state.events[item.id] for item in self.posteriors["all"].event.inputs_as("surrogate")]
        self.surrogates = {event.id: load_surrogate(self.session, event) for event in used}

    def of_kind(self, kind: str) -> list[Event]:
        """Events of a kind that nothing supersedes, in order."""
        return [e for e in self.state.events.values() if e.kind == kind and e.id not in self.state.superseded]

    def surrogate(self, case: str) -> Surrogate:
        """That of a case."""
        return next(s for s in self.surrogates.values() if any(case == column.case for column in s.columns))

    def indices(self, case: str) -> pl.DataFrame:
        """Total sensitivity indices of a case."""
        wanted = self.surrogate(case).event.id
        event = next(e for e in reversed(self.of_kind("indices.computed")) if e.input("surrogate") == wanted)
        return self.session.table(event, "indices").filter((pl.col("measure") == "total") & (pl.col("case") == case))

    def curves(self, case: str) -> pl.DataFrame:
        """Displacements of all runs of the designs, with the time."""
        names = ["sample", "t", *(f"{point}_ux" for point in POINTS)]
        state = self.simulated.state
        designs = [design for design in state.designs.values() if DesignCreated.of(design).sampler == "sobol"]
        batches = [batch for design in designs for batch in state.batches.get(design.id, [])]
        own = [e for e in batches if batch_of(e).case == case and e.blob("curves") is not None]
        return pl.concat([self.simulated.table(event, "curves", names) for event in own])

    def run(self, parameters: Mapping[str, float], case: str) -> Done:
        """A run of the simulator."""
        point = self.study.fixed | self.study.cases[case] | dict(parameters)
        inputs = self.study.model().inputs
        defaults = {name: item.default for name, item in inputs.items() if item.default is not None}
        done = self.study.model().run([defaults | point], [0])[0]
        if not isinstance(done, Done):
            raise SystemExit(f"{case}: {done.reason}")
        return done

    def data(self, case: str, point: str) -> pl.DataFrame:
        """Twin observations of a point."""
        rows = self.posteriors["all"].data
        return rows.filter((pl.col("case") == case) & (pl.col("point") == point))


def grid(share: bool = True) -> tuple[Any, Any]:
    """A panel for each point and case."""
    return canvas(len(POINTS), len(CASES), WIDE, 7.2, sharex=share)


def label(axes: Any) -> None:
    """What the panels of `grid` show."""
    for i, name in enumerate(POINTS.values()):
        for j, case in enumerate(CASES.values()):
            axes[i, j].set_title(f"{name}, {case}")
            axes[i, j].grid(True)
        axes[i, 0].set_ylabel("x displacement [cm]")
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")


def mark_data(axis: Any, rows: pl.DataFrame, curve: tuple[Any, Any], point: str) -> None:
    """Twin observations at their instants: init, where the curve is highest, its end."""
    t, moved = curve
    at = {"init": INIT_S[point], "max": t[int(np.argmax(moved))], "rest": t[-1]}
    x = [at[name.rsplit("_", 1)[1]] for name in rows["output"]]
    dots(axis, x, 100.0 * rows["value"].to_numpy(), INK, 5.0, "x", 1.0).set_label("twin data")


def prior_envelope(found: Campaign, truth: Mapping[str, Done]) -> Figure:
    """Least and largest displacement of all runs of the design, and the run at the mean values (12)."""
    middle = {p.name: p.prior.mean() for p in found.study.parameters.values()}
    figure, axes = grid()
    for j, case in enumerate(CASES):
        table = found.curves(case)
        mean_run = found.run(middle, case).curves or {}
        for i, point in enumerate(POINTS):
            moved = 100.0 * pl.col(f"{point}_ux")
            band = table.group_by("t").agg(
                low=moved.min(), q05=moved.quantile(0.05), q95=moved.quantile(0.95), high=moved.max()
            )
            band = band.sort("t")[::8]
            t = band["t"].to_numpy()
            axes[i, j].fill_between(t, band["low"], band["high"], color=GREY, alpha=0.25, linewidth=0, label="all runs")
            axes[i, j].fill_between(t, band["q05"], band["q95"], color=GREY, alpha=0.35, linewidth=0, label="90 %")
            axes[i, j].plot(mean_run["t"][::8], 100.0 * mean_run[f"{point}_ux"][::8], color=BLUE, label="mean values")
            true = truth[case].curves or {}
            mark_data(axes[i, j], found.data(case, point), (true["t"], true[f"{point}_ux"]), point)
    label(axes)
    key(figure, axes[0, 0])
    return picture(figure, f"Envelope of {table.height // table['t'].n_unique()} runs a case: Top, Base, D, C")


def parities(found: Campaign) -> Figure:
    """Surrogates against runs they had not seen, the instants of each point together (14)."""
    figure, axes = canvas(len(CASES), len(POINTS), WIDE, 5.0)
    for i, case in enumerate(CASES):
        surrogate = found.surrogate(case)
        residuals = surrogate.tables["residuals"].partition_by("column", as_dict=True)
        nested = residuals[(0,)]["nested"].null_count() == 0
        for j, point in enumerate(POINTS):
            axis, ends = axes[i, j], []
            for instant, colour in INSTANTS.items():
                rows = residuals[(surrogate.column(case, f"{point}_{instant}"),)]
                runs, said = (100.0 * rows[k].to_numpy() for k in ("value", "nested" if nested else "left_out"))
                few = chosen(range(len(runs)), 40)
                dots(axis, runs[few], said[few], colour, 2.4).set_label(instant)
                ends += [runs.min(), runs.max()]
            axis.plot([min(ends), max(ends)], [min(ends), max(ends)], color=INK, linewidth=0.8)
            axis.set_title(f"{POINTS[point]}, {CASES[case]}")
            axis.grid(True)
    for axis in axes[-1]:
        axis.set_xlabel("simulator [cm]")
    for axis in axes[:, 0]:
        axis.set_ylabel("surrogate [cm]")
    key(figure, axes[0, 0])
    return picture(figure, "Surrogates against runs of the simulator, 40 of them drawn for each output")


def sobol_bars(found: Campaign) -> Figure:
    """Total indices of every output (15)."""
    names = list(found.study.parameters)
    outputs = [f"{point}_{instant}" for point in POINTS for instant in INSTANTS]
    figure, axes = canvas(len(CASES), 1, WIDE, 5.2, sharex=True)
    places = np.arange(len(outputs)).astype(float)
    for axis, (case, title) in zip(axes[:, 0], CASES.items(), strict=True):
        rows = found.indices(case)
        total = {(r["output"], r["parameter"]): r["value"] for r in rows.iter_rows(named=True)}
        for k, name in enumerate(names):
            heights = [total[output, name] for output in outputs]
            axis.bar(places + 0.16 * (k - 2), heights, 0.15, color=SERIES[k], label=name)
        axis.set_title(title)
        axis.set_ylabel("total Sobol index")
        axis.grid(axis="y")
    axes[-1, 0].set_xticks(places, outputs, rotation=40, ha="right")
    key(figure, axes[0, 0])
    return picture(figure, "Total Sobol indices of the 24 outputs")


def calibrated_curves(found: Campaign, truth: Mapping[str, Done], runs: Mapping[str, Mapping[str, Done]]) -> Figure:
    """Runs of the simulator at the posterior means of some blocks, and the run behind the twin data (16, 19)."""
    figure, axes = grid()
    for j, case in enumerate(CASES):
        true = truth[case].curves or {}
        for i, point in enumerate(POINTS):
            axis, t = axes[i, j], true["t"][::8]
            axis.plot(
                t, 100.0 * true[f"{point}_ux"][::8], color=INK, linewidth=2.2, alpha=0.45, label="behind the twin"
            )
            for block, dash in zip(runs, DASHES, strict=False):
                curves = runs[block][case].curves or {}
                axis.plot(t, 100.0 * curves[f"{point}_ux"][::8], color=BLOCKS[block], linestyle=dash, label=block)
            mark_data(axis, found.data(case, point), (true["t"], true[f"{point}_ux"]), point)
    label(axes)
    key(figure, axes[0, 0])
    return picture(figure, f"Displacements at the calibrated parameters of {', '.join(runs)} against the twin")


def posterior_corner(found: Campaign) -> Figure:
    """The posterior of the block `all` (17)."""
    posterior = found.posteriors["all"]
    columns = [Column(scale(item.name, item.unit), prior_from_json(item.prior)) for item in posterior.body.parameters]
    marks = {"mean": posterior.point("mean"), "MAP": posterior.point("mode")}
    twin = posterior.body.twin or {}
    marks["truth"] = np.array([twin[name] for name in posterior.names])
    return corner(columns, posterior.flat(), marks, not posterior.converged)


def predictive(found: Campaign) -> Figure:
    """Every output before and after the data, about the median after them (18)."""
    event = next(
        e for e in reversed(found.of_kind("prediction.made"))
        if e.input("posterior") == found.posteriors["all"].event.id
    )  # fmt: skip
    prediction = load_prediction(found.session, event)
    figure, axes = canvas(len(CASES), 1, WIDE, 5.4, sharex=True)
    for axis, (case, title) in zip(axes[:, 0], CASES.items(), strict=True):
        rows = prediction.data.filter(pl.col("case") == case)
        after = rows.filter(pl.col("when") == "posterior").sort("entry")
        x = np.arange(after.height, dtype=float)
        for when, width in (("prior", 0.62), ("posterior", 0.36)):
            part = rows.filter(pl.col("when") == when).sort("entry")
            shifted = part.with_columns(pl.col("q025", "q25", "q50", "q75", "q975") - after["q50"])
            draw_bands(axis, x, shifted, when, 100.0, width)
        off = 100.0 * (after["value"] - after["q50"]).to_numpy()
        draw_data(axis, x, off, 100.0 * after["std"].cast(pl.Float64).to_numpy())
        axis.lines[-1].set_label("twin data, ± 2 std")
        axis.set_xticks(x, after["output"].to_list(), rotation=40, ha="right")
        axis.set_ylim(-130.0, 40.0)
        axis.set_title(title)
        axis.set_ylabel("from the posterior median [cm]")
        axis.grid(axis="y")
    key(figure, axes[0, 0], 3)
    return picture(figure, "Prior and posterior predictive bands of the 24 outputs with the twin data")


def energy(truth: Mapping[str, Done]) -> tuple[Figure, str]:
    """Where the projectile's energy goes, by pair of groups, and the same as CSV (5.3)."""
    figure, axes = canvas(1, 1, WIDE, 2.8)
    axis, lines = axes[0, 0], ["case,where,impact_kj,friction_kj"]
    colours = (*SERIES, PURPLE)
    for row, case in enumerate(CASES):
        values, left = truth[case].values, 0.0
        for colour, (where, groups) in zip(colours, PAIRS.items(), strict=False):
            impact, friction = (
                sum(values.get(f"{part}_{group}", 0.0) for group in groups) / 1e3 for part in ("impact", "friction")
            )
            lines.append(f"{case},{where},{impact:.1f},{friction:z.1f}")
            for amount, hatch in ((impact, ""), (friction, "////")):
                painted = {"color": colour} if not hatch else {"facecolor": "none", "edgecolor": colour, "hatch": hatch}
                said = where if row == 0 and not hatch else None
                axis.barh(row, amount, 0.6, left, alpha=0.85, label=said, **painted)
                left += amount
    axis.set_yticks(range(len(CASES)), list(CASES.values()))
    axis.set_xlabel("energy lost [kJ]: impact filled, friction hatched")
    axis.grid(axis="x")
    key(figure, axis, 3)
    return picture(figure, "Energy lost by pair of groups at both energies"), "\n".join(lines) + "\n"


def standalone(figure: Figure) -> str:
    """The picture as a small file of its own: on white, in fixed colours, each style said once."""
    text = figure.svg
    for colour, variable in COLOURS.items():
        text = text.replace(variable, colour)
    # A tenth of a point is more than a page can show.
    text = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(?<=\d)(\.\d)\d+", r"\1", tag[0]), text)
    text = re.sub(r" ?\n([LCzQ]?) ?", r"\1", text)
    styles = sorted(set(re.findall(r' style="([^"]*)"', text)))
    for number, style in enumerate(styles):
        text = text.replace(f' style="{style}"', f' class="s{number}"')
    shorter = re.sub(r"<g>((?:(?!</?g\b).)*)</g>", r"\1", text)
    while shorter != text:
        text, shorter = shorter, re.sub(r"<g>((?:(?!</?g\b).)*)</g>", r"\1", shorter)
    sheet = "".join(f".s{number}{{{style}}}" for number, style in enumerate(styles))
    words = figure.alt.replace("&", "&amp;").replace("<", "&lt;")
    opened = text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    end = opened.index(">") + 1
    more = f'<title>{words}</title><style>{sheet}</style><rect width="100%" height="100%" fill="#fff"/>'
    return f"{opened[:end]}{more}{opened[end:]}\n"


def main(folder: Path, to: Path, book: Path) -> None:
    found = Campaign(folder, book)
    twin = found.posteriors["all"].body.twin or {}
    truth = {case: found.run(twin, case) for case in CASES}
    means = {
        block: dict(zip(posterior.names, posterior.point("mean"), strict=True))
        for block, posterior in found.posteriors.items()
    }
    runs = {block: {case: found.run(means[block], case) for case in CASES} for block in BLOCKS if block in means}
    with drawing():
        account, lines = energy(truth)
        figures = {
            "prior": prior_envelope(found, truth),
            "parity": parities(found),
            "sobol": sobol_bars(found),
            "calibrated": calibrated_curves(found, truth, {b: runs[b] for b in ("energy", "all") if b in runs}),
            "posterior": posterior_corner(found),
            "predictive": predictive(found),
            "trap": calibrated_curves(found, truth, {"point": runs["point"]}),
            "energy": account,
        }
    for name, figure in figures.items():
        (to / f"{name}.svg").write_text(standalone(figure))
    (to / "energy.csv").write_text(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3 if len(sys.argv) > 3 else 1]))
