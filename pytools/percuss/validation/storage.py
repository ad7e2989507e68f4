"""Validations as tables, and read back. `docs/validation.md` says field by field what they hold; SI."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.kinds.validation_computed import ValidationComputed
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.validation.compute import Validated

if TYPE_CHECKING:
    import polars as pl

# Rows kept of a course on the ladder and of a prediction: enough for any figure.
MOST_ROWS = 4000


@dataclass(frozen=True, eq=False)
class Validation:
    """A validation as the ledger holds it: tables by name, None where there is none."""

    event: Event
    course: pl.DataFrame
    record: pl.DataFrame
    ladder: pl.DataFrame
    ladder_courses: pl.DataFrame
    innovations: pl.DataFrame
    predictions: pl.DataFrame | None
    draws: pl.DataFrame | None

    @property
    def body(self) -> ValidationComputed:
        """The body of the event."""
        return ValidationComputed.of(self.event)


def load_validation(session: Session, event: Event) -> Validation:
    """Read a validation back."""
    session.take(event, "validation.computed")

    def table(role: str) -> pl.DataFrame | None:
        return session.table(event, role) if event.blob(role) else None

    needed = {role: session.table(event, role) for role in ("course", "record", "ladder", "ladder_courses")}
    innovations = session.table(event, "innovations")
    return Validation(event, **needed, innovations=innovations, predictions=table("predictions"), draws=table("draws"))


def validation_tables(validated: Validated) -> dict[str, pl.DataFrame]:
    """Everything that was followed and found, as tables by role."""
    import polars as pl

    asked, course = validated.asked, validated.main.course
    channels = tuple(column.name for column in asked.observed)
    columns: dict[str, Any] = {"t": course.times_s}
    for i, name in enumerate(course.states):
        columns |= {name: course.mean[:, i], f"{name}:std": course.std[:, i]}
        if course.smoothed_mean is not None and course.smoothed_std is not None:
            columns |= {f"{name}:smoothed": course.smoothed_mean[:, i]}
            columns |= {f"{name}:smoothed_std": course.smoothed_std[:, i]}
    columns |= {f"innovation:{name}": course.normalised[:, i] for i, name in enumerate(channels)}
    rows = [
        {"drift": rung.drift, "log_likelihood": rung.course.log_likelihood, **asdict(path)}
        for rung in validated.rungs
        for path in rung.paths
    ]
    innovations = [{"drift": rung.drift, **_finite(asdict(c))} for rung in validated.rungs for c in rung.innovations]
    tables = {
        "record": validated.record.table(channels),
        "course": pl.DataFrame(columns),
        "ladder": pl.DataFrame(rows),
        "innovations": pl.DataFrame(innovations, infer_schema_length=None),
        "ladder_courses": pl.concat([_ladder_course(rung.course, rung.drift, asked.track) for rung in validated.rungs]),
    }
    if validated.predictions:
        parts = []
        for part in validated.predictions:
            every = max(1, len(part.times_s) // MOST_ROWS)
            for i, name in enumerate(channels):
                arrays = {"observed": part.observed, "mean": part.mean, "std": part.std}
                rest = {key: values[::every, i] for key, values in arrays.items()}
                named = {"part": part.part, "quantity": name}
                parts.append(pl.DataFrame({"t": part.times_s[::every], **rest}).with_columns(**_literals(named)))
        tables["predictions"] = pl.concat(parts)
    if validated.calibrated:
        flat = validated.calibrated.sample.flat()
        tables["draws"] = pl.DataFrame(dict(zip(validated.calibrated.target.names, flat.T, strict=True)))
    return tables


def _finite(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Null for what is not finite."""
    return {
        key: None if isinstance(value, float | np.floating) and not math.isfinite(value) else value
        for key, value in facts.items()
    }


def _literals(values: Mapping[str, Any]) -> dict[str, Any]:
    import polars as pl

    return {name: pl.lit(value) for name, value in values.items()}


def _ladder_course(course: Any, drift: float, tracked: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    every = max(1, len(course.times_s) // MOST_ROWS)
    columns: dict[str, Any] = {"t": course.times_s[::every]}
    for name in tracked:
        mean, std = course.path(name)
        columns |= {name: mean[::every], f"{name}:std": std[::every]}
    return pl.DataFrame(columns).with_columns(**_literals({"drift": drift}))
