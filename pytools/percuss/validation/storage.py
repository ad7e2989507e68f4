"""Validations as tables and as an event, and read back. `docs/validation.md` says field by field what they hold; SI."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.errors import InputError
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Draft, Event, StudyRef
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.validation import verdict as lines
from percuss.validation.compute import Validated

if TYPE_CHECKING:
    import polars as pl

KIND = "validation.computed"
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
    def body(self) -> Mapping[str, Any]:
        """The body of the event."""
        return self.event.data


def load_validation(ledger: Ledger, state: State, event: Event) -> Validation:
    """Read a validation back."""
    if event.kind != KIND:
        raise InputError(f"event {event.id} is of the kind {event.kind}, not {KIND}", hint="percuss validate makes one")
    if event.id in state.superseded:
        raise InputError(f"validation {event.id}: is superseded", hint="percuss show says by what")

    def table(role: str) -> pl.DataFrame | None:
        return ledger.table(event, role) if event.blob(role) else None

    needed = {role: ledger.table(event, role) for role in ("course", "record", "ladder", "ladder_courses")}
    innovations = ledger.table(event, "innovations")
    return Validation(event, **needed, innovations=innovations, predictions=table("predictions"), draws=table("draws"))


def draft_validation(
    ledger: Ledger,
    found: Validated,
    source: Event | Draft,
    data: bytes,
    file: str,
    more: list[tuple[str, Event]],
    seed: int,
) -> Draft:
    """The event: facts in the body, courses in tables."""
    tables = _tables(found)
    blobs = [ledger.put_table(role, table) for role, table in sorted(tables.items())]
    study = StudyRef(found.study.name, found.study.digest)
    origin = {"file": file, "sha256": sha256_hex(data)}
    return Draft(KIND, facts(found) | {"data": origin}, study, [("study", source), *more], blobs, seed=seed)


def facts(found: Validated) -> dict[str, Any]:
    """What was found, as plain data."""
    asked, main = found.asked, found.main
    told: dict[str, Any] = {
        "model": asked.name,
        "case": asked.case,
        "values": dict(asked.values),
        "tracked": list(asked.track),
        "observed": [{"quantity": column.name, "noise_variance": column.variance} for column in asked.observed],
        "start": {name: list(pair) for name, pair in zip(asked.track, found.begin, strict=True)},
        "samples": len(found.record.times_s),
        "step_s": float(found.record.times_s[1] - found.record.times_s[0]),
        "settled_from_s": float(found.record.times_s[found.first]),
        "substeps": asked.substeps,
        "drift": asked.drift,
        "gaps": asked.gaps,
        "used": main.course.used,
        "skipped": main.course.skipped,
        "log_likelihood": main.course.log_likelihood,
        "parameters": [asdict(path) for path in main.paths],
        "innovations": [_plain(asdict(channel)) for channel in main.innovations],
        "ladder": [
            {"drift": rung.drift, "log_likelihood": rung.course.log_likelihood}
            | {"wander": {path.name: path.wander for path in rung.paths}}
            for rung in found.rungs
        ],
        "gain": found.gain,
        "verdict": found.verdict.word,
        "reasons": list(found.verdict.reasons),
        "thresholds": {
            "wander": list(lines.WANDER),
            "gain": list(lines.GAIN),
            "surprise": list(lines.SURPRISE),
            "probability": lines.PROBABILITY,
            "trend": lines.TREND,
        },
        "notes": list(found.notes),
        "calibration": None,
        "predictions": [
            {
                "part": part.part,
                "quantity": column.name,
                "rmse": float(part.rmse[i]),
                "rmse_relative": float(part.rmse_relative[i]),
                "within_three_std": float(part.within_three[i]),
            }
            for part in found.predictions
            for i, column in enumerate(asked.observed)
        ],
    }
    if found.calibrated:
        known = found.calibrated
        flat = known.sample.flat()
        evidence = {
            item.method: {
                "log_evidence": item.log_evidence,
                "error": None if math.isnan(item.error) else item.error,
                "notes": list(item.notes),
            }
            for item in (known.laplace, known.importance)
        }
        rows = [
            {"name": name, "mode": float(known.mode.values[j]), "mean": float(x.mean()), "std": float(x.std())}
            | {key: float(np.quantile(x, q)) for key, q in (("low", 0.025), ("median", 0.5), ("high", 0.975))}
            for j, (name, x) in enumerate(zip(known.target.names, flat.T, strict=True))
        ]
        told["calibration"] = {
            "samples": known.samples,
            "log_posterior": known.mode.log_posterior,
            "parameters": rows,
            "evidence": evidence,
            "notes": list(known.notes),
        }
    plain: dict[str, Any] = _plain(told)
    return plain


def _plain(value: Any) -> Any:
    """JSON knows no NaN and no infinity: null stands for them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return float(value) if isinstance(value, np.floating) else value


def _tables(found: Validated) -> dict[str, pl.DataFrame]:
    import polars as pl

    asked, course = found.asked, found.main.course
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
        for rung in found.rungs
        for path in rung.paths
    ]
    innovations = [{"drift": rung.drift, **_plain(asdict(c))} for rung in found.rungs for c in rung.innovations]
    tables = {
        "record": found.record.table(channels),
        "course": pl.DataFrame(columns),
        "ladder": pl.DataFrame(rows),
        "innovations": pl.DataFrame(innovations, infer_schema_length=None),
        "ladder_courses": pl.concat([_ladder_course(rung.course, rung.drift, asked.track) for rung in found.rungs]),
    }
    if found.predictions:
        parts = []
        for part in found.predictions:
            every = max(1, len(part.times_s) // MOST_ROWS)
            for i, name in enumerate(channels):
                arrays = {"observed": part.observed, "mean": part.mean, "std": part.std}
                rest = {key: values[::every, i] for key, values in arrays.items()}
                named = {"part": part.part, "quantity": name}
                parts.append(pl.DataFrame({"t": part.times_s[::every], **rest}).with_columns(**_literals(named)))
        tables["predictions"] = pl.concat(parts)
    if found.calibrated:
        flat = found.calibrated.sample.flat()
        tables["draws"] = pl.DataFrame(dict(zip(found.calibrated.target.names, flat.T, strict=True)))
    return tables


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
