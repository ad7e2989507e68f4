"""How far the closed form is off: first passage counted directly, at any probability.

    python studies/pounding-separation/direct.py [MOTIONS]

All is linear: what a motion closes at an intensity of 1 m/s^2, times the intensity, it closes at that. So given the
motion the probability is that of the intensity, in closed form, and its mean over motions needs no rare draw
(conditional Monte Carlo). Responses are exact for samples of the motion that are joined by straight lines: no step of
an integrator, and neither crossing rates nor moments enter. A motion and its negative are as likely: each counts twice.
"""

import math
import sys
from itertools import pairwise

import numpy as np
from scipy.special import ndtr
from separation import PAIRS, STUDY, closed_form, gap_for, model, moments_at_one, system_of, weights_of

from percuss.first_passage.linear import LinearSystem
from percuss.models.ground.kanai_tajimi import synthetic_motion

TARGETS = (0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)
# Motions that are worked on at a time, and instants between two looks at the variance.
BLOCK, LOOKS = 1000, 100


def responses(system: LinearSystem, weights: np.ndarray, motions: np.ndarray, step_s: float):
    """A weighted sum of displacements at each sample of motions (samples, motions), one sample after the other."""
    n = system.masses
    shares = (weights @ system.vectors[:n]) * system.participation
    # One of each conjugate pair, and only modes that have a part in the sum.
    own = (system.eigenvalues.imag > 0) & (np.abs(shares) > 1e-12 * np.abs(shares).max())
    roots, shares = system.eigenvalues[own][:, None], 2 * shares[own][:, None]
    kept = np.exp(roots * step_s)
    end = (kept - 1 - roots * step_s) / (roots**2 * step_s)
    start = (kept - 1) / roots - end
    x = np.zeros((len(roots), motions.shape[1]), complex)
    for before, after in pairwise(motions):
        x = kept * x + start * before + end * after
        yield (shares * x).real.sum(axis=0)


def closings_at_one(case: str, contact: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest closings (2 count) at an intensity of 1 m/s^2, and mean squares of the closing every second."""
    settings, duration = model().base.synthetic, model().duration_s
    system, weights = system_of(case), weights_of(contact)
    tops, squares = [], np.zeros(round(duration))
    for first in range(0, count, BLOCK):
        seeds = range(first, min(first + BLOCK, count))
        motions = np.array([synthetic_motion(settings, 1.0, duration, seed) for seed in seeds]).T
        top = np.zeros((2, len(seeds)))
        for sample, closing in enumerate(responses(system, weights, motions, settings["step"]), start=1):
            np.maximum(top, [closing, -closing], out=top)
            if sample % LOOKS == 0:
                squares[sample // LOOKS - 1] += closing @ closing
        tops.append(top)
    return np.concatenate(tops, axis=1), squares / count


def main(count: int = 20_000) -> None:
    """Print what the README has."""
    prior = STUDY.parameters["intensity"].prior
    spread = math.log(float(prior.ppf(ndtr(1.0))) / float(prior.ppf(0.5)))
    for case, contact, words in PAIRS:
        moments = moments_at_one(case, contact)
        tops, squares = closings_at_one(case, contact, count)
        off = squares / moments.variance[10::10] - 1
        print(f"\n{words}: variances off those of the closed form by {off.min():+.3f} to {off.max():+.3f}")
        print("| Vanmarcke | modified | Poisson | direct | direct over Vanmarcke |\n| --- | --- | --- | --- | --- |")
        for target in TARGETS:
            gap = gap_for(moments, target)
            chances = ndtr(-np.log(gap / float(prior.ppf(0.5)) / tops) / spread).mean(axis=0)
            p, error = chances.mean(), chances.std(ddof=1) / math.sqrt(count)
            forms = [closed_form(moments, gap, name) for name in ("vanmarcke", "vanmarcke-modified", "poisson")]
            cells = [f"{form:.2g}" for form in forms] + [
                f"{p:.3g} ± {error:.1g}",
                f"{p / target:.3f} ± {error / target:.3f}",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:]))
