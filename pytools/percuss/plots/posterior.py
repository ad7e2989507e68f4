"""A posterior: its corner plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from percuss.calibration.records import Posterior
from percuss.kinds.posterior_sampled import ParameterFacts
from percuss.plots.corner import Column, corner
from percuss.plots.figure import Figure
from percuss.plots.labels import LOGARITHMIC, scale
from percuss.plots.subject import Subject
from percuss.study.priors.registry import prior_from_json

MOST_PARAMETERS = 8


def draw(subject: Subject) -> Figure:
    """The corner plot of an event."""
    return corner_of(subject.load())


def corner_of(posterior: Posterior) -> Figure:
    """The first parameters of a posterior, with what is known of them marked."""
    most = slice(None, MOST_PARAMETERS)
    columns = [column_of(item) for item in posterior.body.parameters][most]
    points = {word: point[most] for word, point in marks(posterior).items()}
    return corner(columns, posterior.flat()[:, most], points, not posterior.converged)


def column_of(item: ParameterFacts) -> Column:
    """One unknown: its scale and its prior."""
    prior = prior_from_json(item.prior)
    return Column(scale(item.name, item.unit, prior.kind in LOGARITHMIC), prior)


def marks(posterior: Posterior) -> dict[str, Any]:
    """Points to mark: mean and mode where they may be told, the truth of twin data."""
    points: dict[str, Any] = {}
    if posterior.summary is not None:
        points = {"mean": posterior.point("mean"), "MAP": posterior.point("mode")}
    twin = posterior.body.twin
    if twin:
        points["truth"] = np.array([twin.get(name, np.nan) for name in posterior.names])
    return points
