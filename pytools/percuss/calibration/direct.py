"""The simulator itself as forward model: every call is a design of its own, run by the executor and logged.

The ledger is the only memory. A sampler that is started again with the same seed asks for the same points; what is in
the ledger is read, the rest is run. Each batch is one commit: its design and all its runs, failed ones too.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future

import numpy as np
import polars as pl

from percuss.errors import InputError
from percuss.execution.batch import Result, run_batch, split
from percuss.execution.given import table_design
from percuss.execution.records import DesignRecord, campaign_table, draft_design, draft_result, new_drafts
from percuss.inference.arrays import Floats
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.study.study import Study

SAMPLER = "direct"


class Direct:
    """A forward model: parameters (n, d) in SI to the outputs `columns` of all cases; NaN where a run failed."""

    def __init__(
        self,
        ledger: Ledger,
        state: State,
        study: Study,
        columns: Sequence[tuple[str, str]],
        seed: int,
        executor: Executor | None,
    ) -> None:
        """Without an executor nothing is run: what is not in the ledger is refused (`percuss audit`)."""
        self.ledger, self.state, self.study, self.seed, self.executor = ledger, state, study, seed, executor
        self.columns = tuple(columns)
        self.cases = tuple(dict.fromkeys(case for case, _ in columns))
        self.runs: list[Event] = []
        self.done = 0
        self._known: dict[bytes, Floats] = {}
        self._running: list[Future[Result]] = []
        # By content: a sampler that starts again asks for the very same points.
        self._designs = {
            blob.digest: event
            for event in state.designs.values()
            if event.data["sampler"] == SAMPLER
            and event.seed == seed
            and tuple(event.data["cases"]) == self.cases
            and event.study
            and event.study.digest == study.digest
            and (blob := event.blob("design"))
        }

    @property
    def stuck(self) -> bool:
        """Whether a batch is still running in a thread, which cannot be stopped."""
        return any(future.running() for future in self._running)

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Outputs (n, m), and a variance of zero: the simulator has no error of its own."""
        keys = [row.tobytes() for row in theta]
        new = {key: i for i, key in enumerate(keys) if key not in self._known}
        if new:
            self._evaluate(theta[list(new.values())])
        return np.array([self._known[key] for key in keys]), np.zeros(len(self.columns))

    def _evaluate(self, theta: Floats) -> None:
        possible = np.array([self._is_possible(row) for row in theta])
        for row in theta[~possible]:
            self._known[row.tobytes()] = np.full(len(self.columns), np.nan)
        points = theta[possible]
        if not len(points):
            return
        design = table_design(self.study, points, SAMPLER, self.seed)
        record = draft_design(self.ledger, self.study, design, cases=self.cases, fixed={}, state=self.state)
        there = self._designs.get(record.digest)
        table = self._recall(record, there) if there else self._run(record)
        for i, row in enumerate(points):
            self._known[row.tobytes()] = table[i]

    def _is_possible(self, row: Floats) -> bool:
        """A bound of a prior may be one that the model does not take itself."""
        try:
            for case in self.cases:
                self.study.point(case, dict(zip(self.study.parameters, row.tolist(), strict=True)))
        except InputError:
            return False
        return True

    def _recall(self, record: DesignRecord, event: Event) -> Floats:
        batches = self.state.batches.get(event.id, [])
        self.runs += batches
        runs = campaign_table(self.ledger, batches, record)
        found = np.full((len(record.values), len(self.columns)), np.nan)
        for j, (case, output) in enumerate(self.columns):
            rows = runs.filter(pl.col("case") == case)
            found[rows["sample"].to_numpy(), j] = rows[output].fill_null(float("nan")).to_numpy()
        return found

    def _run(self, record: DesignRecord) -> Floats:
        if self.executor is None:
            raise InputError(f"{len(record.values)} runs of a direct calibration are not in the ledger")
        ranges = split(len(record.values), self.study.model().batch)
        batches = [record.batch(case, samples) for case in self.cases for samples in ranges]
        self._running = [self.executor.submit(run_batch, batch) for batch in batches]
        results: list[Result] = [future.result() for future in self._running]
        drafts = new_drafts(record)
        for result in results:
            drafts += draft_result(self.ledger, record, result)
        appended = self.ledger.append(drafts)
        self.runs += [event for event in appended if event.kind.startswith("runs.")]
        self.done += record.size
        found = np.full((len(record.values), len(self.columns)), np.nan)
        for result in results:
            for sample, outputs in zip(result.samples, result.outputs, strict=True):
                for j, (case, output) in enumerate(self.columns):
                    if case == result.case:
                        found[sample, j] = outputs[output]
        return found
