"""The contract of a model: documented tables, and runs that are pure functions of point and seed."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence

import numpy as np

from percuss.models.model import Done, Failed, Mixing, Model, Outcome, Value, configure, model_module
from percuss.models.seeds import Mixture
from percuss.units import parse_unit


def check_model(
    kind: str,
    settings: Mapping[str, object],
    points: Sequence[Mapping[str, Value]],
    files: Mapping[str, bytes] | None = None,
) -> Model:
    """Check a kind of model, configured with these settings, at points (inputs in SI; defaults are filled in)."""
    assert len({str(sorted(point.items())) for point in points}) >= 2, "give two or more different points"
    model = configure(kind, settings, files or {})
    _check_tables(kind, settings, model)
    full = [{n: i.default for n, i in model.inputs.items() if i.default is not None} | dict(p) for p in points]
    seeds = [7 + i for i in range(len(full))]
    together = model.run(full, seeds)
    assert len(together) == len(full), f"{len(full)} points gave {len(together)} outcomes"
    for outcome in together:
        _check_outcome(model, outcome)
    assert any(isinstance(outcome, Done) for outcome in together), "no run finished: give points that do"
    _check_same(together, model.run(full, seeds), "run again")
    backwards = model.run(full[::-1], seeds[::-1])[::-1]
    _check_same(together, backwards, "in another order, so a run depends on the others of its batch")
    one_by_one = [model.run([p], [s])[0] for p, s in zip(full, seeds, strict=True)]
    _check_same(together, one_by_one, "one by one, so a run depends on the others of its batch")
    again = pickle.loads(pickle.dumps((kind, dict(settings), dict(files or {}))))
    _check_same(together, configure(*again).run(full, seeds), "configured again, as a worker elsewhere does")
    assert model.run([], []) == [], "no points must give no outcomes"
    if isinstance(model, Mixing) and model.random_variables():
        mixtures = [Mixture((seed, seed + 100), (0.6, 0.8)) for seed in seeds]
        mixed = model.run(full, mixtures)
        _check_same(mixed, model.run(full[::-1], mixtures[::-1])[::-1], "in another order, drawn from mixtures")
        one = [model.run([p], [m])[0] for p, m in zip(full, mixtures, strict=True)]
        _check_same(mixed, one, "one by one, drawn from mixtures")
    return model


def _check_tables(kind: str, settings: Mapping[str, object], model: Model) -> None:
    """Names, units and words that studies, help and documents are made from."""
    assert model.kind == kind, f"kind is {model.kind!r}, and its entry says {kind!r}"
    assert isinstance(model.batch, int) and model.batch >= 1, f"batch = {model.batch!r} must be a whole number >= 1"
    for name, setting in model_module(kind).settings(settings).items():
        assert setting.name == name, f"setting {name} calls itself {setting.name}"
        assert setting.doc, f"setting {name} has no doc"
    for name, item in model.inputs.items():
        assert item.name == name, f"input {name} calls itself {item.name}"
        assert item.doc, f"input {name} has no doc"
        if item.unit is None:
            assert item.choices, f"input {name} has neither a unit nor choices"
        else:
            assert parse_unit(item.unit).scale == 1, f"input {name}: {item.unit} is no SI unit"
    for name, quantity in model.quantities.items():
        assert quantity.name == name, f"quantity {name} calls itself {quantity.name}"
        assert quantity.doc or quantity.meaning, f"quantity {name} has no doc"
        assert parse_unit(quantity.unit).scale == 1, f"quantity {name}: {quantity.unit} is no SI unit"
        if quantity.axis is not None:
            axis = model.quantities.get(quantity.axis)
            assert axis is not None and axis.curve and axis.axis is None, f"quantity {name}: axis {quantity.axis}"


def _check_outcome(model: Model, outcome: Outcome) -> None:
    if isinstance(outcome, Failed):
        assert outcome.reason, "a failed run without a reason"
        return
    for name in outcome.values:
        assert name in model.quantities and not model.quantities[name].curve, f"value {name} is no scalar quantity"
    for name, values in (outcome.curves or {}).items():
        assert name in model.quantities and model.quantities[name].curve, f"curve {name} is no curve of the model"
        axis = model.quantities[name].axis
        if axis is not None and outcome.curves:
            assert len(values) == len(outcome.curves[axis]), f"curve {name} is not as long as its axis {axis}"


def _check_same(first: Sequence[Outcome], second: Sequence[Outcome], how: str) -> None:
    for number, (a, b) in enumerate(zip(first, second, strict=True)):
        assert type(a) is type(b), f"run {number}: {type(a).__name__}, and {type(b).__name__} {how}"
        if isinstance(a, Failed) or isinstance(b, Failed):
            assert isinstance(a, Failed) and isinstance(b, Failed) and a.reason == b.reason, f"run {number}: {how}"
            continue
        assert a.values.keys() == b.values.keys(), f"run {number}: other quantities {how}"
        for name, value in a.values.items():
            same = value == b.values[name] or (np.isnan(value) and np.isnan(b.values[name]))
            assert same, f"run {number}: {name} is {value!r}, and {b.values[name]!r} {how}"
        for name, curve in (a.curves or {}).items():
            other = (b.curves or {})[name]
            assert np.array_equal(curve, other, equal_nan=True), f"run {number}: curve {name} differs {how}"
