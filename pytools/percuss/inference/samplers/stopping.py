"""When a sampler may stop: the chains agree and are worth enough independent draws, or the budget is spent.

Standard deviations, too, must be known: to 1 / sqrt(5 ess) of themselves, 2.2 % with 400. Independent Gaussian draws
give that with 2.5 times `ess` of them, heavy or bent tails with many more. A variance is then known to 4.5 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.errors import InputError

if TYPE_CHECKING:
    from percuss.inference.diagnostics import Diagnostics


@dataclass(frozen=True)
class Stopping:
    """R-hat of every quantity below `r_hat`, bulk and tail ESS above `ess` (the thresholds of Vehtari et al., 2021),
    errors of standard deviations below `std_error`, or no more to be had for `evaluations` of the log density: never
    exceeded while sampling.
    """

    r_hat: float = 1.01
    ess: float = 400.0
    evaluations: int = 4_000_000

    def __post_init__(self) -> None:
        if not 1 < self.r_hat < math.inf:
            raise InputError(f"r_hat = {self.r_hat!r} must be above 1")
        if not 0 < self.ess < math.inf:
            raise InputError(f"ess = {self.ess!r} must be above 0")
        if self.evaluations < 1 or self.evaluations != int(self.evaluations):
            raise InputError(f"evaluations = {self.evaluations!r} must be a whole number of at least 1")

    @property
    def std_error(self) -> float:
        """What the Monte Carlo error of a standard deviation may be, in parts of it."""
        return 1 / math.sqrt(5 * self.ess)

    def require(self, least: int) -> None:
        """Refuse a budget that a sampler, with its settings, cannot keep to."""
        if self.evaluations < least:
            raise InputError(
                f"evaluations = {self.evaluations} must be at least {least} with this sampler and its settings",
                hint="fewer chains or walkers need fewer: --setting chains=20",
            )

    def shortfall(self, diagnostics: Diagnostics) -> float:
        """Say how many times as many draws chains that mix well would need: ESS grows with them, R-hat^2 - 1 falls."""
        far = [
            self.ess / diagnostics.least_ess,
            (diagnostics.worst_r_hat**2 - 1) / (self.r_hat**2 - 1),
            max((value / self.std_error) ** 2 for value in diagnostics.std_error),
        ]
        return max(far) if all(math.isfinite(value) for value in far) else math.inf

    def reasons(self, diagnostics: Diagnostics) -> tuple[str, ...]:
        """Say, a sentence each, why draws are not converged; nothing when they are."""
        sentences = []
        columns = (
            ("R-hat", diagnostics.r_hat),
            ("plain R-hat", diagnostics.r_hat_plain),
            ("bulk ESS", diagnostics.ess_bulk),
            ("tail ESS", diagnostics.ess_tail),
        )
        for label, values in columns:
            least = "ESS" in label
            limit = self.ess if least else self.r_hat
            # Written so that NaN fails.
            bad = [i for i, v in enumerate(values) if not (v > limit if least else v < limit)]
            if bad:
                worst = min(bad, key=lambda i: values[i]) if least else max(bad, key=lambda i: values[i])
                figure = f"{values[worst]:.0f}" if least else f"{values[worst]:.3f}"
                others = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
                side = "not above" if least else "not below"
                sentences.append(f"{label} of {diagnostics.names[worst]}{others} is {figure}, {side} {limit:g}")
        # Written so that NaN fails.
        wide = [i for i, value in enumerate(diagnostics.std_error) if not value < self.std_error]
        if wide:
            worst = max(wide, key=lambda i: diagnostics.std_error[i])
            others = f" and {len(wide) - 1} more" if len(wide) > 1 else ""
            sentences.append(
                f"the standard deviation of {diagnostics.names[worst]}{others} is known to "
                f"{100 * diagnostics.std_error[worst]:.2g} % of it only, not below {100 * self.std_error:.2g} %"
            )
        return tuple(sentences)


@dataclass(frozen=True)
class Progress:
    """How far a sampler is: evaluations made, what the last look at the draws gave, and how many evaluations it expects
    to take in all; None while it cannot know.
    """

    stage: str
    evaluations: int
    r_hat: float = math.nan
    ess: float = math.nan
    expected: int | None = None


Report = Callable[[Progress], None]
