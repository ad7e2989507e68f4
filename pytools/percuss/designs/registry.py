"""The table of samplers, and `make_design`. A new sampler is one module and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from percuss.designs.design import Design, Points, Request
from percuss.designs.options import clean_options
from percuss.errors import InputError
from percuss.spelling import did_you_mean
from percuss.study.correlations import refuse_correlations
from percuss.study.priors.tensor import refuse_tensors
from percuss.study.study import Study

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Sampler:
    """Where a sampler lives (imported on first use), what it is, in one line, and other names for it.

    One that moves single parameters from level to level has nothing to move in a tensor, which is drawn as a whole.
    """

    module: str
    summary: str
    aliases: tuple[str, ...] = ()
    by_levels: bool = False


SAMPLERS: dict[str, Sampler] = {
    "sobol": Sampler("percuss.designs.sobol", "Sobol sequence, plain or scrambled"),
    "halton": Sampler("percuss.designs.halton", "Halton sequence, plain or scrambled"),
    "latin-hypercube": Sampler("percuss.designs.latin_hypercube", "one point in each slice", ("lhs",)),
    "monte-carlo": Sampler("percuss.designs.monte_carlo", "independent draws", ("mc", "random")),
    "grid": Sampler("percuss.designs.grid", "evenly spaced quantiles, ends included", by_levels=True),
    "full-factorial": Sampler(
        "percuss.designs.full_factorial", "every combination of levels", ("factorial",), by_levels=True
    ),
    "saltelli": Sampler("percuss.designs.saltelli", "n (d + 2) points for Sobol indices of the model itself"),
    "morris": Sampler("percuss.designs.morris", "n trajectories of d + 1 points for screening", by_levels=True),
    "mean": Sampler("percuss.designs.mean", "one point at the prior means"),
}


class SamplerModule(Protocol):
    """What a module in SAMPLERS offers."""

    OPTIONS: Mapping[str, str]

    def points(self, request: Request) -> Points: ...


def sampler_name(text: str) -> str:
    """Return the table's spelling of a sampler's name; raise InputError when there is none."""
    name = "-".join(text.strip().lower().replace("_", " ").replace("-", " ").split())
    for known, sampler in SAMPLERS.items():
        if name == known or name in sampler.aliases:
            return known
    raise InputError(f"unknown sampler `{text}`: {did_you_mean(name, SAMPLERS)}")


def make_design(
    study: Study,
    sampler: str,
    n: int | None,
    seed: int,
    skip: int = 0,
    options: Mapping[str, object] | None = None,
) -> Design:
    """Sample the parameters of a study. Raises InputError for anything that cannot be done as asked."""
    name = sampler_name(sampler)
    parameters = tuple(study.parameters.values())
    if not parameters:
        raise InputError(f"study {study.name} has no [parameters]: there is nothing to design")
    for key, value, least in (("n", n, 1), ("seed", seed, 0), ("skip", skip, 0)):
        if value is not None and value < least:
            raise InputError(f"{key} = {value} must be at least {least}")
    module = cast(SamplerModule, importlib.import_module(SAMPLERS[name].module))
    if SAMPLERS[name].by_levels:
        refuse_tensors([p.prior for p in parameters], f"a {name} design")
    if SAMPLERS[name].by_levels or name == "saltelli":
        refuse_correlations(study, f"a {name} design", "sobol, halton, latin-hypercube or monte-carlo")
    from percuss.study.joint import Joint

    cleaned = clean_options(name, module.OPTIONS, options or {}, parameters)
    unit, values = module.points(Request(parameters, n, seed, skip, cleaned))
    if values is None:
        values = Joint.of(study, seed).from_unit(unit)
    _check_values(study, unit, values, name, skip)
    return Design(study, name, seed, skip, cleaned, tuple(study.parameters), unit, values)


def _check_values(study: Study, unit: NDArray[Any], values: NDArray[Any], sampler: str, skip: int) -> None:
    """Refuse values no run can take: infinite quantiles at 0 or 1, or an end of a range that is open."""
    import numpy as np

    inputs = study.model().inputs
    for j, parameter in enumerate(study.parameters.values()):
        input_, column = inputs[parameter.name], values[:, j]
        above = column > input_.low if input_.low_open else column >= input_.low
        below = column < input_.high if input_.high_open else column <= input_.high
        wrong = np.flatnonzero(~(np.isfinite(column) & above & below))
        if wrong.size:
            i = int(wrong[0])
            if sampler in ("sobol", "halton") and not skip:
                hint = "leave the first point out: skip = 1"
            elif sampler == "grid":
                hint = "take a full-factorial design, whose levels stay inside"
            else:
                hint = "take another seed, or a prior with bounds"
            raise InputError(
                f"point {i} lies at quantile {float(unit[i, j])!r} of the {parameter.prior.kind} prior of "
                f"`{parameter.name}`, which is {float(column[i])!r}: the model takes {input_.allowed()}",
                hint=hint,
            )
