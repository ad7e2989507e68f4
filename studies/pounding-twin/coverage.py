"""How often intervals hold the truth of a twin, by number of repetitions and by how good the surrogate is.

python studies/pounding-twin/coverage.py [TWINS]

Truths are drawn from the prior, data are the simulator's with noise of 0.3 mm, each output measured 1, 10 or 50 times.
Each posterior twice: with the error of the surrogate as one error of an output (`common`), and as a new one of each
datum (`per-datum`). A line a combination: share of the intervals of all three parameters that hold the truth.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from percuss.calibration.problem import common_error
from percuss.inference.compiled import compiled_target
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.stopping import Stopping
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import fold
from percuss.surrogates.surrogate import Surrogate, load_surrogate
from percuss.surrogates.training import Training, load_training

FOLDER = Path(__file__).parent
NOISE_M = 0.3e-3
REPEATS = (1, 10, 50)
MASSES = (0.5, 0.9)
SURROGATES = {"poor": ("24", "--degree", "2"), "good": ("128",)}


def percuss(ledger: Path, *words: str, given: str | None = None) -> str:
    """What the program prints: an id."""
    call = ["percuss", *words, "--ledger", str(ledger)]
    return subprocess.run(call, input=given, capture_output=True, text=True, check=True).stdout.strip()


def fitted(place: Path, points: str, *settings: str) -> Surrogate:
    """A surrogate of chaos from so many points."""
    design = percuss(place, "design", str(FOLDER), "--n", points, "--skip", "1")
    campaign = percuss(place, "run", "-", given=design)
    event = percuss(place, "surrogate", campaign, "--family", "chaos", "--bootstrap", "0", *settings)
    ledger = Ledger.open(place)
    return load_surrogate(ledger, fold(ledger.events()), ledger.event(event))


def twins(place: Path, count: int) -> Training:
    """Runs of the simulator at points drawn from the prior."""
    design = percuss(place, "design", str(FOLDER), "--n", str(count), "--sampler", "random", "--seed", "11")
    campaign = percuss(place, "run", "-", given=design)
    ledger = Ledger.open(place)
    return load_training(ledger, fold(ledger.events()), ledger.event(campaign))


def ranks(surrogate: Surrogate, truths: Training, repeats: int, common: bool) -> np.ndarray:
    """Share of the posterior below the truth: (twins, parameters)."""
    priors = {name: item.prior for name, item in surrogate.study.parameters.items()}
    outputs = np.repeat(np.arange(len(surrogate.columns)), repeats)
    errors = {"model": common_error(surrogate, outputs)} if common else {}
    found = []
    for twin, theta in enumerate(truths.theta):
        true = np.concatenate([runs.values[twin] for runs in truths.cases])
        noise = np.random.default_rng((twin, repeats)).normal(0.0, NOISE_M, len(outputs))
        data = Group("data", true[outputs] + noise, outputs, Gaussian(NOISE_M))
        likelihood = Likelihood(surrogate.names, {"model": surrogate.predict}, (data,), errors)
        target, _ = compiled_target(likelihood, priors, {"model": surrogate})
        sample = sample_posterior(target, seed=twin, stopping=Stopping(ess=1000))
        if not sample.converged:
            print(f"twin {twin}: not converged", file=sys.stderr)
        found.append(np.mean(sample.flat() < theta, axis=0))
    return np.array(found)


def main(count: int, place: Path) -> None:
    truths = twins(place, count)
    print("| surrogate | nested error | repetitions | error | " + " | ".join(f"{m:.0%}" for m in MASSES) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(MASSES))
    for label, settings in SURROGATES.items():
        surrogate = fitted(place, *settings)
        for repeats in REPEATS:
            for common in (False, True):
                apart = np.abs(ranks(surrogate, truths, repeats, common) - 0.5)
                told = [label, f"{np.mean(surrogate.error):.2g}", str(repeats), "common" if common else "per-datum"]
                for mass in MASSES:
                    sure = np.sqrt(mass * (1 - mass) / apart.size)
                    told.append(f"{np.mean(apart < mass / 2):.0%} ± {sure:.0%}")
                print("| " + " | ".join(told) + " |", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 60, Path(folder) / "ledger")
