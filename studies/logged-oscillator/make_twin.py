"""Twin data of the study: the closed form of the released oscillator, as a logger with faults of its own records it.

python studies/logged-oscillator/make_twin.py studies/logged-oscillator/observations/logger.csv
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

STIFFNESS, RATIO, MASS, START = 42.0, 0.03, 1.0, 0.02
DELAY, RATE = 0.012, 250.0
WHITE, LASTING, LENGTH = 0.2e-3, 0.5e-3, 0.05


def displacement(t: np.ndarray) -> np.ndarray:
    """Free vibration from START at rest."""
    omega = np.sqrt(STIFFNESS / MASS)
    damped = omega * np.sqrt(1 - RATIO**2)
    return START * np.exp(-RATIO * omega * t) * (np.cos(damped * t) + RATIO * omega / damped * np.sin(damped * t))


def main() -> None:
    """Write the table."""
    generator = np.random.default_rng(25)
    clock = np.arange(0.02, 2.98, 1 / RATE) + generator.uniform(-0.3e-3, 0.3e-3, 740)
    error = np.empty(len(clock))
    error[0] = LASTING * generator.standard_normal()
    for i in range(1, len(clock)):
        kept = np.exp(-(clock[i] - clock[i - 1]) / LENGTH)
        error[i] = kept * error[i - 1] + LASTING * np.sqrt(1 - kept**2) * generator.standard_normal()
    values = displacement(clock - DELAY) + error + WHITE * generator.standard_normal(len(clock))
    lines = ["t [ms],ch1 [mm],temperature"]
    for i, (t, value) in enumerate(zip(clock, values, strict=True)):
        lost = 300 <= i < 360 or i % 97 == 0
        lines.append(f"{1000 * t:.3f},{'nan' if lost else f'{1000 * value:.4f}'},21.5")
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


main()
