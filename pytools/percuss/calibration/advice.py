"""Which of several tests would tell most: candidates held against a posterior.

A measurement of a candidate has the error that its calibration would give it: that of the measurement, and the
discrepancy of the data group that takes it. What cannot be foreseen is left out, by name and with its reason.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.calibration.agreement import check_same_model
from percuss.calibration.candidates import Candidate, Measurement
from percuss.calibration.groups import make_groups, taken_by
from percuss.calibration.problem import Problem
from percuss.calibration.records import Posterior
from percuss.calibration.surrogate_errors import common_errors
from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.information import LEAST, Draws, Gain, expected_gain
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.outlook import Outlook
from percuss.inference.predictive import spread_draws
from percuss.spelling import did_you_mean
from percuss.study.calibration import COMMON
from percuss.surrogates.surrogate import Surrogate

if TYPE_CHECKING:
    import polars as pl

# Repetitions that are looked at one by one, where their error is inferred too; else their mean is all they tell.
MOST_REPEATS = 64


class UnforeseenError(InputError):
    """A measurement of which nothing can be said in advance."""


@dataclass(frozen=True, eq=False)
class Ahead:
    """A posterior about to be added to: its problem, further surrogates for candidates alone, `case/output` of what the
    surrogates know nothing of, and the quantities that the next test is to tell about.
    """

    problem: Problem
    posterior: Posterior
    further: Mapping[str, Surrogate]
    worthless: Collection[str]
    about: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.problem.direct:
            raise InputError(
                f"posterior {self.posterior.event.id}: comes from the simulator itself, and tests are foreseen by "
                "surrogates",
                hint="percuss surrogate, percuss calibrate with it, and percuss advise",
            )
        if self.problem.likelihood.specimens or self.problem.curves:
            which = "specimens" if self.problem.likelihood.specimens else "time histories"
            raise InputError(
                f"posterior {self.posterior.event.id}: has {which}, and tests are foreseen of outputs alone"
            )
        for surrogate in self.further.values():
            whose = f"surrogate {surrogate.event.id}"
            check_same_model(self.problem.study, surrogate.study, whose, list(surrogate.outputs))
            if surrogate.has_curves or surrogate.names != tuple(self.problem.study.parameters):
                raise InputError(f"{whose}: must be of outputs, and cover all parameters of the study")
        for name in self.about:
            self._check(name)

    def _check(self, name: str) -> None:
        if name in self.posterior.names:
            return
        pair = self.output(name)
        if pair is None:
            known = [*self.posterior.names, *("/".join(pair) for pair in self.places)]
            raise InputError(f"--about {name}: neither inferred nor an output: {did_you_mean(name, known)}")
        if "/".join(pair) in self.worthless:
            raise InputError(f"--about {name}: the surrogate knows nothing of it")
        if any(group.discrepancy.systematic for group in self.problem.likelihood.groups):
            raise InputError(f"--about {name}: the model has an error of its own, and parameters alone are told about")

    @cached_property
    def places(self) -> dict[tuple[str, str], tuple[str, int]]:
        """Forward model and column of every output of every case."""
        columns = self.problem.columns | {name: surrogate.outputs for name, surrogate in self.further.items()}
        places: dict[tuple[str, str], tuple[str, int]] = {}
        for name, pairs in columns.items():
            for j, pair in enumerate(pairs):
                places.setdefault(pair, (name, j))
        return places

    @cached_property
    def likelihood(self) -> Likelihood:
        """That of the posterior, with the further surrogates beside."""
        own = self.problem.likelihood
        if not self.further:
            return own
        counted = self.problem.block.surrogate_error
        forwards = {
            name: surrogate.predict
            if counted
            else (lambda theta, of=surrogate: (of.mean(theta), np.zeros(len(of.columns))))
            for name, surrogate in self.further.items()
        }
        errors = {}
        if counted == COMMON:
            for name, surrogate in self.further.items():
                (errors[name],) = common_errors([(surrogate, range(len(surrogate.columns)))]).errors
        return replace(own, forwards={**own.forwards, **forwards}, errors={**own.errors, **errors})

    def output(self, name: str) -> tuple[str, str] | None:
        """The output that a name is of, `CASE/OUTPUT`, or `OUTPUT` where there is one case."""
        case, _, output = name.rpartition("/")
        cases = list(dict.fromkeys(pair[0] for pair in self.places))
        pair = (case or (cases[0] if len(cases) == 1 else ""), output)
        return pair if pair in self.places else None

    @property
    def complete(self) -> bool:
        """Whether the quantities are all that was inferred."""
        return set(self.about) == set(self.posterior.names)

    # -- what a candidate is in the likelihood

    @cached_property
    def _data(self) -> pl.DataFrame:
        return taken_by(self.problem.block, self.problem.observations.table)

    def measurement(self, one: Measurement) -> list[Group]:
        """What a measurement adds to the data; raise UnforeseenError with the reason where that is not known."""
        pair = one.case, one.output
        if pair not in self.places:
            raise UnforeseenError("no surrogate has it")
        if one.name in self.worthless:
            raise UnforeseenError("the surrogate knows nothing of it")
        forward, column = self.places[pair]
        if forward in self.likelihood.inferred_errors:
            raise UnforeseenError("the error of its surrogate is among the unknowns")
        discrepancy, std = self._errors(one)
        if not isinstance(discrepancy, Gaussian):
            raise UnforeseenError("its data group has a discrepancy that is not independent and Gaussian")
        own = discrepancy.std
        if isinstance(own, Unknown):
            if own.name not in self.posterior.names:
                raise UnforeseenError(f"its error, {own.name}, was not inferred yet")
            if one.repeats > MOST_REPEATS:
                raise UnforeseenError(f"its error is inferred, and more than {MOST_REPEATS} repeats are not foreseen")
            count, discrepancy = one.repeats, Gaussian(own)
        else:
            # All that repeats of a known error tell is their mean.
            std = math.hypot(std, float(np.max(own))) / math.sqrt(one.repeats)
            count, discrepancy = 1, Gaussian(0.0)
            if std == 0:
                raise UnforeseenError("no error of measurement is known of it: std in [candidates] gives one")
        return [Group(one.name, np.zeros(count), np.full(count, column), discrepancy, forward, np.full(count, std))]

    def _errors(self, one: Measurement) -> tuple[Any, float]:
        """Discrepancy and error of measurement that calibration would give a datum."""
        import polars as pl

        data, block = self._data, self.problem.block
        same = data.filter((pl.col("case") == one.case) & (pl.col("output") == one.output))
        alike = same if same.height else data.filter(pl.col("output") == one.output)
        known = alike["std"].drop_nulls()
        std = one.std if one.std is not None else float(np.median(known.to_numpy())) if len(known) else None
        point = same["point"][0] if same.height else None
        if not any(group.takes(one.output, one.case, point) for group in block.groups):
            return Gaussian(0.0), std or 0.0
        new = int(data["entry"].max() or 0) + 1  # type: ignore[arg-type]
        like = (same if same.height else data).row(0, named=True)
        row = dict.fromkeys(data.columns) | {"entry": new, "case": one.case, "output": one.output}
        row |= {"value": 0.0, "std": std, "point": point, "axis": like["axis"] if same.height else None}
        row["instant"] = like["instant"] if same.height else self.problem.study.outputs[one.output].at
        table = pl.concat([data, pl.DataFrame([row], data.schema)])
        try:
            grouped = make_groups(self.problem.study, block, table, lambda case, output: self.places[case, output])
        except InputError as fault:
            raise UnforeseenError(str(fault)) from None
        at = int(np.flatnonzero(grouped.data["entry"].to_numpy() == new)[0])
        group = grouped.groups[0]
        for group in grouped.groups:
            if at < len(group.observed):
                break
            at -= len(group.observed)
        own = group.discrepancy
        if isinstance(own, Gaussian) and not isinstance(own.std, Unknown):
            own = Gaussian(float(np.broadcast_to(own.std, len(group.observed))[at]))
        return own, float(std or 0.0) if block.measurement_error else 0.0

    def groups(self, candidate: Candidate) -> tuple[tuple[Group, ...], list[tuple[str, str]]]:
        """What a candidate adds to the data, and measurements that are left out with the reason."""
        groups: list[Group] = []
        left: list[tuple[str, str]] = []
        for one in candidate.measurements:
            try:
                groups += self.measurement(one)
            except UnforeseenError as fault:
                left.append((one.name, str(fault)))
        named = [replace(group, name=f"{candidate.name}: {group.name}") for group in groups]
        # Entries of the outlook stand forward model by forward model.
        order = list(dict.fromkeys(group.forward for group in named))
        return tuple(sorted(named, key=lambda group: order.index(group.forward))), left


@dataclass(frozen=True, eq=False)
class Foreseen:
    """A candidate: what it adds to the data, and what it is expected to tell."""

    candidate: Candidate
    groups: tuple[Group, ...]
    gain: Gain

    @property
    def per_cost(self) -> float:
        """Nats for a unit of cost."""
        return self.gain.gain.value / self.candidate.cost


@dataclass(frozen=True, eq=False)
class Advice:
    """All candidates that could be foreseen, and (candidate, measurement, reason) of what could not. `draws` are those
    of the posterior that the estimate is from, at `points`; `drawn` the outputs there, where one is to be told about.
    """

    foreseen: tuple[Foreseen, ...]
    left_out: tuple[tuple[str, str, str], ...]
    draws: Draws
    points: Floats
    drawn: Mapping[str, Floats]

    @property
    def best(self) -> Foreseen:
        """The candidate with the largest gain per cost."""
        return max(self.foreseen, key=lambda one: one.per_cost)


def advise(ahead: Ahead, candidates: Sequence[Candidate], outer: int, inner: int, seed: int) -> Advice:
    """Hold every candidate against the posterior; with fewer draws than asked for, a third of them are outer."""
    points = spread_draws(ahead.posterior.flat(), outer + inner)
    if len(points) < 3 * LEAST:
        raise InputError(
            f"posterior {ahead.posterior.event.id}: has {len(points)} draws, and at least {3 * LEAST} are needed"
        )
    outer = min(outer, len(points) // 3) if len(points) < outer + inner else outer
    drawn: Mapping[str, Floats] = {}
    outputs = [pair for name in ahead.about if name not in ahead.posterior.names and (pair := ahead.output(name))]
    if outputs:
        drawn = ahead.likelihood.draw_outputs(points, np.random.default_rng([seed, 2]), given_data=True)
    draws = Draws.split(quantities(ahead, points, drawn), outer, seed, complete=ahead.complete)
    foreseen, left_out = [], []
    for candidate in candidates:
        groups, left = ahead.groups(candidate)
        left_out += [(candidate.name, name, reason) for name, reason in left]
        if groups:
            gain = expected_gain(outlook(ahead, groups, points, drawn), draws, seed)
            foreseen.append(Foreseen(candidate, groups, gain))
    return Advice(tuple(foreseen), tuple(left_out), draws, points, drawn)


def outlook(ahead: Ahead, groups: Sequence[Group], points: Floats, drawn: Mapping[str, Floats]) -> Outlook:
    """What a candidate would show at the points."""
    return ahead.likelihood.outlook(points, groups, drawn)


def quantities(ahead: Ahead, points: Floats, drawn: Mapping[str, Floats]) -> Floats:
    """The quantities (n, q) that the next test is to tell about, at points and outputs drawn there."""
    columns = []
    for name in ahead.about:
        if name in ahead.posterior.names:
            columns.append(points[:, ahead.posterior.names.index(name)])
        else:
            pair = ahead.output(name)
            assert pair is not None
            forward, column = ahead.places[pair]
            columns.append(drawn[forward][:, column])
    return np.stack(columns, axis=1)
