"""The likelihood of all data: a product over groups, each with its own discrepancy and forward model
(Gupta et al., 2023, Eqs. C.9-C.10).

A group is a set of measured entries that share a discrepancy: the instants at one point, say, or all data of one test.
Forward models are evaluated once each, whatever number of groups reads them. Repeated measurements are entries that
name the same output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import Discrepancy, Unknown, Unknowns
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.target import Target
from percuss.spelling import did_you_mean
from percuss.study.priors.prior import Prior

# Parameters (n, d) in SI -> outputs (n, outputs), and variance of the model's own error, (outputs,) or (n, outputs).
Forward = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Group:
    """Measured entries (m,): `observed` values, the columns `outputs` of the forward model they belong to, and the
    `measurement_std` known of each, in the unit of the values; the discrepancy comes on top of it.
    """

    name: str
    observed: Floats
    outputs: Floats
    discrepancy: Discrepancy
    forward: str = "model"
    measurement_std: Floats | float = 0.0

    def __post_init__(self) -> None:
        size = np.shape(self.observed)
        if len(size) != 1 or not size[0]:
            raise InputError(f"group `{self.name}`: observed values must be a list of at least one number")
        if not np.isfinite(self.observed).all():
            wrong = int(np.flatnonzero(~np.isfinite(self.observed))[0])
            raise InputError(f"group `{self.name}`: observed value {wrong} is {self.observed[wrong]!r}, not finite")
        if np.shape(self.outputs) != size:
            raise InputError(f"group `{self.name}`: {size[0]} observed values have {np.size(self.outputs)} outputs")
        if not np.issubdtype(np.asarray(self.outputs).dtype, np.integer) or np.min(self.outputs) < 0:
            raise InputError(f"group `{self.name}`: outputs must be column numbers from 0")
        given = np.asarray(self.measurement_std, float)
        if given.shape not in ((), size) or not (np.isfinite(given) & (given >= 0)).all():
            raise InputError(f"group `{self.name}`: measurement_std must be finite and at least 0, one or one an entry")
        places = getattr(self.discrepancy, "places", self.observed)
        std = self.discrepancy.std
        for what, shape in (("places", np.shape(places)), ("std", () if isinstance(std, Unknown) else np.shape(std))):
            if shape not in ((), size):
                raise InputError(f"group `{self.name}`: {size[0]} observed values have {shape[0]} {what}")


class Part(NamedTuple):
    """A group at n points: the outputs it is held against (n, m), what variance is known of each entry, (m,) or (n, m),
    and the unknowns of all discrepancies.
    """

    group: Group
    mean: Floats
    variance: Floats
    unknowns: Unknowns


@dataclass(frozen=True, eq=False)
class Entries:
    """All data of independent Gaussian groups as plain arrays, one entry a datum: what a compiled kernel needs.

    residual = observed - output `column` of forward model number `forward`; variance = `variance` + the forward
    model's own + x[unknown]^2, the last where `unknown` (a column of the parameters) is not -1.
    """

    forward: NDArray[np.int64]
    column: NDArray[np.int64]
    observed: Floats
    variance: Floats
    unknown: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Maps points (n, d), the model's `parameters` first and what discrepancies leave unknown after them, to (n,)."""

    parameters: tuple[str, ...]
    forwards: Mapping[str, Forward] = field(repr=False)
    groups: tuple[Group, ...]

    def __post_init__(self) -> None:
        if not self.groups:
            raise InputError("a likelihood needs at least one data group")
        names = [group.name for group in self.groups]
        for group in self.groups:
            if names.count(group.name) > 1:
                raise InputError(f"two data groups have the name `{group.name}`")
            if group.forward not in self.forwards:
                near = did_you_mean(group.forward, self.forwards)
                raise InputError(f"group `{group.name}`: no forward model `{group.forward}`: {near}")
        known: dict[str, Unknown] = {}
        for group in self.groups:
            for unknown in group.discrepancy.unknowns():
                if unknown.name in self.parameters:
                    raise InputError(f"group `{group.name}`: unknown `{unknown.name}` has the name of a parameter")
                if known.setdefault(unknown.name, unknown).prior.to_json() != unknown.prior.to_json():
                    raise InputError(f"group `{group.name}`: `{unknown.name}` has another prior in another group")

    @cached_property
    def unknowns(self) -> dict[str, Prior]:
        """What discrepancies leave to be inferred, in the order of the columns after the parameters."""
        return {u.name: u.prior for group in self.groups for u in group.discrepancy.unknowns()}

    def posterior(self, priors: Mapping[str, Prior]) -> Target:
        """Return what is to be sampled, given the priors of the model's parameters."""
        missing = [name for name in self.parameters if name not in priors]
        if missing:
            raise InputError(f"no prior for {', '.join(f'`{name}`' for name in missing)}")
        names = (*self.parameters, *self.unknowns)
        return Target(names, (*(priors[name] for name in self.parameters), *self.unknowns.values()), self)

    def __call__(self, x: Floats) -> Floats:
        """Log-likelihood (Eq. C.10) at points (n, d)."""
        total = np.zeros(len(x))
        for group, mean, variance, unknowns in self._evaluate(x):
            total += group.discrepancy.log_density(group.observed - mean, variance, unknowns)
        return total

    def pointwise(self, x: Floats) -> Floats:
        """Log density of each entry given the others of its group: (n, entries), group after group."""
        parts = [
            group.discrepancy.log_pointwise(group.observed - mean, variance, unknowns)
            for group, mean, variance, unknowns in self._evaluate(x)
        ]
        return np.concatenate(parts, axis=1)

    def predict(self, x: Floats) -> dict[str, Floats]:
        """Outputs of the forward models for each group: (n, m)."""
        return {group.name: mean for group, mean, _, _ in self._evaluate(x)}

    def draw(self, x: Floats, generator: np.random.Generator) -> dict[str, Floats]:
        """Draw data of each group, one repetition a point: outputs and discrepancy (n, m)."""
        return {
            group.name: mean + group.discrepancy.draw(len(x), variance, unknowns, generator)
            for group, mean, variance, unknowns in self._evaluate(x)
        }

    def misfits(self, x: Floats, repeats: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """-2 log density of the data (n,), and of data drawn at the same points (n, repeats)."""
        found, drawn = np.zeros(len(x)), np.zeros((len(x), repeats))
        for group, mean, variance, unknowns in self._evaluate(x):
            density = group.discrepancy.log_density
            found -= 2 * density(group.observed - mean, variance, unknowns)
            for j in range(repeats):
                residual = group.discrepancy.draw(len(x), variance, unknowns, generator)
                drawn[:, j] -= 2 * density(residual, variance, unknowns)
        return found, drawn

    def entries(self) -> Entries | None:
        """Return the data as plain arrays, or None where a group is not independent and Gaussian."""
        if not all(isinstance(group.discrepancy, Gaussian) for group in self.groups):
            return None
        order, names = list(self.forwards), (*self.parameters, *self.unknowns)
        forward, unknown, variance = [], [], []
        for group in self.groups:
            std, size = group.discrepancy.std, len(group.observed)
            own, place = (0.0, names.index(std.name)) if isinstance(std, Unknown) else (np.square(std), -1)
            forward.append(np.full(size, order.index(group.forward)))
            variance.append(np.broadcast_to(own + np.square(group.measurement_std), size))
            unknown.append(np.full(size, place))
        return Entries(
            np.concatenate(forward),
            np.concatenate([np.asarray(group.outputs, np.int64) for group in self.groups]),
            np.concatenate([np.asarray(group.observed, float) for group in self.groups]),
            np.concatenate(variance),
            np.concatenate(unknown),
        )

    @cached_property
    def _used(self) -> tuple[str, ...]:
        """Forward models that groups read, each once."""
        return tuple(dict.fromkeys(group.forward for group in self.groups))

    def _evaluate(self, x: Floats) -> list[Part]:
        inputs = x[:, : len(self.parameters)]
        return self._parts(x, {name: self.forwards[name](inputs) for name in self._used})

    def _parts(self, x: Floats, found: Mapping[str, tuple[Floats, Floats]]) -> list[Part]:
        for name, (mean, variance) in found.items():
            _check_forward(name, mean, variance, len(x))
        first = len(self.parameters)
        unknowns = {name: x[:, first + j] for j, name in enumerate(self.unknowns)}
        parts = []
        for group in self.groups:
            mean, variance = found[group.forward]
            if np.max(group.outputs) >= mean.shape[1]:
                raise InputError(
                    f"group `{group.name}`: forward model `{group.forward}` has {mean.shape[1]} outputs, "
                    f"none of number {int(np.max(group.outputs))}"
                )
            variance = variance[..., group.outputs] + np.square(group.measurement_std)
            std = group.discrepancy.std
            if not isinstance(std, Unknown) and (variance + np.square(std) == 0).any():
                raise InputError(
                    f"group `{group.name}`: an entry has no variance at all",
                    hint="give the discrepancy a std, or the measurement",
                )
            parts.append(Part(group, mean[:, group.outputs], variance, unknowns))
        return parts


def _check_forward(name: str, mean: Floats, variance: Floats, n: int) -> None:
    if mean.ndim != 2 or len(mean) != n or variance.shape not in (mean.shape, mean.shape[1:]):
        raise InputError(
            f"forward model `{name}` gave outputs {mean.shape} and variances {variance.shape} for {n} points"
        )
    if (variance < 0).any():
        raise InputError(f"forward model `{name}` gave a negative variance, {float(np.nanmin(variance))!r}")
