"""How studies, designs and runs are written as events, and read back. The only place that knows both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from percuss.designs.design import Design
from percuss.designs.seeds import run_seed
from percuss.errors import InputError, LedgerError
from percuss.execution.batch import Batch, Result
from percuss.execution.rest import StatesOfRest
from percuss.ledger.event import NO_COST, Blob, Draft, Event, StudyRef
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State, fold
from percuss.models.model import Value
from percuss.study.study import Study

if TYPE_CHECKING:
    import polars as pl
    from numpy import ndarray

IMPORTED = "imported"


@dataclass(frozen=True)
class DesignRecord:
    """A design as the ledger holds it: everything that is needed to run any of its points."""

    event: Event | Draft
    study_event: Event | Draft
    study: Study
    names: tuple[str, ...]
    values: ndarray
    cases: tuple[str, ...]
    fixed: Mapping[str, Value]
    keep_curves: bool
    seed: int
    digest: str
    sampler: str
    rest: StatesOfRest | None = None

    @cached_property
    def reference(self) -> StudyRef:
        """The study, as every event made from this design names it."""
        return StudyRef(self.study.name, self.study.digest)

    def batch(self, case: str, samples: Sequence[int]) -> Batch:
        """These samples of a case, ready to be run."""
        points = tuple(
            self.study.point(case, {**self.fixed, **dict(zip(self.names, self.values[i].tolist(), strict=True))})
            for i in samples
        )
        seeds = tuple(run_seed(self.seed, self.digest, i) for i in samples)
        batch = Batch(self.study, case, tuple(samples), points, seeds, self.keep_curves)
        return self.rest.starting(batch) if self.rest else batch

    def in_ledger(self, state: State) -> DesignRecord:
        """The same design after its drafts were appended."""
        return replace(self, event=state.events[self.event.id], study_event=state.events[self.study_event.id])

    @property
    def size(self) -> int:
        """Number of runs: points times cases."""
        return len(self.values) * len(self.cases)


def study_source(ledger: Ledger, study: Study, state: State | None = None) -> Event | Draft:
    """The event that registered this very study, or a draft that will."""
    state = state or fold(ledger.events())
    if found := state.studies.get(study.digest):
        return found
    blobs = [ledger.put_file(name, data) for name, data in sorted(study.files.items())]
    return Draft("study.registered", study.resolved(), StudyRef(study.name, study.digest), blobs=blobs)


def draft_design(
    ledger: Ledger,
    study: Study,
    design: Design,
    *,
    cases: Sequence[str],
    fixed: Mapping[str, Value],
    keep_curves: bool = False,
    origin: Mapping[str, str] | None = None,
    inputs: Sequence[tuple[str, Event]] = (),
    state: State | None = None,
) -> DesignRecord:
    """A design as drafts: of the design itself and, if it is new, of the study. `inputs` are what else it came from."""
    import polars as pl

    source = study_source(ledger, study, state)
    columns: dict[str, object] = {"sample": pl.int_range(len(design.values), eager=True)}
    columns |= {name: design.values[:, i] for i, name in enumerate(design.names)}
    columns |= {f"unit:{name}": design.unit[:, i] for i, name in enumerate(design.names)}
    blob = ledger.put_table("design", pl.DataFrame(columns))
    body = {
        "sampler": design.sampler,
        "n": len(design.values),
        "skip": design.skip,
        "options": {**design.options, **(origin or {})},
        "names": list(design.names),
        "cases": list(cases),
        "fixed": dict(fixed),
        "curves": keep_curves,
    }
    reference = StudyRef(study.name, study.digest)
    draft = Draft("design.created", body, reference, [("study", source), *inputs], [blob], seed=design.seed)
    return DesignRecord(
        draft,
        source,
        study,
        tuple(design.names),
        design.values,
        tuple(cases),
        fixed,
        keep_curves,
        design.seed,
        blob.digest,
        design.sampler,
    )


def new_drafts(record: DesignRecord) -> list[Draft]:
    """What must be appended for this design to be in the ledger."""
    return [source for source in (record.study_event, record.event) if isinstance(source, Draft)]


def load_study_event(ledger: Ledger, event: Event) -> Study:
    """The study that an event registered."""
    return Study.from_resolved(event.data, ledger.files(event))


def load_design(ledger: Ledger, state: State, event: Event) -> DesignRecord:
    """Read a design back, by its own event or by one that was made from it."""
    if event.kind != "design.created":
        found = event.inputs_as("design")
        if not found:
            raise InputError(
                f"event {event.id} is of the kind {event.kind}, which has no design",
                hint="give a design, or runs or a campaign made from one",
            )
        event = state.events[found[0].id]
    if event.id in state.superseded:
        raise InputError(f"design {event.id}: is superseded", hint="percuss show says by what")
    return read_design(ledger, state, event)


def read_design(ledger: Ledger, state: State, event: Event) -> DesignRecord:
    """Read back a design by its own event, whether or not it is superseded."""
    study_event = state.events[event.input("study")]
    data = event.data
    blob = event.blob("design")
    if blob is None:
        raise LedgerError(f"event {event.id}: a design without its points")
    names = tuple(data["names"])
    points = ledger.table(event, "design")
    return DesignRecord(
        event,
        study_event,
        load_study_event(ledger, study_event),
        names,
        # Without parameters the frame has no columns, and then no rows of its own.
        points.select(names).to_numpy().reshape(points.height, len(names)),
        tuple(data["cases"]),
        data["fixed"],
        bool(data["curves"]),
        event.seed or 0,
        blob.digest,
        data["sampler"],
    )


def draft_result(ledger: Ledger, record: DesignRecord, result: Result) -> list[Draft]:
    """A finished batch as one or two drafts: the runs that finished, the runs that failed."""
    drafts: list[Draft] = []
    inputs = [("study", record.study_event), ("design", record.event)]
    inputs += [("settled", event) for event in result.settled]
    program: dict[str, object] = {"program": result.program} if result.program else {}
    if result.samples:
        blobs = [ledger.put_table("runs", outputs_table(result.samples, result.outputs))]
        for name, parts in sorted(result.tables.items()):
            blobs.append(ledger.put_table(name, _stacked(parts)))
        blobs += _printed(ledger, result, result.samples)
        body = {"case": result.case, "samples": result.samples, **program}
        drafts.append(Draft("runs.completed", body, record.reference, inputs, blobs, record.seed, cost=result.cost))
    if result.failures:
        samples = sorted(result.failures)
        failed: dict[str, object] = {
            "case": result.case,
            "samples": samples,
            "reasons": {str(sample): result.failures[sample] for sample in samples},
            **program,
        }
        cost = result.cost if not result.samples else NO_COST
        drafts.append(
            Draft(
                "runs.failed",
                failed,
                record.reference,
                inputs,
                _printed(ledger, result, samples),
                seed=record.seed,
                outcome="failed",
                reason=result.failures[samples[0]],
                cost=cost,
            )
        )
    return drafts


def _printed(ledger: Ledger, result: Result, samples: Sequence[int]) -> list[Blob]:
    """What the programs of these runs printed, as a payload; none if they were silent."""
    import polars as pl

    rows = [(i, stream, text) for i in samples for stream, text in result.printed.get(i, {}).items() if text]
    if not rows:
        return []
    schema = {"sample": pl.Int64(), "stream": pl.String(), "text": pl.String()}
    return [ledger.put_table("printed", pl.DataFrame(rows, schema, orient="row"))]


def outputs_table(samples: Sequence[int], outputs: Sequence[Mapping[str, float]]) -> pl.DataFrame:
    """Outputs of runs as the table that is stored: one row a run, columns in the order of the study's outputs."""
    import polars as pl

    columns: dict[str, pl.Series] = {"sample": pl.Series(samples, dtype=pl.Int64)}
    for name in outputs[0]:
        columns[name] = pl.Series([row[name] for row in outputs], dtype=pl.Float64)
    return pl.DataFrame(columns)


def _stacked(parts: Sequence[tuple[int, Mapping[str, ndarray]]]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(
        [
            pl.DataFrame(dict(columns)).select(pl.lit(sample, dtype=pl.Int64).alias("sample"), pl.all())
            for sample, columns in parts
        ]
    )


def campaign_table(ledger: Ledger, batches: Sequence[Event], record: DesignRecord) -> pl.DataFrame:
    """Every run of some batches of a design: case, sample, why it failed (null: it did not), and the outputs.

    In the order of cases and samples, whatever the order of arrival: its digest is what a campaign is known by.
    """
    import polars as pl

    names = list(record.study.outputs)
    schema = pl.Schema({"case": pl.String(), "sample": pl.Int64(), "failed": pl.String()})
    schema.update({name: pl.Float64() for name in names})
    parts = [pl.DataFrame(schema=schema)]
    for event in batches:
        if event.kind == "runs.completed":
            table = ledger.table(event, "runs").select("sample", *names)
            reasons = dict[str, str]()
        else:
            reasons = event.data["reasons"]
            table = pl.DataFrame({"sample": event.data["samples"]}, {"sample": pl.Int64()})
            table = table.with_columns(pl.lit(None, dtype=pl.Float64()).alias(name) for name in names)
        failed = pl.Series("failed", [reasons.get(str(sample)) for sample in table["sample"]], dtype=pl.String())
        table = table.with_columns(pl.lit(event.data["case"]).alias("case"), failed)
        parts.append(table.select(list(schema)))
    order = pl.Enum(record.cases)
    return (
        pl.concat(parts)
        .unique(["case", "sample"], keep="first", maintain_order=True)
        .sort(pl.col("case").cast(order), "sample")
    )


def curves_of(ledger: Ledger, state: State, event: Event, most: int) -> list[tuple[str, pl.DataFrame]]:
    """The first curves kept by runs, or by the runs of a design or campaign: each case, at most so many samples."""
    import polars as pl

    match event.kind:
        case "runs.completed":
            batches = [event]
        case "design.created":
            batches = state.batches.get(event.id, [])
        case "campaign.completed":
            batches = state.batches.get(event.input("design"), [])
        case _:
            batches = []
    found: dict[str, pl.DataFrame] = {}
    for batch in batches:
        case = batch.data["case"]
        have = found[case]["sample"].n_unique() if case in found else 0
        if batch.blob("curves") is None or have >= most:
            continue
        table = ledger.table(batch, "curves")
        chosen = table["sample"].unique(maintain_order=True)[: most - have]
        table = table.filter(pl.col("sample").is_in(chosen.implode()))
        found[case] = pl.concat([found[case], table]) if have else table
    return list(found.items())


def draft_campaign(ledger: Ledger, state: State, record: DesignRecord) -> Draft:
    """The closing event of a campaign: which batches it consists of, and the digest of all its outputs."""
    from percuss.ledger.tables import table_digest

    batches = state.batches.get(record.event.id, [])
    table = campaign_table(ledger, batches, record)
    failed = int(table["failed"].is_not_null().sum())
    body = {"completed": table.height - failed, "failed": failed, "content": table_digest(table)}
    inputs = [("study", record.study_event), ("design", record.event), *(("runs", batch) for batch in batches)]
    return Draft("campaign.completed", body, record.reference, inputs, seed=record.seed)


def runs_table(ledger: Ledger, state: State, record: DesignRecord) -> pl.DataFrame:
    """Every run of a design with its parameters: case, sample, parameters, why it failed, outputs."""
    import polars as pl

    points = pl.DataFrame(record.values, schema=list(record.names), orient="row")
    points = points.with_columns(pl.int_range(pl.len()).alias("sample"))
    runs = campaign_table(ledger, state.batches.get(record.event.id, []), record)
    outputs = list(record.study.outputs)
    # An output may have the name of a parameter (a model that passes one through): the output keeps it.
    names = [name for name in record.names if name not in outputs]
    return runs.join(points, on="sample", how="left", maintain_order="left").select(
        "case", "sample", *names, "failed", *outputs
    )
