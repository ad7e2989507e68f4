"""Benchmark functions with known answers, to test designs, surrogates, sensitivity and calibration against.

    ishigami         y = sin x1 + a sin^2 x2 + b x3^4 sin x1      (Ishigami and Homma, 1990)
    gfunction        y = prod_i (|4 x_i - 2| + a_i) / (1 + a_i)   (Saltelli and Sobol, 1995), x_i in [0, 1]
    borehole         flow through a borehole, eight inputs       (Harper and Gupta, 1983; Morris et al., 1993)
    linear-gaussian  y = A x + b, plus noise from the run's seed; `exact_posterior` answers its calibration
    four-branch      four limit functions of two variables, failing as a series (Schueremans and Van Gemert, 2005)
    impact           a block slides over a gap under friction against a stop and rebounds: a kink in every
                     output, and curves against time

Each point is evaluated by itself with scalar arithmetic: array routines may round an element differently
according to its place in the array, and a run must give the same bits in any batch. For rehearsing
campaigns `delay` sleeps a while in each run, `fail_above` makes runs fail beyond a threshold, and `batch` says how many
runs make one event.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from percuss.errors import InputError
from percuss.models.model import Done, Failed, Input, Outcome, Quantity, Reference, Value
from percuss.models.seeds import Mixture, Seed
from percuss.settings import Setting, SettingsError, clean_settings, table_of
from percuss.spelling import did_you_mean, shown
from percuss.units import parse_quantity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

GRAVITY_M_PER_S2 = 9.80665

Evaluate = Callable[[Mapping[str, Any], Seed], Outcome]


@dataclass(frozen=True)
class Benchmark:
    """One benchmark function, configured."""

    inputs: Mapping[str, Input]
    quantities: Mapping[str, Quantity]
    evaluate: Evaluate
    delay_s: float = 0.0
    fail_above: Mapping[str, float] = field(default_factory=dict)
    batch: int = 64
    noises: int = 0
    kind: str = "benchmark"

    def random_variables(self) -> int:
        """One for each output with noise."""
        return self.noises

    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[Seed]) -> list[Outcome]:
        """Evaluate each point by itself."""
        return [self._one(point, seed) for point, seed in zip(points, seeds, strict=True)]

    def _one(self, point: Mapping[str, Any], seed: Seed) -> Outcome:
        if self.delay_s > 0:
            time.sleep(self.delay_s)
        for name, threshold in self.fail_above.items():
            if point[name] > threshold:
                return Failed(f"rehearsed failure: {name} = {point[name]!r} is above fail_above = {threshold!r}")
        try:
            return self.evaluate(point, seed)
        except (OverflowError, ZeroDivisionError) as fault:
            return Failed(f"no finite result: {fault}")


def ishigami(point: Mapping[str, Any], seed: Seed) -> Outcome:
    """Evaluate y = sin x1 + a sin^2 x2 + b x3^4 sin x1."""
    sine = math.sin(point["x1"])
    return Done({"y": sine + point["a"] * math.sin(point["x2"]) ** 2 + point["b"] * point["x3"] ** 4 * sine})


def gfunction(coefficients: tuple[float, ...], point: Mapping[str, Any], seed: Seed) -> Outcome:
    """Evaluate y = prod_i (|4 x_i - 2| + a_i) / (1 + a_i)."""
    y = 1.0
    for i, a in enumerate(coefficients, start=1):
        y *= (abs(4 * point[f"x{i}"] - 2) + a) / (1 + a)
    return Done({"y": y})


def borehole(point: Mapping[str, Any], seed: Seed) -> Outcome:
    """Evaluate 2 pi Tu (Hu - Hl) / (ln(r/rw) (1 + 2 L Tu / (ln(r/rw) rw^2 Kw) + Tu/Tl)), in m^3/s."""
    rw, r = point["rw"], point["r"]
    if r <= rw:
        return Failed(f"radius of influence r = {r!r} m does not exceed the radius of the borehole rw = {rw!r} m")
    log = math.log(r / rw)
    leak = 2 * point["L"] * point["Tu"] / (log * rw**2 * point["Kw"])
    flow = 2 * math.pi * point["Tu"] * (point["Hu"] - point["Hl"]) / (log * (1 + leak + point["Tu"] / point["Tl"]))
    return Done({"flow": flow})


def linear_gaussian(
    matrix: tuple[tuple[float, ...], ...],
    offset: tuple[float, ...],
    names: tuple[str, ...],
    outputs: tuple[str, ...],
    noise: float,
    point: Mapping[str, Any],
    seed: Seed,
) -> Outcome:
    """Evaluate y = A x + b, plus Gaussian noise of the given standard deviation drawn from the run's seed."""
    x = [point[name] for name in names]
    y = [math.fsum([b, *(a * v for a, v in zip(row, x, strict=True))]) for row, b in zip(matrix, offset, strict=True)]
    if noise > 0:
        drawn = seed.normals(partial(_noise, len(y))) if isinstance(seed, Mixture) else _noise(len(y), seed)
        y = [value + noise * float(z) for value, z in zip(y, drawn, strict=True)]
    return Done(dict(zip(outputs, y, strict=True)))


def _noise(size: int, seed: int) -> NDArray[Any]:
    from numpy.random import Generator, Philox

    return Generator(Philox(seed)).standard_normal(size)


def four_branch(k: float, point: Mapping[str, Any], seed: Seed) -> Outcome:
    """Evaluate b1, b2 = 3 + (x1 - x2)^2 / 10 -+ (x1 + x2) / sqrt 2 and b3, b4 = +-(x1 - x2) + k / sqrt 2."""
    along, across = point["x1"] + point["x2"], point["x1"] - point["x2"]
    bent = 3 + 0.1 * across**2
    return Done({
        "b1": bent - along / math.sqrt(2),
        "b2": bent + along / math.sqrt(2),
        "b3": across + k / math.sqrt(2),
        "b4": -across + k / math.sqrt(2),
    })  # fmt: skip


def impact(duration_s: float, samples: int, point: Mapping[str, Any], seed: Seed) -> Outcome:
    """Slide a block at `speed` over `gap` against a stop, under Coulomb friction; restitution e at the stop.

    Free sliding length s = v^2 / (2 mu g). The block rests at s when s < gap, else at gap - e^2 (s - gap).
    """
    import numpy as np

    speed, gap, e = point["speed"], point["gap"], point["restitution"]
    braking = point["friction"] * GRAVITY_M_PER_S2
    sliding = speed**2 / (2 * braking)
    beyond = max(sliding - gap, 0.0)
    arrival = math.sqrt(2 * braking * beyond)
    rebound = e * arrival
    contact_s = (speed - arrival) / braking
    rest_s = contact_s + rebound / braking

    def position(t: float) -> float:
        if t <= contact_s:
            return float(speed * t - braking * t**2 / 2)
        back = min(t - contact_s, rest_s - contact_s)
        return float(min(sliding, gap) - (rebound * back - braking * back**2 / 2))

    instants = [duration_s * i / (samples - 1) for i in range(samples)]
    curves = {"t_s": np.array(instants), "position": np.array([position(t) for t in instants])}
    rest = min(sliding, gap) - e**2 * beyond
    return Done({"rest_position": rest, "rebound_speed": rebound, "rest_time": rest_s}, curves)


def _ishigami(settings: Mapping[str, Any]) -> Benchmark:
    inputs = [Input(f"x{i}", doc=f"argument {i}, as a rule from -pi to pi") for i in (1, 2, 3)]
    inputs.append(Input("a", default=7.0, doc="factor of sin^2 x2"))
    inputs.append(Input("b", default=0.1, doc="factor of x3^4 sin x1"))
    return _benchmark(settings, inputs, [Quantity("y", meaning="value of the function")], ishigami)


def _gfunction(settings: Mapping[str, Any]) -> Benchmark:
    a = _numbers("coefficients", settings["coefficients"])
    if not a or min(a) < 0:
        raise SettingsError([("coefficients", "must hold one number >= 0 for each input")])
    inputs = [Input(f"x{i}", low=0, high=1, doc=f"argument {i}") for i in range(1, len(a) + 1)]
    return _benchmark(settings, inputs, [Quantity("y", meaning="value of the function")], partial(gfunction, a))


def _borehole(settings: Mapping[str, Any]) -> Benchmark:
    length = partial(Input, unit="m", low=0, low_open=True)
    transmissivity = partial(Input, unit="m^2/s", low=0, low_open=True)
    inputs = [
        length("rw", doc="radius of the borehole"),
        length("r", doc="radius of influence"),
        transmissivity("Tu", doc="transmissivity of the upper aquifer"),
        Input("Hu", "m", doc="potentiometric head of the upper aquifer"),
        transmissivity("Tl", doc="transmissivity of the lower aquifer"),
        Input("Hl", "m", doc="potentiometric head of the lower aquifer"),
        length("L", doc="length of the borehole"),
        Input("Kw", "m/s", low=0, low_open=True, doc="hydraulic conductivity of the borehole"),
    ]
    return _benchmark(settings, inputs, [Quantity("flow", "m^3/s", doc="water flow rate")], borehole)


def _linear_gaussian(settings: Mapping[str, Any]) -> Benchmark:
    names, outputs = _names("inputs", settings["inputs"]), _names("outputs", settings["outputs"])
    rows = settings["matrix"]
    if len(rows) != len(outputs) or not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        raise SettingsError([("matrix", f"must hold {len(outputs)} rows (outputs) of {len(names)} numbers (inputs)")])
    offset = _numbers("offset", settings.get("offset", [0.0] * len(outputs)))
    if len(offset) != len(outputs):
        raise SettingsError([("offset", f"must hold {len(outputs)} numbers, one for each output")])
    matrix = tuple(_numbers("matrix", row) for row in rows)
    evaluate = partial(linear_gaussian, matrix, offset, names, outputs, settings["noise"])
    inputs = [Input(name, doc="a component of x") for name in names]
    made = _benchmark(settings, inputs, [Quantity(name, meaning="a component of y") for name in outputs], evaluate)
    return replace(made, noises=len(outputs) if settings["noise"] > 0 else 0)


def _four_branch(settings: Mapping[str, Any]) -> Benchmark:
    inputs = [Input(f"x{i}", doc=f"argument {i}, as a rule standard normal") for i in (1, 2)]
    quantities = [Quantity(f"b{i}", meaning=f"limit function of branch {i}: fails below 0") for i in (1, 2, 3, 4)]
    return _benchmark(settings, inputs, quantities, partial(four_branch, settings["k"]))


def _impact(settings: Mapping[str, Any]) -> Benchmark:
    inputs = [
        Input("speed", "m/s", low=0, doc="initial speed towards the stop"),
        Input("friction", "1", default=0.3, low=0, low_open=True, doc="friction coefficient"),
        Input("gap", "m", low=0, doc="distance to the stop"),
        Input("restitution", "1", default=0.5, low=0, high=1, doc="coefficient of restitution of the stop"),
    ]
    quantities = [
        Quantity("rest_position", "m", doc="where the block comes to rest"),
        Quantity("rebound_speed", "m/s", doc="speed just after the stop; zero when it is not reached"),
        Quantity("rest_time", "s", doc="when the block comes to rest"),
        Quantity("t_s", "s", curve=True, doc="time"),
        Quantity("position", "m", curve=True, axis="t_s", doc="position of the block"),
    ]
    evaluate = partial(impact, settings["duration"], settings["samples"])
    return _benchmark(settings, inputs, quantities, evaluate)


@dataclass(frozen=True)
class Function:
    """A row of the table of functions: how it is configured, its own settings, and an example of those it requires."""

    configure: Callable[[Mapping[str, Any]], Benchmark]
    settings: tuple[Setting, ...] = ()
    # Settings of the example whose inputs and quantities the reference shows.
    example: Mapping[str, Any] = field(default_factory=dict)


FUNCTIONS: dict[str, Function] = {
    "ishigami": Function(_ishigami),
    "gfunction": Function(
        _gfunction,
        (
            Setting(
                "coefficients",
                "list",
                required=True,
                doc="the a_i, one for each input: small means important",
            ),
        ),
        {"coefficients": [0, 1]},
    ),
    "borehole": Function(_borehole),
    "linear-gaussian": Function(
        _linear_gaussian,
        (
            Setting("inputs", "list", required=True, doc="names of the x"),
            Setting("outputs", "list", required=True, doc="names of the y"),
            Setting("matrix", "list", required=True, doc="A, a list of rows"),
            Setting("offset", "list", doc="b; zero when left out"),
            Setting("noise", "number", default=0.0, low=0, doc="standard deviation of noise added to each y"),
        ),
        {"inputs": ["x1"], "outputs": ["y1"], "matrix": [[1]]},
    ),
    "four-branch": Function(
        _four_branch, (Setting("k", "number", default=6.0, doc="distance of the two straight branches"),)
    ),
    "impact": Function(
        _impact,
        (
            Setting("duration", "number", default=2.0, unit="s", low=1e-9, high=1e9, doc="span of the curves"),
            Setting("samples", "integer", default=201, low=2, high=1_000_000, doc="points of the curves"),
        ),
    ),
}

VARIANTS = {name: table_of(*function.settings) for name, function in FUNCTIONS.items()}
_COMMON = (
    Setting("function", "text", required=True, choices=tuple(FUNCTIONS), doc="which closed form", variants=VARIANTS),
    Setting("delay", "number", default=0.0, unit="s", low=0, high=3600, doc="sleep in each run: for rehearsals"),
    Setting("fail_above", "table", default={}, doc="input = threshold beyond which a run fails: for rehearsals"),
    Setting("batch", "integer", default=64, low=1, high=100_000, doc="runs in one event: for rehearsals"),
)


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """List the settings the function named in `table` takes."""
    function = FUNCTIONS.get(str(table.get("function")))
    return {setting.name: setting for setting in (*_COMMON, *(function.settings if function else ()))}


def configure(settings: Mapping[str, Any], files: Mapping[str, bytes]) -> Benchmark:
    """Build the function that cleaned settings describe."""
    return FUNCTIONS[settings["function"]].configure(settings)


def reference() -> Reference:
    """Inputs and quantities of each function, of its example where it has settings."""
    inputs: list[Input] = []
    quantities: list[Quantity] = []
    for name, function in FUNCTIONS.items():
        table = {"function": name, **function.example}
        model = configure(clean_settings(settings(table), table), {})
        inputs += [replace(item, doc=f"{name}: {item.doc}") for item in model.inputs.values()]
        quantities += [replace(item, doc=f"{name}: {item.says()}") for item in model.quantities.values()]
    conventions = (
        "gfunction has an input x<i> for each of its coefficients; linear-gaussian those it names.",
        "impact: the block starts at 0 and moves towards the stop, which is positive; rebound_speed is a magnitude.",
    )
    return Reference(tuple(inputs), tuple(quantities), conventions)


def _benchmark(
    settings: Mapping[str, Any], inputs: list[Input], quantities: list[Quantity], evaluate: Evaluate
) -> Benchmark:
    named = {i.name: i for i in inputs}
    fail_above: dict[str, float] = {}
    for name, threshold in settings["fail_above"].items():
        if name not in named:
            raise SettingsError([("fail_above", f"unknown input {shown(name)}; {did_you_mean(name, named)}")])
        try:
            fail_above[name] = parse_quantity(threshold, named[name].unit or "1")
        except InputError as fault:
            raise SettingsError([("fail_above", f"{name}: {fault}")]) from None
    facts = settings["delay"], fail_above, settings["batch"]
    return Benchmark(named, {q.name: q for q in quantities}, evaluate, *facts)


def _numbers(key: str, values: Sequence[object]) -> tuple[float, ...]:
    numbers = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
            raise SettingsError([(key, f"{shown(value)} is not a finite number")])
        numbers.append(float(value))
    return tuple(numbers)


def _names(key: str, values: Sequence[object]) -> tuple[str, ...]:
    names = tuple(value for value in values if isinstance(value, str) and value.isidentifier())
    if not names or len(names) != len(values) or len(set(names)) != len(names):
        raise SettingsError([(key, "must hold distinct names of letters, digits and _")])
    return names


class Posterior(NamedTuple):
    """A Gaussian posterior and the log of the evidence it came with."""

    mean: NDArray[Any]
    covariance: NDArray[Any]
    log_evidence: float


def exact_posterior(
    matrix: ArrayLike,
    offset: ArrayLike,
    observed: ArrayLike,
    noise_covariance: ArrayLike,
    prior_mean: ArrayLike,
    prior_covariance: ArrayLike,
) -> Posterior:
    """Calibrate y = A x + b + N(0, R) with x ~ N(m, P) in closed form.

    With S = A P A' + R and K = P A' S^-1: mean m + K (y - A m - b), covariance (I - K A) P in the symmetric
    Joseph form, log evidence log N(y; A m + b, S).
    """
    import numpy as np

    a = np.atleast_2d(np.asarray(matrix, float))
    m, p = np.atleast_1d(np.asarray(prior_mean, float)), np.atleast_2d(np.asarray(prior_covariance, float))
    r = np.atleast_2d(np.asarray(noise_covariance, float))
    misfit = np.atleast_1d(np.asarray(observed, float)) - a @ m - np.asarray(offset, float)
    s = a @ p @ a.T + r
    gain = np.linalg.solve(s, a @ p).T
    kept = np.eye(len(m)) - gain @ a
    log_evidence = -0.5 * (misfit @ np.linalg.solve(s, misfit) + np.linalg.slogdet(2 * np.pi * s)[1])
    return Posterior(m + gain @ misfit, kept @ p @ kept.T + gain @ r @ gain.T, float(log_evidence))
