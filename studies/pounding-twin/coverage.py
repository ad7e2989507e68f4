"""How often intervals hold the truth of a twin, by number of repetitions and by how good the surrogate is.

python studies/pounding-twin/coverage.py [poor|good ...]

The study with gaps from 11 to 33 mm, so that expansions of first degree are poor. Truths are drawn from the prior, data
are the simulator's with noise of 0.3 mm, each output measured 1, 10 or 50 times. Surrogates are fitted to two designs,
each serving half of the twins. Chains of the core start from weighted draws of the prior.
Each posterior twice: with the error of the surrogate as one error of an output (`common`), and as a new one of each
datum (`per-datum`). A line a combination: share of the intervals of all three parameters that hold the truth.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from percuss.calibration.surrogate_errors import common_errors
from percuss.execution.results import Campaign, load_campaign
from percuss.inference.compiled import compile_posterior
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.ledger.ledger import Ledger
from percuss.session import Session
from percuss.study.priors.prior import Prior
from percuss.surrogates.shrinkage import shrunk
from percuss.surrogates.surrogate import Surrogate, load_surrogate

FOLDER = Path(__file__).parent
NOISE_M = 0.3e-3
REPEATS = (1, 10, 50)
MASSES = (0.5, 0.9)
DESIGNS = 2
CHAINS = 100
POINTS = 48
TWINS = 60
SURROGATES = {"poor": ("--degree", "1"), "good": ()}


def percuss(ledger: Path, *words: str, given: str | None = None) -> str:
    """What the program prints: an id."""
    call = ["percuss", *words, "--ledger", str(ledger)]
    return subprocess.run(call, input=given, capture_output=True, text=True, check=True).stdout.strip()


def wide(folder: Path) -> Path:
    """The study with a wider prior."""
    text = (FOLDER / "study.toml").read_text().partition("[observations]")[0]
    found = folder / "wide"
    found.mkdir()
    (found / "study.toml").write_text(text.replace("low = 18, high = 25", "low = 11, high = 33"))
    return found


def ran(place: Path, study: Path, points: int, seed: int, sampler: str) -> str:
    """Runs of the simulator: the id of their campaign."""
    words = ("--n", str(points), "--sampler", sampler, "--seed", str(seed))
    return percuss(place, "run", "-", given=percuss(place, "design", str(study), *words))


def fitted(place: Path, campaign: str, *settings: str) -> Surrogate:
    """A surrogate of chaos."""
    event = percuss(place, "surrogate", campaign, "--family", "chaos", "--bootstrap", "0", *settings)
    session = Session(Ledger.open(place))
    return load_surrogate(session, session.event(event))


def twins(place: Path, campaign: str) -> Campaign:
    """Points of a campaign and what the simulator gives there."""
    session = Session(Ledger.open(place))
    return load_campaign(session, session.event(campaign))


def ranks(surrogate: Surrogate, truths: Campaign, some: range, repeats: int, common: bool) -> np.ndarray:
    """Share of the posterior below the truth, for some of the twins: (twins, parameters)."""
    surrogate = shrunk(surrogate, range(len(surrogate.columns))) if common else surrogate
    priors = {name: item.prior for name, item in surrogate.study.parameters.items()}
    outputs = np.repeat(np.arange(len(surrogate.columns)), repeats)
    known = dict.fromkeys(range(len(surrogate.columns)), NOISE_M**2 / repeats)
    errors = {"model": common_errors([(surrogate, known)]).errors[0]} if common else {}
    found = []
    for twin in some:
        true = np.concatenate([runs.values[twin] for runs in truths.cases])
        noise = np.random.default_rng((twin, repeats)).normal(0.0, NOISE_M, len(outputs))
        data = Group("data", true[outputs] + noise, outputs, Gaussian(NOISE_M))
        likelihood = Likelihood(surrogate.names, {"model": surrogate.predict}, (data,), errors)
        found.append(np.mean(draws(likelihood, priors, surrogate, twin) < truths.theta[twin], axis=0))
    return np.array(found)


def draws(likelihood: Likelihood, priors: Mapping[str, Prior], surrogate: Surrogate, seed: int) -> np.ndarray:
    """Draws of a posterior of one mode: chains from the prior, weighted by a power of the likelihood."""
    target = likelihood.posterior(priors)
    core = compile_posterior(likelihood, target, {"model": surrogate})
    generator = np.random.default_rng(seed)
    z = target.draw_prior(100 * CHAINS, generator)
    log = target.log_parts(z)[0]
    power = 1.0
    while np.sum(weight := np.exp(power * (log - log.max()))) ** 2 < 0.6 * CHAINS * np.sum(weight**2):
        power *= 0.8
    z = z[generator.choice(len(z), CHAINS, p=weight / weight.sum())]
    for number, kept in enumerate([*[1] * 40, 100]):
        factor = np.linalg.cholesky(np.cov(z.T) + 1e-12 * np.eye(z.shape[1])) * 2.38 / np.sqrt(z.shape[1])
        states, _, _ = core.advance(z, core.log_density(z), factor, kept, 10, 100 * seed + number)
        z = states[:, -1].copy()
    return target.transform.values(states.reshape(-1, z.shape[1]))


def main(labels: list[str], folder: Path) -> None:
    place, study = folder / "ledger", wide(folder)
    truths = twins(place, ran(place, study, TWINS, 11, "monte-carlo"))
    campaigns = [ran(place, study, POINTS, seed, "latin-hypercube") for seed in range(DESIGNS)]
    print("| surrogate | nested error | repetitions | `surrogate_error` | 50 % | 90 % |")
    print("| --- | --- | --- | --- | --- | --- |")
    for label in labels:
        surrogates = [fitted(place, campaign, *SURROGATES[label]) for campaign in campaigns]
        nested = np.mean([surrogate.error for surrogate in surrogates])
        for repeats in REPEATS:
            for common in (False, True):
                found = [
                    ranks(surrogate, truths, range(i, TWINS, DESIGNS), repeats, common)
                    for i, surrogate in enumerate(surrogates)
                ]
                apart = np.abs(np.concatenate(found) - 0.5)
                told = [label, f"{nested:.1e}", str(repeats), "common" if common else "per-datum"]
                told += [f"{100 * np.mean(apart < mass / 2):.0f} ± {error(mass, apart.size):.0f}" for mass in MASSES]
                print("| " + " | ".join(told) + " |", flush=True)


def error(mass: float, count: int) -> float:
    """Binomial standard deviation of a share, in per cent."""
    return 100 * float(np.sqrt(mass * (1 - mass) / count))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1:] or list(SURROGATES), Path(folder))
