"""The simulator itself as forward model: every call is a design of its own, run by the executor and logged.

The ledger is the only memory. A sampler that is started again with the same seed asks for the same points; what is in
the ledger is read, the rest is run. Each batch is one commit: its design and all its runs, failed ones too.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace

import numpy as np
import polars as pl

from percuss.designs.design import Design, draft_design, drafts_of
from percuss.errors import InputError
from percuss.execution.batch import Result, make_batch, run_batch, split
from percuss.execution.points import table_design
from percuss.execution.records import campaign_table, draft_result
from percuss.inference.arrays import Floats
from percuss.kinds.design_created import DIRECT, DesignCreated
from percuss.ledger.event import Event
from percuss.models.seeds import Mixture
from percuss.session import Session
from percuss.study.study import Study


class Direct:
    """A forward model: parameters (n, d) in SI to the outputs `columns` of all cases; NaN where a run failed."""

    def __init__(
        self,
        session: Session,
        study: Study,
        columns: Sequence[tuple[str, str]],
        seed: int,
        executor: Executor | None,
    ) -> None:
        """Without an executor nothing is run: what is not in the ledger is refused (`percuss audit`)."""
        self.session, self.study, self.seed, self.executor = session, study, seed, executor
        self.columns = tuple(columns)
        self.cases = tuple(dict.fromkeys(case for case, _ in columns))
        self.runs: list[Event] = []
        self.done = 0
        self._known: dict[tuple[bytes, Mixture | None], Floats] = {}
        self._running: list[Future[Result]] = []
        # By content: a sampler that starts again asks for the very same points.
        self._designs = {
            blob.digest: event
            for event in session.state.designs.values()
            if event.study
            and event.study.digest == study.digest
            and event.seed == seed
            and (body := DesignCreated.of(event)).sampler == DIRECT
            and body.cases == self.cases
            and (blob := event.blob("design"))
        }

    @property
    def known(self) -> int:
        """How many points it has been asked for: each is a run of every case."""
        return len(self._known)

    @property
    def stuck(self) -> bool:
        """Whether a batch is still running in a thread, which cannot be stopped."""
        return any(future.running() for future in self._running)

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Outputs (n, m), and a variance of zero: the simulator has no error of its own."""
        return self.mixed(theta, ()), np.zeros(len(self.columns))

    def mixed(self, theta: Floats, mixtures: Sequence[Mixture]) -> Floats:
        """Outputs (n, m) of runs that draw their random numbers from mixtures of seeds, one for each point; without
        mixtures by seeds of their own, and points that are the same are one run.
        """
        keys = [(row.tobytes(), mixtures[i] if mixtures else None) for i, row in enumerate(theta)]
        new = {key: i for i, key in enumerate(keys) if key not in self._known}
        possible = {key: i for key, i in new.items() if self._is_possible(theta[i])}
        self._known |= {key: np.full(len(self.columns), np.nan) for key in new if key not in possible}
        if possible:
            chosen = list(possible.values())
            drawn_from = [mixtures[i] for i in chosen] if mixtures else ()
            design = table_design(self.study, theta[chosen], DIRECT, self.seed, drawn_from)
            design = draft_design(self.session, design, cases=self.cases, fixed={})
            there = self._designs.get(design.digest)
            table = self._recall(design, there) if there else self._run(design)
            self._known |= dict(zip(possible, table, strict=True))
        return np.array([self._known[key] for key in keys])

    def _is_possible(self, row: Floats) -> bool:
        """A bound of a prior may be one that the model does not take itself."""
        try:
            for case in self.cases:
                self.study.point(case, dict(zip(self.study.parameters, row.tolist(), strict=True)))
        except InputError:
            return False
        return True

    def _recall(self, design: Design, event: Event) -> Floats:
        batches = self.session.state.batches.get(event.id, [])
        self.runs += batches
        runs = campaign_table(self.session.ledger, batches, replace(design, event=event))
        outputs = np.full((len(design.values), len(self.columns)), np.nan)
        for j, (case, output) in enumerate(self.columns):
            rows = runs.filter(pl.col("case") == case)
            outputs[rows["sample"].to_numpy(), j] = rows[output].fill_null(float("nan")).to_numpy()
        return outputs

    def _run(self, design: Design) -> Floats:
        if self.executor is None:
            raise InputError(f"{len(design.values)} runs of the simulator are not in the ledger")
        ranges = split(len(design.values), self.study.model().batch)
        batches = [make_batch(design, case, samples) for case in self.cases for samples in ranges]
        self._running = [self.executor.submit(run_batch, batch) for batch in batches]
        results: list[Result] = [future.result() for future in self._running]
        drafts = drafts_of(design)
        for result in results:
            drafts += draft_result(self.session.ledger, design, result)
        appended = self.session.append(drafts)
        self.runs += [event for event in appended if event.kind.startswith("runs.")]
        self.done += design.size
        outputs = np.full((len(design.values), len(self.columns)), np.nan)
        for result in results:
            for sample, values in zip(result.samples, result.outputs, strict=True):
                for j, (case, output) in enumerate(self.columns):
                    if case == result.case:
                        outputs[sample, j] = values[output]
        return outputs
