"""What a prior is: a distribution over one parameter, in SI, defined by a few named fields.

Each kind lists the forms it can be given in (sets of fields that go together) and how a field turns into
SI: `value` fields carry the parameter's unit, `plain` ones have none, `log` ones are means of the natural
logarithm of the number in the parameter's unit and shift by log(scale).

scipy.special serves every kind: closed forms, accurate in the tails, and a tenth of the import time of
scipy.stats.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from percuss.errors import InputError
from percuss.plugins import UnknownNameError
from percuss.settings import KeyPath, Setting, check_table, table_of
from percuss.units import parse_unit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Role = Literal["value", "plain", "log"]
FieldFault = tuple[str, str]


class PriorError(InputError):
    """Fields that make no prior: `faults` holds every field (or "" for the whole) with its message."""

    def __init__(self, faults: list[FieldFault]) -> None:
        self.faults = faults
        field, message = faults[0]
        super().__init__(f"prior field `{field}`: {message}" if field else f"prior: {message}")


class UnknownPriorError(PriorError, UnknownNameError):
    """A kind of prior that is not known here: it may be of a plugin."""


@dataclass(frozen=True)
class Prior(ABC):
    """A distribution of one parameter. `fields` are in SI and as given, defaults left out."""

    fields: Mapping[str, float]

    kind: ClassVar[str]
    summary: ClassVar[str]
    roles: ClassVar[Mapping[str, Role]]
    forms: ClassVar[tuple[tuple[str, ...], ...]]
    optional: ClassVar[tuple[str, ...]] = ()

    def faults(self) -> list[FieldFault]:
        """List what is wrong with the values of fields that are all there."""
        return []

    @abstractmethod
    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        """Return the quantile of each probability in [0, 1]; infinite where the support is."""

    @abstractmethod
    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        """Return the probability below each value."""

    @abstractmethod
    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        """Return the log density at each value, minus infinity outside the support."""

    @abstractmethod
    def mean(self) -> float:
        """Return the expectation."""

    @abstractmethod
    def std(self) -> float:
        """Return the standard deviation."""

    @abstractmethod
    def support(self) -> tuple[float, float]:
        """Return the smallest interval that holds all probability."""

    def to_json(self) -> dict[str, object]:
        """Return kind and fields as plain data; `registry.prior_from_json` is the inverse."""
        return {"kind": self.kind, **self.fields}


def read_fields(kind: type[Prior], table: Mapping[str, object], unit: str) -> Prior:
    """Build a prior from raw fields, bare numbers in `unit`; raise PriorError with every fault."""
    units = {name: unit if role == "value" else "1" for name, role in kind.roles.items()}
    schema = table_of(*(Setting(name, "number", unit=own) for name, own in units.items()))
    fields, faults = checked_fields(kind.kind, schema, table)
    fields = {name: _shifted(kind.roles[name], value, unit) for name, value in fields.items()}
    required = {name for name in table if name in kind.roles and name not in kind.optional}
    form = next((form for form in kind.forms if required == set(form)), None)
    if form is None:
        allowed = " or ".join(" and ".join(form) for form in kind.forms)
        near = max(kind.forms, key=lambda form: len(required & set(form)))
        missing = [name for name in near if name not in required]
        if missing and required <= set(near):
            faults.append(("", f"{', '.join(missing)} missing: a {kind.kind} prior takes {allowed}"))
        else:
            faults.append(("", f"a {kind.kind} prior takes {allowed}, not {', '.join(sorted(required))}"))
    if faults:
        raise PriorError(faults)
    # One order of fields for equal priors, however they were written.
    prior = kind({name: fields[name] for name in kind.roles if name in fields})
    if faults := prior.faults():
        raise PriorError(faults)
    return prior


def checked_fields(
    kind: str, schema: Mapping[str, Setting], table: Mapping[str, object]
) -> tuple[dict[str, Any], list[FieldFault]]:
    """The fields of a table in SI, and what is wrong with them."""
    faults: list[FieldFault] = []

    def note(path: KeyPath, message: str) -> None:
        faults.append((str(path[-1]), message.replace("unknown key;", f"a {kind} prior has no such field;", 1)))

    return check_table(schema, table, (), note), faults


def _shifted(role: Role, value: float, unit: str) -> float:
    """The mean of a logarithm is about numbers in `unit`: about those in SI it is another."""
    if role != "log" or (scale := parse_unit(unit).scale) == 1:
        return value
    return value + (math.log(scale.numerator) - math.log(scale.denominator))


def positive(fields: Mapping[str, float], *names: str) -> list[FieldFault]:
    """List the fields among `names` that are there and not above zero."""
    return [(name, f"{fields[name]!r} (SI) must be above 0") for name in names if name in fields and fields[name] <= 0]


def ordered(fields: Mapping[str, float]) -> list[FieldFault]:
    """Check low < high where both are there."""
    if "low" in fields and "high" in fields and not fields["low"] < fields["high"]:
        return [("high", f"{fields['high']!r} (SI) must be above low = {fields['low']!r}")]
    return []


def quiet() -> Any:
    """Silence floating-point notices where infinities are the answer (log 0 at the edge of a support)."""
    import numpy as np

    return np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore")
