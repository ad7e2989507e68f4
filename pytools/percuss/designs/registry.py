"""The table of samplers, what is asked of them (number of points, skip, options, levels), and `make_design`.

A new sampler is one module and one line here.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, cast

from percuss import settings
from percuss.designs.design import MAX_NUMBERS, Design, Points, Request
from percuss.errors import InputError
from percuss.settings import Setting
from percuss.spelling import did_you_mean
from percuss.study.priors.tensor import refuse_tensors
from percuss.study.study import Parameter, Study

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Sampler:
    """Where a sampler lives (imported on first use), what it is, in one line, and other names for it.

    One that moves single parameters from level to level has nothing to move in a tensor, which is drawn as a whole.
    Of a sequence a point is the same however many are asked for, so that it can be made some points at a time.
    """

    module: str
    summary: str
    aliases: tuple[str, ...] = ()
    by_levels: bool = False
    sequence: bool = False


SAMPLERS: dict[str, Sampler] = {
    "sobol": Sampler("percuss.designs.sobol", "Sobol sequence, plain or scrambled", sequence=True),
    "halton": Sampler("percuss.designs.halton", "Halton sequence, plain or scrambled", sequence=True),
    "latin-hypercube": Sampler("percuss.designs.latin_hypercube", "one point in each slice", ("lhs",)),
    "monte-carlo": Sampler("percuss.designs.monte_carlo", "independent draws", ("mc", "random"), sequence=True),
    "grid": Sampler("percuss.designs.grid", "evenly spaced quantiles, ends included", by_levels=True),
    "full-factorial": Sampler(
        "percuss.designs.full_factorial", "every combination of levels", ("factorial",), by_levels=True
    ),
    "saltelli": Sampler("percuss.designs.saltelli", "n (d + 2) points for Sobol indices of the model itself"),
    "morris": Sampler("percuss.designs.morris", "n trajectories of d + 1 points for screening", by_levels=True),
    "mean": Sampler("percuss.designs.mean", "one point at the prior means"),
}


GROUPS = Setting("groups", "any", doc="parameters to group, such as centre=x,y,z; inertia=gyration")
LEVELS = Setting("levels", "any", doc="number of levels for all parameters, or for each, such as x1=3,x2=5")
LEVELS_OR_VALUES = Setting("levels", "any", doc=f"{LEVELS.doc}; or values, such as x1=1 cm:2 cm,x2=5")


class SamplerModule(Protocol):
    """What a module in SAMPLERS offers."""

    OPTIONS: Mapping[str, Setting]

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
    # Loaded where a design is made: it brings numpy and scipy, which reading a study does without.
    from percuss.study.joint import Joint, refuse_correlations

    module = cast(SamplerModule, importlib.import_module(SAMPLERS[name].module))
    if SAMPLERS[name].by_levels:
        refuse_tensors([p.prior for p in parameters], f"a {name} design")
    if SAMPLERS[name].by_levels or name == "saltelli":
        refuse_correlations(study, f"a {name} design", "sobol, halton, latin-hypercube or monte-carlo")
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


def count(request: Request, sampler: str, limit: int = 2**62) -> int:
    """Return n, which this sampler must be given."""
    if request.n is None:
        raise InputError(f"a {sampler} design needs its number of points n")
    if request.skip + request.n > limit:
        raise InputError(
            f"a {sampler} sequence ends after {limit} points, before skip + n = {request.skip + request.n}"
        )
    check_size([request.n], len(request.parameters))
    if (request.skip + request.n) * len(request.parameters) > MAX_NUMBERS:
        raise InputError(f"skip = {request.skip} with n = {request.n} is more than {MAX_NUMBERS} numbers to draw")
    return request.n


def no_skip(request: Request, sampler: str) -> None:
    """Refuse a skip where points have no sequence."""
    if request.skip:
        raise InputError(f"a {sampler} design is no sequence: skip = {request.skip} has no meaning")


def check_size(counts: list[int], dimensions: int) -> None:
    """Refuse designs too large to hold."""
    if math.prod(counts) * dimensions > MAX_NUMBERS:
        points = math.prod(counts)
        raise InputError(f"{points} points of {dimensions} parameters are more than {MAX_NUMBERS} numbers")


def level_counts(request: Request, sampler: str, default: int | None = None) -> list[int]:
    """Return the number of levels of each parameter: from `levels`, from n as a perfect power, by default."""
    levels, dimensions = request.options.get("levels"), len(request.parameters)
    if levels is None and request.n is not None:
        root = round(request.n ** (1 / dimensions))
        if root**dimensions != request.n:
            near = f"{max(root, 1) ** dimensions} or {(root + 1) ** dimensions}"
            raise InputError(
                f"a {sampler} of {dimensions} parameters cannot have n = {request.n} points",
                hint=f"take n = {near}, or give levels",
            )
        return [root] * dimensions
    if levels is None and default is None:
        raise InputError(f"a {sampler} design needs levels (or n, a perfect power)")
    if levels is None:
        levels = default
    if isinstance(levels, dict):
        missing = [p.name for p in request.parameters if p.name not in levels]
        if missing:
            raise InputError(f"option `levels` lacks {', '.join(missing)}")
        chosen = [levels[p.name] for p in request.parameters]
        counts = [len(level) if isinstance(level, list) else level for level in chosen]
    else:
        counts = [levels] * dimensions
    if request.n is not None and math.prod(counts) != request.n:
        raise InputError(f"levels make {math.prod(counts)} points, not n = {request.n}")
    return counts


def clean_options(
    sampler: str, schema: Mapping[str, Setting], options: Mapping[str, object], parameters: tuple[Parameter, ...]
) -> dict[str, Any]:
    """Check options against what a sampler takes; levels and groups are those of the parameters."""
    cleaned = settings.clean_options(f"a {sampler} design", schema, options)
    for name, value in cleaned.items():
        try:
            if schema[name] is GROUPS:
                cleaned[name] = _groups(value, parameters)
            elif name == LEVELS.name:
                cleaned[name] = _levels(value, schema[name] is LEVELS_OR_VALUES, parameters)
        except InputError as fault:
            raise InputError(f"option `{name}`: {fault}", hint=fault.hint) from None
    return cleaned


def _groups(value: object, parameters: tuple[Parameter, ...]) -> dict[str, list[str]]:
    """Names of the parameters in each group; as typed "centre=x,y,z; inertia=gyration", `*` standing for any text."""
    if isinstance(value, str):
        pairs = (part.partition("=") for part in value.split(";"))
        value = {name.strip(): text.split(",") for name, _, text in pairs}
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"{value!r} names no groups, as in centre=x,y,z; inertia=gyration")
    groups: dict[str, list[str]] = {}
    taken: dict[str, str] = {}
    for group, members in value.items():
        groups[group] = []
        for pattern in (str(member).strip() for member in members):
            chosen = [p for p in parameters if fnmatchcase(p.name, pattern) or p.source == pattern]
            if not group or not chosen:
                known = [p.source for p in parameters]
                raise InputError(f"group `{group}`: no parameter `{pattern}`: {did_you_mean(pattern, known)}")
            # A tensor is drawn as a whole: one component brings the others.
            whole = {p.source for p in chosen}
            for name in (p.name for p in parameters if p.source in whole):
                if taken.setdefault(name, group) != group:
                    raise InputError(f"`{name}` is in the groups `{taken[name]}` and `{group}`")
                if name not in groups[group]:
                    groups[group].append(name)
    return groups


def _levels(value: object, explicit: bool, parameters: tuple[Parameter, ...]) -> object:
    if isinstance(value, str) and "=" in value:
        # As typed: levels="x1=3,x2=5", and with explicit values levels="x1=1 cm:2 cm:4 cm,x2=5".
        pairs = (part.partition("=") for part in value.split(","))
        value = {name.strip(): text.split(":") if ":" in text else text for name, _, text in pairs}
    if isinstance(value, Mapping):
        names = [parameter.name for parameter in parameters]
        for name in value:
            if name not in names:
                raise InputError(f"no parameter `{name}`: {did_you_mean(name, names)}")
        return {name: _level(level, explicit) for name, level in value.items()}
    return _level(value, False)


def _level(level: object, explicit: bool) -> object:
    if explicit and isinstance(level, list | tuple) and level:
        return list(level)
    text = str(level).strip()
    if isinstance(level, bool) or not text.isascii() or not text.isdigit() or not int(text[:9]) >= 1 or len(text) > 9:
        raise InputError(f"{level!r} is no number of levels" + (" nor a list of values" if explicit else ""))
    return int(text)
