"""Payloads were deleted under a policy: which ones, and why. Their digests stay, here and in the events they are of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """One payload: of which event, in which role, with the digests and the size it has there."""

    event: str
    role: str
    sha256: str
    digest: str
    rows: Count
    bytes: Count


@dataclass(frozen=True, kw_only=True)
class PayloadsPruned(Body):
    """Which payloads, why, and by which policy they were chosen."""

    payloads: tuple[Pruned, ...]
    reason: str
    policy: dict[str, Any]


KIND = Kind(
    "payloads.pruned",
    PayloadsPruned,
    "payloads that were deleted under a policy, with their digests",
    needs={"pruned": ()},
    summary=lambda body: f"{len(body.payloads)} payloads: {body.reason[:50]}",
    made_by="prune",
    asked=("reason", "policy"),
)
