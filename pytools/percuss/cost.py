"""What work costs: time and memory, as events record them."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass, field

from percuss.ledger.event import Cost


@dataclass(frozen=True)
class Spent:
    """Work that began when this was made."""

    wall_s: float = field(default_factory=time.perf_counter)
    cpu_s: float = field(default_factory=time.process_time)

    def cost(self) -> Cost:
        """What it has cost so far, all threads together."""
        wall, cpu = time.perf_counter() - self.wall_s, time.process_time() - self.cpu_s
        return Cost(round(1e6 * wall), round(1e6 * cpu), peak_bytes())


def peak_bytes() -> int:
    """The most memory this process has had; macOS tells bytes, others kibibytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
