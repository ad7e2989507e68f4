"""What results have in common: verdicts in their bodies, and how those are read that are older than verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from percuss.kinds.body import Body
from percuss.kinds.kind import Upcaster
from percuss.trust import Trust


@dataclass(frozen=True, kw_only=True)
class Result(Body):
    """A result: `trust` are its verdicts, its own and those it inherits."""

    trust: Trust


def _without_verdicts(body: dict[str, Any]) -> dict[str, Any]:
    """Of a time before results carried verdicts: none but whether draws that had not converged were accepted."""
    accepted = body.get("accepted_unconverged", False)
    converged = body.get("converged", not accepted)
    reasons = "; ".join(body.get("reasons", [])) or "the posterior it depends on"
    verdict = {
        "gate": "convergence",
        "passed": False,
        "sentence": f"the posterior is not converged: {reasons}",
        "figure": None,
        "threshold": None,
        "about": [],
        "accepted": accepted,
        "source": None,
    }
    kept = {key: value for key, value in body.items() if key != "accepted_unconverged"}
    return kept | {"trust": [] if converged else [verdict]}


SINCE_TRUST: dict[int, Upcaster] = {1: _without_verdicts}
