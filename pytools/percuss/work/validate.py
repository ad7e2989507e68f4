"""Let parameters drift that should be constant, and see whether they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from percuss.calibration.records import load_posterior
from percuss.errors import InputError
from percuss.kinds import validation_computed as kind
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Draft, Event
from percuss.maker import Spent
from percuss.session import Session, reference
from percuss.study.joint import refuse_correlations
from percuss.study.study import Study
from percuss.trust import Trust
from percuss.validation import verdict as lines
from percuss.validation.compute import Validated
from percuss.validation.compute import validate as compute
from percuss.validation.settings import read_validation
from percuss.validation.storage import validation_tables
from percuss.validation.traditional import Calibrated
from percuss.work.posterior_body import evidence_facts, finite, finite_in


@dataclass(frozen=True, eq=False)
class Subject:
    """What is validated: a study; of a posterior its study, with mean and std of its draws as the start."""

    study: Study
    start: Mapping[str, tuple[float, float]] | None = None
    posterior: Event | None = None


@dataclass(frozen=True)
class Request:
    """Which model of the study, and what of `[validation]` is asked for otherwise (`drift`, `gaps`, ...).

    `data` is another record than the study names, with its name.
    """

    model: str | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    data: tuple[bytes, str] | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Validation:
    """What was found about one model."""

    event: Event
    trust: Trust
    validated: Validated


def of_posterior(session: Session, event: Event) -> Subject:
    """The study of a posterior and, for each parameter, mean and standard deviation of its draws."""
    if event.kind != "posterior.sampled":
        raise InputError(
            f"event {event.id} is of the kind {event.kind}: validate takes a study or a posterior.sampled",
            hint="percuss calibrate makes one",
        )
    posterior = load_posterior(session, event)
    posterior.trusted_summary()
    columns = zip(posterior.names, posterior.flat().T, strict=True)
    start = {name: (float(np.mean(x)), float(np.std(x))) for name, x in columns}
    return Subject(posterior.study, start, event)


def validate(session: Session, subject: Subject, request: Request) -> Validation:
    """Validate one model, and append what was found with its study if that is new."""
    spent = Spent()
    study = subject.study
    refuse_correlations(study, "percuss validate")
    result, (data, file) = validated(study, request, subject.start)
    tables = validation_tables(result)
    blobs = [session.ledger.put_table(role, table) for role, table in sorted(tables.items())]
    body = validation_body(result, kind.DataFile(file=file, sha256=sha256_hex(data)), request.asked)
    source = session.registered(study)
    inputs: list[tuple[str, Event | Draft]] = [("study", source)]
    inputs += [("posterior", subject.posterior)] if subject.posterior else []
    draft = Draft("validation.computed", body, reference(study), inputs, blobs, seed=request.seed, cost=spent.cost())
    event, trust = session.append_result(draft, first=[source])
    return Validation(event, trust, result)


def validated(
    study: Study, request: Request, start: Mapping[str, tuple[float, float]] | None
) -> tuple[Validated, tuple[bytes, str]]:
    """What is found about one model, and the record it was found in."""
    settings = read_validation(study, request.model, dict(request.asked))
    if request.data is None and settings.file is None:
        raise InputError(f"study {study.name}: [validation] names no file", hint="--data gives one")
    record = request.data or (study.files[str(settings.file)], str(settings.file))
    beyond = (study.files[settings.extrapolate], settings.extrapolate) if settings.extrapolate else None
    result = compute(study, settings, *record, extrapolation=beyond, start=start, seed=request.seed)
    return result, record


def validation_body(result: Validated, data: kind.DataFile, asked: Mapping[str, Any]) -> kind.ValidationComputed:
    """What was found, before its verdicts on what it depends on."""
    settings, main = result.asked, result.main
    return kind.ValidationComputed(
        model=settings.name,
        case=settings.case,
        values=dict(settings.values),
        tracked=tuple(settings.track),
        observed=tuple(kind.ObservedChannel(quantity=c.name, noise_variance=c.variance) for c in settings.observed),
        start=dict(zip(settings.track, result.begin, strict=True)),
        samples=len(result.record.times_s),
        step_s=float(result.record.times_s[1] - result.record.times_s[0]),
        settled_from_s=float(result.record.times_s[result.first]),
        substeps=settings.substeps,
        drift=settings.drift,
        gaps=settings.gaps,
        used=main.course.used,
        skipped=main.course.skipped,
        log_likelihood=finite(main.course.log_likelihood),
        parameters=tuple(kind.PathFacts(**_finite(path)) for path in main.paths),
        innovations=tuple(kind.ChannelFacts(**_finite(channel)) for channel in main.innovations),
        ladder=tuple(
            kind.Rung(
                drift=rung.drift,
                log_likelihood=finite(rung.course.log_likelihood),
                wander={path.name: finite(path.wander) for path in rung.paths},
            )
            for rung in result.rungs
        ),
        gain=None if result.gain is None else finite(result.gain),
        verdict=result.verdict.word,
        reasons=result.verdict.reasons,
        thresholds={
            "wander": list(lines.WANDER),
            "gain": list(lines.GAIN),
            "surprise": list(lines.SURPRISE),
            "probability": lines.PROBABILITY,
            "trend": lines.TREND,
        },
        notes=result.notes,
        calibration=_calibration(result.calibrated) if result.calibrated else None,
        predictions=tuple(
            kind.PredictionScore(
                part=part.part,
                quantity=column.name,
                rmse=finite(part.rmse[i]),
                rmse_relative=finite(part.rmse_relative[i]),
                within_three_std=finite(part.within_three[i]),
            )
            for part in result.predictions
            for i, column in enumerate(settings.observed)
        ),
        data=data,
        asked={key: value for key, value in asked.items() if value is not None},
        trust=(),
    )


def _calibration(known: Calibrated) -> kind.ConstantCalibration:
    rows = []
    for j, (name, x) in enumerate(zip(known.target.names, known.sample.flat().T, strict=True)):
        low, median, high = (finite(q) for q in np.quantile(x, (0.025, 0.5, 0.975)))
        mode = finite(known.mode.values[j])
        rows.append(
            kind.ConstantRow(
                name=name, mode=mode, mean=finite(x.mean()), std=finite(x.std()), low=low, median=median, high=high
            )
        )
    return kind.ConstantCalibration(
        samples=known.samples,
        log_posterior=finite(known.mode.log_posterior),
        parameters=tuple(rows),
        evidence={item.method: evidence_facts(item) for item in (known.laplace, known.importance)},
        notes=known.notes,
    )


def _finite(facts: Any) -> dict[str, Any]:
    return {key: finite_in(value) for key, value in asdict(facts).items()}
