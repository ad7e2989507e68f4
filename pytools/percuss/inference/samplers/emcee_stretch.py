"""Affine-invariant ensemble with stretch moves (Goodman, Weare, 2010), by emcee."""

from __future__ import annotations

from collections.abc import Mapping

from percuss.inference.modes import Modes
from percuss.inference.samplers import ensemble
from percuss.inference.samplers.sample import Report, Run, Stopping
from percuss.inference.target import Target

SETTINGS = ensemble.SETTINGS


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Run the ensemble."""
    import emcee

    return ensemble.run_ensemble(target, emcee.moves.StretchMove(), settings, stopping, seed, report, modes)
