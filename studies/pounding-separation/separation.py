"""Probability of pounding against the gap: closed form, Monte Carlo and subset simulation; what rules really buy.

    percuss design studies/pounding-separation --sampler monte-carlo --n 1200 --seed 1 | percuss run - > campaign
    percuss export csv "$(cat campaign)" --to runs.csv
    percuss reliability studies/pounding-separation --limit towers_269mm --method subset --cv 0.35 --n 6000
    ... and the other limits: README.md
    python studies/pounding-separation/separation.py LEDGER runs.csv [FIGURE.svg]

Closed form: first passage of the relative displacement (`percuss.first_passage`) with quadrature over the intensity.
Subset simulation: what the ledger has of the limits of the study, at gaps written there.
"""

import math
import sys
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import ndtr

import percuss
from percuss.first_passage.crossing import passage_probability
from percuss.first_passage.excitation import kanai_tajimi
from percuss.first_passage.linear import LinearSystem, of_oscillators
from percuss.first_passage.moments import Moments, moments_of
from percuss.kinds.reliability_estimated import ReliabilityEstimated
from percuss.models.oscillators.system import Oscillators
from percuss.study.limits import find_limit
from percuss.study.load import load_study

STUDY = load_study(Path(__file__).parent)
# Pairs: case, contact, and what stands in the tables.
PAIRS = (
    ("far", "AB", "towers, 1.0 and 0.5 s"),
    ("near", "AB", "towers, 1.0 and 0.8 s"),
    ("far", "PQ", "buildings"),
    ("dampers", "PQ", "buildings, dampers"),
)
# Quadrature over the intensity: rare poundings come from intensities far out in its tail.
DEVIATES = np.linspace(-6.0, 6.0, 61)
SHARES = np.exp(-0.5 * DEVIATES**2) / np.exp(-0.5 * DEVIATES**2).sum()
RULES = ("abs", "srss", "cqc")


def model() -> Oscillators:
    """The model of the study."""
    built = STUDY.model()
    assert isinstance(built, Oscillators)
    return built


def system_of(case: str) -> LinearSystem:
    """The linear system of a case."""
    return of_oscillators(model(), STUDY.point(case, {"intensity": 1.0}))


def weights_of(contact: str) -> np.ndarray:
    """Closing of a contact as a sum of displacements."""
    nodes = next(item.nodes for item in model().contacts if item.name == contact)
    weights = np.zeros(len(model().names))
    weights[nodes[0]], weights[nodes[1]] = 1.0, -1.0
    return weights


def moments_at_one(case: str, contact: str) -> Moments:
    """Moments of the closing for an intensity of 1 m/s^2."""
    settings = model().base.synthetic
    assert settings is not None
    excitation = kanai_tajimi(settings, 1.0, model().duration_s)
    times = np.arange(0.0, model().duration_s + 0.01, 0.1)
    return moments_of(system_of(case), excitation, weights_of(contact).tolist(), times)


def closed_form(moments: Moments, gap_m: float, method: str = "vanmarcke") -> float:
    """Mean over the intensity: the response scales with it."""
    intensities = STUDY.parameters["intensity"].prior.ppf(ndtr(DEVIATES))
    return float(SHARES @ [passage_probability(moments, gap_m / float(i), method) for i in intensities])


def estimated(ledger: Path) -> dict[tuple[str, str], dict[float, tuple[float, float]]]:
    """What `percuss reliability` has found, by case and contact: probability and coefficient of variation at gaps in m;
    of several estimates of a limit the last.
    """
    found: dict[tuple[str, str], dict[float, tuple[float, float]]] = {}
    for event in percuss.open_ledger(ledger).session.state.events.values():
        if event.kind != "reliability.estimated" or event.study is None or event.study.digest != STUDY.digest:
            continue
        body = ReliabilityEstimated.of(event)
        if body.estimate is None or body.estimate.cv is None:
            continue
        limit = find_limit(STUDY, body.limit)
        assert limit.quantity is not None
        contact = limit.quantity.names[0].removeprefix("closing_")
        at = found.setdefault((limit.case, contact), {})
        at[limit.threshold] = (body.estimate.probability, body.estimate.cv)
    return found


def main(ledger: Path, runs: Path, figure: Path | None) -> None:
    """Print the tables of the README, and draw."""
    table, subset = pl.read_csv(runs), estimated(ledger)
    curves = {}
    print("| pair | gap, mm | Monte Carlo | Vanmarcke | modified | Poisson | subset simulation (cv) |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case, contact, words in PAIRS:
        closings = table.filter(pl.col("case") == case)[f"closing_{contact}_m"].to_numpy()
        moments = moments_at_one(case, contact)
        simulated = []
        for target in (0.5, 0.1, 1e-2, 1e-3, 1e-5):
            gap = gap_for(moments, target)
            share = float((closings > gap).mean())
            error = math.sqrt(share * (1 - share) / len(closings))
            counted = f"{share:.3f} ± {error:.3f}" if target >= 1e-2 else ""
            rare = ""
            for at, (probability, cv) in subset.get((case, contact), {}).items():
                if abs(at / gap - 1) < 0.01:
                    rare = f"{probability:.2g} ({cv:.2f})"
                    simulated.append((at, probability))
            forms = [closed_form(moments, gap, name) for name in ("vanmarcke", "vanmarcke-modified", "poisson")]
            cells = " | ".join(f"{form:.2g}" for form in forms)
            print(f"| {words} | {1e3 * gap:.0f} | {counted} | {cells} | {rare} |", flush=True)
        curves[words] = (moments, closings, simulated)
    print("\n| pair | rule | gap, mm (mean of the rule) | Monte Carlo | closed form | gap for a risk of 0.01 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for case, contact, words in PAIRS:
        rows = table.filter(pl.col("case") == case)
        closings = rows[f"closing_{contact}_m"].to_numpy()
        moments = curves[words][0]
        for rule in RULES:
            gap = float(rows[f"separation_{rule}_{contact}_m"].to_numpy().mean())
            share = float((closings > gap).mean())
            form = closed_form(moments, gap)
            need = 1e3 * gap_for(moments, 1e-2)
            print(f"| {words} | {rule.upper()} | {1e3 * gap:.0f} | {share:.2f} | {form:.2f} | {need:.0f} |")
    if figure:
        draw(curves, figure)


def gap_for(moments: Moments, probability: float) -> float:
    """The gap whose risk, over all intensities, is this, m."""
    low, high = 1e-4, 5.0
    for _ in range(28):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if closed_form(moments, middle) > probability else (low, middle)
    return high


def draw(curves: dict, figure: Path) -> None:
    """Probability against the gap: lines are closed forms, dots Monte Carlo, crosses subset simulation."""
    from percuss.plots.drawing import DASHES, SERIES, WIDE, canvas, drawing, key
    from percuss.plots.files import save

    with drawing(style="paper"):
        drawn, axes = canvas(1, 1, WIDE, 3.4)
        axis = axes[0, 0]
        for i, (words, (moments, closings, simulated)) in enumerate(curves.items()):
            gaps = np.linspace(gap_for(moments, 0.9), gap_for(moments, 3e-6), 40)
            colour = SERIES[i % len(SERIES)]
            axis.plot(
                1e3 * gaps, [closed_form(moments, g) for g in gaps], color=colour, linestyle=DASHES[i], label=words
            )
            levels = np.quantile(closings, [0.2, 0.5, 0.8, 0.95, 0.99])
            axis.plot(1e3 * levels, [(closings > g).mean() for g in levels], color=colour, marker="o", linestyle="none")
            axis.plot(*np.array([(1e3 * g, p) for g, p in simulated]).T, color=colour, marker="x", linestyle="none")
        axis.set_yscale("log")
        axis.set_xlabel("gap [mm]")
        axis.set_ylabel("probability of pounding")
        axis.grid(True)
        key(drawn, axis, 2)
        save(drawn, figure, "paper")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
