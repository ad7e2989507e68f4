"""What a design is: points of the unit cube, the parameter values the priors make of them, and what is run there.

It is drafted as an event here, and read back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from percuss.errors import InputError, LedgerError
from percuss.kinds.design_created import DesignCreated
from percuss.ledger.event import Draft, Event, StudyRef
from percuss.models.model import Value
from percuss.models.seeds import Mixture
from percuss.session import Session
from percuss.study.study import Parameter, Study

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


# Columns of a table of points whose runs draw from mixtures of seeds.
SEEDS, WEIGHTS = "mixture:seeds", "mixture:weights"
# Larger designs are refused before memory is asked for.
MAX_NUMBERS = 100_000_000


@dataclass(frozen=True, eq=False)
class Design:
    """A design: row i of `values` (SI, columns as in `names`) is sample i, row i of `unit` its quantiles.

    With it all that is needed to run any of its points: `cases` that are run, inputs that are `fixed` in every run,
    whether time histories are kept. `event` and `study_event` are where it is in the ledger, or the drafts that will
    put it there; `digest` is that of its table of points, which the seeds of its runs are keyed by. Where there are
    `mixtures` of seeds, one for each sample, the runs draw their random numbers from these.
    """

    study: Study
    sampler: str
    seed: int
    skip: int
    options: Mapping[str, Any]
    names: tuple[str, ...]
    unit: NDArray[Any]
    values: NDArray[Any]
    cases: tuple[str, ...] = ()
    fixed: Mapping[str, Value] = field(default_factory=dict)
    keep_curves: bool = False
    event: Event | Draft | None = None
    study_event: Event | Draft | None = None
    digest: str = ""
    mixtures: tuple[Mixture, ...] = ()

    @property
    def size(self) -> int:
        """Number of runs: points times cases."""
        return len(self.values) * len(self.cases)

    @property
    def id(self) -> str:
        """Its event."""
        return self.source.id

    @property
    def source(self) -> Event | Draft:
        """Its event, or the draft of it."""
        assert self.event is not None
        return self.event

    @property
    def study_source(self) -> Event | Draft:
        """The event of its study, or the draft of it."""
        assert self.study_event is not None
        return self.study_event

    @property
    def stored(self) -> Event:
        """Its event; for a design that is in the ledger."""
        assert isinstance(self.event, Event)
        return self.event

    @property
    def reference(self) -> StudyRef:
        """The study, as every event made from this design names it."""
        return StudyRef(self.study.name, self.study.digest)


class Request(NamedTuple):
    """What a sampler is asked for; `n` is None where the sampler knows by itself."""

    parameters: tuple[Parameter, ...]
    n: int | None
    seed: int
    skip: int
    options: Mapping[str, Any]


class Points(NamedTuple):
    """What a sampler gives: points in [0, 1]^d, and values where they are not just the priors' quantiles."""

    unit: NDArray[Any]
    values: NDArray[Any] | None = None


def sources(parameters: Sequence[Parameter]) -> dict[str, list[int]]:
    """Columns that are drawn together, by source: a parameter by itself, a tensor with all its components."""
    columns_of: dict[str, list[int]] = {}
    for column, parameter in enumerate(parameters):
        columns_of.setdefault(parameter.source, []).append(column)
    return columns_of


def draft_design(
    session: Session,
    design: Design,
    *,
    cases: Sequence[str],
    fixed: Mapping[str, Value],
    keep_curves: bool = False,
    origin: Mapping[str, str] | None = None,
    inputs: Sequence[tuple[str, Event]] = (),
) -> Design:
    """The design with a draft of its event and, if that is new, of its study; `inputs` are what else it came from."""
    study_event = session.registered(design.study)
    blob = session.ledger.put_table("design", points_table(design))
    body = DesignCreated(
        sampler=design.sampler,
        n=len(design.values),
        skip=design.skip,
        options={**design.options, **(origin or {})},
        names=design.names,
        cases=tuple(cases),
        fixed=dict(fixed),
        curves=keep_curves,
    )
    draft = Draft("design.created", body, design.reference, [("study", study_event), *inputs], [blob], seed=design.seed)
    return replace(
        design,
        cases=tuple(cases),
        fixed=fixed,
        keep_curves=keep_curves,
        event=draft,
        study_event=study_event,
        digest=blob.digest,
    )


def points_table(design: Design, first: int = 0) -> pl.DataFrame:
    """The points of a design as its event carries them; `first`: the number of the first one."""
    import polars as pl

    columns: dict[str, object] = {"sample": pl.int_range(first, first + len(design.values), eager=True)}
    columns |= {name: design.values[:, i] for i, name in enumerate(design.names)}
    columns |= {f"unit:{name}": design.unit[:, i] for i, name in enumerate(design.names)}
    if design.mixtures:
        columns[SEEDS] = pl.Series([mixture.seeds for mixture in design.mixtures], dtype=pl.List(pl.UInt64()))
        columns[WEIGHTS] = pl.Series([mixture.weights for mixture in design.mixtures], dtype=pl.List(pl.Float64()))
    return pl.DataFrame(columns)


def _mixtures(points: pl.DataFrame) -> tuple[Mixture, ...]:
    """The mixtures of a table of points; none where its runs have seeds of their own."""
    if SEEDS not in points.columns or WEIGHTS not in points.columns:
        return ()
    rows = list(zip(points[SEEDS].to_list(), points[WEIGHTS].to_list(), strict=True))
    if not all(seeds and weights and len(seeds) == len(weights) for seeds, weights in rows):
        raise LedgerError(f"a design whose {SEEDS} and {WEIGHTS} do not go together")
    return tuple(Mixture(tuple(seeds), tuple(weights)) for seeds, weights in rows)


def drafts_of(design: Design) -> list[Draft]:
    """What must be appended for a design to be in the ledger."""
    return [source for source in (design.study_event, design.event) if isinstance(source, Draft)]


def stored(session: Session, design: Design) -> Design:
    """The design with its events, which were appended, in place of their drafts."""
    events = session.state.events
    return replace(design, event=events[design.id], study_event=events[design.study_source.id])


def append_design(session: Session, design: Design, cause: Event | None = None) -> Design:
    """Append a design, and its study if that is new; `cause`: because of which event, where nobody asked for it."""
    drafts = drafts_of(design)
    for draft in drafts:
        draft.cause = cause
    session.append(drafts)
    return stored(session, design)


def load_design(session: Session, event: Event, sample: int | None = None) -> Design:
    """Read a design back, by its own event or by one that was made from it; refused if it is superseded.

    With a sample only that row of it is read, and is the only one it has: there may be millions.
    """
    if event.kind != "design.created":
        inputs = event.inputs_as("design")
        if not inputs:
            raise InputError(
                f"event {event.id} is of the kind {event.kind}, which has no design",
                hint="give a design, or runs or a campaign made from one",
            )
        event = session.state.events[inputs[0].id]
    session.refuse_superseded(event)
    return read_design(session, event, sample)


def read_design(session: Session, event: Event, sample: int | None = None) -> Design:
    """Read back a design by its own event, whether or not it is superseded."""
    body = DesignCreated.of(event)
    blob = event.blob("design")
    if blob is None:
        raise LedgerError(f"event {event.id}: a design without its points")
    points = session.table(event, "design") if sample is None else session.ledger.rows(event, "design", sample, 1)
    if sample is not None and points["sample"].to_list() != [sample]:
        raise LedgerError(f"event {event.id}: its points have no sample {sample} in its place")
    shape = (points.height, len(body.names))
    # Without parameters the frame has no columns, and then no rows of its own. Imported points may have no quantiles.
    units = [f"unit:{name}" for name in body.names]
    return Design(
        session.study(event),
        body.sampler,
        event.seed or 0,
        body.skip,
        body.options,
        body.names,
        points.select(units).to_numpy().reshape(shape),
        points.select(body.names).to_numpy().reshape(shape),
        body.cases,
        body.fixed,
        body.curves,
        event,
        session.state.events[event.input("study")],
        blob.digest,
        _mixtures(points),
    )


def run_seed(seed: int, design_digest: str, sample: int) -> int:
    """Derive the 64-bit seed of one run: the first eight bytes of SHA-256 over seed, design and sample index.

    >>> run_seed(0, "ab12", 0) == run_seed(0, "ab12", 0) != run_seed(0, "ab12", 1)
    True
    """
    text = f"percuss run seed\n{seed}\n{design_digest}\n{sample}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
