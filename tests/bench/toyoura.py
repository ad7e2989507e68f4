"""Toyoura sand as Cheng et al. (2018) have it: parameters, packings, measured curves, and the tables of docs/grains.md.

    PERCUSS_TOYOURA=FOLDER python -m tests.bench.toyoura [peer] [spread] [measured] [steps]
    PERCUSS_TOYOURA=FOLDER python -m tests.bench.toyoura observed > observed.csv

FOLDER has `experiment/Test_*.data` and `packings/PeriSp_*_0.68.txt` of the authors' program. A table takes half a
minute to five of one core. Root mean squares are over the increments, or over the measured points; volumes in %.
`observed` writes what `percuss observe studies/toyoura-triaxial` takes.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss import _core
from percuss.models.grains import TOYOURA

# Read on import: tests themselves run without the settings of whoever runs them.
FOLDER = Path(os.environ.get("PERCUSS_TOYOURA", ""))
GOLDEN = Path(__file__).parents[1] / "golden" / "grains"
HM, CL = "hertz-mindlin", "classical-linear"
# Tables 4 and 5: law and pressure (MPa); modulus (GPa), Poisson's ratio, rolling stiffness and friction, angle (deg).
IDENTIFIED = {
    (CL, 0.2): (0.545, 0.080, 0.564, 0.194, 30.203),
    (CL, 0.5): (0.545, 0.080, 0.564, 0.194, 30.203),
    (CL, 1.0): (1.252, 0.439, 0.076, 0.726, 22.043),
    (CL, 2.0): (1.046, 0.160, 0.589, 0.331, 18.076),
    (HM, 0.2): (4.123, 0.064, 0.148, 0.202, 30.387),
    (HM, 0.5): (5.882, 0.304, 0.344, 0.567, 24.027),
    (HM, 1.0): (8.324, 0.049, 0.363, 0.480, 24.951),
    (HM, 2.0): (6.793, 0.482, 0.998, 0.171, 20.06),
}
# The contacts of the program those were identified with.
PEER: dict[str, dict[str, Any]] = {
    HM: {"moment_limit": "rolling", "rescaled": False},
    CL: {"moment_limit": "separate", "rescaled": False},
}
# Standard deviation of stress ratio and volumetric strain (%) between packings, by axial strain (%): `spread`. That
# of the volume is one and the same error from 4 % on, so that each of three observations has sqrt(3) of it.
ERRORS = {1: (0.1, 0.05), 2: (0.13, 0.1), 4: (0.15, 0.4), 6: (0.17, 0.6), 8: (0.17, 0.7)}


class Curve(NamedTuple):
    """Axial strain (%), stress ratio and volumetric strain (%)."""

    axial: NDArray[np.float64]
    ratio: NDArray[np.float64]
    volume: NDArray[np.float64]


def spec(law: str = HM, pressure_mpa: float = 0.2, step: float = 0.001, **changes: Any) -> dict[str, Any]:
    """A drained test to 8 %, with the parameters of Tables 4 and 5."""
    young, poisson, rolling_stiffness, rolling_friction, degrees = IDENTIFIED[law, pressure_mpa]
    return {
        "law": law,
        "young_pa": 1e9 * young,
        "poisson": poisson,
        "rolling_stiffness": rolling_stiffness,
        "rolling_friction": rolling_friction,
        "friction": math.tan(math.radians(degrees)),
        "moments": True,
        "moment_limit": "joint",
        "rescaled": True,
        "restitution": 1.0,
        "gravity_m_s2": 0.0,
        "density_kg_m3": 2650.0,
        "density_scaling": 1000.0,
        "pressure_pa": 1e6 * pressure_mpa,
        "rate_per_s": 0.1,
        "damping": [0.2, 0.9],
        "unbalanced": 1e-3,
        "stress_tolerance": 1e-3,
        "most_steps": 40_000,
        "step_safety": 0.8,
        "test": "drained",
        "strains": [step * k for k in range(1, round(0.08 / step) + 1)],
        "film": False,
        "paths": [],
        **changes,
    }


@functools.cache
def packing(grains: int, seed: int = 1) -> Any:
    """A packing of ours."""
    wanted = {"diameters": TOYOURA[0], "finer": TOYOURA[1], "grains": grains, "cell_m": [0.05, 0.05, 0.1], "seed": seed}
    wanted |= {"void_ratio": 0.68, "tolerance": 0.002, "pressure_pa": 100.0, "density_kg_m3": 2650.0, "walls": False}
    return _core.grain_packing(wanted)[0]


@functools.cache
def authors_packing(grains: int) -> Any:
    """A packing of the authors."""
    lines = (FOLDER / "packings" / f"PeriSp_{grains}_0.68.txt").read_text().splitlines()
    rows = np.array([[float(word) for word in line.split()[:4]] for line in lines[1:]])
    return [float(word) for word in lines[0].split()[1:4]], rows[:, :3].tolist(), rows[:, 3].tolist(), False


def measured(pressure_mpa: float, end: float = 8.0) -> Curve:
    """A measured curve, up to a strain."""
    lines = (FOLDER / "experiment" / f"Test_{pressure_mpa}.data").read_text().splitlines()[1:]
    table = np.array([[float(word) for word in line.split()] for line in lines if line.strip()])[:, [3, 4, 0]]
    return Curve(*table[(table[:, 0] > 0) & (table[:, 0] <= end)].T)


def peer(name: str) -> Curve:
    """A curve of YADE."""
    rows = np.genfromtxt(GOLDEN / name, delimiter=",", names=True)
    return Curve(rows["eps_a_pct"], rows["stress_ratio"], rows["eps_v_pct"])


def curve(grains: Any, wanted: dict[str, Any]) -> Curve:
    """Do a test."""
    found = _core.grain_test(grains, wanted)
    ratio = 2 * found["stress_zz"] / (found["stress_xx"] + found["stress_yy"])
    return Curve(100 * found["strain_z"], ratio, 100 * (found["strain_x"] + found["strain_y"] + found["strain_z"]))


def off(one: Curve, other: Curve, end: float = 8.0) -> NDArray[np.float64]:
    """Root mean squares of the differences in ratio and volume, at the points of `other` up to a strain."""
    at = other.axial[other.axial <= end + 1e-9]
    pairs = ((one.ratio, other.ratio), (one.volume, other.volume))
    return np.array([np.sqrt(np.mean((np.interp(at, one.axial, a) - b[: len(at)]) ** 2)) for a, b in pairs])


def _say(label: str, *found: NDArray[np.float64], peak: float | None = None) -> None:
    words = " / ".join(f"{ratio:.3f}, {volume:.3f} %" for ratio, volume in found)
    print(f"{label}: {words}" + (f"; peak {peak:.2f}" if peak is not None else ""), flush=True)


def against_the_peer() -> None:
    """On one and the same packing, with the peer's contacts, to 2 % and to 8 %."""
    for law, short in ((HM, "hm"), (CL, "cl")):
        ours = curve(authors_packing(1000), spec(law, **PEER[law]))
        curves = {kind: peer(f"{short}_n1000_s0.2{kind}.csv") for kind in ("", "_light")}
        for kind, theirs in curves.items():
            _say(f"{law} against {short}{kind or '_heavy'}", off(ours, theirs, 2), off(ours, theirs))
        _say(f"{law} peer against itself", *(off(curves[""], curves["_light"], end) for end in (2, 8)))


def spread() -> None:
    """Between five packings of ours with the peer's contacts, to 2 %, 3 % and 8 %, and from them to the peer."""
    for law, short in ((HM, "hm"), (CL, "cl")):
        curves = [curve(packing(1000, seed), spec(law, step=0.005, **PEER[law])) for seed in range(1, 6)]
        theirs = peer(f"{short}_n1000_s0.2_light.csv")
        for label, pairs in (
            ("between packings", list(itertools.combinations(curves, 2))),
            ("to the peer on the authors' packing", [(theirs, one) for one in curves]),
        ):
            squares = (np.mean([off(*pair, end) ** 2 for pair in pairs], axis=0) for end in (2, 3, 8))
            _say(f"{law} {label}", *(np.sqrt(square) for square in squares))
        for at in (1, 2, 4, 6, 8):
            values = np.array([[np.interp(at, c.axial, c.ratio), np.interp(at, c.axial, c.volume)] for c in curves])
            _say(f"{law} standard deviation at {at} %", values.std(axis=0, ddof=1))


def to_measurements() -> None:
    """Distance to the measured curves, Hertz-Mindlin and linear, by packing, limit of moments, pressure and size."""
    rows: list[tuple[str, Any, float, bool]] = []
    for own in (False, True):
        rows += [(f"packing {seed}", packing(1000, seed), 0.2, own) for seed in range(1, 6)]
        rows += [("authors' packing", authors_packing(1000), 0.2, own)]
    rows += [(f"{mpa} MPa, packing 1", packing(1000), mpa, False) for mpa in (0.5, 1.0, 2.0)]
    rows += [(f"{mpa} MPa, authors' packing", authors_packing(1000), mpa, False) for mpa in (0.5, 1.0, 2.0)]
    rows += [(f"{n} grains", packing(n), 0.2, False) for n in (2000, 5000)]
    rows += [(f"{n} grains, authors' packing", authors_packing(n), 0.2, False) for n in (2000, 5000)]
    for label, grains, mpa, own in rows:
        for law in (HM, CL):
            found = curve(grains, spec(law, mpa, 0.005, **(PEER[law] if own else {})))
            limit = f"{law}, limit {PEER[law]['moment_limit'] if own else 'joint'}, {label}"
            seen = () if mpa == 2.0 else (off(found, measured(mpa)),)
            _say(limit, *seen, peak=float(found.ratio.max()))


def steps() -> None:
    """How far time step, rate and increments move a curve to 2 %."""
    for law in (HM, CL):
        base = curve(packing(1000), spec(law))
        changes: dict[str, dict[str, Any]] = {
            "half the step": {"step_safety": 0.4},
            "a tenth of the rate": {"rate_per_s": 0.01},
        }
        for label, change in changes.items():
            strains = [0.001 * k for k in range(1, 21)]
            _say(f"{law}, {label}", off(curve(packing(1000), spec(law, **change, strains=strains)), base, 2))
        _say(
            f"{law}, increments of 0.5 %",
            *(off(base, curve(packing(1000), spec(law, step=0.005)), end) for end in (2, 8)),
        )


def observed() -> None:
    """Measured values at the strains of the study's outputs, for both laws."""
    print("output,value,unit,std,case,instant")
    for mpa, law, (at, errors) in itertools.product((0.2, 0.5, 1.0), ("hm", "cl"), ERRORS.items()):
        seen = measured(mpa, math.inf)
        for name, unit, values, error in zip(
            ("stress_ratio", "volumetric_strain"), ("1", "%"), (seen.ratio, seen.volume), errors, strict=True
        ):
            value = np.interp(at, seen.axial, values)
            print(f"{name}_{at},{value:.4f},{unit},{error},{law}-{mpa},{at / 100}")


TABLES = {"peer": against_the_peer, "spread": spread, "measured": to_measurements, "steps": steps, "observed": observed}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        TABLES[name]()
