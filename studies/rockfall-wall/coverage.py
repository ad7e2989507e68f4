"""How often 90 % intervals hold the truth of a twin: many twins, quickly, without chains.

python studies/rockfall-wall/coverage.py

The last 60 points of the campaign, which the surrogates have not seen, with new noise; each posterior is 200 000
draws of the prior, weighted by the likelihood. Twice: with the errors of surrogates taken for independent, as
`percuss calibrate` does, and with their covariance over all outputs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from twins import CASES, NOISE_CM, OUTPUTS, PARAMETERS, SEED, unseen

TWINS = 60
DRAWS = 200_000
# Table 4 of Gupta et al. (2023), in SI.
LOW = np.array([0.05, 0.01, 0.25, 0.3, 0.0])
HIGH = np.array([0.10, 0.10, 0.55, 0.6, 0.3])


def main(place: Path) -> None:
    runs, _, _, surrogates, kept = unseen(TWINS, place)
    points = LOW + (HIGH - LOW) * np.random.default_rng(1).random((DRAWS, len(LOW)))
    said = np.hstack([100.0 * s.mean(points)[:, own] for s, own in zip(surrogates, kept, strict=True)])
    misses, variances = [], []
    for s, own in zip(surrogates, kept, strict=True):
        for n in own:
            fold = s.tables["residuals"].filter(pl.col("column") == n)
            misses.append(100.0 * (fold["value"] - fold["nested"]).to_numpy())
            variances.append(1e4 * s.columns[n].errors.trusted * s.columns[n].variance)
    scale = np.sqrt(variances)
    whole = np.corrcoef(misses) * np.outer(scale, scale)
    for label, covariance in (("independent", np.diag(variances)), ("covariance", whole)):
        root = np.linalg.inv(np.linalg.cholesky(covariance + NOISE_CM**2 * np.eye(len(scale))))
        held = np.zeros(len(LOW))
        square = np.zeros(len(LOW))
        effective = []
        for twin in range(TWINS):
            noise = np.random.default_rng((SEED, twin))
            true = np.concatenate([[runs[case][f"{n} [cm]"][twin - TWINS] for n in OUTPUTS] for case in CASES])
            log = -0.5 * np.sum(((true + noise.normal(0.0, NOISE_CM, len(true)) - said) @ root.T) ** 2, axis=1)
            weight = np.exp(log - log.max())
            weight /= weight.sum()
            effective.append(1.0 / np.sum(weight**2))
            truth = np.array([factor * runs["e520"][name][twin - TWINS] for name, factor in PARAMETERS.items()])
            for j in range(len(LOW)):
                order = np.argsort(points[:, j])
                low, high = points[order[np.searchsorted(np.cumsum(weight[order]), [0.05, 0.95])], j]
                held[j] += low <= truth[j] <= high
            mean = weight @ points
            square += (truth - mean) ** 2 / (weight @ (points - mean) ** 2)
        names = [name.split(" ")[0] for name in PARAMETERS]
        print(
            f"{label}: {held.sum():.0f} of {held.size * TWINS} held",
            dict(zip(names, held.astype(int).tolist(), strict=True)),
        )
        print("  root mean square of (truth - mean) / std", np.round(np.sqrt(square / TWINS), 2))
        print(f"  least effective number of draws {min(effective):.0f}", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
