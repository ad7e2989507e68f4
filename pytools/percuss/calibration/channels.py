"""Time histories: channels of a logger read as samples of curves, and held against surrogates of these curves.

Before anything is sampled every channel is held against curves drawn from the prior: one that is far larger or smaller
than all of them, or agrees with them only upside down, is a matter of units or signs and not of parameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.correlated import Correlated
from percuss.inference.discrepancies.discrepancy import Discrepancy, NormalResiduals, Unknown
from percuss.inference.reading import Reading
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.measured import parse_measured
from percuss.study.histories import History
from percuss.study.joint import Joint
from percuss.study.priors.prior import Prior
from percuss.study.study import Study
from percuss.surrogates.modes import Modes, load_modes
from percuss.surrogates.surrogate import Surrogate
from percuss.units import from_si, same_dimension, to_si

if TYPE_CHECKING:
    import polars as pl

Entry = Mapping[str, Any]
# Curves of the prior that a channel is held against.
DRAWS = 512
# A channel may be so many times larger than the largest of them, or smaller than the smallest: less than gravity, which
# is the smallest factor between units that people mix up.
BEYOND = 5.0
# A channel agrees upside down: correlation with some curve of at least the first, the right way up at most the second.
UPSIDE_DOWN, UPRIGHT = 0.8, 0.4
# A channel that never changes is refused from so many samples on.
LEAST_SAMPLES = 3
# The part of the clock that must lie on the axis of the curves.
OVERLAP = 0.5
# What thinning may lose of what the samples tell of the scores.
LOST = 0.01
# More samples than this are not laid out as a covariance.
MOST_DENSE = 400
# How far an inferred clock is followed when samples are chosen: quantiles of its prior.
CLOCK_ENDS = (0.001, 0.999)
# Factors between units that people mix up; some belong to units of one dimension.
PREFIXES = (10.0, 100.0, 1e3, 1e6)
BETWEEN = (("m/s^2", 9.80665, "g0 and m/s^2"), ("rad", 57.29577951308232, "deg and rad"))


def read_history(study: Study, history: History, data: bytes) -> pl.DataFrame:
    """The samples of a file as entries in SI, channel after channel; `point` is the name of the history."""
    import polars as pl

    measured = parse_measured(history.file, data, logged=True)
    quantities = study.model().quantities
    case = study.case_name(history.case)
    clock = measured.column(history.time)
    axis = quantities[next(iter(history.channels))].axis
    unit = measured.unit(clock, quantities[axis].unit if axis else "s")
    places = np.array([to_si(place, unit) for place in measured.with_gaps(clock)])
    timed = np.isfinite(places)
    back = np.flatnonzero(np.diff(places[timed]) <= 0)
    if len(back):
        row = int(np.flatnonzero(timed)[back[0] + 1])
        raise InputError(
            f"{measured.place(row)} of column {clock} is {places[row]:g}: the clock does not rise there",
            hint="a clock that was set back is two histories",
        )
    parts = []
    for curve, name in history.channels.items():
        column = measured.column(name)
        own_unit = measured.unit(column, quantities[curve].unit)
        values = np.array([to_si(value, own_unit) for value in measured.with_gaps(column)])
        values = -values if curve in history.flip else values
        kept = timed & np.isfinite(values)
        for end, keeps in ((history.start, np.greater_equal), (history.stop, np.less_equal)):
            kept &= True if end is None else keeps(places, end)
        if not kept.any():
            raise InputError(f"{history.file}: column {column} holds no sample of history {history.name}")
        size = int(np.count_nonzero(kept))
        parts.append(
            pl.DataFrame(
                {
                    "entry": pl.Series(np.zeros(size, np.int64)),
                    "case": pl.Series([case] * size, dtype=pl.String()),
                    "output": pl.Series([curve] * size, dtype=pl.String()),
                    "value": pl.Series(values[kept]),
                    "std": pl.Series([history.std.get(curve)] * size, dtype=pl.Float64()),
                    "point": pl.Series([history.name] * size, dtype=pl.String()),
                    "axis": pl.Series([None] * size, dtype=pl.String()),
                    "instant": pl.Series(places[kept]),
                }
            )
        )
    return pl.concat(parts)


class Seen(NamedTuple):
    """The entries of a channel that are held against its curve, how they are read, and of which forward model."""

    entries: list[Entry]
    reading: Reading
    forward: str
    outputs: list[int]


@dataclass(eq=False)
class Histories:
    """The channels of a study against surrogates of their curves; `notes` collect what was left out.

    `surrogates` by the name of their forward model, `with_rest`: what their modes leave out counts as error.
    """

    study: Study
    plans: Mapping[str, History]
    surrogates: Mapping[str, Surrogate]
    with_rest: bool = True
    notes: list[str] = field(default_factory=list)

    def forward(self, case: str, curve: str) -> str:
        """The forward model that has a curve of a case."""
        for name, surrogate in self.surrogates.items():
            curves = SurrogateFitted.of(surrogate.event).curves
            if curves and curves.quantity == curve and any(column.case == case for column in surrogate.columns):
                return name
        raise InputError(
            f"no surrogate has the curve {curve} of case {case}, which was observed",
            hint=f"percuss design STUDY --curves, percuss run, percuss surrogate --curves {curve}",
        )

    def see(self, entries: Sequence[Entry], discrepancy: Discrepancy) -> Seen:
        """How the samples of one channel are read, without those off the curve and those that thinning leaves out."""
        case, curve, name = (entries[0][key] for key in ("case", "output", "point"))
        history = self.plans.get(name)
        if history is None:
            raise InputError(f"history {name}: the study has no [observations.histories.{name}]")
        forward = self.forward(case, curve)
        surrogate = self.surrogates[forward]
        modes = load_modes(surrogate.tables, case)
        places = np.array([entry["instant"] for entry in entries])
        inside = self._inside(history, modes, places, curve)
        kept = np.flatnonzero(inside)
        rest = modes.rest if self.with_rest else np.zeros_like(modes.rest)
        outputs = [j for j, column in enumerate(surrogate.columns) if column.case == case]

        def reading(of: Any) -> Reading:
            clock = (_clock("delay", history, history.delay), _clock("drift", history, history.drift))
            return Reading(modes.axis, modes.mean, modes.modes, rest, places[of], *clock)

        stride = history.thin
        if stride is None:
            std = np.array([entry["std"] or 0.0 for entry in entries])
            spread = np.array([surrogate.columns[j].variance for j in outputs])
            stride = _stride(reading(kept), std[kept], discrepancy, spread)
        if stride > 1:
            self.notes.append(f"history {name}, {curve}: one sample of {stride} is taken, {len(kept[::stride])} in all")
        kept = kept[::stride]
        return Seen([entries[i] for i in kept.tolist()], reading(kept), forward, outputs)

    def _inside(self, history: History, modes: Modes, places: Floats, curve: str) -> Any:
        """Which samples lie on the axis of the curve, by any clock that the prior holds possible."""
        ends = [_ends(history.delay), _ends(history.drift)]
        instants = [(places - delay) / (1 + drift) for delay in ends[0] for drift in ends[1]]
        inside = np.all([(at >= modes.axis[0]) & (at <= modes.axis[-1]) for at in instants], axis=0)
        count = int(np.count_nonzero(inside))
        if count < OVERLAP * len(places):
            raise InputError(
                f"history {history.name}: its clock goes from {places[0]:g} to {places[-1]:g}, and the curve {curve} "
                f"of the model from {modes.axis[0]:g} to {modes.axis[-1]:g} (SI): {count} of {len(places)} samples "
                "lie on it",
                hint="a unit in the header of the clock, as `t [ms]`; delay; from and to, to take a part",
            )
        if count < len(places):
            self.notes.append(
                f"history {history.name}, {curve}: {len(places) - count} of {len(places)} samples lie off the curve of "
                "the model and are left out"
            )
        return inside

    def check(self, table: pl.DataFrame) -> None:
        """Refuse channels whose size or sign cannot be that of the model's curves."""
        import polars as pl

        for history in self.plans.values():
            rows = table.filter(pl.col("point") == history.name)
            for curve in history.channels if history.check and rows.height else ():
                own = rows.filter(pl.col("output") == curve)
                if own.height:
                    self._check_channel(history, curve, own)

    def _check_channel(self, history: History, curve: str, rows: pl.DataFrame) -> None:
        case = rows["case"][0]
        surrogate = self.surrogates[self.forward(case, curve)]
        modes = load_modes(surrogate.tables, case)
        places = rows["instant"].to_numpy()
        inside = self._inside(history, modes, places, curve)
        generator = np.random.default_rng(0)
        # Cells of [0, 1) by their centres: a quantile of 0 may be infinite.
        draws = Joint.of(self.study).from_unit(generator.random((DRAWS, len(self.study.parameters))) + 2.0**-54)
        clock = np.stack([_drawn(value, DRAWS, generator) for value in (history.delay, history.drift)])
        axis, curves, _ = surrogate.curves(draws, case)
        instants = (places[inside] - clock[0][:, None]) / (1 + clock[1][:, None])
        seen = np.stack([np.interp(at, axis, one) for at, one in zip(instants, curves, strict=True)])
        values = rows["value"].to_numpy()[inside]
        named = f"history {history.name}, column {history.channels[curve]} for {curve}"
        unit = self.study.observable(curve).unit
        _check_alive(values, seen, rows["std"][0] or 0.0, named, unit)
        _check_size(values, seen, rows["std"][0] or 0.0, named, unit)
        _check_sign(values, seen, named, curve)


def _check_alive(values: Floats, seen: Floats, std: float, named: str, unit: str) -> None:
    """A sensor that is not connected writes one number. Errors that are inferred would make up for all of it."""
    least = float(np.std(seen, axis=1).min())
    if len(values) >= LEAST_SAMPLES and np.ptp(values) == 0 and least > std:
        raise InputError(
            f"{named}: all {len(values)} samples are {from_si(float(values[0]), unit):.3g} {unit}, and the model's "
            f"curves have standard deviations of at least {from_si(least, unit):.3g} {unit} along the record under the "
            "prior: is the sensor connected?",
            hint="check = false takes the channel as it is",
        )


def _check_size(values: Floats, seen: Floats, std: float, named: str, unit: str) -> None:
    own = math.sqrt(float(np.mean(values * values)))
    sizes = np.sqrt(np.mean(seen * seen, axis=1) + std**2)
    low, high = float(sizes.min()), float(sizes.max())
    ratio = own / high if own > high else low / own if own > 0 else 1.0
    if ratio <= BEYOND:
        return
    names = {factor: f"a factor of {factor:g}" for factor in PREFIXES}
    names |= {
        factor: f"{words}, a factor of {factor:.3g}" for like, factor, words in BETWEEN if same_dimension(unit, like)
    }
    near = min(names, key=lambda factor: abs(math.log(ratio / factor)))
    guess = f" ({names[near]}?)" if abs(math.log(ratio / near)) < math.log(3) else ""
    shown = [f"{from_si(x, unit):.3g}" for x in (own, low, high)]
    raise InputError(
        f"{named}: its root mean square is {shown[0]} {unit}, that of the model's curves {shown[1]} to {shown[2]} "
        f"{unit} under the prior: is it in another unit{guess}?",
        hint="a unit in the header, as `u [mm]`; check = false takes the channel as it is",
    )


def _check_sign(values: Floats, seen: Floats, named: str, curve: str) -> None:
    away = values - values.mean()
    others = seen - seen.mean(axis=1, keepdims=True)
    size = np.linalg.norm(others, axis=1) * np.linalg.norm(away)
    alike = (others @ away)[size > 0] / size[size > 0]
    if len(alike) and alike.min() < -UPSIDE_DOWN and alike.max() < UPRIGHT:
        raise InputError(
            f"{named}: follows the model's curve upside down, with a correlation of {alike.min():.2f}, and of at most "
            f"{alike.max():.2f} the right way up, under the prior",
            hint=f'flip = ["{curve}"] turns the channel round; check = false takes it as it is',
        )


def _clock(key: str, history: History, value: float | Prior) -> float | Unknown:
    return Unknown(f"{key}_{history.name}", value) if isinstance(value, Prior) else value


def _ends(value: float | Prior) -> tuple[float, ...]:
    return tuple(float(end) for end in value.ppf(CLOCK_ENDS)) if isinstance(value, Prior) else (value,)


def _drawn(value: float | Prior, n: int, generator: np.random.Generator) -> Floats:
    if isinstance(value, Prior):
        return np.asarray(value.ppf(generator.random(n) + 2.0**-54), float)
    return np.full(n, float(value))


def _median(value: Any) -> Any:
    return float(value.prior.ppf(0.5)) if isinstance(value, Unknown) else value


def _stride(reading: Reading, std: Floats, discrepancy: Discrepancy, spread: Floats) -> int:
    """The largest stride that keeps all but LOST of the information of the samples about the scores, which is
    log det(1 + V^(1/2) P V^(1/2)) / 2 with V the variance of the scores under the prior; what is inferred is taken at
    the median of its prior.
    """
    if not isinstance(discrepancy, NormalResiduals):
        return 1
    everything = _information(reading, std, discrepancy, spread, 1)
    stride = 1
    while (
        2 * stride * len(spread) <= len(std)
        and _information(reading, std, discrepancy, spread, 2 * stride) >= (1 - LOST) * everything
    ):
        stride *= 2
    return stride


def _information(reading: Reading, std: Floats, discrepancy: NormalResiduals, spread: Floats, stride: int) -> float:
    """What samples taken at a stride tell of the scores, in nats."""
    places = reading.places[::stride]
    known = [_median(value) for value in (reading.delay, reading.drift)]
    fixed = Reading(reading.axis, reading.mean, reading.modes, reading.rest, places, *known)
    fields: dict[str, Any] = {"std": _median(discrepancy.std)}
    if isinstance(discrepancy, Correlated):
        fields |= {"places": places, "length": _median(discrepancy.length), "kernel": discrepancy.kernel}
    variance = np.asarray(fixed.rest_variance + np.square(std[::stride]))
    white, _ = type(discrepancy)(**fields).whiten(fixed.loadings[None], variance, {})
    root = np.sqrt(spread)
    information = root[:, None] * (white[0] @ white[0].T) * root
    return 0.5 * float(np.linalg.slogdet(np.eye(len(root)) + information)[1])


def check_dense(discrepancy: Discrepancy, size: int, name: str) -> None:
    """Refuse a covariance too large to be laid out for every point."""
    if isinstance(discrepancy, Correlated) and discrepancy.kernel != "exponential" and size > MOST_DENSE:
        raise InputError(
            f"group {name}: {size} samples with errors of kernel {discrepancy.kernel}, and at most {MOST_DENSE} are "
            "taken",
            hint='kernel = "exponential" takes any number; thin = "information" may take fewer',
        )
