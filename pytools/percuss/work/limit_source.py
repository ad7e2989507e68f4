"""Where an estimate of reliability gets its outputs: the simulator, a surrogate, or what a posterior depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

import numpy as np

from percuss.calibration.agreement import check_same_model
from percuss.calibration.direct import Direct
from percuss.calibration.records import Posterior, load_posterior
from percuss.errors import InputError
from percuss.execution.batch import make_batch, run_batch
from percuss.execution.points import table_design
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.ledger.event import Draft, Event
from percuss.models.model import Mixing
from percuss.reliability.estimate import Array
from percuss.reliability.methods import LIMIT_METHODS
from percuss.reliability.state_function import Forward, StateFunction, needed_columns
from percuss.session import Session
from percuss.study.joint import Joint
from percuss.study.limits import LimitState
from percuss.study.study import Study
from percuss.surrogates.surrogate import Surrogate, load_surrogate

# The limit of a study that is asked for.
LimitOf = Callable[[Study], LimitState]
STUDY, SURROGATE, POSTERIOR = "study", "surrogate", "posterior"


@dataclass(eq=False)
class Source:
    """The limit as a function, what it depends on as inputs of the event, and the simulator where it is run."""

    of: str
    study: Study
    function: StateFunction
    inputs: list[tuple[str, Event | Draft]]
    direct: Direct | None = None
    surrogates: tuple[Surrogate, ...] = ()
    posterior: Posterior | None = None
    about: set[str] = field(default_factory=set)

    @property
    def runs(self) -> int:
        """Runs of the simulator that the estimate depends on."""
        return self.direct.known if self.direct else 0


def from_study(
    session: Session, study: Study, state: LimitState, seed: int, executor: Executor | None, *, mixes: bool = True
) -> Source:
    """The simulator itself; `mixes`: with what is random in its runs given, where the model lets it be."""
    study = session.consented(study) if executor else study
    columns = needed_columns(state, study.outputs)
    direct = Direct(session, study, columns, seed, executor)
    model = study.model()
    variables = model.random_variables() if mixes and isinstance(model, Mixing) else 0
    function = StateFunction(
        state,
        tuple(study.parameters),
        Joint.of(study, seed),
        columns,
        direct,
        (lambda theta, noise: direct.mixed(theta, noise.mixtures())) if variables else None,
        variables,
    )
    return Source(STUDY, study, function, [("study", session.register(study))], direct)


def from_surrogates(session: Session, events: Sequence[Event], study: Study | None, state_of: LimitOf) -> Source:
    """Surrogates that have all outputs of the limit between them; `study` brings limits where theirs has none."""
    surrogates = tuple(load_surrogate(session, event) for event in events)
    own = surrogates[0].study
    used = study or own
    state = state_of(used)
    columns = needed_columns(state, used.outputs)
    if study is not None:
        check_same_model(study, own, f"surrogate {events[0].id}", columns)
    function = StateFunction(state, surrogates[0].names, Joint.of(used), columns, _predictor(surrogates, columns))
    inputs: list[tuple[str, Event | Draft]] = [("study", session.register(used))]
    inputs += [("surrogate", surrogate.event) for surrogate in surrogates]
    about = {f"{case}/{output}" for case, output in columns}
    return Source(SURROGATE, used, function, inputs, surrogates=surrogates, about=about)


def from_posterior(
    session: Session,
    event: Event,
    study: Study | None,
    state_of: LimitOf,
    seed: int,
    executor: Executor | None,
    *,
    mixes: bool = True,
) -> Source:
    """What a posterior was calibrated with: its surrogates, or the simulator."""
    posterior = load_posterior(session, event)
    posterior.trusted_summary()
    body = PosteriorSampled.of(event)
    if body.direct:
        used = study or posterior.study
        source = from_study(session, used, state_of(used), seed, executor, mixes=mixes)
    else:
        events = [session.state.events[item.id] for item in event.inputs_as("surrogate")]
        source = from_surrogates(session, events, study, state_of)
    source.of, source.posterior = POSTERIOR, posterior
    source.inputs.append(("posterior", event))
    return source


def _predictor(surrogates: tuple[Surrogate, ...], columns: tuple[tuple[str, str], ...]) -> Forward:
    places = []
    for case, output in columns:
        owner = next((s for s in surrogates if (case, output) in s.outputs), None)
        if owner is None:
            raise InputError(f"surrogate {surrogates[0].event.id}: has no output {output} of case {case}")
        places.append((owner, owner.column(case, output)))

    def forward(theta: Array) -> tuple[Array, Array]:
        predicted = {id(owner): owner.predict(theta) for owner in surrogates}
        mean = np.column_stack([predicted[id(owner)][0][:, j] for owner, j in places])
        variance = np.column_stack(
            [np.broadcast_to(predicted[id(owner)][1], predicted[id(owner)][0].shape)[:, j] for owner, j in places]
        )
        return mean, variance

    return forward


def refuse_noise(source: Source, method: str) -> None:
    """Refuse methods that need a limit function where runs of one point differ by their seeds.

    Two runs at the medians tell; they are not kept.
    """
    if source.direct is None or LIMIT_METHODS[method].takes_noise:
        return
    middle = source.function.parameters(np.zeros((2, len(source.function.names))))
    design = table_design(source.study, middle, "probe")
    for case in dict.fromkeys(case for case, _ in source.function.columns):
        result = run_batch(make_batch(design, case, [0, 1]))
        if len(result.outputs) == 2 and result.outputs[0] != result.outputs[1]:
            noisy = [name for name, item in LIMIT_METHODS.items() if item.takes_noise]
            raise InputError(
                f"--method {method}: runs of study {source.study.name} at the same parameters differ (motions or noise "
                f"of their own), so that the limit has no surface to be searched",
                hint=f"--method one of {', '.join(noisy)}",
            )
