"""Posteriors on chaos surrogates, sampled by the core: transform, priors, expansions and data in one loop.

    target, why_not = compiled_target(likelihood, priors, {"model": surrogate})

gives the target that `likelihood.posterior(priors)` gives, with a compiled `advance` where every part has one:
independent Gaussian groups, curves whose clock and errors are known, errors of forward models that are the same
everywhere, outputs of the family `chaos`, priors with a closed form. Elsewhere `why_not` says in half a sentence what
has none, and the same posterior is sampled by numpy, about a tenth as fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss._core import ChaosExpansion, ChaosPosterior
from percuss.inference.arrays import Floats
from percuss.inference.common_error import CommonError
from percuss.inference.compiled_curves import CurveEntries, curve_entries
from percuss.inference.likelihood import OWN_SHARE, Entries, Group, Likelihood
from percuss.inference.samplers.sample import Block, State
from percuss.inference.target import ABOVE, AFFINE, BELOW, BETWEEN, Target
from percuss.study.priors.beta import Beta
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.lognormal import Lognormal
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior
from percuss.study.priors.truncated_normal import TruncatedNormal
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.canonical import OTHER
from percuss.surrogates.chaos import Expansions

if TYPE_CHECKING:
    from percuss.surrogates.surrogate import Surrogate

# Where a canonical variable comes from: column of the parameter, form, centre and factor of the map.
Input = tuple[int, str, float, float]
# A common error: covariance of the outputs row by row, scales and shares.
Error = tuple[list[float], list[float], list[float]]
SUPPORTS = {AFFINE: "everywhere", ABOVE: "above", BELOW: "below", BETWEEN: "between"}
# Points of the prior at which both densities are compared before the compiled one is believed.
COMPARED = 16


class Compiled(NamedTuple):
    """A target, and why it has no compiled `advance`; None when it has one."""

    target: Target
    why_not: str | None


class NotCompiledError(Exception):
    """Part of a posterior that the core does not know."""


def compiled_target(
    likelihood: Likelihood,
    priors: Mapping[str, Prior],
    surrogates: Mapping[str, Surrogate],
    correlation: Floats | None = None,
) -> Compiled:
    """Return the posterior, with a compiled `advance` where that can be.

    `surrogates` are those that the likelihood's forward models evaluate, by the name of the forward model; what
    variance of their error counts is asked of the forward models themselves.
    """
    plain = likelihood.posterior(priors, correlation)
    if correlation is not None:
        return Compiled(plain, "parameters are correlated")
    if likelihood.specimens:
        return Compiled(plain, "parameters differ between specimens")
    try:
        core = compile_posterior(likelihood, plain, surrogates)
        _compare(core, plain)
    except NotCompiledError as why:
        return Compiled(plain, str(why))
    return Compiled(replace(plain, advance=_advance(core), glide=_glide(core), density=core.log_density), None)


def _advance(core: ChaosPosterior) -> Callable[[Target, State, Floats, int, int, np.random.Generator], Block]:
    def advance(
        target: Target, state: State, factor: Floats, draws: int, thin: int, generator: np.random.Generator
    ) -> Block:
        key = int(generator.integers(2**63))
        z, p, accepted = core.advance(state.positions, state.log_density, factor, draws, thin, key)
        return Block(z, p, State(z[:, -1].copy(), p[:, -1].copy()), accepted / (draws * thin), p.size * thin)

    return advance


def _glide(core: ChaosPosterior) -> Callable[[State, Floats, float, int, int, np.random.Generator], tuple[Block, int]]:
    def glide(
        state: State, factor: Floats, step: float, steps: int, draws: int, generator: np.random.Generator
    ) -> tuple[Block, int]:
        """Advance all chains by trajectories; tell how many of them diverged."""
        key = int(generator.integers(2**63))
        z, p, accepted, divergent, gradients = core.glide(
            state.positions, state.log_density, factor, step, steps, draws, key
        )
        state = State(z[:, -1].copy(), p[:, -1].copy())
        return Block(z, p, state, accepted / draws, len(p) * gradients), int(divergent.sum())

    return glide


def compile_posterior(likelihood: Likelihood, plain: Target, surrogates: Mapping[str, Surrogate]) -> ChaosPosterior:
    """Return the density of the `plain` posterior of a likelihood in the core, or raise NotCompiledError."""
    entries = likelihood.entries()
    if entries is None:
        raise NotCompiledError("a data group is not independent and Gaussian")
    x = plain.transform.values(_somewhere(plain))
    forwards: list[tuple[ChaosExpansion, list[Input], Error | None]] = []
    data: list[Entries] = []
    places: list[NDArray[np.int64]] = []
    constant = 0.0
    for position, (name, forward) in enumerate(likelihood.forwards.items()):
        curves = [group for group in likelihood.groups if group.forward == name and group.reading]
        samples = _samples(likelihood, curves, x) if curves else None
        own = samples.entries(position) if samples else entries.of(position)
        if not len(own.observed):
            continue
        used = samples.columns if samples else np.unique(own.column)
        variance = np.atleast_2d(forward(x[:, : len(likelihood.parameters)])[1])[:, used]
        if np.ptp(variance, axis=0).any():
            raise NotCompiledError(f"the error of forward model `{name}` varies from point to point")
        model, inputs = _forward(name, surrogates.get(name), likelihood.parameters, [int(j) for j in used])
        common = likelihood.errors.get(name)
        error = _covariance(common, used, np.sqrt(variance[0])) if common else None
        number = np.full(len(own.observed), len(forwards))
        if samples:
            model, error = samples.expansions(model), None if error is None else samples.covariance(error)
            constant += samples.constant
            data.append(replace(own, forward=number))
            places.append(np.full(len(number), len(entries.observed)))
        else:
            column = np.searchsorted(used, own.column)
            known = own.variance + (OWN_SHARE if common else 1.0) * variance[0][column]
            data.append(replace(own, forward=number, column=column, variance=known))
            places.append(np.flatnonzero(entries.forward == position))
        scales = (common.scales.tolist(), common.shares.tolist()) if common else ([], [])
        forwards.append((model.core, inputs, None if error is None else (error.ravel().tolist(), *scales)))
    transform = plain.transform
    parameters = [
        (SUPPORTS[int(transform.kind[j])], float(transform.origin[j]), float(transform.scale[j]), *_density(prior))
        for j, prior in enumerate(plain.priors)
    ]
    # What does not depend on the parameters goes with the density of the first prior.
    first = parameters[0]
    parameters[0] = (*first[:-1], first[-1] + constant)
    # In the order of the data, samples of curves last: sums then round as they always did.
    order = np.argsort(np.concatenate(places), kind="stable")
    number, column, observed, variance, unknown = (
        np.concatenate([getattr(part, field.name) for part in data])[order] for field in fields(Entries)
    )
    return ChaosPosterior(parameters, forwards, number, column, observed, variance, unknown)


def _samples(likelihood: Likelihood, curves: Sequence[Group], x: Floats) -> CurveEntries:
    """The samples of curves of one forward model."""
    known = likelihood.known_variances(x)
    samples = curve_entries(curves, [known[group.name] for group in curves])
    if samples is None:
        raise NotCompiledError("the clock or the error of a time history is inferred")
    return samples


def _covariance(common: CommonError, used: NDArray[np.int64], std: Floats) -> Floats:
    return np.asarray(std[:, None] * common.correlation[np.ix_(used, used)] * std)


def _forward(
    name: str, surrogate: Surrogate | None, parameters: tuple[str, ...], used: list[int]
) -> tuple[Expansions, list[Input]]:
    """Return the expansions of the columns in use, and where their variables come from."""
    part = next((part for part in surrogate.parts if set(used) <= set(part.columns)), None) if surrogate else None
    if surrogate is None or part is None or not isinstance(part.model, Expansions):
        raise NotCompiledError(f"forward model `{name}` is not all polynomial chaos")
    inputs = []
    for variable, parameter in zip(surrogate.canonical.variables, surrogate.names, strict=True):
        if parameter not in parameters:
            raise NotCompiledError(f"forward model `{name}` has parameter `{parameter}`, which is not sampled")
        if variable.form == OTHER:
            raise NotCompiledError(
                f"forward model `{name}` sees parameter `{parameter}` through quantiles of its prior"
            )
        inputs.append((parameters.index(parameter), variable.form, variable.centre, variable.factor))
    model = part.model.take([part.columns.index(column) for column in used])
    assert isinstance(model, Expansions)
    return model, inputs


def _density(prior: Prior) -> tuple[str, list[float], float, float]:
    """Return what the core knows a prior by: kind and fields of its shape; a point and the log density there."""
    match prior:
        case Uniform() | LogUniform():
            kind, fields = prior.kind, list[float]()
        case Normal() | TruncatedNormal():
            kind, fields = Normal.kind, [prior.fields["mean"], prior.fields["std"]]
        case Lognormal():
            kind, fields = prior.kind, list(prior.log_parameters())
        case Gamma():
            kind, fields = prior.kind, list(prior.shape_and_scale())
        case Beta():
            kind, fields = prior.kind, [prior.fields["alpha"], prior.fields["beta"], *prior.support()]
        case _:
            raise NotCompiledError(f"the core has no {prior.kind} prior")
    anchor = float(prior.ppf(0.5))
    return kind, fields, anchor, float(prior.logpdf(anchor))


def _compare(core: ChaosPosterior, plain: Target) -> None:
    """Refuse a compiled density that is not the plain one: a forward model may do more than its surrogate."""
    z = _somewhere(plain)
    ours, theirs = core.log_density(z), plain.log_density(z)
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-6):
        raise NotCompiledError("a forward model is not its surrogate alone")


def _somewhere(plain: Target) -> Floats:
    """Return a few unbounded points of the prior, always the same."""
    return plain.draw_prior(COMPARED, np.random.default_rng(0))
