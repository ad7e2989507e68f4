"""A twin of the two-storey structure of Green et al., Section 5: not their measurements, which are not published.

    python make_twin.py [SEED]          # 7 by default; writes observations/shaken.csv

Two floors on columns (Eqs. 36-37, motion relative to the base) whose bolted joints slip: beside the linear dampers each
storey has a friction force F tanh(v/v0), v the velocity across it, so that the equivalent damping falls as amplitude
grows. The base shakes at 1.7 Hz, near the first resonance, with steps in amplitude. Accelerometers on both floors.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

MASSES_KG = (5.0, 4.6)
STIFFNESS_N_PER_M = (1600.0, 1450.0)
DAMPER_N_S_PER_M = (6.0, 5.0)
FRICTION_N, SLIP_M_S = (0.20, 0.16), 5e-3
FREQUENCY_HZ, STEP_S, SUBSTEPS = 1.7, 0.01, 4
AMPLITUDES_M_S2, LEVEL_S = (0.2, 0.6, 0.3, 1.0, 0.4), 20.0
NOISE_M_S2 = 0.02


def accelerations(u: np.ndarray, v: np.ndarray, base: float) -> np.ndarray:
    """Of both floors, relative to the base."""
    across, rate = np.array([u[0], u[1] - u[0]]), np.array([v[0], v[1] - v[0]])
    slip = np.array(FRICTION_N) * np.tanh(rate / SLIP_M_S)
    force = np.array(STIFFNESS_N_PER_M) * across + np.array(DAMPER_N_S_PER_M) * rate + slip
    return np.array([force[1] - force[0], -force[1]]) / MASSES_KG - base


def respond(base: np.ndarray) -> np.ndarray:
    """Absolute accelerations at the samples, by Runge-Kutta steps with the base linear between samples."""
    u, v = np.zeros(2), np.zeros(2)
    found = [accelerations(u, v, base[0]) + base[0]]
    h = STEP_S / SUBSTEPS
    for before, after in pairwise(base):
        for substep in range(SUBSTEPS):
            b0, b1 = (before + (after - before) * (substep + part) / SUBSTEPS for part in (0, 1))
            middle = (b0 + b1) / 2
            a1 = accelerations(u, v, b0)
            v2 = v + h / 2 * a1
            a2 = accelerations(u + h / 2 * v, v2, middle)
            v3 = v + h / 2 * a2
            a3 = accelerations(u + h / 2 * v2, v3, middle)
            v4 = v + h * a3
            a4 = accelerations(u + h * v3, v4, b1)
            u = u + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
            v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        found.append(accelerations(u, v, after) + after)
    return np.array(found)


def main(seed: int, folder: Path) -> None:
    """One record of all levels."""
    random = np.random.default_rng(seed)
    times = STEP_S * np.arange(round(len(AMPLITUDES_M_S2) * LEVEL_S / STEP_S))
    level = np.array(AMPLITUDES_M_S2)[(times / LEVEL_S + 1e-9).astype(int)]
    base = level * np.sin(2 * np.pi * FREQUENCY_HZ * times)
    floors = respond(base) + NOISE_M_S2 * random.standard_normal((len(times), 2))
    rows = (f"{t:.2f},{b:.7g},{x:.5g},{y:.5g}" for t, b, (x, y) in zip(times, base, floors, strict=True))
    (folder / "shaken.csv").write_text("\n".join(["t_s,base_m_s2,a1_m_s2,a2_m_s2", *rows, ""]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7, Path(__file__).parent / "observations")
