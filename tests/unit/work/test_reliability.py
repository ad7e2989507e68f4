"""Estimates as events: by the simulator, by surrogates, after a posterior; refused, verified, repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import percuss
from percuss.designs.design import read_design
from percuss.errors import AnswerIsNo, InputError
from percuss.first_passage.crossing import level_of
from percuss.first_passage.excitation import kanai_tajimi
from percuss.first_passage.linear import of_oscillators
from percuss.first_passage.moments import moments_of
from percuss.kinds.reliability_estimated import ReliabilityEstimated
from percuss.ledger.projections import batch_of
from percuss.work.audit import audit
from percuss.work.limit_estimate import Request
from percuss.work.reliability import estimate_reliability, repeat_reliability


def line(limits: dict[str, Any], noise: float = 0.0, **more: Any) -> Any:
    """y = x1 + x2 of two standard normals: P(y > 2 sqrt 2) = Phi(-2)."""
    tables = {
        "model": {
            "kind": "benchmark",
            "function": "linear-gaussian",
            "inputs": ["x1", "x2"],
            "outputs": ["y"],
            "matrix": [[1, 1]],
            "noise": noise,
        },
        "parameters": {name: {"prior": {"kind": "normal", "mean": 0, "std": 1}} for name in ("x1", "x2")},
        "limits": limits,
    }
    return percuss.make_study("line", tables | more)


LINE_SEEN = {
    "model": {
        "kind": "benchmark",
        "function": "linear-gaussian",
        "inputs": ["x1", "x2"],
        "outputs": ["y", "seen"],
        "matrix": [[1, 1], [1, 0]],
    },
    "parameters": {name: {"prior": {"kind": "normal", "mean": 0, "std": 1}} for name in ("x1", "x2")},
}
BENT = {
    "model": {"kind": "benchmark", "function": "ishigami"},
    "parameters": {f"x{i}": {"prior": {"kind": "uniform", "low": -3, "high": 3}} for i in (1, 2, 3)},
    "limits": {"high": {"quantity": "y", "threshold": 6}},
}
HIGH = {"high": {"quantity": "y", "threshold": 2 * np.sqrt(2)}}


@pytest.fixture
def book(tmp_path: Any) -> Any:
    return percuss.open_ledger(tmp_path / "ledger", progress=False, jobs=1)


def body(result: Any) -> ReliabilityEstimated:
    return ReliabilityEstimated.of(result.event)


def test_the_simulator_itself(book: Any) -> None:
    result = book.reliability(line(HIGH), method="importance", n=1000)
    told = body(result)
    assert told.basis == "study" and told.runs > 0 and told.evaluations >= told.runs
    assert told.estimate is not None and told.estimate.interval is not None
    low, high = told.estimate.interval
    assert low < ndtr(-2) < high
    np.testing.assert_allclose(list(told.design_points[0].importance.values()), 0.5, atol=1e-6)
    # dp/dmean of each: phi(2) / sqrt 2; dp/dstd: 2 phi(2) / 2.
    density = np.exp(-2) / np.sqrt(2 * np.pi)
    assert told.slopes[0].to_mean == pytest.approx(density / np.sqrt(2), rel=0.25)
    assert told.slopes[1].to_std == pytest.approx(density, rel=0.4)
    samples = result.table("samples")
    again = samples.filter(samples["limit"] <= 0)["weight"].sum()
    assert again == pytest.approx(told.estimate.probability, rel=1e-9)
    assert repeat_reliability(book.session, result.event).verdict == "same"
    assert _runs_named(book, result) == told.runs
    # Another method begins with runs that there are: they are taken, not made again, and named all the same.
    before = _batches(book)
    beside = book.reliability(line(HIGH), method="form")
    (verdict,) = beside.event.data["trust"]
    assert verdict["passed"] and "an approximation of unknown error" in verdict["sentence"]
    made = _batches(book) - before
    assert made < len(beside.event.inputs_as("runs")) and _runs_named(book, beside) == body(beside).runs
    assert all(proof.holds is not False for proof in audit(book.session).proofs)


def _batches(book: Any) -> int:
    return sum(event.kind == "runs.completed" for event in book.session.state.events.values())


def _runs_named(book: Any, result: Any) -> int:
    """How many runs the batches hold that an estimate names."""
    events = [book.session.state.events[item.id] for item in result.event.inputs_as("runs")]
    return sum(len(batch_of(event).samples) for event in events)


@pytest.mark.filterwarnings("ignore::percuss.NotTrusted")
def test_what_has_not_converged_is_refused(book: Any) -> None:
    result = book.reliability(line(HIGH), n=200)
    assert body(result).estimate is None
    (verdict,) = result.event.content.trust
    assert verdict.gate == "probability" and not verdict.passed and "coefficient of variation" in verdict.sentence
    book.session.accept = frozenset({"probability"})
    accepted = book.reliability(line(HIGH), n=200)
    assert body(accepted).estimate is not None and accepted.event.content.trust[0].accepted


def test_nothing_is_appended_for_limits_out_of_reach(book: Any) -> None:
    never = line({"high": {"quantity": "y", "threshold": 100}})
    with pytest.raises(AnswerIsNo, match="the limit was never reached in 200 evaluations"):
        book.reliability(never, n=200)
    always = line({"high": {"quantity": "y", "threshold": 100, "fails": "below"}})
    with pytest.raises(AnswerIsNo, match="all of 200 evaluations fail"):
        book.reliability(always, n=200)
    assert not [e for e in book.session.state.events.values() if e.kind == "reliability.estimated"]


def test_a_model_with_noise_of_its_own(book: Any) -> None:
    study = line(HIGH, noise=1.0)
    with pytest.raises(InputError, match="method form: runs of study line at the same parameters differ"):
        book.reliability(study, method="form")
    told = body(book.reliability(study, method="subset", n=6000, cv=0.5, options={"per_level": 500}))
    assert told.estimate is not None
    # Its variance is three: P = Phi(-2 sqrt 2 / sqrt 3).
    assert told.estimate.probability == pytest.approx(float(ndtr(-np.sqrt(8 / 3))), rel=0.3)


def noisy(threshold: float, **more: Any) -> Any:
    """y = 2 xi with noise alone, or with a parameter x1 beside it."""
    model = {"kind": "benchmark", "function": "linear-gaussian", "inputs": ["x1"], "outputs": ["y"], "matrix": [[1]]}
    fixed = {"noise": 2.0} | ({} if more else {"x1": 0.0})
    tables = {"model": model | fixed, "limits": {"high": {"quantity": "y", "threshold": threshold}}}
    return percuss.make_study("noisy", tables | {"parameters": {}} | more)


def test_the_noise_of_runs_is_part_of_the_chain(book: Any) -> None:
    """1e-5 of noise next to which the parameter is small: chains walk through it as well, and all of it repeats."""
    study = noisy(4.265 * 5**0.5, parameters={"x1": {"prior": {"kind": "normal", "mean": 0, "std": 1}}})
    asked = {"method": "subset", "n": 20_000, "cv": 0.6, "options": {"per_level": 400}}
    result = book.reliability(study, **asked)
    told = body(result)
    assert told.estimate is not None and told.estimate.interval is not None and told.noise == 1
    low, high = told.estimate.interval
    assert low < ndtr(-4.265) < high
    assert repeat_reliability(book.session, result.event).verdict == "same"
    assert all(proof.holds is not False for proof in audit(book.session).proofs)
    # Asked again, also by another process that only has the ledger, nothing is run.
    runs = _batches(book)
    fresh = percuss.open_ledger(book.session.ledger.place.root, progress=False, jobs=1)
    again = body(fresh.reliability(study, **asked))
    assert again.estimate == told.estimate and again.runs == told.runs and _batches(fresh) == runs
    # A run is repeated from its own row of its design: the seeds it was mixed from, and their weights.
    designs = [read_design(book.session, event) for event in book.session.state.designs.values()]
    longest = max(len(mixture.seeds) for design in designs for mixture in design.mixtures)
    squares = [sum(w * w for w in mixture.weights) for design in designs for mixture in design.mixtures]
    assert longest > 5
    np.testing.assert_allclose(squares, 1.0, rtol=1e-13)


def test_runs_that_only_differ_by_noise_are_different_runs(book: Any) -> None:
    """Without parameters all points are the same: they were taken for one run, and all of them failed or none."""
    told = body(book.reliability(noisy(3.0), n=20_000))
    assert told.estimate is not None and told.runs == told.evaluations > 1000
    assert told.estimate.probability == pytest.approx(float(ndtr(-1.5)), rel=0.3)
    with pytest.raises(InputError, match="quasi-monte-carlo: there is no parameter to spread points of"):
        book.reliability(noisy(3.0), method="quasi-monte-carlo")


def test_estimates_whose_noise_was_not_chosen_are_repeated_as_they_were_made(book: Any) -> None:
    study = line(HIGH, noise=1.0)
    before = estimate_reliability(book.session, Request(study=study, method="subset", cv=0.4, mixes=False))
    assert before.body.noise == 0 and not before.body.notes
    assert repeat_reliability(book.session, before.event).verdict == "same"


def test_first_passage_of_two_linear_towers(book: Any) -> None:
    """1e-3 by subset simulation in 4094 variables of the ground motion, against Vanmarcke's closed form.

    The closed form was within a tenth of 2000 simulated motions (tests/unit/first_passage).
    """
    settings = {"frequency": "2.5 Hz", "damping": 0.6, "rise": "2 s", "plateau": "10 s", "decay": "0.3 1/s"}
    settings |= {"amplitudes": "random"}
    tables = {
        "model": {
            "kind": "oscillators",
            "duration": "20 s",
            "sampling": "20 s",
            "masses": [{"name": "A", "mass": "1 t"}, {"name": "B", "mass": "1 t"}],
            "springs": [
                {"name": "A", "between": ["base", "A"], "stiffness": "109.66 kN/m", "damping_ratio": 0.05},
                {"name": "B", "between": ["base", "B"], "stiffness": "48.739 kN/m", "damping_ratio": 0.05},
            ],
            "contacts": [{"name": "AB", "between": ["A", "B"]}],
            "base_synthetic": settings,
            "intensity": "1 m/s^2",
            "law": "rigid",
            "restitution": 0.5,
            "gap": "10 m",
        },
        "parameters": {},
    }
    bare = percuss.make_study("towers", tables)
    model = bare.model()
    system = of_oscillators(model, bare.point("base", {}))
    excitation = kanai_tajimi(model.base.synthetic, 1.0, 20.0)
    moments = moments_of(system, excitation, [1.0, -1.0], np.arange(0.0, 20.01, 0.1))
    limit = {"quantity": "closing_AB", "threshold": f"{level_of(moments, 1e-3)} m"}
    study = percuss.make_study("towers", tables | {"limits": {"pounding": limit}})
    told = body(book.reliability(study, method="subset", n=2000, cv=0.5, options={"per_level": 500}))
    assert told.estimate is not None and told.estimate.interval is not None and told.noise == 4094
    low, high = told.estimate.interval
    assert low / 1.1 < 1e-3 < 1.1 * high


def surrogate_of(book: Any, study: Any, n: int = 40, **more: Any) -> Any:
    return book.surrogate(book.run(book.design(study, n, skip=1)), folds=2, bootstrap=0, **more)


def test_a_surrogate_and_its_error(book: Any) -> None:
    surrogate = surrogate_of(book, line(HIGH))
    result = book.reliability(surrogate, method="importance", cv=0.05, verify=20)
    told = body(result)
    assert told.estimate is not None and told.estimate.surrogate is not None
    assert told.estimate.probability == pytest.approx(float(ndtr(-2)), rel=0.15)
    assert told.verification is not None and told.verification.wrong == 0 and told.runs <= 20
    assert not [verdict for verdict in result.event.content.trust if not verdict.passed]
    assert repeat_reliability(book.session, result.event).verdict == "same"


# The block rests where friction stops it, or, beyond the stop at 0.3 m, where it comes to rest on its way back.
STOP = {
    "model": {"kind": "benchmark", "function": "impact", "gap": "0.3 m"},
    "parameters": {
        "speed": {"unit": "m/s", "prior": {"kind": "lognormal", "mean": 1.0, "std": 0.12}},
        "restitution": {"prior": {"kind": "uniform", "low": 0.85, "high": 0.95}},
    },
    "outputs": {"rest_position": {"unit": "mm"}},
    "limits": {"far": {"quantity": "rest_position", "threshold": 290}},
}


@pytest.mark.filterwarnings("ignore::percuss.NotTrusted")
def test_a_surrogate_that_is_wrong_near_the_limit_is_caught(book: Any) -> None:
    """No run has reached the stop: the surrogate is sure of itself, and knows nothing of blocks that come back."""
    study = percuss.make_study("stop", STOP)
    surrogate = surrogate_of(book, study, 30, family="chaos")
    exact = body(book.reliability(study, method="subset", n=20_000, options={"per_level": 2000})).estimate
    result = book.reliability(surrogate, method="subset", n=60_000, verify=100)
    told = body(result)
    assert exact is not None and exact.interval and told.estimate and told.estimate.interval and told.verification
    assert told.estimate.interval[0] > exact.interval[1]
    failed = [verdict for verdict in result.event.content.trust if not verdict.passed]
    assert [verdict.gate for verdict in failed] == ["limit-surface"]
    assert "the surrogate is wrong near the limit" in failed[0].sentence
    low, high = told.verification.interval
    assert low <= exact.interval[1] and high >= exact.interval[0]
    assert _runs_named(book, result) == told.runs > 0


@pytest.mark.filterwarnings("ignore::percuss.NotTrusted")
def test_a_surrogate_that_does_not_know_is_refused(book: Any) -> None:
    """A plane through values that bend: its own error leaves the probability open."""
    surrogate = surrogate_of(book, percuss.make_study("stop", BENT), 40, family="chaos", degree="1")
    result = book.reliability(surrogate, n=20_000)
    assert body(result).estimate is None
    told = [verdict for verdict in result.event.content.trust if verdict.gate == "probability"]
    assert "by the surrogate's own error it may be anything from" in told[0].sentence


def test_after_a_posterior(book: Any, tmp_path: Any) -> None:
    """y = x1 + x2 with x1 measured: x1 is known better than before, x2 varies from event to event."""
    limits = {"high": HIGH["high"] | {"aleatory": ["x2"]}}
    calibration = {"all": {"outputs": ["seen"]}}
    study = percuss.make_study("line", LINE_SEEN | {"limits": limits, "calibration": calibration})
    data = tmp_path / "seen.csv"
    data.write_text("output,value,std\nseen,1.0,0.5\n")
    posterior = book.calibrate(surrogate_of(book, study, family="chaos"), observations=book.observe(study, data))
    result = book.reliability(posterior, method="importance", draws=100, cv=0.3)
    told = body(result)
    # x1 | data ~ N(0.8, 0.2): x1 + x2 ~ N(0.8, 1.2).
    exact = float(ndtr(-(2 * np.sqrt(2) - 0.8) / np.sqrt(1.2)))
    assert told.estimate is not None and told.epistemic is not None
    assert told.estimate.probability == pytest.approx(exact, rel=0.35)
    low, high = told.epistemic.interval
    assert low < told.epistemic.median < high
    # The spread over the draws is that of Phi(-(2 sqrt 2 - x1)), x1 at its 95 % bounds.
    for end, sign in ((low, -1), (high, 1)):
        assert end == pytest.approx(float(ndtr(-(2 * np.sqrt(2) - 0.8 - sign * 1.96 * np.sqrt(0.2)))), rel=0.5)
    assert result.table("draws").height == 100
    assert repeat_reliability(book.session, result.event).verdict == "same"
    # The surrogate of a plane is right: runs near the limit find nothing wrong, and say the same.
    checked = book.reliability(posterior, method="importance", draws=20, cv=0.4, verify=40)
    verified = body(checked).verification
    assert verified is not None and verified.wrong == 0 and verified.runs == 40 and 0 < body(checked).runs <= 40
    assert verified.interval[0] <= exact <= verified.interval[1]
    assert [verdict.gate for verdict in checked.event.content.trust if not verdict.passed] == []
    assert repeat_reliability(book.session, checked.event).verdict == "same"


@pytest.mark.filterwarnings("ignore::percuss.NotTrusted")
def test_a_wrong_surrogate_under_a_posterior_is_caught(book: Any, tmp_path: Any) -> None:
    """The stop at 0.3 m that no run has reached, after data that put the block there."""
    text = STOP | {
        "limits": {"far": STOP["limits"]["far"] | {"aleatory": ["restitution"]}},
        "calibration": {"all": {"outputs": ["rest_position"]}},
    }
    study = percuss.make_study("stop", text)
    data = tmp_path / "seen.csv"
    data.write_text("output,value,std,unit\nrest_position,310,15,mm\n")
    surrogate = surrogate_of(book, study, 30, family="chaos")
    posterior = book.calibrate(surrogate, observations=book.observe(study, data))
    result = book.reliability(posterior, method="monte-carlo", n=1000, cv=1.0, draws=60, verify=60)
    failed = [verdict for verdict in result.event.content.trust if not verdict.passed]
    assert [verdict.gate for verdict in failed] == ["limit-surface"], body(result).verification
    told = body(result)
    assert told.verification is not None and told.verification.wrong > 0


def test_a_design_value_by_runs_of_the_simulator(book: Any) -> None:
    """One estimate with x2 free says where to look, few with it held what the probability is there."""
    study = line({"low": {"quantity": "y", "threshold": -3, "fails": "below"}})
    result = book.reliability(study, method="importance", cv=0.05, design="x2", target=0.01)
    found = body(result).design
    assert found is not None
    assert found.value == pytest.approx(-3 + 2.3263, abs=0.1)
    assert found.interval[0] <= -3 + 2.3263 <= found.interval[1]
    assert 1 <= result.table("levels").height <= 4
    assert "95 % interval" in next(v.sentence for v in body(result).trust if v.gate == "probability")
    assert 0 < body(result).runs <= body(result).evaluations < 5000
    assert repeat_reliability(book.session, result.event).verdict == "same"
    # y fails below: a larger x1 or x2 helps; where failure is above, it does not.
    with pytest.raises(AnswerIsNo, match="does not fall with the input"):
        book.reliability(line(HIGH), method="importance", design="x2", target=0.01)
    with pytest.raises(AnswerIsNo, match=r"meets the target 1e-12|not known well enough"):
        book.reliability(study, method="importance", design="x2", target=1e-12)


def test_a_design_value(book: Any) -> None:
    """P(speed > gap-dependent bound): y = x1 + x2 with x2 held, so that Phi(-(2 sqrt 2 - x2)) = target."""
    surrogate = surrogate_of(book, line({"low": {"quantity": "y", "threshold": -3, "fails": "below"}}))
    result = book.reliability(surrogate, method="importance", cv=0.03, design="x2", target=0.01)
    found = body(result).design
    assert found is not None
    assert found.value == pytest.approx(-3 + 2.3263, abs=0.08)
    assert found.interval[0] <= -3 + 2.3263 <= found.interval[1]
    (said,) = [verdict.sentence for verdict in body(result).trust if verdict.gate == "probability"]
    low, high = found.interval
    assert f"x2 = {found.value:.4g} (95 % interval {low:.4g} to {high:.4g}; SI) meets a probability of 0.01" in said
    assert repeat_reliability(book.session, result.event).verdict == "same"
    with pytest.raises(AnswerIsNo, match=r"the target 0.9999 is met already"):
        book.reliability(surrogate, method="monte-carlo", n=500, cv=1, design="x2", target=0.9999)
    with pytest.raises(InputError, match="design x3: is no parameter"):
        book.reliability(surrogate, design="x3", target=0.5)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "monte"}, "method monte"),
        ({"level": 1.5}, "level 1.5: must lie between 0 and 1"),
        ({"cv": 0}, "cv 0: must be above 0"),
        ({"verify": 3}, "verify: is for surrogates"),
        ({"design": "x1"}, "design and target go together"),
        ({"design": "x1", "target": 2}, "target 2: must lie between 0 and 1"),
        ({"options": {"x": 1}}, "the method monte-carlo has no option `x`"),
    ],
)
def test_what_cannot_be_asked(book: Any, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        book.reliability(line(HIGH), **asked)
    assert len(book) == 0
