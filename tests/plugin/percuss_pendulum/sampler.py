"""The sampler `patient-metropolis`: what percuss has, with more chains."""

from __future__ import annotations

from dataclasses import replace

from percuss.inference.samplers import adaptive_metropolis

SETTINGS = {**adaptive_metropolis.SETTINGS, "chains": replace(adaptive_metropolis.SETTINGS["chains"], default=120)}
run = adaptive_metropolis.run
