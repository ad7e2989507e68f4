"""Make a recorded run again and compare every output and curve."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import repeat

from percuss.designs.design import IMPORTED, Design, load_design
from percuss.errors import PercussError
from percuss.execution.batch import LOST, Result, make_batch, run_batch
from percuss.kinds.design_created import DesignCreated
from percuss.kinds.runs_failed import RunsFailed
from percuss.ledger.event import Event
from percuss.ledger.projections import batch_of
from percuss.session import Session
from percuss.work.repetition import Repetition, judged

# Another build may order floating-point operations differently; what it gives must still agree this well.
OTHER_BUILD_TOLERANCE = 1e-9
# How far rounding could lead a run in another environment is seen from runs nearby: so many points, each input moved by
# this part of itself, far more than rounding is. What they agree on, `LEEWAY` times as well, rounding does not change.
NEIGHBOURS, MOVED, LEEWAY = 6, 1e-10, 1000.0


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
    """Make one run of an event again, settling anew where it settles; runs that killed their workers never are."""
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
        far=lambda makings: _beyond_rounding(session, event, design, result, sample, reason),
    )


def _beyond_rounding(
    session: Session, event: Event, design: Design, now: Result, sample: int, reason: str | None
) -> str | None:
    """What was recorded, where runs nearby agree on something else; None where they do not agree, or with the record.

    An impact, a yield or a count that rounding decides is decided otherwise at some point nearby, and then nothing is
    said. Of curves nothing is said either.
    """
    import numpy as np
    import polars as pl

    case = batch_of(event).case
    if not design.names:
        return None
    chance = np.random.default_rng([sample, NEIGHBOURS])
    nearby = []
    for _ in range(NEIGHBOURS):
        moved = replace(design, values=design.values * (1 + MOVED * chance.choice([-1.0, 1.0], len(design.names))))
        nearby.append(run_batch(make_batch(moved, case, [sample], rows=[0])))
    if any(item.failures.get(sample) != now.failures.get(sample) for item in nearby):
        return None
    if reason is not None or sample in now.failures:
        return f"failed ({reason})" if sample not in now.failures else f"completed, and now {now.failures[sample]}"
    rows = session.table(event, "runs").filter(pl.col("sample") == sample)
    row = rows.row(0, named=True) if rows.height == 1 else {}
    for name, value in now.outputs[0].items():
        others = np.array([item.outputs[0][name] for item in nearby])
        spread = float(np.max(np.abs(others - value)))
        room = LEEWAY * (spread + MOVED * abs(value))
        recorded = row.get(name)
        if np.isfinite(room) and (recorded is None or not abs(recorded - value) <= room):
            return f"{name} was {recorded!r}, is {value!r} and nearby as well"
    return None


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
    for role, parts in result.tables.items():
        stored = session.table(event, role).filter(pl.col("sample") == sample)
        for name, values in parts[0][1].items():
            before, now = stored[name].to_list(), values.tolist()
            if len(before) != len(now) or not all(map(_same, before, now, repeat(exact))):
                return f"{role}: {name} differs"
    return None


def _same(a: float, b: float, exact: bool) -> bool:
    if a != a and b != b:  # NaN stands for "does not apply", as the peak force of a rigid impact
        return True
    return a == b if exact else math.isclose(a, b, rel_tol=OTHER_BUILD_TOLERANCE)
