"""What a sampler gives: draws, how they were made, and whether they can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import Diagnostics, diagnose
from percuss.inference.modes import Held
from percuss.inference.samplers.stopping import Stopping
from percuss.inference.target import Target


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
        """The same with other draws (chains, draws, d) in SI, judged anew by what can be seen from draws alone."""
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
