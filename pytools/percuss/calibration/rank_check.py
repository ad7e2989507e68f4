"""The verdict on ranks of twins, with one rate of false alarms for all quantities together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from percuss.inference.ranks import Ranks, uniformity
from percuss.kinds.twins_checked import RankFacts, TwinCoverage
from percuss.spelling import counted
from percuss.trust import Trust, Verdict

# A right calibration fails with at most this probability; it is shared out between the quantities.
FALSE_ALARMS = 0.01
# The share of twins whose posterior may fail to converge: the others are all that the ranks speak of.
MOST_UNCONVERGED = 0.05
# Central intervals whose coverage is told.
MASSES = (0.5, 0.9)
# Fewer twins than this see nothing but the coarsest faults.
LEAST_TWINS = 20


def rank_facts(name: str, ranks: Ranks, draws: int) -> RankFacts:
    """What the ranks of one quantity among so many draws say."""
    return RankFacts(
        name=name,
        p_value=uniformity(ranks, draws),
        coverage=tuple(covered(ranks, draws, mass) for mass in MASSES),
    )


def covered(ranks: Ranks, draws: int, mass: float) -> TwinCoverage:
    """How many truths a central interval held, with the interval of Clopper and Pearson (1934)."""
    from scipy.special import betaincinv

    outside = round((1 - mass) / 2 * (draws + 1))
    inside = int(np.sum((ranks >= outside) & (ranks <= draws - outside)))
    count = len(ranks)
    low = float(betaincinv(inside, count - inside + 1, 0.025)) if inside else 0.0
    high = float(betaincinv(inside + 1, count - inside, 0.975)) if inside < count else 1.0
    return TwinCoverage(mass=mass, inside=inside, low=low, high=high)


def p_text(p_value: float) -> str:
    """A p-value; what is lost in rounding is not called zero."""
    return f"{p_value:.2g}" if p_value > 1e-12 else "below 1e-12"


def rank_verdicts(facts: Sequence[RankFacts], twins: int, unconverged: int, failed: int) -> Trust:
    """Whether truths rank as they should, and whether enough twins could be asked."""
    verdicts = []
    if failed:
        sentence = f"{failed} of {counted(twins, 'run')} of the simulator failed, and their twins are left out"
        verdicts.append(Verdict("runs", False, sentence, failed, 0))
    share = unconverged / twins
    sentence = (
        f"{unconverged} of {twins} posteriors of twins did not converge, and up to {100 * MOST_UNCONVERGED:g} % are "
        "tolerated"
    )
    verdicts.append(Verdict("convergence", share <= MOST_UNCONVERGED, sentence, share, MOST_UNCONVERGED))
    if not facts:
        verdicts.append(
            Verdict("twins", False, f"fewer than {LEAST_TWINS} twins could be ranked: nothing can be said of them")
        )
        return tuple(verdicts)
    bound = FALSE_ALARMS / len(facts)
    worst = min(facts, key=lambda item: item.p_value)
    passed = worst.p_value >= bound
    sentence = (
        f"truths of twins {'rank' if passed else 'do NOT rank'} in their posteriors as they should: least p-value "
        f"{p_text(worst.p_value)} (of {worst.name}), and at least {bound:.2g} is asked for, so that "
        f"{100 * FALSE_ALARMS:g} % of right calibrations fail"
    )
    wrong = tuple(item.name for item in facts if item.p_value < bound)
    verdicts.append(Verdict("twins", passed, sentence, worst.p_value, bound, wrong))
    return tuple(verdicts)
