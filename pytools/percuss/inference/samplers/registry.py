"""The table of samplers, and `sample_posterior`. A new sampler is one module and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from percuss.errors import InputError
from percuss.plugins import UnknownNameError, extend
from percuss.settings import Setting, clean_options
from percuss.spelling import did_you_mean

if TYPE_CHECKING:
    from percuss.inference.modes import Modes
    from percuss.inference.samplers.sample import Report, Run, Sample, Stopping
    from percuss.inference.target import Target

DEFAULT = "adaptive-metropolis"
# Where an evaluation is a run of a simulator.
DIRECT_DEFAULT = "delayed-acceptance"
# Where, besides, the roughness of its outputs counts as an error.
ROUGH = "smooth-part"


@dataclass(frozen=True)
class Sampler:
    """Where a sampler lives (loaded on first use) and what it is, in one line."""

    module: str
    summary: str


SAMPLERS: dict[str, Sampler] = {
    "adaptive-metropolis": Sampler(
        "percuss.inference.samplers.adaptive_metropolis",
        "many chains, one covariance for all, learnt in burn-in and then frozen",
    ),
    "adaptive-metropolis-per-chain": Sampler(
        "percuss.inference.samplers.adaptive_metropolis_per_chain",
        "each chain learns from its own whole history, all along",
    ),
    "hamiltonian-monte-carlo": Sampler(
        "percuss.inference.samplers.hamiltonian_monte_carlo",
        "trajectories along the gradient of chaos surrogates: few draws, nearly independent",
    ),
    "independence-metropolis": Sampler(
        "percuss.inference.samplers.independence_metropolis",
        "proposals from a mixture fitted to the posterior: nearly every evaluation a draw, where it fits",
    ),
    "emcee-stretch": Sampler("percuss.inference.samplers.emcee_stretch", "ensemble with stretch moves"),
    "emcee-de-snooker": Sampler(
        "percuss.inference.samplers.emcee_de_snooker", "ensemble with differential evolution and snooker moves"
    ),
    "delayed-acceptance": Sampler(
        "percuss.inference.samplers.delayed_acceptance",
        "proposals by a density learnt from the runs, decided by the simulator: hundreds to thousands of runs",
    ),
    "smooth-part": Sampler(
        "percuss.inference.samplers.smooth_part",
        "walks on the smooth part of a rough simulator's outputs, learnt from its runs; with roughness alone",
    ),
    "sequential-monte-carlo": Sampler(
        "percuss.inference.samplers.sequential_monte_carlo",
        "from prior to posterior by tempering: several modes, and the evidence",
    ),
}


class SamplerModule(Protocol):
    """What a module in SAMPLERS offers."""

    SETTINGS: Mapping[str, Setting]

    def run(
        self,
        target: Target,
        settings: Mapping[str, float],
        stopping: Stopping,
        seed: int,
        report: Report,
        modes: Modes | None,
    ) -> Run: ...


def sampler_settings(sampler: str) -> Mapping[str, Setting]:
    """Return the settings of a sampler with their defaults; raise InputError when there is no such sampler."""
    return _module(sampler).SETTINGS


def recorded_settings(sampler: str, settings: Mapping[str, float]) -> dict[str, float]:
    """The settings of a sample that was made before, those that its sampler did not have then included."""
    return {**getattr(_module(sampler), "EARLIER", {}), **settings}


def sample_posterior(
    target: Target,
    sampler: str = DEFAULT,
    *,
    seed: int,
    stopping: Stopping | None = None,
    settings: Mapping[str, float] | None = None,
    report: Report | None = None,
    look: bool = True,
) -> Sample:
    """Draw from a posterior until it is converged or the budget is spent; the sample says which.

    Modes are looked for first, and must be in the draws; `look` is to be false where an evaluation is a run of a
    simulator. Same target, settings and seed: same bits. `report` is told of progress, and may raise to interrupt.
    """
    from percuss.inference.modes import hold, search
    from percuss.inference.samplers.sample import Sample, Stopping

    if seed < 0:
        raise InputError(f"seed = {seed} must be at least 0")
    module = _module(sampler)
    cleaned = clean_settings(sampler, settings or {})
    stopping = stopping or Stopping()
    modes = search(target, stopping.evaluations, seed) if look else None
    run = module.run(target, cleaned, stopping, seed, report or (lambda _: None), modes)
    held = hold(target, modes, run.unbounded, seed) if modes else None
    return Sample.of(target, run, sampler, seed, cleaned, stopping, held)


def clean_settings(sampler: str, asked: Mapping[str, float]) -> dict[str, float]:
    """The settings of a sampler, those that are not asked for by their defaults; what is wrong is refused."""
    known = sampler_settings(sampler)
    cleaned = {name: cast(float, setting.default) for name, setting in known.items()}
    return cleaned | clean_options(f"sampler {sampler}", known, asked, "setting")


def all_samplers() -> Mapping[str, Sampler]:
    """The table with the samplers that plugins add."""
    return extend(SAMPLERS, "percuss.samplers", lambda p: Sampler(p.module, f"of {p.package} {p.version}"))


def _module(sampler: str) -> SamplerModule:
    if sampler not in SAMPLERS and sampler not in all_samplers():
        raise UnknownNameError(f"unknown sampler `{sampler}`: {did_you_mean(sampler, SAMPLERS)}")
    return cast(SamplerModule, importlib.import_module(SAMPLERS[sampler].module))
