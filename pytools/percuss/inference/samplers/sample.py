"""What a sampler gives: draws, how they were made, and whether they can be trusted.

When a sampler may stop: the chains agree and are worth enough independent draws, or the budget is spent.

Standard deviations, too, must be known: to 1 / sqrt(5 ess) of themselves, 2.2 % with 400. Independent Gaussian draws
give that with 2.5 times `ess` of them, heavy or bent tails with many more. A variance is then known to 4.5 %.

Chains side by side: their state, blocks of draws, and drawing until they agree or the budget is spent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import Diagnostics, diagnose
from percuss.inference.modes import Held
from percuss.inference.target import Target
from percuss.settings import Setting, clean_options
from percuss.study.calibration import STOPPING

if TYPE_CHECKING:
    from percuss.inference.diagnostics import Diagnostics


CHAINS = Setting(
    "chains",
    "integer",
    100,
    low=4,
    high=100_000,
    doc="chains, started at draws from the prior, or in the modes where there are several",
)


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
        clean_options("sampling", STOPPING, asdict(self), "setting")

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


@dataclass(frozen=True, eq=False)
class Run:
    """What a sampler hands to `Sample.of`: unbounded draws (chains, draws, d), their log density in that space (chains,
    draws), acceptance of each chain, evaluations made, for samplers that have it the log evidence with its standard
    error, and what only the sampler can know to speak against the draws.
    """

    unbounded: Floats
    log_density: Floats
    acceptance: Floats
    evaluations: int
    log_evidence: float | None = None
    log_evidence_error: float | None = None
    reasons: tuple[str, ...] = ()
    # Of these very draws, where the sampler looked at them last.
    diagnostics: Diagnostics | None = None


def judge(target: Target, unbounded: Floats, log_density: Floats) -> Diagnostics:
    """Diagnose unbounded draws (chains, draws, d)."""
    return diagnose(unbounded, log_density, target.names, target.transform.stated(unbounded))


@dataclass(frozen=True, eq=False)
class Sample:
    """Draws of a posterior in SI, (chains, draws, d), with log-likelihood and log prior density of each; what `modes`
    were found before and how the draws fill them, None where none were looked for.
    """

    sampler: str
    seed: int
    settings: Mapping[str, float]
    stopping: Stopping
    names: tuple[str, ...]
    draws: Floats
    log_likelihood: Floats
    log_prior: Floats
    acceptance: Floats
    evaluations: int
    diagnostics: Diagnostics
    reasons: tuple[str, ...]
    log_evidence: float | None = None
    log_evidence_error: float | None = None
    modes: Held | None = None

    @property
    def converged(self) -> bool:
        """Whether nothing speaks against the draws."""
        return not self.reasons

    def flat(self) -> Floats:
        """All draws as rows, chain after chain: (chains * draws, d)."""
        return self.draws.reshape(-1, self.draws.shape[2])

    @classmethod
    def of(
        cls,
        target: Target,
        run: Run,
        sampler: str,
        seed: int,
        settings: Mapping[str, float],
        stopping: Stopping,
        modes: Held | None = None,
    ) -> Sample:
        """Turn a finished run into parameters, and judge it."""
        chains, draws, dimension = run.unbounded.shape
        z = run.unbounded.reshape(-1, dimension)
        x = target.transform.values(z)
        log_prior = target.log_prior(x).reshape(chains, draws)
        jacobian = target.transform.log_jacobian(z).reshape(chains, draws)
        diagnostics = run.diagnostics or judge(target, run.unbounded, run.log_density)
        return cls(
            sampler=sampler,
            seed=seed,
            settings=settings,
            stopping=stopping,
            names=target.names,
            draws=x.reshape(run.unbounded.shape),
            log_likelihood=run.log_density - log_prior - jacobian,
            log_prior=log_prior,
            acceptance=run.acceptance,
            evaluations=run.evaluations,
            diagnostics=diagnostics,
            reasons=(*run.reasons, *stopping.reasons(diagnostics), *(modes.reasons if modes else ())),
            log_evidence=run.log_evidence,
            log_evidence_error=run.log_evidence_error,
            modes=modes,
        )

    def with_draws(self, target: Target, draws: Floats, log_likelihood: Floats, log_prior: Floats) -> Sample:
        """The same with other draws (chains, draws, d) in SI, judged again by what can be seen from draws alone."""
        flat = target.transform.unbounded(draws.reshape(-1, draws.shape[2]))
        log_density = log_likelihood + log_prior + target.transform.log_jacobian(flat).reshape(draws.shape[:2])
        diagnostics = judge(target, flat.reshape(draws.shape), log_density)
        return replace(
            self,
            draws=draws,
            log_likelihood=log_likelihood,
            log_prior=log_prior,
            diagnostics=diagnostics,
            reasons=self.stopping.reasons(diagnostics),
        )


class State(NamedTuple):
    """Where the chains are: unbounded positions (chains, d) and log density (chains,)."""

    positions: Floats
    log_density: Floats


class Block(NamedTuple):
    """Draws of all chains, (chains, draws, d) and (chains, draws), the state after them, the share of proposals each
    chain accepted, and the evaluations of the log density made.
    """

    positions: Floats
    log_density: Floats
    state: State
    acceptance: Floats
    evaluations: int


# (target, state, factor, draws, thin, generator) -> block
Advance = Callable[[Target, State, Floats, int, int, np.random.Generator], Block]


def growing(first: int) -> Iterator[int]:
    """Yield numbers of draws at which to look: half as many again each time, so that looking costs a fixed share."""
    n = first
    while True:
        yield n
        n += (n + 1) // 2


def draw_until_converged(
    target: Target,
    draw: Callable[[State, int], Block],
    state: State,
    first: int,
    used: int,
    stopping: Stopping,
    report: Report,
) -> Run:
    """Draw `first` times and on, until converged or, by what a draw has cost so far, out of budget."""
    blocks: list[Block] = []
    drawn, cost = 0, 0.0
    draws = first
    while True:
        # The cost of a draw is known after the first block, which is made in any case.
        more = draws if not drawn else min(draws - drawn, int((stopping.evaluations - used) / cost))
        if more < 1:
            break
        blocks.append(draw(state, more))
        state = blocks[-1].state
        drawn += more
        used += blocks[-1].evaluations
        cost = sum(block.evaluations for block in blocks) / drawn
        z = np.concatenate([block.positions for block in blocks], axis=1)
        log_density = np.concatenate([block.log_density for block in blocks], axis=1)
        # A chain that came late spoils the first draws, not the last.
        short = np.inf
        looks = []
        for kept in (slice(None), slice(drawn // 2, None)):
            diagnostics = judge(target, z[:, kept], log_density[:, kept])
            looks.append(diagnostics)
            if not stopping.reasons(diagnostics):
                return Run(z[:, kept], log_density[:, kept], _acceptance(blocks), used, diagnostics=diagnostics)
            short = min(short, stopping.shortfall(diagnostics) * log_density[:, kept].shape[1])
        # A tenth more than it takes if the chains mix as they seem to.
        draws = int(np.clip(1.1 * short, 1.2 * drawn + 1, 4.0 * drawn))
        expected = min(used + int((draws - drawn) * cost), stopping.evaluations)
        report(Progress("draws", used, looks[0].worst_r_hat, looks[0].least_ess, expected))
    return Run(z, log_density, _acceptance(blocks), used)


def _acceptance(blocks: list[Block]) -> Floats:
    draws = [block.log_density.shape[1] for block in blocks]
    return np.average([block.acceptance for block in blocks], axis=0, weights=draws)
