"""The table of priors. A new kind is one module and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from percuss.plugins import extend
from percuss.spelling import did_you_mean, shown
from percuss.study.priors.beta import Beta
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.gev import Gev
from percuss.study.priors.gumbel import Gumbel
from percuss.study.priors.kummer_beta import KummerBeta
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.lognormal import Lognormal
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior, PriorError, UnknownPriorError, read_fields
from percuss.study.priors.tensor import COMPONENTS, Component, TensorLaw, components, read_tensor
from percuss.study.priors.triangular import Triangular
from percuss.study.priors.truncated import truncated
from percuss.study.priors.truncated_exponential import TruncatedExponential
from percuss.study.priors.truncated_normal import TruncatedNormal
from percuss.study.priors.uniform import Uniform
from percuss.study.priors.weibull import Weibull
from percuss.study.priors.wishart import Wishart
from percuss.units import si_quantity

_KINDS: tuple[type[Prior], ...] = (
    Uniform,
    Normal,
    Lognormal,
    TruncatedNormal,
    Beta,
    Gamma,
    LogUniform,
    TruncatedExponential,
    Triangular,
    Gumbel,
    Weibull,
    Gev,
    *(truncated(base) for base in (Lognormal, Gamma, Gumbel, Weibull, Gev)),
)
PRIORS: dict[str, type[Prior]] = {prior.kind: prior for prior in _KINDS}
TENSORS: dict[str, type[TensorLaw]] = {law.kind: law for law in (KummerBeta, Wishart)}


def all_priors() -> Mapping[str, type[Prior]]:
    """The table with the priors that plugins add."""
    return extend(PRIORS, "percuss.priors", lambda plugin: cast(type[Prior], plugin.load()))


def read_prior(table: Mapping[str, object], unit: str) -> Prior:
    """Build the prior a table `{ kind = ..., fields }` describes, bare numbers in `unit`.

    Raises PriorError with every fault found.
    """
    return read_fields(PRIORS[_kind(table, PRIORS)], _fields(table), unit)


def prior_in_si(table: Mapping[str, object], unit: str | None) -> dict[str, object]:
    """The table of a prior that can be read, with quantities as `si_quantity` gives them.

    A mean of logarithms stays as written: it belongs to the unit of the numbers it is about.
    """
    roles = PRIORS[_kind(table, PRIORS)].roles
    units = {"value": unit, "plain": "1"}
    return {
        name: si_quantity(value, units[roles[name]]) if roles.get(name) in units else value  # type: ignore[arg-type]
        for name, value in table.items()
    }


def read_priors(table: Mapping[str, object], unit: str) -> dict[str, Prior]:
    """Build the priors of a parameter by what follows its name: one, or the six components of a tensor."""
    if _kind(table, {**PRIORS, **TENSORS}) in PRIORS:
        return {"": read_prior(table, unit)}
    marginals = components(read_tensor(TENSORS[str(table["kind"])], _fields(table), unit))
    return {component.suffix: component for component in marginals}


def suffixes(table: object) -> tuple[str, ...]:
    """What follows the name of a parameter in the names of its inputs, whether its prior can be read or not."""
    tensor = isinstance(table, Mapping) and str(table.get("kind")) in TENSORS
    return tuple(f"_{component}" for component in COMPONENTS) if tensor else ("",)


def prior_from_json(data: Mapping[str, object]) -> Prior:
    """Build a prior from what `Prior.to_json` gave: fields in SI."""
    if "component" not in data:
        return read_prior(data, "1")
    law = read_tensor(TENSORS[str(data["kind"])], _fields(data), "1")
    return Component({}, law, COMPONENTS.index(str(data["component"])))


def _kind(table: Mapping[str, object], kinds: Mapping[str, object]) -> str:
    kind = table.get("kind")
    if not isinstance(kind, str):
        raise PriorError([("kind", f"missing or no text: one of {', '.join(kinds)}")])
    if kind not in kinds and kind not in all_priors():
        raise UnknownPriorError([("kind", f"unknown kind {shown(kind)}: {did_you_mean(kind, kinds)}")])
    return kind


def _fields(table: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in table.items() if name not in ("kind", "component")}
