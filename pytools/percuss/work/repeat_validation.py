"""Validate again, where the record is the study's own and what was asked for is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from percuss.kinds.validation_computed import ValidationComputed
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.validation.storage import validation_tables
from percuss.work.repeated import FAR, NEAR, SAID, farthest, judged_tables, other_fields, other_tables
from percuss.work.repetition import Elsewhere, Repetition, judged
from percuss.work.validate import Request, of_posterior, validated, validation_body

if TYPE_CHECKING:
    import polars as pl

# Fields that speak of the constant calibration.
OF_CALIBRATION = ("calibration", "predictions", "notes", "reasons")
# What the filter computes, step by step: nothing in it searches or draws.
FOLLOWED = ("record", "course", "ladder", "innovations", "ladder_courses")
# Means of the constant calibration are never so many of its standard deviations apart, whichever way its chains went.
FAR_DEVIATIONS = 2.0


def repeat_validation(session: Session, event: Event, part: int = 0) -> Repetition:
    """Follow the record again and compare every table; of another build the verdict, and what was followed."""
    body, study = ValidationComputed.of(event), session.study(event)
    if body.asked is None:
        return Repetition("cannot", 0, "validations made before it was recorded what was asked for")
    own = study.files.get(body.data.file) if body.data else None
    if own is None or body.data is None or sha256_hex(own) != body.data.sha256:
        return Repetition("cannot", 0, "validations of a record that is not the study's")
    start = {name: (pair[0], pair[1]) for name, pair in body.start.items()}
    if event.inputs_as("posterior"):
        posterior_start = of_posterior(session, session.state.events[event.input("posterior")]).start or {}
        if wrong := [name for name, pair in posterior_start.items() if name in start and not _close(pair, start[name])]:
            return Repetition("differs", 1, f"validation: does not start from its posterior: {', '.join(wrong)}")
    request = Request(body.model, body.asked, (own, body.data.file), event.seed or 0)
    validated_again, _ = validated(study, request, start)
    tables = validation_tables(validated_again)
    other = other_tables(event, tables)
    again = validation_body(validated_again, body.data, body.asked)
    if not other:
        return judged_tables(session, event, "validation", tables, body=again)
    apart = {role: farthest(session, event, role, tables[role]) for role in FOLLOWED if role in other}
    followed = max([*apart.values(), 0.0])
    fields = other_fields(event, again, OF_CALIBRATION, words=0.0)

    def near() -> tuple[str | None, str]:
        if body.verdict != again.verdict:
            return f"the verdict was {body.verdict!r}, is {again.verdict!r}", bound
        if followed > NEAR or max([*fields.values(), 0.0]) > SAID:
            return f"what was followed is {followed:.2g} apart", bound
        return _calibrated_otherwise(session, event, tables), bound

    def far(makings: Elsewhere) -> str | None:
        if FAR < followed < float("inf"):
            return f"what was followed is {followed:.2g} apart"
        if followed <= NEAR and body.verdict != again.verdict:
            return f"the verdict was {body.verdict!r}, is {again.verdict!r}"
        if followed <= NEAR and (wrong := [name for name, distance in fields.items() if distance > SAID]):
            return f"otherwise are {', '.join(wrong)}"
        return _calibrated_otherwise(session, event, tables)

    bound = f"{NEAR:g}, their verdicts, and {FAR_DEVIATIONS:g} standard deviations of the constant calibration"
    what = f"validation: its tables differ when computed again: {', '.join(other)}"
    return judged(session, event, what, same=False, near=near, far=far)


def _close(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return all(math.isclose(x, y, rel_tol=NEAR) for x, y in zip(a, b, strict=True))


def _calibrated_otherwise(session: Session, event: Event, tables: Mapping[str, pl.DataFrame]) -> str | None:
    """The first parameter of the constant calibration whose mean lies elsewhere altogether."""
    if "draws" not in tables or event.blob("draws") is None:
        return None
    then, now = session.table(event, "draws"), tables["draws"]
    if then.columns != now.columns:
        return "the constant calibration is of other parameters"
    for name in now.columns:
        was, mean, spread = (float(np.mean(then[name])), float(np.mean(now[name])), float(np.std(now[name])))
        if not abs(was - mean) <= FAR_DEVIATIONS * spread:
            return f"the constant {name} was {was!r}, is {mean!r}"
    return None
