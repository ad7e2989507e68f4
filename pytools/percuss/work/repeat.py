"""Make a recorded run again and compare every output and curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat

from percuss.designs.design import Design, load_design
from percuss.errors import PercussError
from percuss.execution.batch import LOST, Result, make_batch, run_batch
from percuss.inference.arrays import Floats
from percuss.kinds.design_created import IMPORTED, DesignCreated
from percuss.kinds.runs_failed import RunsFailed
from percuss.ledger.event import Event
from percuss.ledger.projections import batch_of
from percuss.models.model import Done
from percuss.session import Session
from percuss.work.nearby import beyond, factors, left_open, tighter
from percuss.work.repetition import Repetition, judged

# Another build may order floating-point operations differently; what it gives must still agree this well.
OTHER_BUILD_TOLERANCE = 1e-9
# What programs print is kept to be read, and not compared.
PRINTED = "printed"


def why_not(session: Session, event: Event) -> str | None:
    """Why the runs of an event cannot be made again here, said of their design; None where they can."""
    design = event.input("design")
    if design in session.state.superseded:
        return "superseded designs are not run again"
    if DesignCreated.of(session.state.events[design]).sampler == IMPORTED:
        return "imported tables cannot be run again"
    try:
        if not session.allow_command and session.study(event).calls():
            return "designs of external programs are run again only with --allow-command"
    except PercussError:
        pass  # a study that cannot be read is a fault to be told when one of its runs is taken up
    return None


def repeat_run(session: Session, event: Event, part: int) -> Repetition:
    """Make one run of an event again, settling too where it settles; runs that killed their workers never are."""
    runs = batch_of(event)
    sample = runs.samples[part]
    reason = runs.reasons.get(str(sample)) if isinstance(runs, RunsFailed) else None
    if reason == LOST:
        return Repetition("cannot", 0, "runs that killed their workers are not run again")
    design = load_design(session, event, sample)
    if session.allow_command:
        design = replace(design, study=design.study.allow_commands())
    result = run_batch(make_batch(design, runs.case, [sample], rows=[0]))
    bound = f"{OTHER_BUILD_TOLERANCE:g}"
    fault = _fault(session, event, result, sample, reason, exact=True)
    if fault and result.program != runs.program:
        outside = _fault(session, event, result, sample, reason, exact=False)
        if outside is None:
            return Repetition("within", 1, f"made by another program, compared within {bound}")
        return Repetition("differs", 1, f"case {runs.case}, sample {sample}, by another program: {outside}")
    return judged(
        session,
        event,
        f"case {runs.case}, sample {sample}: {fault}",
        same=fault is None,
        near=lambda: (_fault(session, event, result, sample, reason, exact=False), bound),
        far=lambda makings: _unexplained(session, event, design, result, sample, reason, build=makings.build),
    )


def _unexplained(
    session: Session, event: Event, design: Design, now: Result, sample: int, reason: str | None, *, build: bool
) -> str | None:
    """What was recorded, where runs nearby agree on something else; None where they do not agree, or with the record.

    An impact, a yield or a count that rounding decides is decided otherwise at some point nearby, and then nothing is
    said. A curve is held to how far runs nearby have come apart by then. `build`: made by another one, whose solver may
    have stopped elsewhere within its tolerance; where that shows in an output, curves are not compared.
    """
    import numpy as np
    import polars as pl

    case = batch_of(event).case
    if not design.names:
        return None
    moved = (replace(design, values=design.values * by) for by in factors(len(design.names), sample))
    nearby = [run_batch(make_batch(item, case, [sample], rows=[0])) for item in moved]
    if any(item.failures.get(sample) != now.failures.get(sample) for item in nearby):
        return None
    if reason is not None or sample in now.failures:
        return f"failed ({reason})" if sample not in now.failures else f"completed, and now {now.failures[sample]}"
    rows = session.table(event, "runs").filter(pl.col("sample") == sample)
    row = rows.row(0, named=True) if rows.height == 1 else {}
    names = list(now.outputs[0])
    values, *others = (np.array([item.outputs[0][name] for name in names]) for item in (now, *nearby))
    recorded = np.array([np.nan if row.get(name) is None else row[name] for name in names])
    if (at := beyond(recorded, values, others)) is not None:
        room = _left_open(design, case, sample, names, values) if build else 0.0
        if (at := beyond(recorded, values, others, besides=room)) is None:
            return _made_up(session, event, now)
        return f"{names[at]} was {row.get(names[at])!r}, is {float(values[at])!r} and nearby as well"
    if made_up := _made_up(session, event, now):
        return made_up
    for role, parts in now.tables.items():
        stored = session.table(event, role).filter(pl.col("sample") == sample)
        for name, curve in parts[0][1].items():
            others = [item.tables[role][0][1][name] for item in nearby]
            if not np.issubdtype(curve.dtype, np.floating) or any(len(other) != len(curve) for other in others):
                continue
            recorded = stored[name].fill_null(np.nan).to_numpy()
            if len(recorded) != len(curve):
                return f"{role}: {name} had {len(recorded)} values, has {len(curve)} and nearby as well"
            if (at := beyond(recorded, curve, others, together=True)) is not None:
                return f"{role}: {name} was {float(recorded[at])!r} at {at}, is {float(curve[at])!r} and nearby as well"
    return None


def _left_open(design: Design, case: str, sample: int, names: Sequence[str], values: Floats) -> Floats | float:
    """How far outputs may be from these by the tolerance of the contact solver."""
    import numpy as np

    batch = make_batch(design, case, [sample], rows=[0])
    if (finer := tighter(batch.study.model(), batch.points[0])) is None:
        return 0.0
    model, there = finer
    outcome = model.run([there], batch.seeds)[0]
    if not isinstance(outcome, Done):
        return 0.0
    outputs = batch.study.evaluate(outcome.values, outcome.curves)
    return left_open(values, np.array([outputs[name] for name in names]))


def _fault(session: Session, event: Event, result: Result, sample: int, reason: str | None, exact: bool) -> str | None:
    """What was recorded and what came out, where these differ."""
    import polars as pl

    if reason is not None:
        again = result.failures.get(sample)
        return None if again == reason else f"failed ({reason}), and now {again or 'does not'}"
    if sample in result.failures:
        return f"now fails ({result.failures[sample]})"
    rows = session.table(event, "runs").filter(pl.col("sample") == sample)
    if rows.height != 1:
        return f"has {rows.height} rows in its table"
    row = rows.row(0, named=True)
    for name, value in result.outputs[0].items():
        if name not in row:
            return f"has no {name} in its table"
        if not _same(row[name], value, exact):
            return f"{name} was {row[name]!r}, is {value!r}"
    if made_up := _made_up(session, event, result):
        return made_up
    for role, parts in result.tables.items():
        stored = session.table(event, role).filter(pl.col("sample") == sample)
        for name, values in parts[0][1].items():
            before, now = stored[name].to_list(), values.tolist()
            if len(before) != len(now) or not all(map(_same, before, now, repeat(exact))):
                return f"{role}: {name} differs"
    return None


def _made_up(session: Session, event: Event, result: Result) -> str | None:
    """A table that no run of the event makes, or rows of runs that it does not name: readers of histories take both."""
    samples = set(batch_of(event).samples)
    for role in [blob.role for blob in event.blobs if blob.role != PRINTED]:
        if role != "runs" and role not in result.tables:
            return f"has a table {role}, which does not come out"
        if others := set(session.table(event, role, ["sample"])["sample"].unique()) - samples:
            return f"has rows of sample {min(others)} in its table {role}, which is not one of its runs"
    return None


def _same(a: float, b: float, exact: bool) -> bool:
    if a != a and b != b:  # NaN stands for "does not apply", as the peak force of a rigid impact
        return True
    return a == b if exact else math.isclose(a, b, rel_tol=OTHER_BUILD_TOLERANCE)
