"""Calibrations on time histories: how often intervals hold the truth, and what the compiled sampler gains.

    python -m tests.bench.histories [TWINS]

Twins of studies/logged-oscillator: truths from the prior, the closed form of the motion on a logger's clock with a
delay, an independent error and one that lasts, the record calibrated on by one surrogate of the curve. Three ways:
clock and errors known (sampled by the core), the clock inferred, and clock and errors inferred. The last table has
effective draws per CPU second of the first way by core and by numpy, the same posterior, the best of three pairs.
"""

from __future__ import annotations

import os

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import shutil
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import percuss
from percuss.calibration.problem import load_problem
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping

STUDY = Path(__file__).parents[2] / "studies" / "logged-oscillator"
START_M, WHITE_M, LASTING_M, LENGTH_S = 0.02, 0.2e-3, 0.5e-3, 0.05
INFERRED = 'delay = { prior = { kind = "normal", mean = 0, std = "10 ms" } }'
WAYS = {"clock and errors known": "data-sheet", "clock inferred": "data-sheet", "clock and errors inferred": "history"}
MASSES = (0.5, 0.9)


def record(stiffness: float, ratio: float, delay: float, random: np.random.Generator) -> str:
    """What the logger writes: 250 samples per second, for 3 s."""
    clock = np.arange(0.05, 2.95, 0.004)
    t, omega = clock - delay, np.sqrt(stiffness)
    damped = omega * np.sqrt(1 - ratio**2)
    motion = START_M * np.exp(-ratio * omega * t) * (np.cos(damped * t) + ratio * omega / damped * np.sin(damped * t))
    kept = np.exp(-0.004 / LENGTH_S)
    steps = LASTING_M * random.standard_normal(len(clock))
    lasting = np.empty(len(clock))
    lasting[0] = steps[0]
    for i in range(1, len(clock)):
        lasting[i] = kept * lasting[i - 1] + np.sqrt(1 - kept**2) * steps[i]
    seen = motion + lasting + WHITE_M * random.standard_normal(len(clock))
    return "\n".join(["t [ms],ch1 [mm]", *(f"{1e3 * a:.3f},{1e3 * b:.5f}" for a, b in zip(clock, seen, strict=True))])


def twin(folder: Path, seed: int, known: bool) -> tuple[Path, dict[str, float]]:
    """A study with the record of a truth drawn from the prior; that of the clock is inferred or `known`."""
    random = np.random.default_rng([seed, 25])
    stiffness, ratio, delay = random.uniform(34, 46), random.uniform(0.01, 0.06), random.normal(0.0, 0.010)
    study = Path(shutil.copytree(STUDY, Path(tempfile.mkdtemp(dir=folder)) / "logged-oscillator"))
    lines = (study / "study.toml").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("twin ="))
    assert INFERRED in text
    (study / "study.toml").write_text(text.replace(INFERRED, f'delay = "{1e3 * delay:.9f} ms"') if known else text)
    (study / "observations" / "logger.csv").write_text(record(stiffness, ratio, delay, random) + "\n")
    return study, {"stiffness_1": stiffness, "damping_ratio_1": ratio, "delay_logger": delay}


def held(ledger: Any, surrogate: Any, folder: Path, way: str, twins: int) -> dict[str, NDArray[np.bool_]]:
    """For each quantity and twin, whether the intervals of each mass hold the truth."""
    found: dict[str, list[list[bool]]] = {}
    known = way == next(iter(WAYS))
    for seed in range(twins):
        study, truth = twin(folder, seed, known)
        posterior = ledger.calibrate(surrogate, study=study, block=WAYS[way])
        draws = posterior.table("draws")
        for name in set(truth) & set(draws.columns):
            ends = [np.quantile(draws[name].to_numpy(), [(1 - mass) / 2, (1 + mass) / 2]) for mass in MASSES]
            found.setdefault(name, []).append([bool(low <= truth[name] <= high) for low, high in ends])
    return {name: np.array(each) for name, each in found.items()}


def speeds(ledger: Any, surrogate: Any, folder: Path) -> tuple[float, float]:
    """Least effective draws per CPU second, by the core and by numpy."""
    study, _ = twin(folder, 10_000, True)
    posterior = ledger.calibrate(surrogate, study=study, block="data-sheet")
    target = load_problem(ledger.session, posterior.event).target
    assert target.advance is not None
    best = [0.0, 0.0]
    for seed in range(3):
        for way, one in enumerate((target, replace(target, advance=None, glide=None, density=None))):
            began = time.process_time()
            sample = sample_posterior(one, seed=seed, stopping=Stopping(ess=4000), look=False)
            best[way] = max(best[way], sample.diagnostics.least_ess / (time.process_time() - began))
    return best[0], best[1]


def main(twins: int) -> None:
    """Print the tables."""
    warnings.simplefilter("ignore", percuss.NotTrusted)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = percuss.open_ledger(folder / "ledger", progress=False)
        surrogate = ledger.surrogate(ledger.run(ledger.design(STUDY, 64, skip=1, curves=True)), curves="u1")
        print("| way | quantity | in 50 % intervals | in 90 % intervals |\n| --- | --- | --- | --- |")
        for way in WAYS:
            for quantity, each in sorted(held(ledger, surrogate, folder, way, twins).items()):
                shares = [f"{100 * share:.0f} %" for share in each.mean(axis=0)]
                print(f"| {way} | {quantity} | {' | '.join(shares)} |", flush=True)
        deviations = ", ".join(f"{100 * np.sqrt(mass * (1 - mass) / twins):.1f} %" for mass in MASSES)
        print(f"binomial standard deviations: {deviations}")
        core, numpy = speeds(ledger, surrogate, folder)
        print(f"effective draws per CPU s: core {core:.0f}, numpy {numpy:.0f}, ratio {core / numpy:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
