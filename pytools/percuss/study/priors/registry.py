"""The table of priors. A new kind is one module and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from percuss.spelling import did_you_mean, shown
from percuss.study.priors.beta import Beta
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.lognormal import Lognormal
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior, PriorError, read_fields
from percuss.study.priors.truncated_normal import TruncatedNormal
from percuss.study.priors.uniform import Uniform

PRIORS: dict[str, type[Prior]] = {
    prior.kind: prior for prior in (Uniform, Normal, Lognormal, TruncatedNormal, Beta, Gamma, LogUniform)
}


def read_prior(table: Mapping[str, object], unit: str) -> Prior:
    """Build the prior a table `{ kind = ..., fields }` describes, bare numbers in `unit`.

    Raises PriorError with every fault found.
    """
    kind = table.get("kind")
    if not isinstance(kind, str):
        raise PriorError([("kind", f"missing or no text: one of {', '.join(PRIORS)}")])
    if kind not in PRIORS:
        raise PriorError([("kind", f"unknown kind {shown(kind)}: {did_you_mean(kind, PRIORS)}")])
    return read_fields(PRIORS[kind], {name: value for name, value in table.items() if name != "kind"}, unit)


def prior_from_json(data: Mapping[str, object]) -> Prior:
    """Build a prior from what `Prior.to_json` gave: fields in SI."""
    return read_prior(data, "1")
