"""The table of pictures: what `percuss plot` draws of each kind of event. A new one is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from percuss.errors import InputError
from percuss.kinds.kind import resolved
from percuss.plots.figure import Figure
from percuss.plots.subject import Subject

Draws = Callable[[Subject], Figure]

# Kind of event to `module:function` within this package.
PLOTS: dict[str, str] = {
    "study.registered": "priors:draw",
    "design.created": "runs:draw",
    "runs.completed": "runs:draw",
    "runs.failed": "scatter:draw_failed",
    "campaign.completed": "runs:draw",
    "surrogate.fitted": "surrogate:draw",
    "indices.computed": "indices:draw",
    "region.computed": "regions:draw",
    "fragility.fitted": "fragility:draw",
    "filter.updated": "filtering:draw",
    "observations.imported": "observations:draw",
    "posterior.sampled": "posterior:draw",
    "prediction.made": "prediction:draw",
    "reliability.estimated": "reliability:draw",
    "comparison.made": "comparison:draw",
    "twins.checked": "ranks:draw",
    "advice.computed": "advice:draw",
    "validation.computed": "drift:draw",
    "convergence.checked": "convergence:draw",
    "check.passed": "check:draw",
    "check.failed": "check:draw",
}
# Words about events, and events about the store: there is nothing to draw of them.
WITHOUT_PICTURE = (
    "scene.settled", "note.added", "event.superseded", "stream.adopted", "stream.sealed", "crate.imported",
    "payloads.pruned", "audit.made",
)  # fmt: skip
# Kinds of which several events go into one picture.
TOGETHER = ("runs.completed", "design.created", "campaign.completed", "validation.computed")
# Which choices of a request a picture heeds. A title is for all.
HEEDED: dict[str, tuple[str, ...]] = {
    "runs:draw": ("curves", "samples"),
    "regions:draw": ("curves",),
    "drift:draw": ("curves", "window", "ladder"),
}
_FLAGS = {"curves": "--curve", "samples": "--samples", "window": "--window", "ladder": "--ladder"}


def picture_of(subject: Subject) -> Draws:
    """The function that draws events of a kind; an InputError where there is none, too many events, or a
    choice that the picture does not leave.
    """
    kinds = list(dict.fromkeys(event.kind for event in subject.events))
    place = PLOTS.get(kinds[0])
    if place is None:
        raise InputError(f"event {subject.event.id} ({kinds[0]}): there is nothing to draw of its kind")
    if len({PLOTS.get(kind) for kind in kinds}) > 1:
        raise InputError(f"{' and '.join(kinds)}: do not go into one picture; plot them one by one")
    if len(subject.events) > 1 and kinds[0] not in TOGETHER:
        raise InputError(f"{kinds[0]}: one event makes a picture, not {len(subject.events)}")
    for name, flag in _FLAGS.items():
        if getattr(subject.request, name) and name not in HEEDED.get(place, ()):
            raise InputError(f"{flag}: the picture of {kinds[0]} leaves no such choice")
    return cast(Draws, resolved(f"percuss.plots.{place}"))
