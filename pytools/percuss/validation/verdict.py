"""A plain word on whether to extrapolate, with its reasons.

Thresholds are those of `docs/validation.md`: chosen on simulated cases of known truth (`studies/validation_rates.py`),
where the table of false alarms and detections stands as well. Two lines for each indicator: beyond the first a model is
doubtful, beyond the second it is not to be extrapolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from percuss.validation.indicators import Innovations, Wandering

NO_EVIDENCE, DOUBTFUL, REFUSED = "no evidence against", "doubtful", "do not extrapolate"
WORDS = (NO_EVIDENCE, DOUBTFUL, REFUSED)

# Spread of a path over the filter's own; gain in log-likelihood by drifting; mean squared normalised innovation.
WANDER = (1.2, 1.8)
GAIN = (30.0, 150.0)
SURPRISE = (1.2, 2.0)
# Probabilities of period and memory in white noise, and the z-score of a trend: beyond them a model is doubtful only,
# since a noise that is not quite white does that as well.
PROBABILITY = 1e-4
TREND = 5.0


@dataclass(frozen=True)
class Verdict:
    """One of WORDS, and a sentence for each thing that speaks against the model."""

    word: str
    reasons: tuple[str, ...]


def judge(paths: Sequence[Wandering], innovations: Sequence[Innovations], gain: float | None) -> Verdict:
    """Weigh the paths at the drift asked for, the innovations at the drift the data like best, and the gain over the
    ladder. Innovations elsewhere say little: too large a drift correlates them, too small a one repeats the gain.
    """
    findings: list[tuple[int, str]] = []

    def weigh(value: float, lines: tuple[float, float], sentence: str) -> None:
        level = sum(value > line for line in lines)
        if level:
            findings.append((level, f"{sentence} (beyond {lines[level - 1]:g})"))

    for path in paths:
        finding = f"{path.name} wanders {path.wander:.2f} times as much as the filter expects of a constant"
        weigh(path.wander, WANDER, finding)
    if gain is not None:
        weigh(gain, GAIN, f"letting the parameters drift makes the data more likely, by {gain:.1f} in the logarithm")
    for channel in innovations:
        finding = f"{channel.name} surprises the filter: mean squared innovation {channel.surprise:.2f} instead of 1"
        weigh(channel.surprise, SURPRISE, finding)
        if channel.period_probability < PROBABILITY:
            finding = f"the innovations of {channel.name} have a period of {channel.period_s:.4g} s"
            findings.append((1, f"{finding} (probability {channel.period_probability:.1g} in white noise)"))
        if channel.memory_probability < PROBABILITY:
            finding = f"the innovations of {channel.name} are correlated in time"
            findings.append((1, f"{finding} (probability {channel.memory_probability:.1g} in white noise)"))
        if abs(channel.trend_z) > TREND:
            findings.append((1, f"the innovations of {channel.name} have a trend (z-score {channel.trend_z:.1f})"))
    level = max((level for level, _ in findings), default=0)
    ordered = sorted(findings, key=lambda item: -item[0])
    return Verdict(WORDS[level], tuple(finding for _, finding in ordered))
