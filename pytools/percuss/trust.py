"""Verdicts as data: what was checked before a result may be relied on, and what came of it.

Every result carries its verdicts in the body of its event, under `trust`. What is made from a result inherits those
that it failed, to any depth. Commands print failed verdicts before anything else and leave with exit code 1, unless
the user accepted the gate by name (`--accept GATE`): then the result stays marked and so does all that follows from it.

A new gate is one line of `GATES`; `docs/trust.md` states its threshold and why it is that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

# What each gate asks, in a few words; failures are reported in this order.
GATES: dict[str, str] = {
    "superseded": "nothing it depends on was superseded",
    "runs": "every run finished",
    "effective-sample": "enough of the ensemble carries weight",
    "convergence": "the draws represent the posterior",
    "measurement-error": "every datum has an error of measurement",
    "fit": "the model explains the data",
    "coverage": "the surrogate was fitted where the posterior lies",
    "skill": "the surrogate predicts an output better than its mean does",
    "verification": "the simulator agrees with the surrogate where the posterior lies",
    "twins": "posteriors of twin data contain the truth as often as they claim",
    "advice": "the next test is known to be the best of the candidates",
    "probability": "the probability of failure is known as well as was asked for",
    "limit-surface": "the simulator agrees with the surrogate near the limit",
    "exceedances": "enough runs reach every damage state, and enough do not",
    "model-error": "predictions lie where the error of the model was learnt",
    "extrapolation": "fragility curves lie within the intensities that were run, and do not cross there",
    "lognormal": "lognormal curves explain the counts of damage",
    "step": "the outputs do not depend on the numerical step",
}


@dataclass(frozen=True)
class Verdict:
    """What one gate says of one result.

    `sentence` is what a person reads. `about` names what it concerns, as `case/output` or a parameter; empty: the
    whole result. `accepted`: failed, and accepted as it is. `source` is the event that failed the gate, None for the
    result itself.
    """

    gate: str
    passed: bool
    sentence: str
    figure: float | None = None
    threshold: float | None = None
    about: tuple[str, ...] = ()
    accepted: bool = False
    source: str | None = None

    def __post_init__(self) -> None:
        if self.gate not in GATES:
            raise ValueError(f"no gate {self.gate!r}")

    @property
    def stops(self) -> bool:
        """Whether a command that made this result leaves with exit code 1."""
        return not self.passed and not self.accepted

    def line(self) -> str:
        """The verdict in one line."""
        mark = "" if self.passed else "accepted all the same: " if self.accepted else "NOT TRUSTED: "
        return f"{mark}{self.sentence}" + (f" (event {self.source})" if self.source else "")

    def to_json(self) -> dict[str, Any]:
        """For the body of an event."""
        return asdict(self) | {"about": list(self.about)}


Trust = tuple[Verdict, ...]


def read_trust(body: Mapping[str, Any]) -> Trust:
    """The verdicts that the body of an event carries; none where it is of a time before there were any."""
    return tuple(Verdict(**{**item, "about": tuple(item["about"])}) for item in body.get("trust", []))


def is_trust(value: object) -> bool:
    """Whether a value found in a ledger is a list of verdicts."""
    if not isinstance(value, list):
        return False
    try:
        read_trust({"trust": value})
    except (TypeError, ValueError, KeyError):
        return False
    return True


def write_trust(trust: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Verdicts for the body of an event."""
    return [verdict.to_json() for verdict in trust]


def inherited(id: str, trust: Iterable[Verdict], about: Collection[str] | None = None) -> Trust:
    """What a result made from event `id` inherits: the gates that it failed.

    `about`: what the new result uses of the old one; verdicts that concern nothing of it stay behind.
    """
    return tuple(
        replace(verdict, source=verdict.source or id)
        for verdict in trust
        if not verdict.passed and (about is None or not verdict.about or not set(about).isdisjoint(verdict.about))
    )


def accept(trust: Iterable[Verdict], gates: Collection[str]) -> Trust:
    """The verdicts, with failures of these gates accepted."""
    return tuple(
        replace(verdict, accepted=True) if not verdict.passed and verdict.gate in gates else verdict
        for verdict in trust
    )


def failures(trust: Iterable[Verdict]) -> list[Verdict]:
    """Failed verdicts, each once, in the order of the gates."""
    order = list(GATES)
    return sorted(dict.fromkeys(v for v in trust if not v.passed), key=lambda v: order.index(v.gate))
