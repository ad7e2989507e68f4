"""Whether the outputs of a study depend on how it is computed: one run repeated at finer steps and a tighter tolerance.

Each level divides the step of the model, and with it the sampling of its curves, by the same factor; a last run at the
finest step tightens the tolerance of the solver. An output may be quoted if its value at the study's own step is within
a stated tolerance of what finer steps tend to, with the error left in them and the change by the tolerance added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from percuss.designs.design import run_seed
from percuss.errors import AnswerIsNo, InputError
from percuss.execution.refinement import Trend, digits, trend
from percuss.models.model import Done, Failed, Numerics, Refines, Runner, Value
from percuss.study.study import Study
from percuss.trust import Trust, Verdict
from percuss.units import from_si

if TYPE_CHECKING:
    import polars as pl

GATE = "step"
# What a value of a curve is zero against: this share of the largest.
ROUNDING = 1e-9
# Changes that do not shrink are taken for noise if all are below this share of the tolerance: were they a drift, it
# would take as many levels more to leave the tolerance.
NOISE = 0.2
# The finest step is at most so many times finer than the study's.
MOST_FINER = 4096

Quote = Literal["yes", "finer", "no", "no limit", "diagnostic"]


@dataclass(frozen=True)
class Plan:
    """How to refine: so many levels, each `refine` times finer than the one before; the tolerance over `tighten`."""

    levels: int = 4
    refine: int = 2
    tighten: float = 10.0

    def __post_init__(self) -> None:
        if self.refine ** (self.levels - 1) > MOST_FINER:
            raise InputError(
                f"{self.levels} levels, each {self.refine} times finer: the finest step must be at most "
                f"{MOST_FINER} times finer than the first"
            )

    @property
    def finer(self) -> list[int]:
        """What each level divides the step by."""
        return [self.refine**level for level in range(self.levels)]


@dataclass(frozen=True)
class Tolerance:
    """What an output may be off by: a share of its value, or by itself in SI for some outputs."""

    share: float = 0.01
    own: Mapping[str, float] | None = None

    def of(self, output: str, value: float) -> float:
        """In SI."""
        own = (self.own or {}).get(output)
        return self.share * abs(value) if own is None else own


@dataclass(frozen=True)
class Judged:
    """An output over all levels, SI.

    `error` is what is left in the value of the finest step, `by_tolerance` the part that the solver's tolerance has in
    it, `off` the error at the study's own step. `enough` is the first level that is within the tolerance, `digits` how
    many of its value hold there (None: it did not move).
    """

    name: str
    values: tuple[float, ...]
    tightened: float | None
    change: float
    order: float | None
    error: float
    by_tolerance: float
    off: float
    tolerance: float
    digits: int | None
    enough: int | None
    quote: Quote
    why: str

    @property
    def value(self) -> float:
        """At the finest step."""
        return self.values[-1]


@dataclass(frozen=True)
class Checked:
    """What was found: the runs by level, and each output judged."""

    study: Study
    case: str
    point: Mapping[str, Value]
    seed: int
    plan: Plan
    numerics: Numerics
    outputs: tuple[Judged, ...]
    trust: Trust


def check_convergence(
    study: Study,
    case: str,
    point: Mapping[str, Value],
    plan: Plan,
    tolerance: Tolerance,
    *,
    seed: int = 0,
    advance: Callable[[int, str], None] = lambda count, note: None,
) -> Checked:
    """Run a point at every level and judge the outputs; raises InputError for a model that has no step to refine."""
    model = study.model()
    if not isinstance(model, Refines):
        raise InputError(
            f"study {study.name}: the model {study.model_kind} has no step that could be refined",
            hint="make its step an input and simulate with smaller values of it" if isinstance(model, Runner) else None,
        )
    if unknown := set(tolerance.own or {}) - set(study.outputs):
        raise InputError(f"a tolerance for {sorted(unknown)[0]}, which is no output of study {study.name}")
    numerics = model.numerics(point)
    root = run_seed(seed, study.digest, 0)
    runs = [_outputs(study, model, point, finer, 1.0, root, advance) for finer in plan.finer]
    tight: dict[str, float] = {}
    if numerics.tolerance is not None:
        tight = _outputs(study, model, point, plan.finer[-1], plan.tighten, root, advance)[0]
    else:
        advance(plan.finer[-1], "")
    judged = []
    for name in study.outputs:
        values = tuple(run[0][name] for run in runs)
        allowed = max(tolerance.of(name, values[-1]), ROUNDING * runs[-1][1][name])
        judged.append(_judged(study, name, values, tight.get(name), allowed, plan))
    trust = tuple(_verdict(study, case, item, numerics, plan) for item in judged if item.quote != "diagnostic")
    return Checked(study, case, point, seed, plan, numerics, tuple(judged), trust)


def work(plan: Plan) -> int:
    """What all runs cost, in runs at the study's own step."""
    return sum(plan.finer) + plan.finer[-1]


def _outputs(
    study: Study,
    model: Refines,
    point: Mapping[str, Value],
    finer: int,
    tighter: float,
    seed: int,
    advance: Callable[[int, str], None],
) -> tuple[dict[str, float], dict[str, float]]:
    """Outputs of one run, and how large their curves get."""
    import numpy as np

    refined, where = model.refined(point, finer, tighter)
    outcome = refined.run([where], [seed])[0]
    run_name = f"the run at the step over {finer}" + (f" and the tolerance over {tighter:g}" if tighter > 1 else "")
    if isinstance(outcome, Failed):
        raise AnswerIsNo(f"{run_name} failed: {outcome.reason}")
    assert isinstance(outcome, Done)
    try:
        outputs = study.evaluate(outcome.values, outcome.curves)
    except InputError as fault:
        raise AnswerIsNo(f"{run_name} failed: {fault}") from None
    curves = outcome.curves or {}
    sizes = {
        name: float(np.abs(curves[output.quantity]).max()) if output.quantity in curves else 0.0
        for name, output in study.outputs.items()
    }
    advance(finer, "")
    return outputs, sizes


def _judged(
    study: Study, name: str, values: Sequence[float], tightened: float | None, allowed: float, plan: Plan
) -> Judged:
    refined = trend(values, plan.refine)
    by_tolerance = 0.0 if tightened is None else abs(tightened - values[-1])
    error = refined.error + by_tolerance
    # Of the levels from which on all are near enough, the first.
    off = [abs(value - values[-1]) + error for value in values]
    far = [level for level, distance in enumerate(off) if distance > allowed]
    enough = far[-1] + 1 if far else 0
    quote, why = _quote(study, name, refined, by_tolerance, allowed, enough, len(values))
    quoted = quote in ("yes", "finer")
    return Judged(
        name,
        tuple(values),
        tightened,
        refined.change,
        refined.order,
        error,
        by_tolerance,
        off[0],
        allowed,
        digits(values[enough], off[enough]) if quoted else 0,
        enough if quoted else None,
        quote,
        why,
    )


def _quote(
    study: Study, name: str, refined: Trend, by_tolerance: float, allowed: float, enough: int, levels: int
) -> tuple[Quote, str]:
    """Whether an output may be quoted, and if not, why."""
    if study.model().quantities[study.outputs[name].quantity].diagnostic:
        return "diagnostic", "tells of the computation, not of what is computed"
    if reason := study.without_limit().get(name):
        return "no limit", reason
    if not refined.shrinks and refined.largest_change > NOISE * allowed:
        return "no", "its changes do not shrink as the step does"
    if enough == levels:
        most = "the tolerance of the solver" if by_tolerance > refined.error else "the step"
        return "no", f"the error left at the finest step, most of it by {most}, is larger than the tolerance"
    return ("yes", "") if enough == 0 else ("finer", "the study's step is too large for it")


def _verdict(study: Study, case: str, item: Judged, numerics: Numerics, plan: Plan) -> Verdict:
    output = study.outputs[item.name]
    unit = "" if output.unit == "1" else f" {output.unit}"

    def with_unit(value: float) -> str:
        return f"{from_si(value, output.unit):.3g}{unit}"

    if item.quote == "yes":
        sentence = f"{item.name} is off by at most {with_unit(item.off)} at the study's own step"
    elif item.quote == "finer":
        assert item.enough is not None
        step = numerics.step / plan.finer[item.enough]
        sentence = (
            f"{item.name} is off by {with_unit(item.off)} at the study's own step, "
            f"more than {with_unit(item.tolerance)}: "
            f"{numerics.name} = {step:.4g}{'' if numerics.unit == '1' else f' {numerics.unit}'} is enough"
        )
    elif item.quote == "no limit":
        sentence = f"{item.name} has no limit as the step shrinks: {item.why}"
    else:
        sentence = (
            f"{item.name} is not settled at the finest step, {with_unit(item.value)} with an error of "
            f"{with_unit(item.error)}, more than {with_unit(item.tolerance)}: {item.why}"
        )
    about = (f"{case}/{item.name}",)
    return Verdict(GATE, item.quote == "yes", sentence, item.off, item.tolerance, about)


def levels_table(checked: Checked) -> pl.DataFrame:
    """Output, level, step, tolerance, value; the run with the tighter tolerance comes last, at the finest level."""
    import polars as pl

    numerics, plan = checked.numerics, checked.plan
    rows: list[tuple[str, int, float, float | None, float]] = []
    for item in checked.outputs:
        for level, value in enumerate(item.values):
            rows.append((item.name, level, numerics.step / plan.finer[level], numerics.tolerance, value))
        if item.tightened is not None and numerics.tolerance is not None:
            finest = numerics.step / plan.finer[-1]
            rows.append((item.name, plan.levels - 1, finest, numerics.tolerance / plan.tighten, item.tightened))
    schema = {"output": pl.String, "level": pl.Int64, "step": pl.Float64, "tolerance": pl.Float64, "value": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")
