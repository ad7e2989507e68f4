"""Do forward models, observations and priors belong together? What is not so is refused, with names and values."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.models.model import model_files
from percuss.session import Session
from percuss.study.study import Study
from percuss.surrogates.surrogate import Surrogate
from percuss.units import from_si

# The central part of a prior that a surrogate's points must reach over, and by how much they may fall short of it.
CENTRAL = (0.1, 0.9)
SLACK = 0.1


def check_same_model(study: Study, other: Study, whose: str, pairs: Iterable[tuple[str, str]] = ()) -> None:
    """Refuse another study, unless it has the same model and, for these (case, output), the same meaning.

    Priors, observations and calibrations may be others: they change while the runs stay what they are.
    """
    for attribute in ("model_kind", "settings", "fixed"):
        if getattr(study, attribute) != getattr(other, attribute):
            raise InputError(f"{whose}: is of another study than {study.name}: its [model] is another one")
    for path in model_files(study.model_kind, study.settings):
        if study.files.get(path) != other.files.get(path):
            raise InputError(f"{whose}: is of another study than {study.name}: its file {path} is another one")
    if tuple(study.parameters) != tuple(other.parameters):
        raise InputError(
            f"{whose}: is of another study than {study.name}: its parameters are {', '.join(other.parameters)}"
        )
    for case, output in pairs:
        if case not in other.cases or other.cases[case] != study.cases.get(case):
            raise InputError(f"{whose}: is of another study than {study.name}: it has another case {case}")
        if output not in study.outputs and output not in other.outputs:
            continue  # a curve of the model, which is the same
        mine, theirs = study.outputs.get(output), other.outputs.get(output)
        meaning = [
            item and (item.quantity, item.reduce, item.at, item.start, item.stop, item.window)
            for item in (mine, theirs)
        ]
        if mine is None or meaning[0] != meaning[1]:
            raise InputError(f"{whose}: is of another study than {study.name}: it has another output {output}")


def surrogate_points(session: Session, surrogate: Surrogate) -> Floats:
    """The points (n, d) of the designs that a surrogate was fitted to."""
    designs = [session.state.events[item.id] for item in surrogate.event.inputs_as("design")]
    return np.concatenate([session.table(event, "design").select(surrogate.names).to_numpy() for event in designs])


def check_covered(study: Study, surrogate: Surrogate, points: Floats) -> None:
    """Refuse priors that reach over where a surrogate, fitted to these points, was never shown a run."""
    for j, name in enumerate(surrogate.names):
        prior, unit = study.parameters[name].prior, study.parameters[name].unit
        low, high = (float(x) for x in prior.ppf(CENTRAL))
        first, last = float(points[:, j].min()), float(points[:, j].max())
        slack = SLACK * (last - first)
        fitted_low, fitted_high = surrogate.study.parameters[name].prior.support()
        own_low, own_high = prior.support()
        if low < first - slack or high > last + slack or own_low < fitted_low or own_high > fitted_high:
            wide = f"{from_si(low, unit):g} to {from_si(high, unit):g} {unit}".removesuffix(" 1")
            held = f"{from_si(first, unit):g} to {from_si(last, unit):g}"
            raise InputError(
                f"prior of {name}: its central {100 * (CENTRAL[1] - CENTRAL[0]):.0f} % are {wide}, but the points of "
                f"surrogate {surrogate.event.id} cover {held}",
                hint="run a design over the whole prior, or narrow the prior",
            )
