"""Designs that are given, not sampled: one point for `simulate`, a table of points for `import`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from percuss.designs.design import Design
from percuss.errors import InputError
from percuss.models.model import Value
from percuss.models.seeds import Mixture
from percuss.study.study import Study

if TYPE_CHECKING:
    from numpy import ndarray

GIVEN = "given"


class PointDesign(NamedTuple):
    """One point: its design, all its inputs in SI, the given ones that are no parameters, and which are at means."""

    design: Design
    point: dict[str, Value]
    fixed: dict[str, Value]
    at_mean: list[str]


def point_design(study: Study, case: str, chosen: Mapping[str, Value]) -> PointDesign:
    """One point: given values, then those of case and model, then prior means."""
    import numpy as np

    held = [name for name in chosen if name in study.parameters and name in study.cases[case]]
    if held:
        raise InputError(f"`{held[0]}`: case {case} holds it at the mean of its prior, so that no value can be given")
    known = {**study.fixed, **study.cases[case]}
    inputs = study.model().inputs
    at_mean = [
        name
        for name in study.parameters
        if name not in chosen and name not in known and (name not in inputs or inputs[name].default is None)
    ]
    means = {name: float(study.parameters[name].prior.mean()) for name in at_mean}
    point = study.point(case, {**means, **chosen})
    values = np.array([[float(point[name]) for name in study.parameters]])
    fixed = {name: point[name] for name in chosen if name not in study.parameters}
    return PointDesign(table_design(study, values, GIVEN), point, fixed, at_mean)


def table_design(
    study: Study, values: ndarray, sampler: str, seed: int = 0, mixtures: Sequence[Mixture] = ()
) -> Design:
    """Points in SI as a design; their places in the unit cube follow from the priors."""
    from percuss.study.joint import Joint

    unit = Joint.of(study, seed).to_unit(values)
    names = tuple(study.parameters)
    return Design(study, sampler, seed, 0, {}, names, unit, values, mixtures=tuple(mixtures))
