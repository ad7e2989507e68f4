"""One run with given values, kept like any other, time histories included."""

from __future__ import annotations

from dataclasses import dataclass, replace

from percuss import _core
from percuss.designs.design import Design, draft_design, drafts_of
from percuss.execution.batch import Result, make_batch, run_batch
from percuss.execution.points import PointDesign
from percuss.execution.records import draft_result
from percuss.execution.rest import settled_here
from percuss.ledger.event import Event
from percuss.models.model import Runner
from percuss.session import Session


@dataclass(frozen=True)
class Simulated:
    """The event of a run, and what it gave; a run that failed is kept with its reason and has no outputs."""

    event: Event
    design: Design
    result: Result

    @property
    def outputs(self) -> dict[str, float]:
        """In SI."""
        return self.result.outputs[0]

    @property
    def failure(self) -> str | None:
        """Why it failed; None where it did not."""
        return self.result.failures.get(0)


def simulate(session: Session, point: PointDesign, case: str, seed: int = 0) -> Simulated:
    """Run a case of a study at one point and append design and run."""
    _core.set_default_threads(0)  # a run by itself takes all cores
    planned = replace(point.design, study=session.consented(point.design.study), seed=seed)
    model = planned.study.model()
    if isinstance(model, Runner):
        # No run at all is enough to refuse a program that is not there, before anything is written.
        model.run((), ())
    design = draft_design(session, planned, cases=[case], fixed=point.fixed, keep_curves=True)
    states, settled = settled_here(session, design, [(case, [0])])
    result = run_batch(states.starting(make_batch(design, case, [0])))
    drafts = [*drafts_of(design), *settled, *draft_result(session.ledger, design, result)]
    return Simulated(session.append(drafts)[-1], design, result)
