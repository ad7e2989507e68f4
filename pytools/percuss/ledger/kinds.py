"""The kinds of events: what each says, from which events it must come, and how its older versions are read.

A new kind is one line of the table. When the body of a kind changes, its version goes up and an upcaster from the
version before is put beside it: events are never rewritten, they are read in their newest meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from percuss.trust import is_trust

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
Check = Callable[[object], bool]


@dataclass(frozen=True)
class Kind:
    """One kind of event.

    `needs` maps each role an event of this kind must have among its inputs to the kinds that can fill it, `one_of`
    those of which it must have at least one: `audit` follows them to prove that nothing stands on air. `fields` are
    what its body must have, each with a check: a ledger may come from a stranger. `upcasters[v]` turns a body of
    version v into one of v + 1.
    """

    says: str
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fields: Mapping[str, Check] = field(default_factory=dict)
    one_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: int = 1
    upcasters: Mapping[int, Upcaster] = field(default_factory=dict)


def _text(value: object) -> bool:
    return isinstance(value, str)


def _count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _table(value: object) -> bool:
    return isinstance(value, dict)


def _list(value: object) -> bool:
    return isinstance(value, list)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _counts(value: object) -> bool:
    return isinstance(value, list) and all(map(_count, value))


def _truth(value: object) -> bool:
    return isinstance(value, bool)


def _maybe_table(value: object) -> bool:
    return value is None or isinstance(value, dict)


def _tables(value: object) -> bool:
    return isinstance(value, list) and all(map(_table, value))


def _reasons(value: object) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


Needs = dict[str, tuple[str, ...]]
_STUDY: Needs = {"study": ("study.registered",)}
_DESIGN: Needs = _STUDY | {"design": ("design.created",)}
_RUNS: Needs = {"runs": ("runs.completed", "runs.failed")}
_CAMPAIGN: Needs = {"campaign": ("campaign.completed",)}
_POINTS: dict[str, Check] = {"sampler": _text, "n": _count, "names": _texts, "cases": _texts, "fixed": _table}
_BATCH: dict[str, Check] = {"case": _text, "samples": _counts}
_CLOSING: dict[str, Check] = {"completed": _count, "failed": _count, "content": _text}
_OBSERVATIONS: Needs = {"observations": ("observations.imported",)}
_FORWARD: Needs = {"surrogate": ("surrogate.fitted",), **_RUNS}
_POSTERIOR: Needs = {"posterior": ("posterior.sampled",)}
_COMPARED: Needs = {"posterior": ("posterior.sampled", "validation.computed")}
_TRUSTED: dict[str, Check] = {"trust": is_trust}
_SAMPLED: dict[str, Check] = _TRUSTED | {
    "names": _texts,
    "parameters": _tables,
    "block": _text,
    "calibration": _table,
    "sampler": _text,
    "settings": _table,
    "stopping": _table,
    "converged": _truth,
    "direct": _truth,
    "reasons": _texts,
    "summary": _maybe_table,
    "evidence": _table,
    "twin": _maybe_table,
}
_SURROGATE: dict[str, Check] = _TRUSTED | {"names": _texts, "cases": _texts, "points": _count, "settings": _table}


def _without_verdicts(body: dict[str, Any]) -> dict[str, Any]:
    """Of a time before results carried verdicts: none but whether draws that had not converged were accepted."""
    accepted = body.get("accepted_unconverged", False)
    converged = body.get("converged", not accepted)
    reasons = "; ".join(body.get("reasons", [])) or "the posterior it stands on"
    found = {
        "gate": "convergence",
        "passed": False,
        "sentence": f"the posterior is not converged: {reasons}",
        "figure": None,
        "threshold": None,
        "about": [],
        "accepted": accepted,
        "source": None,
    }
    kept = {key: value for key, value in body.items() if key != "accepted_unconverged"}
    return kept | {"trust": [] if converged else [found]}


_SINCE_TRUST: dict[int, Upcaster] = {1: _without_verdicts}


def _error_of_each_datum(body: dict[str, Any]) -> dict[str, Any]:
    """Of a time when the error of a surrogate was taken for a new one of each datum: that is now a name."""
    block = body.get("calibration")
    if not isinstance(block, dict) or block.get("surrogate_error", True) is not True:
        return body
    return body | {"calibration": block | {"surrogate_error": "per-datum"}}


KINDS: dict[str, Kind] = {
    "study.registered": Kind("a study file in its resolved form, with the digests of its data files"),
    "design.created": Kind("sample points of a study's parameters", _STUDY, _POINTS),
    "scene.settled": Kind("a scene at rest, from which runs start", _STUDY, {"key": _text, "steps": _count}),
    "runs.completed": Kind("outputs of a batch of runs of one case of a design", _DESIGN, _BATCH),
    "runs.failed": Kind("runs of a batch that failed, each with its reason", _DESIGN, _BATCH | {"reasons": _reasons}),
    "campaign.completed": Kind("every run of a design is in: the list of its batches", _DESIGN | _RUNS, _CLOSING),
    "surrogate.fitted": Kind(
        "surrogates of all outputs of a design's runs, with their errors",
        _DESIGN | _CAMPAIGN,
        _SURROGATE,
        version=2,
        upcasters=_SINCE_TRUST,
    ),
    "indices.computed": Kind(
        "sensitivity indices, from a surrogate or straight from runs",
        _STUDY,
        _TRUSTED | {"names": _texts, "methods": _texts},
        version=2,
        upcasters=_SINCE_TRUST,
    ),
    "region.computed": Kind(
        "where the time histories of a design's runs lie, and how well the runs tell",
        _DESIGN | _CAMPAIGN,
        _TRUSTED | {"curves": _texts, "cases": _texts, "facts": _tables, "sources": _texts, "axis": _text},
        version=2,
        upcasters=_SINCE_TRUST,
    ),
    "filter.updated": Kind(
        "weights of an ensemble by observations, and the parameters they identify",
        _DESIGN | _CAMPAIGN,
        _TRUSTED
        | {"names": _texts, "cases": _texts, "observed": _table, "covariance": _table, "identified": _maybe_table},
        version=2,
        upcasters=_SINCE_TRUST,
    ),
    "observations.imported": Kind(
        "measured values, bound to the outputs of a study",
        _STUDY,
        {"file": _text, "entries": _count, "twin": _maybe_table},
    ),
    "posterior.sampled": Kind(
        "a calibration: draws of the parameters given observations",
        _STUDY | _OBSERVATIONS,
        _SAMPLED,
        _FORWARD,
        version=3,
        upcasters=_SINCE_TRUST | {2: _error_of_each_datum},
    ),
    "prediction.made": Kind(
        "what a study's outputs are before and after the data, and whether the simulator agrees",
        _STUDY | _POSTERIOR,
        _TRUSTED | {"draws": _count, "scores": _tables, "verification": _maybe_table},
        version=2,
        upcasters=_SINCE_TRUST,
    ),
    "comparison.made": Kind(
        "calibrations held against each other",
        _COMPARED,
        _TRUSTED | {"same_data": _truth, "posteriors": _tables},
        version=2,
        upcasters=_SINCE_TRUST,
    ),
    "validation.computed": Kind(
        "whether parameters that should be constant drift through data, and what that says of extrapolation",
        _STUDY,
        _TRUSTED
        | {
            "model": _text,
            "tracked": _texts,
            "verdict": _text,
            "reasons": _texts,
            "parameters": _list,
            "samples": _count,
        },
        version=2,
        upcasters=_SINCE_TRUST,
    ),
    "convergence.checked": Kind(
        "one run at finer steps and a tighter tolerance, and which outputs may be quoted",
        _STUDY,
        _TRUSTED | {"case": _text, "point": _table, "plan": _table, "numerics": _table, "outputs": _tables},
    ),
    "check.passed": Kind("a regression study gave what it should", _STUDY),
    "check.failed": Kind("a regression study moved, and by how much", _STUDY),
    "note.added": Kind("words of a person about an event", {"about": ()}),
    "event.superseded": Kind("an event is not to be used any more, and which one stands for it", {"old": ()}),
    "stream.adopted": Kind("the events of another stream, up to a hash, became part of this one"),
    "stream.sealed": Kind("commits were packed into one file; rows and hashes unchanged"),
}


def is_known(kind: str, version: int) -> bool:
    """Whether this percuss can read events of that kind and version."""
    known = KINDS.get(kind)
    return known is not None and 1 <= version <= known.version


def upcast(kind: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
    """The body in the newest version of its kind. Unknown kinds and newer versions are left as they are."""
    if not is_known(kind, version):
        return body
    known = KINDS[kind]
    for step in range(version, known.version):
        body = known.upcasters[step](body)
    return body


def missing_field(kind: str, version: int, body: Mapping[str, object]) -> str | None:
    """The first field of its kind that a body, in its newest version, lacks or has wrong; None if there is none."""
    if not is_known(kind, version):
        return None
    return next((name for name, check in KINDS[kind].fields.items() if not check(body.get(name))), None)
