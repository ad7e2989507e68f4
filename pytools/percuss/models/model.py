"""What a model is to the rest of percuss: named inputs in SI, named quantities, and a pure function of runs.

A model module offers two functions, found through `MODELS`, and a third if there is more to say:

    settings(table) -> dict[str, Setting]   what [model] may set beside fixed inputs, given what it does set
    configure(settings, files) -> Model     settings as cleaned by `percuss.settings.clean_settings`
    reference() -> Reference                inputs and quantities of any study of the kind, and sign conventions

`Model.run` is pure: the same point and the same seed give the same bits, whatever else is in the batch. A run
that diverges is a `Failed` outcome with its reason, never an exception.

A new kind is one module and one line of the table `MODELS`.

How far the long runs of this process have come is told by models (`telling`); whoever shows progress looks
(`under_way`) or listens (`listening`).
"""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from percuss.models.seeds import Seed
from percuss.plugins import UnknownNameError, extend
from percuss.settings import Setting, clean_settings, files_inside
from percuss.spelling import did_you_mean, shown

if TYPE_CHECKING:
    from numpy import ndarray

    from percuss.models.ground.record import RecordFacts
    from percuss.scene.film import Film


Value = float | str
# Stream of what a model says of a run.
NOTES = "notes"


@dataclass(frozen=True)
class Input:
    """Something a run takes: a number in the SI unit `unit`, or (unit None) one of the texts in `choices`.

    With `other_units` the number may have one of several dimensions (a stiffness in N/m or in N/m^1.5, as the law
    wants it); such a value reaches the model as text, number and SI unit, so that its dimension cannot get lost.
    `unless` names inputs and the choice of each with which this one means nothing (the stiffness of a rigid contact).
    """

    name: str
    unit: str | None = "1"
    default: Value | None = None
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    choices: tuple[str, ...] = ()
    doc: str = ""
    other_units: tuple[str, ...] = ()
    unless: tuple[tuple[str, str], ...] = ()

    def taken(self, values: Mapping[str, object]) -> bool:
        """Tell whether a run with these values of the other inputs takes a value for this one."""
        return not self.unless or any(values.get(name) != choice for name, choice in self.unless)

    def idle_words(self) -> str:
        """Say with what this input means nothing, as `law = "rigid"`."""
        return ", ".join(f'{name} = "{choice}"' for name, choice in self.unless)

    def allowed(self) -> str:
        """Spell what is allowed, as `(0, 1] m` or the choices."""
        if self.unit is None:
            return "one of " + ", ".join(self.choices) if self.choices else "one of those the study names"
        left = "(" if self.low_open or math.isinf(self.low) else "["
        right = ")" if self.high_open or math.isinf(self.high) else "]"
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{left}{self.low:g}, {self.high:g}{right}{unit}"

    def admits(self, value: float) -> bool:
        """Tell whether a finite SI number lies within the bounds."""
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return math.isfinite(value) and above and below


@dataclass(frozen=True)
class Quantity:
    """Something a run gives, in the SI unit `unit`: a scalar, or a curve against the curve named `axis`.

    The axis is itself a curve of the model, with no axis of its own. With `means` each sample of the curve is the mean
    since the one before it. `no_limit` says, in a sentence, why the largest values of the curve have no limit as the
    step goes to zero; empty: they have one. A `diagnostic` tells of the computation, not of what is computed.

    The `doc` of a number is recorded with every study that names no outputs, and so it stays as it is; `meaning` is for
    reading alone, where a number has none. `peak_of` names the curve whose largest size a number is: exactly, which its
    samples need not show.
    """

    name: str
    unit: str = "1"
    curve: bool = False
    doc: str = ""
    axis: str | None = None
    means: bool = False
    no_limit: str = ""
    diagnostic: bool = False
    meaning: str = ""
    peak_of: str = ""

    def says(self) -> str:
        """What it is, in a line."""
        return self.doc or self.meaning


@dataclass(frozen=True)
class Reference:
    """What any study of a kind takes and gives; `<mass>` in a name stands for a name the study gives."""

    inputs: tuple[Input, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    conventions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """A finished run: its scalar quantities, its curves and further tables (columns by name) where it has some.

    `printed` is what was said of the run, by stream, and is kept with it: what a program printed, and under `notes`
    what a model wants to be known beside the numbers.
    """

    values: dict[str, float]
    curves: dict[str, ndarray] | None = None
    tables: dict[str, dict[str, ndarray]] = field(default_factory=dict)
    printed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    """A run without a result, and why: what kind of failure, and after a colon what is particular to this run."""

    reason: str
    printed: Mapping[str, str] = field(default_factory=dict)


Outcome = Done | Failed


class Model(Protocol):
    """A configured model. `batch` is the number of runs in one event: a constant of the kind."""

    @property
    def kind(self) -> str: ...
    @property
    def inputs(self) -> Mapping[str, Input]: ...
    @property
    def quantities(self) -> Mapping[str, Quantity]: ...
    @property
    def batch(self) -> int: ...
    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int]) -> list[Outcome]:
        """Run each point with its 64-bit seed; outcomes in the order of the points."""
        ...


@runtime_checkable
class Driven(Protocol):
    """What a model also is if recorded motions drive its runs."""

    def records(self) -> list[RecordFacts]:
        """Every record there is, as it was recorded."""
        ...

    def short_records(self) -> list[str]:
        """What is wrong with records that end before the run. Asked of study files, not of studies in a ledger."""
        ...

    def record_of(self, point: Mapping[str, Value]) -> RecordFacts | None:
        """The record of one run, scaled as the run scales it."""
        ...


@runtime_checkable
class Foreseen(Protocol):
    """What a model also is if its settings alone may show that every run will fail."""

    def never_runs(self) -> list[tuple[str, str]]:
        """Settings, and what is wrong with each. Asked of study files, not of studies in a ledger."""
        ...


@runtime_checkable
class Runner(Protocol):
    """What a model also is if it runs programs that are not ours. It refuses to `run` until it is `allowed`."""

    def calls(self) -> list[str]:
        """What would be executed and how, a line each."""
        ...

    def allowed(self) -> Model:
        """The same model, with the consent of the user."""
        ...

    def program(self) -> dict[str, str]:
        """Facts about the program, for the events: path, digest, version."""
        ...


@runtime_checkable
class Settles(Protocol):
    """What a model also is if its runs start from a state of rest that several of them may share."""

    def settling_key(self, point: Mapping[str, Value]) -> str | None:
        """Digest of all that the state of rest of a point depends on; None: it starts as it is."""
        ...

    def settled(self, point: Mapping[str, Value]) -> tuple[bytes, dict[str, float]]:
        """The state of rest and facts about it; raises InputError when there is none."""
        ...

    def run_from(
        self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int], starts: Sequence[bytes | None]
    ) -> list[Outcome]:
        """As `run`, from states of rest; a run without one settles by itself, to the same bits."""
        ...


@runtime_checkable
class Mixing(Protocol):
    """What a model also is if its runs can draw from mixtures of seeds (`percuss.models.seeds`).

    A run of a mixture has the law of runs of single seeds, and small changes of the weights change it little: so that a
    chain can walk through motions, which single seeds do not allow.
    """

    def random_variables(self) -> int:
        """How many standard normal variables a run draws; 0: its runs are not random."""
        ...

    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[Seed]) -> list[Outcome]:
        """As `Model.run`."""
        ...


@runtime_checkable
class Filmed(Protocol):
    """What a model also is if its runs can be drawn as bodies that move."""

    def film(
        self, point: Mapping[str, Value], seed: Seed, start: bytes | None, interval_s: float | None
    ) -> tuple[Film, Outcome]:
        """The run of a point, made again with a frame every `interval_s` (None: as many as suit it), and its outcome.

        `start` is the state of rest it starts from, where there is one. Raises InputError for a run that has no film.
        """
        ...


@dataclass(frozen=True)
class Numerics:
    """What a run is computed with: its step, called `name` among settings or inputs, and the tolerance of its solver.

    None: it solves nothing to a tolerance. `note` says what is not refined and why, where there is such.
    """

    step: float
    tolerance: float | None = None
    name: str = "step"
    unit: str = "s"
    note: str = ""


@runtime_checkable
class Refines(Protocol):
    """What a model also is if its runs can be made finer, to see what depends on how they are computed."""

    def numerics(self, point: Mapping[str, Value]) -> Numerics:
        """What the run of a point is computed with."""
        ...

    def refined(self, point: Mapping[str, Value], finer: int, tighter: float) -> tuple[Model, dict[str, Value]]:
        """Model and point of the same run with the step, and the sampling of its curves, over `finer`, and the
        tolerance over `tighter`.
        """
        ...


@dataclass(frozen=True)
class Kind:
    """Where a model kind lives (imported on first use) and what it is, in one line."""

    module: str
    summary: str


MODELS: dict[str, Kind] = {
    "benchmark": Kind("percuss.models.benchmark", "closed forms for tests and first trials"),
    "command": Kind("percuss.models.command", "any program as a model: files in, files out, never through a shell"),
    "function": Kind("percuss.models.function", "a Python function, defined where it is run"),
    "scene": Kind("percuss.models.scene", "rigid bodies with contact, impact and friction, given in the study file"),
    "grains": Kind("percuss.models.grains", "packings of spheres, compressed and sheared: triaxial tests"),
    "oscillators": Kind("percuss.models.oscillators", "masses on springs that collide: pounding of structures"),
    "rockfall-wall": Kind("percuss.models.rockfall_wall", "an articulated wall of blocks hit by a falling rock"),
}


class ModelModule(Protocol):
    """What a module in MODELS offers."""

    def settings(self, table: Mapping[str, object]) -> dict[str, Setting]: ...
    def configure(self, settings: Mapping[str, object], files: Mapping[str, bytes]) -> Model: ...


def all_models() -> Mapping[str, Kind]:
    """The table with the kinds that plugins add."""
    return extend(MODELS, "percuss.models", lambda p: Kind(p.module, f"of {p.package} {p.version}"))


def model_module(kind: str) -> ModelModule:
    """Import the module of a kind; raise UnknownNameError when there is no such kind."""
    if kind not in MODELS and kind not in all_models():
        raise UnknownNameError(f"unknown model kind {shown(kind)}: {did_you_mean(kind, MODELS)}")
    return cast(ModelModule, importlib.import_module(MODELS[kind].module))


def model_files(kind: str, settings: Mapping[str, object]) -> list[str]:
    """The attached files that the settings of a model name."""
    names: list[str] = []
    for name, setting in model_module(kind).settings(settings).items():
        value = settings.get(name)
        if setting.form == "file" and isinstance(value, str):
            names.append(value)
        elif setting.form == "files" and isinstance(value, list):
            names += value
        elif setting.files:
            names += files_inside(value, setting.files)
    return names


def configure(kind: str, settings: Mapping[str, object], files: Mapping[str, bytes]) -> Model:
    """Build the model of a kind from its settings and attached files.

    Raises InputError for an unknown kind, SettingsError (an InputError) for settings it cannot take.
    """
    module = model_module(kind)
    return module.configure(clean_settings(module.settings(settings), settings), files)


_shares: dict[int, float] = {}
_listeners: list[Callable[[float], None]] = []


@contextmanager
def telling() -> Iterator[Callable[[float], None]]:
    """For a model, around one run: yields what it calls with the share that is done, of its thread."""
    me = threading.get_ident()

    def tell(share: float) -> None:
        _shares[me] = share
        for listener in _listeners:
            listener(share)

    try:
        yield tell
    finally:
        _shares.pop(me, None)


@contextmanager
def listening(listener: Callable[[float], None]) -> Iterator[None]:
    """Call `listener` with every share that is told, in the thread of the run."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def under_way() -> str:
    """What is under way, in a few words; empty if nothing tells.

    >>> with telling() as tell:
    ...     tell(0.25)
    ...     under_way()
    'under way: 25 %'
    """
    shares = sorted(_shares.copy().values(), reverse=True)
    return "under way: " + ", ".join(f"{100 * share:.0f} %" for share in shares) if shares else ""
