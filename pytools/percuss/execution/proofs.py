"""The two proofs of `audit` that need the simulator: replay from nothing, and re-execution bit for bit."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from itertools import repeat

from percuss.errors import PercussError
from percuss.execution.batch import LOST, run_batch
from percuss.execution.records import (
    IMPORTED,
    DesignRecord,
    campaign_table,
    load_design,
    load_study_event,
    read_design,
)
from percuss.ledger.audit import Proof
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State, fold, state_tables
from percuss.ledger.tables import table_digest

# Another build may order floating-point operations differently; what it gives must still agree this well.
OTHER_BUILD_TOLERANCE = 1e-9


def prove_replay(ledger: Ledger) -> Proof:
    """Fold the original events again, rebuild every table, and compare with what is in use and what was recorded."""
    proof = Proof("replay", "every table comes out of the events again, without the cache, with the digest it had")
    cached = ledger.events()
    # Writers may be at work: what came since is left out, so that like is compared with like.
    fresh = fold(ledger.events(cached=False)[: len(cached)])
    in_use = state_tables(fold(cached))
    for name, table in state_tables(fresh).items():
        proof.checked += 1
        if table_digest(table) != table_digest(in_use[name]):
            proof.faults.append(f"table {name}: differs between the events and the cache; delete the cache folder")
    for design, campaign in fresh.campaigns.items():
        proof.checked += 1
        try:
            record = read_design(ledger, fresh, fresh.events[design])
            # Its own runs, whether or not some of them were superseded or run twice since.
            batches = [fresh.events[item.id] for item in campaign.inputs_as("runs")]
            if table_digest(campaign_table(ledger, batches, record)) != campaign.data["content"]:
                proof.faults.append(f"campaign {campaign.id}: its runs do not give the digest it recorded")
        except (PercussError, KeyError, TypeError, ValueError, IndexError) as fault:  # a stranger's ledger, perhaps
            proof.faults.append(f"campaign {campaign.id}: its runs cannot be put together ({fault})")
    return proof


def prove_reexecution(ledger: Ledger, state: State, count: int, core: str, allow_command: bool = False) -> Proof:
    """Run some of the recorded runs again and compare every output and curve.

    External programs are run again only with the consent of the user; runs that killed their workers never are.
    """
    proof = Proof("re-execution", "some runs and posteriors, made again, give the same bits")
    programs = {id for id in state.designs if not allow_command and _runs_program(ledger, state, id)}
    runs = [
        (design, case, sample, event, reason)
        for design, event in state.designs.items()
        if event.data["sampler"] != IMPORTED and design not in programs
        for (case, sample), (event, reason) in state.runs(design).items()
        if reason != LOST
    ]
    # Which ones: spread by a hash of their place, so that nobody, the writer included, can choose them.
    runs.sort(key=lambda run: hashlib.sha256(f"{run[3].hash} {run[1]} {run[2]}".encode()).digest())
    records: dict[str, DesignRecord] = {}
    others = 0
    for design, case, sample, event, reason in runs[:count]:
        proof.checked += 1
        exact = event.software.core == core
        others += not exact
        try:
            if design not in records:
                record = load_design(ledger, state, state.events[design])
                study = record.study.allow_commands() if allow_command else record.study
                records[design] = replace(record, study=study)
            fault = _differs(ledger, records[design], case, sample, event, reason, exact)
        except (PercussError, KeyError, TypeError, ValueError, IndexError) as trouble:  # a stranger's ledger, perhaps
            fault = f"cannot be run again ({trouble})"
        if fault:
            proof.faults.append(f"event {event.id}: case {case}, sample {sample}: {fault}")
    notes = [f"{proof.checked} of {len(runs)} runs"]
    if others:
        notes.append(f"{others} made by another build, compared within {OTHER_BUILD_TOLERANCE:g}")
    elsewhere = sum(e.data["sampler"] == IMPORTED for e in state.designs.values())
    if elsewhere:
        notes.append(f"{elsewhere} imported tables cannot be run again")
    if programs:
        notes.append(f"{len(programs)} designs of external programs are run again only with --allow-command")
    proof.note = "; ".join(notes)
    return proof


def _runs_program(ledger: Ledger, state: State, design: str) -> bool:
    try:
        return bool(load_study_event(ledger, state.events[state.events[design].input("study")]).calls())
    except PercussError:
        return False  # a study that cannot be read is a fault to be told when one of its runs is taken up


def _differs(
    ledger: Ledger, record: DesignRecord, case: str, sample: int, event: Event, reason: str | None, exact: bool
) -> str | None:
    import polars as pl

    result = run_batch(record.batch(case, [sample]))
    exact = exact and result.program == event.data.get("program")
    if reason is not None:
        again = result.failures.get(sample)
        return None if again == reason else f"failed ({reason}), and now {again or 'does not'}"
    if sample in result.failures:
        return f"now fails ({result.failures[sample]})"
    row = ledger.table(event, "runs").filter(pl.col("sample") == sample).row(0, named=True)
    for name, value in result.outputs[0].items():
        if not _same(row[name], value, exact):
            return f"{name} was {row[name]!r}, is {value!r}"
    for role, parts in result.tables.items():
        stored = ledger.table(event, role).filter(pl.col("sample") == sample)
        for name, values in parts[0][1].items():
            before, now = stored[name].to_list(), values.tolist()
            if len(before) != len(now) or not all(map(_same, before, now, repeat(exact))):
                return f"{role}: {name} differs"
    return None


def _same(a: float, b: float, exact: bool) -> bool:
    if a != a and b != b:  # NaN stands for "does not apply", as the peak force of a rigid impact
        return True
    return a == b if exact else math.isclose(a, b, rel_tol=OTHER_BUILD_TOLERANCE)
