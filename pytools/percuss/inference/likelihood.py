"""The likelihood of all data: a product over groups, each with its own discrepancy and forward model
(Gupta et al., 2023, Eqs. C.9-C.10).

A group is a set of measured entries that share a discrepancy: the instants at one point, say, or all data of one test.
Forward models are evaluated once each, whatever number of groups reads them. Repeated measurements are entries that
name the same output.

The error of a forward model is one error for all entries of an output where `errors` has it: groups that read that
model are then taken together, and the error is integrated out (`percuss.inference.common_error`). Where one of them is
not Gaussian that has no closed form: the errors of the outputs are then inferred as unknowns, standard normal before
the data. Without a common error the variance of the forward model is added to that of each entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.common_error import CommonError, Joint, Share, diagonal
from percuss.inference.curve_error import CurveJoint, CurveShare
from percuss.inference.discrepancies.discrepancy import Discrepancy, NormalResiduals, Pointwise, Unknown, Unknowns
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.discrepancies.model_error import ModelError
from percuss.inference.outlook import Outlook
from percuss.inference.reading import Reading
from percuss.inference.specimens import Interweaving, Specimen
from percuss.inference.target import Target
from percuss.spelling import did_you_mean
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior

# Parameters (n, d) in SI -> outputs (n, outputs), and variance of the model's own error, (outputs,) or (n, outputs).
Forward = Callable[[Floats], tuple[Floats, Floats]]
# So much of the variance of a common error goes to each entry: data without any error of their own stay regular.
OWN_SHARE = 1e-9
# Points at which densities of single entries are found at once.
BLOCK = 256


@dataclass(frozen=True, eq=False)
class Group:
    """Measured entries (m,): `observed` values, the columns `outputs` of the forward model they belong to, and the
    `measurement_std` known of each, in the unit of the values; the discrepancy comes on top of it.

    With a `reading` the entries are samples of a curve, and `outputs` (k,) the columns of its scores.
    """

    name: str
    observed: Floats
    outputs: Floats
    discrepancy: Discrepancy
    forward: str = "model"
    measurement_std: Floats | float = 0.0
    reading: Reading | None = None
    # Columns of the forward model that share a systematic error, and their places on its control variable.
    related: tuple[tuple[int, float], ...] = ()

    def unknowns(self) -> list[Unknown]:
        """List what is inferred with the parameters: of the discrepancy, and of the clock."""
        return self.discrepancy.unknowns() + (self.reading.unknowns() if self.reading else [])

    def read(self, outputs: Floats, unknowns: Unknowns) -> Floats:
        """The entries (n, m) out of outputs (n, all) of the forward model."""
        own = outputs[:, self.outputs]
        return self.reading.read(own, unknowns) if self.reading else own

    def spread(self, errors: Floats) -> Floats:
        """What errors (n, k) of its outputs make of the entries: (n, m)."""
        return self.reading.spread(errors) if self.reading else errors

    def __post_init__(self) -> None:
        size = np.shape(self.observed)
        if len(size) != 1 or not size[0]:
            raise InputError(f"group `{self.name}`: observed values must be a list of at least one number")
        if not np.isfinite(self.observed).all():
            wrong = int(np.flatnonzero(~np.isfinite(self.observed))[0])
            raise InputError(f"group `{self.name}`: observed value {wrong} is {self.observed[wrong]!r}, not finite")
        if np.shape(self.outputs) != (size if self.reading is None else self.reading.modes.shape[:1]):
            raise InputError(f"group `{self.name}`: {size[0]} observed values have {np.size(self.outputs)} outputs")
        if not np.issubdtype(np.asarray(self.outputs).dtype, np.integer) or np.min(self.outputs) < 0:
            raise InputError(f"group `{self.name}`: outputs must be column numbers from 0")
        measured_std = np.asarray(self.measurement_std, float)
        if measured_std.shape not in ((), size) or not (np.isfinite(measured_std) & (measured_std >= 0)).all():
            raise InputError(f"group `{self.name}`: measurement_std must be finite and at least 0, one or one an entry")
        places = getattr(self.discrepancy, "places", self.observed)
        std = self.discrepancy.std
        for field_name, shape in (
            ("places", np.shape(places)),
            ("std", () if isinstance(std, Unknown) else np.shape(std)),
        ):
            if shape not in ((), size):
                raise InputError(f"group `{self.name}`: {size[0]} observed values have {shape[0]} {field_name}")


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

    residual = observed - output `column` of forward model number `forward`; variance = `variance` + of the forward
    model's own what is not common + x[unknown]^2, the last where `unknown` (a column of the parameters) is not -1.
    """

    forward: NDArray[np.int64]
    column: NDArray[np.int64]
    observed: Floats
    variance: Floats
    unknown: NDArray[np.int64]

    def of(self, forward: int) -> Entries:
        """Those of one forward model."""
        here = self.forward == forward
        return Entries(*(getattr(self, field.name)[here] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Maps points (n, d), the model's `parameters` first and what discrepancies leave unknown after them, to (n,)."""

    parameters: tuple[str, ...]
    forwards: Mapping[str, Forward] = field(repr=False)
    groups: tuple[Group, ...]
    errors: Mapping[str, CommonError] = field(default_factory=dict, repr=False)
    # Of forward models that stand for a specimen: what it has of its own.
    specimens: Mapping[str, Specimen] = field(default_factory=dict, repr=False)

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
            for unknown in group.unknowns():
                if unknown.name in self.parameters:
                    raise InputError(f"group `{group.name}`: unknown `{unknown.name}` has the name of a parameter")
                if known.setdefault(unknown.name, unknown).prior.to_json() != unknown.prior.to_json():
                    raise InputError(f"group `{group.name}`: `{unknown.name}` has another prior in another group")

    @cached_property
    def unknowns(self) -> dict[str, Prior]:
        """What is to be inferred besides, in the order of the columns after the parameters: numbers of discrepancies,
        and errors of forward models that cannot be integrated out.
        """
        priors: dict[str, Prior] = {u.name: u.prior for group in self.groups for u in group.unknowns()}
        priors |= {u.name: u.prior for specimen in self.specimens.values() for u in specimen.unknowns()}
        for name in self.inferred_errors:
            priors |= dict.fromkeys(self._error_names(name), Normal({"mean": 0.0, "std": 1.0}))
        return priors

    @cached_property
    def inferred_errors(self) -> tuple[str, ...]:
        """Forward models whose common error is among the unknowns."""
        return tuple(name for name in self._used if name in self.errors and name not in self.marginal_errors)

    @cached_property
    def marginal_errors(self) -> tuple[str, ...]:
        """Forward models whose common error is integrated out."""
        wild = {group.forward for group in self.groups if not isinstance(group.discrepancy, NormalResiduals)}
        return tuple(name for name in self._used if name in self.errors and name not in wild)

    def columns(self, name: str) -> NDArray[np.int64]:
        """Outputs of a forward model that have data."""
        return np.unique(np.concatenate([group.outputs for group in self.groups if group.forward == name]))

    def _error_names(self, name: str) -> list[str]:
        return [f"error_{self.errors[name].names[j]}" for j in self.columns(name)]

    def posterior(self, priors: Mapping[str, Prior], correlation: Floats | None = None) -> Target:
        """Return what is to be sampled, given the priors of the model's parameters and how these depend."""
        missing = [name for name in self.parameters if name not in priors]
        if missing:
            raise InputError(f"no prior for {', '.join(f'`{name}`' for name in missing)}")
        names = (*self.parameters, *self.unknowns)
        own = (*(priors[name] for name in self.parameters), *self.unknowns.values())
        target = Target(names, own, self, correlation=correlation)
        if correlation is not None or not self.specimens:
            return target
        return replace(target, move=Interweaving.of(names, target.transform, self.specimens.values()))

    def __call__(self, x: Floats) -> Floats:
        """Log-likelihood (Eq. C.10) at points (n, d)."""
        outputs = self._forwards(x)
        return self._density(x, self._parts(x, outputs), outputs)

    def _density(self, x: Floats, parts: list[Part], outputs: Mapping[str, tuple[Floats, Floats]]) -> Floats:
        """Log density (n,) of the data of parts of the groups."""
        total = np.zeros(len(x))
        for group, mean, variance, unknowns in parts:
            if group.forward not in self.marginal_errors:
                total += group.discrepancy.log_density(group.observed - mean, variance, unknowns)
        for name in self.marginal_errors:
            if any(part.group.forward == name for part in parts):
                total += self._joint(name, parts, outputs).log_density()
        for name in self.inferred_errors:
            total += self.errors[name].log_tails(self._standard(x, name))
        return total

    def pointwise(self, x: Floats) -> Floats:
        """Log density of each entry given all others: (n, entries), group after group."""
        return self.each(x).log_density

    def each(self, x: Floats) -> Pointwise:
        """The same, and the probability of less than was measured."""
        parts = [self._each(x[i : i + BLOCK]) for i in range(0, len(x), BLOCK)]
        return Pointwise(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _each(self, x: Floats) -> Pointwise:
        outputs = self._forwards(x)
        parts = self._parts(x, outputs)
        by_group: dict[str, Pointwise] = {}
        for group, mean, variance, unknowns in parts:
            if group.forward not in self.marginal_errors:
                by_group[group.name] = group.discrepancy.pointwise(group.observed - mean, variance, unknowns)
        for name in self.marginal_errors:
            names = [group.name for group in self.groups if group.forward == name]
            by_group |= zip(names, self._joint(name, parts, outputs).pointwise(), strict=True)
        columns = zip(*(by_group[group.name] for group in self.groups), strict=True)
        return Pointwise(*(np.concatenate(column, axis=1) for column in columns))

    def means(self, x: Floats) -> dict[str, Floats]:
        """All outputs of every forward model, its own error left out: (n, outputs)."""
        return {name: mean for name, (mean, _) in self._forwards(x, tuple(self.forwards)).items()}

    def predict(self, x: Floats) -> dict[str, Floats]:
        """Outputs of the forward models for each group, their own error left out: (n, m)."""
        return self.read(x, self.means(x))

    def read(self, x: Floats, outputs: Mapping[str, Floats]) -> dict[str, Floats]:
        """The entries of each group (n, m) out of all outputs of the forward models at points (n, d)."""
        unknowns = self._unknowns(x)
        return {group.name: group.read(outputs[group.forward], unknowns) for group in self.groups}

    def misses(self, x: Floats, name: str) -> tuple[Floats, Floats]:
        """By how much outputs of a forward model with a Gaussian common error miss their data at points (n, d): data
        less outputs (n, u), for the outputs that have data, and the covariance that the likelihood gives it,
        (u, u) or (n, u, u).
        """
        outputs = self._forwards(x)
        joint = self._joint(name, self._parts(x, outputs), outputs)
        assert isinstance(joint, Joint)
        return joint.residual, joint.covariances[0]

    def draw_outputs(self, x: Floats, generator: np.random.Generator, *, given_data: bool) -> dict[str, Floats]:
        """Draw all outputs of every forward model (n, outputs), with their common error where they have one: as it is
        given the data (`given_data`), or as it is before them.
        """
        outputs = self._forwards(x, tuple(self.forwards))
        parts = self._parts(x, outputs)
        drawn = {name: mean for name, (mean, _) in outputs.items()}
        for name, error in self.errors.items():
            mean, variance = outputs[name]
            std = np.sqrt(variance)
            if given_data and name in self.marginal_errors:
                blocks = [
                    self._joint(name, _rows(parts, i), {name: _row(outputs[name], i)}).draw(generator)
                    for i in range(0, len(x), BLOCK)
                ]
                drawn[name] = mean + np.concatenate(blocks)
            elif given_data and name in self.inferred_errors:
                drawn[name] = mean + error.draw_others(self._standard(x, name), self.columns(name), std, generator)
            else:
                drawn[name] = mean + error.draw(len(x), std, generator)
        return drawn

    def outlook(self, x: Floats, more: Sequence[Group], drawn: Mapping[str, Floats] | None = None) -> Outlook:
        """What further groups, of independent Gaussian errors, would show at points (n, d) given the data there are;
        entries forward model by forward model, in the order of these in `more`. Errors of forward models are integrated
        out, or known with the outputs (n, all) that were `drawn` at the points.
        """
        if not drawn:
            blocks = [self._outlook(x[i : i + BLOCK], more, {}) for i in range(0, len(x), BLOCK)]
        else:
            blocks = [self._outlook(x, more, drawn)]
        shared = blocks[0].covariances.ndim == 3
        return Outlook(
            np.concatenate([block.log_shares for block in blocks]),
            np.concatenate([block.means for block in blocks]),
            blocks[0].covariances if shared else np.concatenate([block.covariances for block in blocks]),
        )

    def _outlook(self, x: Floats, more: Sequence[Group], drawn: Mapping[str, Floats]) -> Outlook:
        names = tuple(dict.fromkeys(group.forward for group in more))
        outputs = self._forwards(x, tuple(dict.fromkeys((*self._used, *names))))
        unknowns, looks = self._unknowns(x), []
        for name in names:
            groups = [group for group in more if group.forward == name]
            mean, variance = outputs[name]
            share = OWN_SHARE if name in self.errors else 1.0
            noise = [
                group.discrepancy.total(self._own_variance(group, variance[..., group.outputs], share), unknowns)
                for group in groups
            ]
            if any(part.ndim == 2 for part in noise):
                noise = [np.broadcast_to(part, (len(x), part.shape[-1])) for part in noise]
            columns = np.concatenate([np.asarray(group.outputs, np.int64) for group in groups])
            own = diagonal(np.concatenate(noise, axis=-1))
            if drawn or name not in self.errors:
                looks.append(Outlook.gaussian(drawn.get(name, mean)[:, columns], own))
            else:
                looks.append(self._look(x, name, columns, own, outputs))
        whole = looks[0]
        for look in looks[1:]:
            whole = whole.beside(look)
        return whole

    def _look(
        self,
        x: Floats,
        name: str,
        columns: NDArray[np.int64],
        noise: Floats,
        outputs: Mapping[str, tuple[Floats, Floats]],
    ) -> Outlook:
        """Columns of one forward model, with its error as the data leave it and noise of a covariance."""
        if name in self.inferred_errors:
            raise InputError(f"forward model `{name}`: its errors are among the unknowns, and no test is foreseen")
        mean, variance = outputs[name]
        if name in self.marginal_errors:
            joint = self._joint(name, self._parts(x, outputs), outputs)
            if not isinstance(joint, Joint):
                raise InputError(f"forward model `{name}`: gives curves, and no test is foreseen")
            shares, errors, covariances = joint.after_data(columns)
        else:
            first, covariances = self.errors[name].before(columns, np.sqrt(variance))
            shares = np.broadcast_to(first, (len(x), first.shape[1]))
            errors = np.zeros((len(x), shares.shape[1], len(columns)))
        return Outlook(shares, mean[:, None, columns] + errors, covariances + noise[..., None, :, :])

    def draw_model_errors(
        self, x: Floats, outputs: Mapping[str, Floats], generator: np.random.Generator, *, given_data: bool
    ) -> dict[str, Floats]:
        """Draw the systematic error of groups that have one about drawn outputs, at their entries and then at their
        `related` outputs (n, m + q): given the data, or as it is before them.
        """
        drawn = {}
        for group, _, variance, unknowns in self._parts(x, self._forwards(x)):
            if not isinstance(group.discrepancy, ModelError):
                continue
            error, more = group.discrepancy, np.array([place for _, place in group.related])
            residual = group.observed - group.read(outputs[group.forward], unknowns)
            parts = []
            for i in range(0, len(x), BLOCK):
                rows = slice(i, i + BLOCK)
                own = {name: values[rows] for name, values in unknowns.items()}
                some = variance[rows] if variance.ndim == 2 else variance
                if given_data:
                    parts.append(error.draw_given(residual[rows], more, some, own, generator))
                else:
                    parts.append(error.draw_error(len(residual[rows]), more, own, generator))
            drawn[group.name] = np.concatenate(parts)
        return drawn

    def draw_data(
        self,
        x: Floats,
        outputs: Mapping[str, Floats],
        generator: np.random.Generator,
        model_errors: Mapping[str, Floats] | None = None,
    ) -> dict[str, Floats]:
        """Draw data of each group about drawn outputs and systematic errors, one repetition a point: (n, m)."""
        drawn = {}
        for group, _, variance, unknowns in self._parts(x, self._forwards(x)):
            if model_errors and group.name in model_errors:
                independent = np.sqrt(variance) * generator.standard_normal((len(x), len(group.observed)))
                noise = model_errors[group.name][:, : len(group.observed)] + independent
            else:
                noise = group.discrepancy.draw(len(x), variance, unknowns, generator)
            drawn[group.name] = group.read(outputs[group.forward], unknowns) + noise
        return drawn

    def draw(self, x: Floats, generator: np.random.Generator, *, given_data: bool = False) -> dict[str, Floats]:
        """Draw data of each group, one repetition a point: outputs, errors of forward models and discrepancy (n, m)."""
        outputs = self.draw_outputs(x, generator, given_data=given_data)
        errors = self.draw_model_errors(x, outputs, generator, given_data=given_data)
        return self.draw_data(x, outputs, generator, errors)

    def misfits(
        self, x: Floats, repeats: int, generator: np.random.Generator, only: str | None = None
    ) -> tuple[Floats, Floats]:
        """-2 log density of the data (n,), and of data drawn at the same points (n, repeats); of `only` one group."""
        outputs = self._forwards(x)
        parts = [part for part in self._parts(x, outputs) if only in (None, part.group.name)]
        drawn = [self._density(x, self._redrawn(parts, outputs, generator), outputs) for _ in range(repeats)]
        return -2 * self._density(x, parts, outputs), -2 * np.stack(drawn, axis=1)

    def residuals(self, x: Floats, repeats: int, generator: np.random.Generator, only: str) -> Iterator[Floats]:
        """By how much data of one group lie off the outputs at points: of the data (n, m), and then of `repeats` sets
        drawn at the same points.
        """
        outputs = self._forwards(x)
        parts = [part for part in self._parts(x, outputs) if part.group.name == only]
        observed = parts[0].group.observed
        yield observed - parts[0].mean
        for _ in range(repeats):
            yield observed - self._redrawn(parts, outputs, generator)[0].mean

    def _redrawn(
        self, parts: list[Part], outputs: Mapping[str, tuple[Floats, Floats]], generator: np.random.Generator
    ) -> list[Part]:
        """Parts in which drawn data stand for the observed ones: their means moved by as much."""
        errors = {
            name: self.errors[name].draw(len(parts[0].mean), np.sqrt(outputs[name][1]), generator)
            for name in self.marginal_errors
            if any(part.group.forward == name for part in parts)
        }
        redrawn = []
        for part in parts:
            group = part.group
            residual = group.discrepancy.draw(len(part.mean), part.variance, part.unknowns, generator)
            if group.forward in errors:
                residual = residual + group.spread(errors[group.forward][:, group.outputs])
            redrawn.append(part._replace(mean=group.observed - residual))
        return redrawn

    def entries(self) -> Entries | None:
        """Return the data as plain arrays, samples of curves left out, or None where a group of others is not
        independent and Gaussian.
        """
        groups = [group for group in self.groups if group.reading is None]
        if not all(isinstance(group.discrepancy, Gaussian) for group in groups):
            return None
        order, names = list(self.forwards), (*self.parameters, *self.unknowns)
        forward, column, unknown = ([np.empty(0, np.int64)] for _ in range(3))
        observed, variance = ([np.empty(0)] for _ in range(2))
        for group in groups:
            std, size = group.discrepancy.std, len(group.observed)
            own, place = (0.0, names.index(std.name)) if isinstance(std, Unknown) else (np.square(std), -1)
            forward.append(np.full(size, order.index(group.forward)))
            column.append(np.asarray(group.outputs, np.int64))
            observed.append(np.asarray(group.observed, float))
            variance.append(np.broadcast_to(own + np.square(group.measurement_std), size))
            unknown.append(np.full(size, place))
        join = np.concatenate
        return Entries(join(forward), join(column), join(observed), join(variance), join(unknown))

    def known_variances(self, x: Floats) -> dict[str, Floats]:
        """The variance known of the entries of each group at points (n, d), besides the discrepancy: (m,) or (n, m)."""
        return {part.group.name: part.variance for part in self._parts(x, self._forwards(x))}

    @cached_property
    def _used(self) -> tuple[str, ...]:
        """Forward models that groups read, each once."""
        return tuple(dict.fromkeys(group.forward for group in self.groups))

    def _forwards(self, x: Floats, names: tuple[str, ...] | None = None) -> dict[str, tuple[Floats, Floats]]:
        inputs, unknowns = x[:, : len(self.parameters)], self._unknowns(x) if self.specimens else {}
        outputs = {}
        for name in names or self._used:
            specimen = self.specimens.get(name)
            outputs[name] = self.forwards[name](specimen.inputs(inputs, unknowns) if specimen else inputs)
        for name, (mean, variance) in outputs.items():
            _check_forward(name, mean, variance, len(x))
        return outputs

    def _standard(self, x: Floats, name: str) -> Floats:
        """Columns of the points that hold the inferred error of a forward model."""
        order = (*self.parameters, *self.unknowns)
        return x[:, [order.index(unknown) for unknown in self._error_names(name)]]

    def _joint(self, name: str, parts: list[Part], outputs: Mapping[str, tuple[Floats, Floats]]) -> Joint | CurveJoint:
        """The data of one forward model, whose common error is integrated out."""
        std = np.sqrt(outputs[name][1])
        curves = tuple(
            CurveShare(
                group.discrepancy,
                group.observed - mean,
                np.asarray(group.outputs, np.int64),
                group.reading.loadings,
                variance,
                unknowns,
            )
            for group, mean, variance, unknowns in parts
            if group.forward == name and group.reading and isinstance(group.discrepancy, NormalResiduals)
        )
        if curves:
            return CurveJoint(self.errors[name], std, curves)
        shares = tuple(
            Share(group.discrepancy, group.observed - mean, np.asarray(group.outputs, np.int64), variance, unknowns)
            for group, mean, variance, unknowns in parts
            if group.forward == name and isinstance(group.discrepancy, NormalResiduals)
        )
        return Joint(self.errors[name], std, shares)

    def _unknowns(self, x: Floats) -> dict[str, Floats]:
        """What is inferred besides the parameters, by name: columns (n,)."""
        first = len(self.parameters)
        return {name: x[:, first + j] for j, name in enumerate(self.unknowns)}

    def _parts(self, x: Floats, outputs: Mapping[str, tuple[Floats, Floats]]) -> list[Part]:
        unknowns = self._unknowns(x)
        parts = []
        for group in self.groups:
            mean, variance = outputs[group.forward]
            share = OWN_SHARE if group.forward in self.errors else 1.0
            if np.max(group.outputs) >= mean.shape[1]:
                raise InputError(
                    f"group `{group.name}`: forward model `{group.forward}` has {mean.shape[1]} outputs, "
                    f"none of number {int(np.max(group.outputs))}"
                )
            read = group.read(mean, unknowns)
            if group.forward in self.inferred_errors:
                read = read + group.spread(self._inferred(x, group, variance))
            variance = self._own_variance(group, variance[..., group.outputs], share)
            std = group.discrepancy.std
            if not isinstance(std, Unknown) and (variance + np.square(std) == 0).any():
                raise InputError(
                    f"group `{group.name}`: an entry has no variance at all",
                    hint="give the discrepancy a std, or the measurement",
                )
            if isinstance(group.discrepancy, ModelError):
                group.discrepancy.check_variance(variance)
            parts.append(Part(group, read, variance, unknowns))
        return parts

    def _own_variance(self, group: Group, of_outputs: Floats, share: float) -> Floats:
        """Variance known of each entry: of the measurement, and what share of the forward model's is not common."""
        measured = np.square(group.measurement_std)
        if group.reading is None:
            return np.asarray(share * of_outputs + measured)
        size = len(group.observed)
        variance = group.reading.rest_variance + np.broadcast_to(measured, size)
        if share < 1 or not of_outputs.any():
            return np.asarray(variance)
        return np.asarray(variance + of_outputs @ np.square(group.reading.loadings))

    def _inferred(self, x: Floats, group: Group, variance: Floats) -> Floats:
        """The inferred error of the forward model for each of the outputs of a group: (n, its outputs)."""
        used = self.columns(group.forward)
        error = self.errors[group.forward].spread_used(self._standard(x, group.forward), used, np.sqrt(variance))
        return error[:, np.searchsorted(used, group.outputs)]


def _row(mean_and_variance: tuple[Floats, Floats], start: int) -> tuple[Floats, Floats]:
    """A block of the points of a forward model."""
    mean, variance = mean_and_variance
    return mean[start : start + BLOCK], variance if variance.ndim == 1 else variance[start : start + BLOCK]


def _rows(parts: list[Part], start: int) -> list[Part]:
    """A block of the points of parts."""
    rows = slice(start, start + BLOCK)
    return [
        Part(
            part.group,
            part.mean[rows],
            part.variance if part.variance.ndim == 1 else part.variance[rows],
            {name: values[rows] for name, values in part.unknowns.items()},
        )
        for part in parts
    ]


def _check_forward(name: str, mean: Floats, variance: Floats, n: int) -> None:
    if mean.ndim != 2 or len(mean) != n or variance.shape not in (mean.shape, mean.shape[1:]):
        raise InputError(
            f"forward model `{name}` gave outputs {mean.shape} and variances {variance.shape} for {n} points"
        )
    if (variance < 0).any():
        raise InputError(f"forward model `{name}` gave a negative variance, {float(np.nanmin(variance))!r}")
