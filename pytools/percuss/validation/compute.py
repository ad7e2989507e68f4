"""The whole validation of one model: drift filters up the ladder, verdict, and the traditional route beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from percuss.errors import AnswerIsNo, InputError
from percuss.inference.predictive import spread_draws
from percuss.study.study import Study
from percuss.validation.drift_filter import Filtered, run
from percuss.validation.following import Floats, Following, follow
from percuss.validation.indicators import Innovations, Wandering, innovations_of, path_of, settled
from percuss.validation.record import Record, read_record
from percuss.validation.settings import Validating
from percuss.validation.traditional import Calibrated, Predicted, calibrate_constant, predict
from percuss.validation.verdict import Verdict, judge

PREDICTION_DRAWS = 200


@dataclass(frozen=True, eq=False)
class Rung:
    """A step of the ladder: a drift, the course of its filter, how parameters and innovations went."""

    drift: float
    course: Filtered
    paths: tuple[Wandering, ...]
    innovations: tuple[Innovations, ...]


@dataclass(frozen=True, eq=False)
class Validated:
    """What was found about one model. `begin` holds mean and std of each tracked parameter at the start."""

    study: Study
    asked: Validating
    record: Record
    first: int
    begin: tuple[tuple[float, float], ...]
    rungs: tuple[Rung, ...]
    gain: float | None
    verdict: Verdict
    calibrated: Calibrated | None
    predictions: tuple[Predicted, ...]
    notes: tuple[str, ...]

    @property
    def main(self) -> Rung:
        """The rung of the drift asked for."""
        return next(rung for rung in self.rungs if rung.drift == self.asked.drift)


def validate(
    study: Study,
    asked: Validating,
    data: bytes,
    shown: str,
    *,
    extrapolation: tuple[bytes, str] | None = None,
    start: Mapping[str, tuple[float, float]] | None = None,
    seed: int = 0,
) -> Validated:
    """Follow the data at every drift of the ladder and judge; `start` stands above the priors (a posterior's)."""
    record = read_record(data, shown, asked)
    known = start or {}
    begin = tuple(known.get(name) or (prior.mean(), prior.std()) for name, prior in asked.priors.items())
    following = _following(study, asked, record, begin)
    first = first_judged(record, asked, shown)
    notes = list(record.notes)
    rungs = []
    for drift in asked.ladder:
        try:
            rungs.append(_rung(following, asked, record, begin, first, drift))
        except InputError as fault:
            if drift == asked.drift:
                raise
            notes.append(f"at a drift of {drift:g} the filter breaks down: {fault}")
    main = next(rung for rung in rungs if rung.drift == asked.drift)
    skipped = main.course.skipped
    if skipped:
        notes.append(f"{skipped} measurements are missing and were left out")
    gain = rungs[-1].course.log_likelihood - rungs[0].course.log_likelihood if len(rungs) > 1 else None
    likeliest = max(rungs, key=lambda rung: rung.course.log_likelihood)
    verdict = judge(main.paths, likeliest.innovations, gain)
    calibrated: Calibrated | None = None
    predictions: tuple[Predicted, ...] = ()
    if asked.traditional:
        try:
            calibrated, predictions = _traditional(
                study, asked, record, following, begin, first, rungs, extrapolation, seed
            )
        except AnswerIsNo as fault:
            notes.append(f"no calibration with constant parameters: {fault}")
    return Validated(
        study, asked, record, first, begin, tuple(rungs), gain, verdict, calibrated, predictions, tuple(notes)
    )


def first_judged(record: Record, asked: Validating, shown: str) -> int:
    """The first sample after the filter has settled; raise InputError where there is none."""
    first = settled(record.times_s, asked.settle_s)
    if not 0 < first < len(record.times_s) - 1:
        raise InputError(f"settle: {shown} ends at {record.times_s[-1]:g} s, before anything has settled")
    return first


def training_samples(record: Record, asked: Validating) -> int:
    """How many samples the constant calibration sees; raise InputError where they are too few or not there."""
    times = record.times_s
    duration = asked.training_s if asked.training_s is not None else 0.5 * (times[-1] - times[0])
    n = int(np.searchsorted(times, times[0] + duration - 1e-6 * (times[1] - times[0])))
    if not 10 <= n <= len(times):
        raise InputError(f"training: {duration:g} s hold {n} samples; at least 10 and at most the record are needed")
    return n


def _following(study: Study, asked: Validating, record: Record, begin: Sequence[tuple[float, float]]) -> Following:
    return follow(
        study,
        case=asked.case,
        values={name: mean for name, (mean, _) in zip(asked.track, begin, strict=True)} | dict(asked.values),
        track=asked.track,
        quantities=[column.name for column in asked.observed],
        times_s=record.times_s,
        inputs=record.inputs,
        substeps=asked.substeps,
    )


def _rung(
    following: Following,
    asked: Validating,
    record: Record,
    begin: tuple[tuple[float, float], ...],
    first: int,
    drift: float,
) -> Rung:
    course = run(
        following,
        record.times_s,
        record.data,
        noise=[column.variance for column in asked.observed],
        begin=begin,
        state_std=asked.state_std,
        drift=[drift] * len(asked.track),
        use_first=asked.use_first,
        smooth=drift == asked.drift,
    )
    paths = tuple(path_of(course, name, first) for name in asked.track)
    return Rung(drift, course, paths, tuple(innovations_of(course, i, first) for i in range(len(asked.observed))))


def _traditional(
    study: Study,
    asked: Validating,
    record: Record,
    following: Following,
    begin: tuple[tuple[float, float], ...],
    first: int,
    rungs: list[Rung],
    extrapolation: tuple[bytes, str] | None,
    seed: int,
) -> tuple[Calibrated, tuple[Predicted, ...]]:
    """Calibrate on the first part of the record, predict the rest and what lies beyond."""
    times, data = record.times_s, record.data
    n = training_samples(record, asked)
    starts: list[Floats] = [np.array([mean for mean, _ in begin])]
    for rung in rungs:
        track = rung.course.mean[min(first, n // 2) : n, -len(asked.track) :]
        starts.append(track.mean(axis=0))
    noise = np.array([column.variance for column in asked.observed])
    calibrated = calibrate_constant(
        following.cut(0, n), data[:n], asked.priors, asked.variance_priors, starts, noise, seed
    )
    points = spread_draws(calibrated.sample.flat(), PREDICTION_DRAWS)
    predictions = [predict(following.cut(0, n), times[:n], data[:n], points, "training")]
    if n < len(times):
        predictions.append(predict(following, times, data, points, "held out", n))
    if extrapolation:
        beyond = read_record(*extrapolation, asked)
        stronger = _following(study, asked, beyond, begin)
        predictions.append(predict(stronger, beyond.times_s, beyond.data, points, "extrapolated"))
    return calibrated, tuple(predictions)
