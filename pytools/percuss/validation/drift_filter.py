"""The extended Kalman filter with parameters that may drift, for arrays of data (Green, Chodora, Zhu and Atamturktur,
"Towards the validation of dynamical models in regions where there is no data", Eqs. 1-25 and 33-35).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from percuss import _core
from percuss.errors import InputError
from percuss.spelling import did_you_mean
from percuss.study.study import Study
from percuss.validation.following import Floats, Following, as_input_error, follow

DRIFT = 1e-3
START_STD = 1e-3
Gaps = Literal["refuse", "skip"]


@dataclass(frozen=True, eq=False)
class Filtered:
    """The course of a filter; rows are samples, columns of `mean` and `std` the `states`, of innovations the channels.

    Innovations are NaN where nothing was measured. `log_likelihood` is that of all innovations.
    """

    states: tuple[str, ...]
    quantities: tuple[str, ...]
    times_s: Floats
    mean: Floats
    std: Floats
    innovation: Floats
    innovation_variance: Floats
    log_likelihood: float
    used: int
    skipped: int
    covariance: Floats
    smoothed_mean: Floats | None = None
    smoothed_std: Floats | None = None

    def path(self, name: str) -> tuple[Floats, Floats]:
        """Mean and standard deviation of one entry of the state."""
        at = self.states.index(name)
        return self.mean[:, at], self.std[:, at]

    @property
    def normalised(self) -> Floats:
        """Innovations over the standard deviations the filter expected: white and of unit variance if all is well."""
        return np.asarray(self.innovation / np.sqrt(self.innovation_variance))


def filter(
    study: Study,
    *,
    times_s: Floats,
    observed: Mapping[str, Floats],
    noise_variance: Mapping[str, float] | float,
    inputs: Mapping[str, Floats] | None = None,
    track: Sequence[str] | None = None,
    start: Mapping[str, tuple[float, float]] | None = None,
    state_std: tuple[float, float] = (START_STD, START_STD),
    drift: float | Mapping[str, float] = DRIFT,
    case: str | None = None,
    values: Mapping[str, Any] | None = None,
    substeps: int = 1,
    use_first: bool = False,
    gaps: Gaps = "refuse",
    smooth: bool = False,
) -> Filtered:
    """Follow measured data with a study's oscillators while some of their parameters drift.

    Everything in SI, samples evenly spaced.

    times_s: instants of the samples. `observed`: samples of each quantity by its name in the study (`u1`, `v1` relative
    to the base, `a1` absolute), NaN where nothing was measured. `noise_variance`: of each quantity, or of all.
    `inputs`: samples of the force on a mass by its name, and of the acceleration of the base under `base`; straight
    lines between samples. Without `base`, the study's own base motion.
    track: inputs of the model that drift (default: the parameters of the study that `values` does not fix). `start`:
    mean and standard deviation of each at sample 0 (default: those of its prior). `state_std`: of displacements (m) and
    velocities (m/s) at sample 0, about the initial state of the study.
    drift: coefficient of variation of a parameter's random step from sample to sample, one for all or by name.
    case, values: which case of the study, and other values of its inputs. `substeps`: steps of the integrator from
    sample to sample; stiff contacts need several. `use_first`: take in sample 0 as well. `gaps`: whether NaN in the
    data is refused or skipped. `smooth`: go back over the record as well (Rauch, Tung and Striebel).

    Raises InputError for whatever does not fit, naming it.
    """
    fixed = dict(values or {})
    names = tuple(track) if track is not None else tuple(name for name in study.parameters if name not in fixed)
    times = np.asarray(times_s, float)
    if times.ndim != 1 or len(times) < 2 or not np.isfinite(times).all() or not (np.diff(times) > 0).all():
        raise InputError("times_s: must be at least two instants, each after the one before")
    steps = np.diff(times)
    if np.ptp(steps) > 1e-3 * steps.mean():
        raise InputError(f"times_s: must be evenly spaced, and steps range from {steps.min():g} to {steps.max():g} s")
    data = stack("observed", observed, len(times))
    check_gaps(data, tuple(observed), gaps)
    for name, samples in (inputs or {}).items():
        stack("input", {name: samples}, len(times))
    begin = dict(start or {})
    for name in names:
        if name not in begin:
            if name not in study.model().inputs:
                raise InputError(f"`{name}` cannot be tracked: {did_you_mean(name, study.model().inputs)}")
            if name not in study.parameters:
                raise InputError(f"`{name}` has no prior: `start` must hold its mean and standard deviation")
            begin[name] = (study.parameters[name].prior.mean(), study.parameters[name].prior.std())
    following = follow(
        study,
        case=case,
        values={name: begin[name][0] for name in names} | fixed,
        track=names,
        quantities=tuple(observed),
        times_s=times,
        inputs={name: np.ascontiguousarray(samples, float) for name, samples in (inputs or {}).items()},
        substeps=substeps,
    )
    variances = noise_variance if isinstance(noise_variance, Mapping) else dict.fromkeys(observed, noise_variance)
    drifts = drift if isinstance(drift, Mapping) else dict.fromkeys(names, drift)
    for field_name, table, keys in (("noise_variance", variances, observed), ("drift", drifts, names)):
        if missing := [key for key in keys if key not in table]:
            raise InputError(f"{field_name}: nothing for {', '.join(missing)}")
    return run(
        following,
        times,
        data,
        noise=[float(variances[name]) for name in observed],
        begin=[begin[name] for name in names],
        state_std=state_std,
        drift=[float(drifts[name]) for name in names],
        use_first=use_first,
        smooth=smooth,
    )


def run(
    following: Following,
    times_s: Floats,
    data: Floats,
    *,
    noise: Sequence[float],
    begin: Sequence[tuple[float, float]],
    state_std: tuple[float, float],
    drift: Sequence[float],
    use_first: bool = False,
    smooth: bool = False,
) -> Filtered:
    """Follow with a system that is ready; lists are in the order of its channels and tracked parameters."""
    masses = len(following.masses)
    std = np.array([*np.repeat(state_std, masses), *(pair[1] for pair in begin)])
    answer = as_input_error(
        lambda: _core.filter_oscillators(
            following.traceable.system,
            following.spec(),
            data,
            mean=[*following.start.tolist(), *(float(pair[0]) for pair in begin)],
            covariance=np.diag(std * std),
            drift=list(drift),
            noise=list(noise),
            use_first=use_first,
            smoothed=smooth,
        )
    )
    return Filtered(following.states, following.quantities, times_s, **answer)


def stack(field_name: str, columns: Mapping[str, Floats], samples: int) -> Floats:
    """Columns side by side (samples, columns), each of the right length."""
    if not columns:
        raise InputError(f"{field_name}: nothing is given")
    for name, values in columns.items():
        if np.shape(values) != (samples,):
            raise InputError(f"{field_name} `{name}` has {np.shape(values)} values for {samples} instants")
    return np.stack([np.asarray(values, float) for values in columns.values()], axis=1)


def check_gaps(data: Floats, names: Sequence[str], gaps: str) -> None:
    """Refuse NaN, unless gaps are to be skipped."""
    if gaps not in ("refuse", "skip"):
        raise InputError(f"gaps = {gaps!r}: must be refuse or skip")
    missing = np.isnan(data)
    if gaps == "refuse" and missing.any():
        row, column = np.argwhere(missing)[0]
        raise InputError(
            f"observed `{names[column]}`: sample {row} is NaN, and {int(missing.sum())} are in all",
            hint='gaps = "skip" leaves them out',
        )
