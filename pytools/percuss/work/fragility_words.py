"""What people write for a fragility: thresholds with units, hazard curves as files or as laws."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from percuss.errors import InputError
from percuss.fragility.compute import Request
from percuss.fragility.hazard import power_law
from percuss.measured import read_measured
from percuss.spelling import did_you_mean
from percuss.study.study import Study
from percuss.units import parse_quantity, parse_unit

LARGEST_BYTES = 10_000_000
# Intensities between which a law is kept as two points; beyond the last it goes on, below the first nothing is damaged.
LAW_ENDS = (1e-4, 1.0)
DISPERSIONS = ("common", "each")


def states_of(study: Study, output: str, texts: Mapping[str, str | float]) -> dict[str, float]:
    """Thresholds in SI, as people write them: with a unit, or bare in that of the output."""
    if output not in study.outputs:
        raise InputError(f"output {output}: {did_you_mean(output, study.outputs)}")
    states = {}
    for name, text in texts.items():
        try:
            states[name] = parse_quantity(text, study.outputs[output].unit)
        except InputError as fault:
            raise InputError(f"state {name}: {fault}", hint=fault.hint) from None
    return states


def fit_request(
    study: Study,
    output: str,
    states: Mapping[str, str | float],
    method: str = "counts",
    dispersion: str = "common",
    level: float = 0.9,
    draws: int = 400,
    seed: int = 0,
) -> Request:
    """What is asked for, checked."""
    if dispersion not in DISPERSIONS:
        raise InputError(f"dispersion {dispersion}: {did_you_mean(dispersion, DISPERSIONS)}")
    return Request(states_of(study, output, states), method, dispersion == "common", level, draws, seed)


def intensity_unit(study: Study, name: str) -> str:
    """The unit in which people read an intensity: that of the parameter, output or input."""
    if name in study.parameters:
        return study.parameters[name].unit
    if name in study.outputs:
        return study.outputs[name].unit
    inputs = study.model().inputs
    if name not in inputs or inputs[name].unit is None:
        raise InputError(f"intensity {name}: {did_you_mean(name, [*study.parameters, *study.outputs, *inputs])}")
    return str(inputs[name].unit)


def hazard_of(study: Study, intensity: str, text: str) -> list[tuple[float, float]]:
    """A hazard curve in SI: a CSV file with the columns `intensity` and `annual_rate`, or `k0,k` of the power law
    k0 x^-k with x in the unit of the intensity.
    """
    unit = intensity_unit(study, intensity)
    law = text.split(",")
    if len(law) == 2 and all(map(_is_number, law)):
        k0, k = map(float, law)
        hazard = power_law(k0, k, *LAW_ENDS)
        scale = float(parse_unit(unit).scale)
        return [(float(x) * scale, float(y)) for x, y in zip(hazard.intensity, hazard.rate, strict=True)]
    table = read_measured(Path(text), LARGEST_BYTES)
    column = table.column("intensity")
    scale = float(parse_unit(table.unit(column, unit)).scale)
    rates = table.finite(table.column("annual_rate"), "a hazard curve")
    return [(x * scale, y) for x, y in zip(table.finite(column, "a hazard curve"), rates, strict=True)]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
