"""What is to be sampled: a block of a study, observations and forward models, put together and checked.

What the parameters of a model do to the data: the gradient that the error of the model is kept orthogonal to.

It is taken at the parameters that fit the data best, with errors as they are known or at the medians of their priors:
what the parameters of a wrong model are, is defined there (Plumlee, 2017).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from percuss.calibration.agreement import check_covered, check_same_model, surrogate_points
from percuss.calibration.blocks import block_of
from percuss.calibration.channels import Histories
from percuss.calibration.direct import Direct
from percuss.calibration.groups import make_groups, name_specimens
from percuss.calibration.left_out_twins import LeftOut
from percuss.calibration.observations import study_plan
from percuss.calibration.records import DRAW_COLUMNS, Observations, load_observations
from percuss.calibration.surrogate_errors import CommonErrors, common_errors
from percuss.errors import InputError, LedgerError
from percuss.inference.arrays import Floats
from percuss.inference.compiled import Compiled, compiled_target
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.model_error import ModelError
from percuss.inference.likelihood import Forward, Group, Likelihood
from percuss.inference.samplers.registry import ROUGH, clean_settings
from percuss.inference.samplers.sample import Report, Stopping
from percuss.inference.specimens import of_specimen, without_specimen
from percuss.inference.target import Target
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.study.calibration import COMMON, Block
from percuss.study.joint import normal_correlation
from percuss.study.priors.prior import Prior
from percuss.study.study import Study
from percuss.surrogates.shrinkage import shrunk
from percuss.surrogates.surrogate import Surrogate, load_surrogate

if TYPE_CHECKING:
    import polars as pl

    from percuss.inference.smooth_posterior import Smooth


SIMULATOR = "simulator"


@dataclass(frozen=True, eq=False)
class Problem:
    """A calibration about to be done, or done before and read back. `data` has a row for every entry used, in the
    order of the likelihood; `units` are those to show the columns of the draws in; `not_compiled` says why the core
    cannot sample the target, None where it can; `points` those that each surrogate was fitted to, by its event; `notes`
    are sentences on data that were left out; `growths` by how much the errors of the surrogates grew, and `left_out`
    what runs that they were not shown say of that, where these were asked.
    """

    study: Study
    study_event: Event
    block: Block
    observations: Observations
    surrogates: tuple[Surrogate, ...]
    direct: Direct | None
    likelihood: Likelihood
    target: Target
    data: pl.DataFrame
    units: Mapping[str, str]
    not_compiled: str | None
    points: Mapping[str, Floats]
    notes: tuple[str, ...] = ()
    growths: tuple[float, ...] | None = None
    left_out: tuple[LeftOut, ...] = ()
    # What was learnt of a simulator whose roughness counts as an error; likelihood and target are then of that.
    smooth: Smooth | None = None

    @property
    def costly(self) -> bool:
        """Whether each evaluation of the likelihood is a run."""
        return self.direct is not None and self.smooth is None

    @property
    def before_data(self) -> Likelihood:
        """The likelihood anywhere in the prior: a smooth part is known where the posterior is."""
        if self.direct is None or self.smooth is None:
            return self.likelihood
        return replace(self.likelihood, forwards={SIMULATOR: self.direct}, errors={})

    def learnt(self, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report) -> Problem:
        """The problem of the smooth part, learnt from runs, where the block counts roughness as an error."""
        if self.direct is None or not self.block.roughness:
            return self
        from percuss.inference.smooth_posterior import learn_smooth

        smooth = learn_smooth(self.target, clean_settings(ROUGH, settings), stopping, seed, report)
        likelihood = smooth.target.log_likelihood
        assert isinstance(likelihood, Likelihood)
        return replace(self, likelihood=likelihood, target=smooth.target, smooth=smooth)

    @property
    def curves(self) -> dict[str, Surrogate]:
        """Those of the surrogates that are of curves, by the name of their forward model."""
        names = self.likelihood.forwards
        return {
            name: self.surrogates[i]
            for i in range(len(self.surrogates))
            for name in names
            if without_specimen(name) == forward_name(i) and self.surrogates[i].has_curves
        }

    @property
    def columns(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """(case, output) of the columns of every forward model."""
        if self.direct:
            return {SIMULATOR: self.direct.columns}
        columns = {forward_name(i): surrogate.outputs for i, surrogate in enumerate(self.surrogates)}
        for name, specimen in self.likelihood.specimens.items():
            base = columns[without_specimen(name)]
            columns[name] = tuple((case, f"{output}@{specimen.name}") for case, output in base)
        return columns


def forward_name(number: int) -> str:
    """What the forward model of the surrogate of that number is called."""
    return f"surrogate-{number + 1}"


def make_problem(
    session: Session,
    study: Study,
    study_event: Event,
    block: Block,
    observations: Observations,
    surrogates: Sequence[Surrogate],
    *,
    seed: int = 0,
    executor: Executor | None = None,
    direct: bool = False,
    steady: bool = True,
    growths: Sequence[float] | None = None,
) -> Problem:
    """Put a calibration together; raise InputError for what does not belong together.

    `direct`: the simulator itself is run by the executor; without one, only what is in the ledger is known. `steady`:
    runs that surrogates were not shown are asked what of them counts, and by how much their errors grow; `growths` are
    those that were found before.
    """
    pairs = list(dict.fromkeys(observations.table.select("case", "output").rows()))
    check_same_model(study, observations.study, f"observations {observations.event.id}", pairs)
    if steady and block.surrogate_error == COMMON:
        surrogates = [_steady(surrogate, pairs) for surrogate in surrogates]
    made = (
        _simulated(session, study, block, observations, pairs, seed, executor)
        if direct
        else _learnt(session, study, block, observations, pairs, surrogates)
    )
    forwards, histories = made.forwards, made.histories

    def find(case: str, output: str) -> tuple[str, int]:
        if (case, output) not in made.places:
            raise InputError(
                f"no surrogate has the output {output} of case {case}, which was observed",
                hint=(
                    "one that was given is of whole curves: fit one without --curves for single outputs"
                    if any(surrogate.has_curves for surrogate in surrogates)
                    else "give surrogates of all cases, or choose others in the calibration block"
                ),
            )
        return made.places[case, output]

    grouped = make_groups(study, block, observations.table, find, histories)
    common = None
    if not direct and block.surrogate_error == COMMON:
        common = _errors(grouped.groups, surrogates, steady, growths)
    errors = {forward_name(i): error for i, error in enumerate(common.errors)} if common else {}
    priors = {name: item.prior for name, item in study.parameters.items()}
    if direct and any(group.discrepancy.systematic for group in grouped.groups):
        raise InputError(
            f"calibration {block.name}: the gradient that an error of the model is orthogonal to needs a surrogate",
            hint="percuss surrogate, and percuss calibrate with that",
        )
    specimens = name_specimens(study, block, grouped.data.to_dicts())
    of_forwards = {of_specimen(name, one): name for name in forwards for one in specimens}
    if specimens:
        if direct:
            raise InputError(f"calibration {block.name}: specimens need a surrogate", hint="percuss surrogate")
        forwards = {name: forwards[base] for name, base in of_forwards.items()}
        errors = {name: errors[base] for name, base in of_forwards.items() if base in errors}
    groups = with_slopes(grouped.groups, forwards, list(priors.values()))
    owners = {of_specimen(base, one): specimen for base in of_forwards.values() for one, specimen in specimens.items()}
    likelihood = Likelihood(tuple(study.parameters), forwards, groups, errors, owners)
    correlation = normal_correlation(study)
    if direct:
        target, why_not = Compiled(likelihood.posterior(priors, correlation), "the simulator itself is run")
    else:
        by_name = {forward_name(i): surrogate for i, surrogate in enumerate(surrogates)}
        target, why_not = compiled_target(likelihood, priors, by_name, correlation)
    for name in target.names:
        if name in DRAW_COLUMNS:
            raise InputError(f"parameter {name}: a column of the draws has that name: rename it")
    units = dict.fromkeys(target.names, "1") | {name: item.unit for name, item in study.parameters.items()}
    units |= dict(grouped.units)
    units |= {
        f"{parameter}@{name}": study.parameters[parameter].unit
        for name, one in specimens.items()
        for parameter in one.free
    }
    return Problem(
        study,
        study_event,
        block,
        observations,
        tuple(surrogates),
        made.simulator,
        likelihood,
        target,
        grouped.data,
        units,
        why_not,
        made.points,
        (*(histories.notes if histories else ()), *_copies(grouped.data)),
        common.growths if common and steady else None,
        common.left_out if common else (),
    )


@dataclass(frozen=True)
class _Forwards:
    """What the data are held against: models by name, where each case and output is found, and what came with them."""

    forwards: dict[str, Forward]
    places: Mapping[tuple[str, str], tuple[str, int]]
    points: Mapping[str, Floats] = field(default_factory=dict)
    simulator: Direct | None = None
    histories: Histories | None = None


def _simulated(
    session: Session,
    study: Study,
    block: Block,
    observations: Observations,
    pairs: list[tuple[str, str]],
    seed: int,
    executor: Executor | None,
) -> _Forwards:
    """The simulator itself, for the outputs that the block takes."""
    if any(output not in study.outputs for _, output in pairs):
        raise InputError(
            f"observations {observations.event.id}: hold time histories, and --direct gives outputs alone",
            hint="percuss surrogate --curves CURVE, and percuss calibrate with that",
        )
    used = [
        (case, output)
        for case, output, point in observations.table.select("case", "output", "point").unique().rows()
        if any(group.takes(output, case, point) for group in block.groups)
    ]
    simulator = Direct(session, study, sorted(set(used), key=pairs.index), seed, executor)
    places = {pair: (SIMULATOR, j) for j, pair in enumerate(simulator.columns)}
    return _Forwards({SIMULATOR: simulator}, places, simulator=simulator)


def _learnt(
    session: Session,
    study: Study,
    block: Block,
    observations: Observations,
    pairs: list[tuple[str, str]],
    surrogates: Sequence[Surrogate],
) -> _Forwards:
    """Surrogates, each of the same model and known where the parameters may be."""
    forwards: dict[str, Forward] = {}
    points: dict[str, Floats] = {}
    places = _places(surrogates)
    for i, surrogate in enumerate(surrogates):
        whose = f"surrogate {surrogate.event.id}"
        check_same_model(study, surrogate.study, whose, [pair for pair in pairs if pair in surrogate.outputs])
        points[surrogate.event.id] = surrogate_points(session, surrogate)
        check_covered(study, surrogate, points[surrogate.event.id])
        forwards[forward_name(i)] = surrogate.predict if block.surrogate_error else _without_error(surrogate)
    histories = bind_histories(study, observations.study, surrogates, with_rest=block.surrogate_error is not None)
    return _Forwards(forwards, places, points, histories=histories)


def _steady(surrogate: Surrogate, pairs: Collection[tuple[str, str]]) -> Surrogate:
    """The surrogate, without what it says of these outputs and cannot repeat of runs it has not seen."""
    if surrogate.has_curves:
        return surrogate
    return shrunk(surrogate, [j for j, pair in enumerate(surrogate.outputs) if pair in pairs])


def _errors(
    groups: Sequence[Group], surrogates: Sequence[Surrogate], steady: bool, growths: Sequence[float] | None
) -> CommonErrors:
    """The errors of the surrogates, each common to all data of an output that is looked at."""
    seen: dict[str, set[int]] = {forward_name(i): set() for i in range(len(surrogates))}
    known: dict[str, dict[int, float]] = {name: {} for name in seen}
    for forward in dict.fromkeys(group.forward for group in groups):
        own = [group for group in groups if group.forward == forward]
        name = without_specimen(forward)
        seen[name].update(int(j) for group in own for j in group.outputs)
        # Of specimens, whose data are apart, the one that is known best.
        for column, variance in _known(own).items():
            known[name][column] = min(variance, known[name].get(column, np.inf))
    return common_errors(
        [
            (surrogate, known[name] if set(known[name]) == seen[name] else seen[name])
            for surrogate, name in zip(surrogates, seen, strict=True)
        ],
        ask=steady,
        growths=growths,
    )


def _known(groups: Sequence[Group]) -> dict[int, float]:
    """The variance to which the data know each output, by measurement and discrepancy; samples of curves left out."""
    precision: dict[int, float] = {}
    for group in groups:
        if group.reading is None:
            variance = np.square(_median(group.discrepancy.std)) + np.square(group.measurement_std)
            for column, own in zip(group.outputs, np.broadcast_to(variance, len(group.outputs)), strict=True):
                precision[int(column)] = precision.get(int(column), 0.0) + 1.0 / max(float(own), 1e-300)
    return {column: 1.0 / own for column, own in precision.items()}


def _copies(data: pl.DataFrame) -> list[str]:
    """One sentence if half of the data or more are those of another row once more: a table that was pasted twice counts
    twice, and the posterior is too narrow. Repeats that agree by rounding are named too, which does no harm."""
    rows = data.drop("entry", "group")
    copies = rows.height - rows.unique().height
    if not copies or 2 * copies < rows.height:
        return []
    return [
        f"{copies} of {rows.height} data are the same as another to the last digit: if their rows were copied, leave "
        "the copies out"
    ]


def bind_histories(
    study: Study, observed: Study, surrogates: Sequence[Surrogate], *, with_rest: bool = True
) -> Histories:
    """The channels that a study of observations names, against those of the surrogates that are of curves."""
    plans = {history.name: history for history in study_plan(observed).histories}
    curves = {forward_name(i): surrogate for i, surrogate in enumerate(surrogates) if surrogate.has_curves}
    return Histories(study, plans, curves, with_rest)


def load_problem(
    session: Session,
    event: Event,
    executor: Executor | None = None,
    study: Study | None = None,
    *,
    found_again: bool = False,
) -> Problem:
    """The calibration a posterior came from, put together again from what the ledger holds.

    `study` is that of the posterior, with consent to what it runs; without consent nothing can be run. `found_again`:
    the growth of the errors is not taken from the event but computed.
    """
    body, events = PosteriorSampled.of(event), session.state.events
    study = study or session.study(event)
    observations = load_observations(session, events[event.input("observations")])
    surrogates = [load_surrogate(session, events[item.id]) for item in event.inputs_as("surrogate")]
    if body.growths is not None:
        right = len(body.growths) == len(surrogates) and all(0 < growth < np.inf for growth in body.growths)
        if not right:
            raise LedgerError(f"posterior {event.id}: `growths` {body.growths} are not one for each surrogate, above 0")
    problem = make_problem(
        session,
        study,
        events[event.input("study")],
        block_of(study, body.block, body.calibration),
        observations,
        surrogates,
        seed=event.seed or 0,
        executor=executor,
        direct=body.direct,
        steady=body.growths is not None,
        growths=None if found_again else body.growths,
    )
    if problem.direct and problem.block.roughness:
        stopping = Stopping(**body.stopping)  # type: ignore[arg-type]
        return problem.learnt(body.settings, stopping, event.seed or 0, lambda _: None)
    if body.not_compiled is None or problem.not_compiled is not None:
        return problem
    # Made when the core did not know all of it: it is sampled as it was.
    plain = replace(problem.target, advance=None, glide=None, density=None)
    return replace(problem, target=plain, not_compiled=body.not_compiled)


def _places(surrogates: Sequence[Surrogate]) -> dict[tuple[str, str], tuple[str, int]]:
    places: dict[tuple[str, str], tuple[str, int]] = {}
    for i, surrogate in enumerate(surrogates):
        if surrogate.names != tuple(surrogate.study.parameters):
            raise InputError(f"surrogate {surrogate.event.id}: does not cover all parameters of its study")
        for j, pair in enumerate(surrogate.outputs):
            if pair in places:
                raise InputError(f"output {pair[1]} of case {pair[0]} is in two of the surrogates")
            places[pair] = (forward_name(i), j)
    return places


def _without_error(surrogate: Surrogate) -> Forward:
    def forward(theta: Floats) -> tuple[Floats, Floats]:
        mean = surrogate.mean(theta)
        return mean, np.zeros(mean.shape[1])

    return forward


# Half the width of a central difference, in standard normal numbers behind the priors.
STEP = 1e-3


def with_slopes(groups: Sequence[Group], forwards: Mapping[str, Forward], priors: Sequence[Prior]) -> tuple[Group, ...]:
    """The groups, those with an error of the model with the gradient of the model at their entries."""
    if not any(isinstance(group.discrepancy, ModelError) and group.discrepancy.orthogonal for group in groups):
        return tuple(groups)
    best = _best(groups, forwards, priors)
    steps = np.concatenate([best + STEP * np.eye(len(best)), best - STEP * np.eye(len(best))])
    made = []
    for group in groups:
        if isinstance(group.discrepancy, ModelError):
            high, low = np.split(_entries(group, forwards, priors, steps), 2)
            slopes = np.asarray((high - low).T / (2 * STEP))
            group = replace(group, discrepancy=replace(group.discrepancy, slopes=slopes))
        made.append(group)
    return tuple(made)


def _best(groups: Sequence[Group], forwards: Mapping[str, Forward], priors: Sequence[Prior]) -> Floats:
    """The best fit, in standard normal numbers behind the priors, which the priors hold back."""
    from scipy.optimize import least_squares

    stds = [np.sqrt(np.square(group.measurement_std) + np.square(_median(group.discrepancy.std))) for group in groups]

    def misfit(normal: Floats) -> Floats:
        entries = [_entries(group, forwards, priors, normal[None])[0] for group in groups]
        left = [(group.observed - own) / std for group, own, std in zip(groups, entries, stds, strict=True)]
        return np.asarray(np.nan_to_num(np.concatenate([*left, normal]), nan=1e6), float)

    return np.asarray(least_squares(misfit, np.zeros(len(priors)), diff_step=STEP, max_nfev=100).x)


def _entries(group: Group, forwards: Mapping[str, Forward], priors: Sequence[Prior], normal: Floats) -> Floats:
    """Entries (n, m) of a group at points (n, d) of standard normal numbers."""
    from scipy.special import ndtr

    theta = np.stack([prior.ppf(ndtr(normal[:, j])) for j, prior in enumerate(priors)], axis=1)
    unknowns = {unknown.name: np.full(len(theta), float(unknown.prior.ppf(0.5))) for unknown in group.unknowns()}
    return group.read(forwards[group.forward](theta)[0], unknowns)


def _median(std: float | Floats | Unknown) -> float | Floats:
    return float(std.prior.ppf(0.5)) if isinstance(std, Unknown) else std
