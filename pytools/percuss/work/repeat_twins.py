"""Calibrate twins again: same truths, same data, same ranks. Runs of the simulator are read from the ledger."""

from __future__ import annotations

from percuss.calibration.blocks import block_of
from percuss.calibration.calibrate import Sampling
from percuss.calibration.direct import Direct
from percuss.calibration.problem import make_problem
from percuss.calibration.records import load_observations
from percuss.calibration.twins import draw_twins, quantities, used_columns
from percuss.inference.samplers.sample import Stopping
from percuss.kinds.twins_checked import TwinsChecked
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.repeated_tables import judged_tables
from percuss.work.repetition import Repetition
from percuss.work.trust import rank_all, ranks_table


def repeat_twins(session: Session, event: Event, part: int = 0) -> Repetition:
    """Rank every truth again; of another build posteriors take another path, and ranks are not compared."""
    body, events, study = TwinsChecked.of(event), session.state.events, session.study(event)
    seed = event.seed or 0
    problem = make_problem(
        session,
        study,
        events[event.input("study")],
        block_of(study, body.block, body.calibration),
        load_observations(session, events[event.input("observations")]),
        [load_surrogate(session, events[item.id]) for item in event.inputs_as("surrogate")],
        seed=seed,
    )
    how = Sampling(body.sampler, body.settings, Stopping(**body.stopping), seed)  # type: ignore[arg-type]
    columns = used_columns(problem)
    simulator = Direct(session, study, columns, seed, None) if body.made_by == "simulator" else None
    twins = draw_twins(problem, body.twins, seed, simulator, body.noise)
    table = ranks_table(quantities(problem, twins), twins, rank_all(problem, twins, how, body.draws))
    return judged_tables(session, event, "twins", {"ranks": table})
