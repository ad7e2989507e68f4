"""How often intervals of a population and its specimens hold the truth: twins of a hierarchical normal model.

python -m tests.bench.specimens [TWINS]
"""

from __future__ import annotations

import sys

import numpy as np

from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.inference.specimens import NEW, Specimen, of_specimen
from percuss.study.priors.normal import Normal
from percuss.study.priors.uniform import Uniform

PRIOR, SPREAD, NOISE = Normal({"mean": 2.0, "std": 3.0}), Uniform({"low": 0.0, "high": 1.0}), 0.4
SPECIMENS, EACH, MASS = 4, 3, 0.9


def twin(rng: np.random.Generator) -> tuple[Likelihood, dict[str, float]]:
    """Data of specimens of a population drawn from the priors; and the truth of all that is predicted."""
    middle, spread = rng.normal(2.0, 3.0), rng.uniform(0.0, 1.0)
    own = middle + 3.0 * spread * rng.standard_normal(SPECIMENS + 1)
    names = [*(f"s{i}" for i in range(SPECIMENS)), NEW]
    owners = {of_specimen("model", name): Specimen(name, {"k": PRIOR}, (), {"k": SPREAD}) for name in names}
    groups = tuple(
        Group(
            name,
            k + NOISE * rng.standard_normal(EACH),
            np.zeros(EACH, np.int64),
            Gaussian(std=NOISE),
            of_specimen("model", name),
        )
        for name, k in zip(names[:-1], own, strict=False)
    )
    forwards = dict.fromkeys(owners, lambda theta: (theta, np.zeros(1)))
    truth = {"middle": middle, "spread": spread, "measured specimen": float(own[0]), "new specimen": float(own[-1])}
    return Likelihood(("k",), forwards, groups, {}, owners), truth


def main() -> None:
    """Print a table."""
    twins = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    rng = np.random.default_rng(0)
    held: dict[str, list[bool]] = {}
    for seed in range(twins):
        likelihood, truth = twin(rng)
        target = likelihood.posterior({"k": PRIOR})
        stopping = Stopping(r_hat=1.05, ess=200, evaluations=200_000)
        settings = {"chains": 20}
        sample = sample_posterior(
            target, "adaptive-metropolis", seed=seed, stopping=stopping, settings=settings, look=False
        )
        draws = sample.flat()[:: max(1, sample.flat().shape[0] // 2000)]
        means = likelihood.means(draws)
        drawn = {
            "middle": draws[:, 0],
            "spread": draws[:, 1],
            "measured specimen": means[of_specimen("model", "s0")][:, 0],
            "new specimen": means[of_specimen("model", NEW)][:, 0],
        }
        for name, values in drawn.items():
            low, high = np.quantile(values, [(1 - MASS) / 2, (1 + MASS) / 2])
            held.setdefault(name, []).append(bool(low <= truth[name] <= high))
    print("| of | held |\n| --- | --- |")
    for name, each in held.items():
        share = float(np.mean(each))
        print(f"| {name} | {100 * share:.0f} ± {100 * np.sqrt(MASS * (1 - MASS) / len(each)):.0f} % |")


if __name__ == "__main__":
    main()
