"""Priors of a study: a density each."""

from __future__ import annotations

import numpy as np

from percuss.errors import InputError
from percuss.plots.drawing import BLUE, INK, THIRD, canvas, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import parameter_scale
from percuss.plots.subject import Subject
from percuss.study.study import Study

MOST = 12
CLASSES = 120


def draw(subject: Subject) -> Figure:
    """The priors of an event."""
    study = subject.session.study(subject.event)
    if not study.parameters:
        raise InputError(f"study {study.name}: has no uncertain parameters to draw")
    return prior_densities(study)


def prior_densities(study: Study) -> Figure:
    """Density of every parameter between its 0.1 and 99.9 %, with median and 95 % marked."""
    names = list(study.parameters)[:MOST]
    across = min(3, len(names))
    down = -(-len(names) // across)
    figure, axes = canvas(down, across, THIRD * across, 0.3 + 1.6 * down)
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    alts = []
    for axis, name in zip(axes.flat, names, strict=False):
        shown, prior = parameter_scale(study, name), study.parameters[name].prior
        first, last = (float(end) for end in prior.ppf([0.001, 0.999]))
        space = np.geomspace if shown.logarithmic else np.linspace
        edges = space(first, last, CLASSES + 1)
        width = np.diff(np.log(edges) if shown.logarithmic else edges)
        density = np.diff(np.asarray(prior.cdf(edges), float)) / np.where(width > 0, width, 1.0)
        axis.stairs(density, shown.of(edges), fill=True, color=BLUE, alpha=0.35)
        axis.stairs(density, shown.of(edges), color=BLUE, linewidth=1.0, baseline=None)
        low, middle, high = shown.of(prior.ppf([0.025, 0.5, 0.975]))
        axis.axvline(middle, color=INK, linewidth=0.9)
        for end in (low, high):
            axis.axvline(end, color=INK, linewidth=0.7, linestyle=":")
        if shown.logarithmic:
            axis.set_xscale("log")
        axis.set_xlabel(shown.label)
        axis.set_yticks([])
        axis.spines["left"].set_visible(False)
        axis.set_ylim(bottom=0)
        alts.append(f"{shown.label} 95 % between {low:.4g} and {high:.4g}")
    return picture(figure, f"Priors: {'; '.join(alts)}", "Priors: median (line), 95 % (dotted lines).")
