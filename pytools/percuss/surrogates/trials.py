"""A family fitted to the outputs of a group, with its errors, and the average of several of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from percuss.surrogates.assessment import Folds, Nested, apart, fit_nested, probed_means, relative
from percuss.surrogates.average import Averages, Member, ordered, typical_variance, weights_of
from percuss.surrogates.model import Array, Data, FamilyModule, Model, Settings
from percuss.surrogates.two_level import TwoLevel

# Held-out errors of a model of some outputs of a group, by their places in it.
Judge = Callable[[Model, Sequence[int]], Array]


@dataclass(frozen=True)
class Trial:
    """Models of some outputs and what is known of their errors.

    `probed` are means (1 + folds, points, m) at points of the prior, of the model and of those of its folds; `apart`
    (folds, m) are the mean squares by which these differ over the prior, over the variance of the output.
    """

    model: Model
    left_out: Array
    loo: Array
    nested: Nested | None
    probed: Array | None
    apart: Array | None
    elsewhere: Array | None
    error: Array
    held_out: Array | None

    def take(self, columns: Sequence[int]) -> Trial:
        """Only these outputs."""
        chosen = list(columns)

        def of(array: Array | None) -> Array | None:
            return None if array is None else array[..., chosen]

        return Trial(
            self.model.take(chosen),
            self.left_out[:, chosen],
            self.loo[chosen],
            self.nested.take(chosen) if self.nested else None,
            of(self.probed),
            of(self.apart),
            of(self.elsewhere),
            self.error[chosen],
            of(self.held_out),
        )


def try_family(
    module: FamilyModule,
    data: Data,
    settings: Settings,
    folds: Folds | None,
    probes: Array,
    judge: Judge | None,
    columns: Sequence[int],
) -> Trial:
    """Fit one family to the outputs of the data, which are the group's `columns`, and find its errors."""
    model = module.fit(data, settings)
    left_out = data.values - model.loo_residuals(data)
    loo = relative(data.values - left_out, data.values)
    nested, probed, distances, far, error = None, None, None, None, loo
    if folds:
        nested = fit_nested(module, data, folds, settings, model)
        probed = probed_means(model, nested, probes)
        distances = apart(model, nested, probed, data.values)
        far = distances.mean(axis=0)
        if isinstance(module, TwoLevel):
            nested = module.unseen(nested, folds.places, data.points)
            far = far + module.elsewhere(model, data.values)
        error = np.maximum(relative(data.values - nested.predicted, data.values), far)
    held_out = judge(model, columns) if judge else None
    return Trial(model, left_out, loo, nested, probed, distances, far, error, held_out)


@dataclass(frozen=True)
class Weighed:
    """Trials of the same outputs, and what each counts for: weights (k, m), and (k, m) without each fold in turn."""

    trials: dict[str, Trial]
    weights: Array
    without: list[Array]

    @classmethod
    def of(cls, trials: Mapping[str, Trial], values: Array, places: NDArray[np.intp]) -> Weighed:
        """Weigh trials by their errors; the weights of a fold are found without its residuals."""
        names = ordered(list(trials))
        each = [trials[name] for name in names]
        spread = values.var(axis=0)
        left_out = np.stack([one.left_out - values for one in each]) ** 2 / spread
        nested = np.stack([_nested(one).predicted - values for one in each]) ** 2 / spread
        far = np.stack([one.apart for one in each if one.apart is not None])
        without = [
            weights_of(
                left_out[:, places != fold].mean(axis=1),
                nested[:, places != fold].mean(axis=1),
                np.delete(far, fold, axis=1).mean(axis=1),
            )
            for fold in range(far.shape[1])
        ]
        weights = weights_of(left_out.mean(axis=1), nested.mean(axis=1), far.mean(axis=1))
        return cls(dict(zip(names, each, strict=True)), weights, without)

    def alone(self, output: int) -> str | None:
        """The only one that counts for an output, if it is one."""
        counting = [name for name, weight in zip(self.trials, self.weights[:, output], strict=True) if weight > 0]
        return counting[0] if len(counting) == 1 else None

    def average(
        self, data: Data, places: NDArray[np.intp], members: Sequence[int], judge: Judge | None, columns: Sequence[int]
    ) -> Trial:
        """The average of some outputs, places of the trials' outputs in `members` and of the group's in `columns`."""
        parts = [trial.take(members) for trial in self.trials.values()]
        own = data.values[:, list(members)]
        weights = self.weights[:, list(members)]
        without = [weights_of_fold[:, list(members)] for weights_of_fold in self.without]
        left_out = np.einsum("kj,knj->nj", weights, np.stack([part.left_out for part in parts]))
        predicted = np.empty_like(own)
        for fold, weights_of_fold in enumerate(without):
            inside = places == fold
            each = np.stack([_nested(part).predicted[inside] for part in parts])
            predicted[inside] = np.einsum("kj,knj->nj", weights_of_fold, each)
        probed = np.stack(
            [
                np.einsum("kj,kpj->pj", one, np.stack([part.probed[at] for part in parts if part.probed is not None]))
                for at, one in enumerate([weights, *without])
            ]
        )
        model = self._model([part.model for part in parts], weights, [part.left_out for part in parts])
        models = [
            self._model([_nested(part).models[fold] for part in parts], one, None) for fold, one in enumerate(without)
        ]
        nested = Nested(tuple(models), predicted)
        distances = apart(model, nested, probed, own)
        far = distances.mean(axis=0)
        loo = relative(own - left_out, own)
        error = np.maximum(relative(own - predicted, own), far)
        held_out = judge(model, columns) if judge else None
        return Trial(model, left_out, loo, nested, probed, distances, far, error, held_out)

    def _model(self, models: Sequence[Model], weights: Array, left_out: Sequence[Array] | None) -> Averages:
        outputs, typical = [], []
        for j in range(weights.shape[1]):
            counting = [k for k in range(len(weights)) if weights[k, j] > 0]
            names = list(self.trials)
            members = tuple(Member(names[k], float(weights[k, j]), models[k].take([j])) for k in counting)
            outputs.append(members)
            if left_out is not None:
                typical.append(typical_variance(members, [left_out[k][:, j] for k in counting]))
        return Averages(tuple(outputs), tuple(typical))


def _nested(trial: Trial) -> Nested:
    assert trial.nested is not None  # Averages are made where there are folds.
    return trial.nested
