"""A forger makes up results and claims that they were made elsewhere: what no build and no environment excuses."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from percuss.calibration.calibrate import Calibrated, Sampling, calibrate
from percuss.calibration.problem import Problem, load_problem
from percuss.calibration.records import load_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.kinds.reliability_estimated import ProbabilityFacts
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.kinds.table import KINDS
from percuss.ledger.event import FILE_ROLE, Draft, Event, OpenCall
from percuss.ledger.ledger import Ledger
from percuss.maker import environment, software, this_maker
from percuss.session import Session
from percuss.trust import Verdict
from percuss.work import repeat_posterior
from percuss.work.nearby import beyond
from percuss.work.reliability import _beyond_chance
from percuss.work.repeated import _apart, hidden_failures

GOLDEN = Path(__file__).parents[2] / "golden" / "ledger" / "format-2.tar.xz"
Tables = dict[str, pl.DataFrame]
Forge = Callable[[dict[str, Any], Tables], None]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A ledger with every kind; what is appended claims another build and another CPU level of numpy."""
    folder = tmp_path_factory.mktemp("golden")
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(folder, filter="data")
    record = environment() | {"cpu": environment()["cpu"] | {"numpy": ["X86_V9"]}}
    maker = this_maker([], OpenCall("python", "test", []))
    maker = replace(maker, environment=lambda: json.dumps(record).encode())
    return Session(Ledger.open(folder / "ledger", replace(maker, software=replace(software(), core="another"))))


@pytest.fixture(scope="module", autouse=True)
def _sampled_once() -> Iterator[None]:
    """No forgery here touches what a posterior is sampled from: it comes out once for all of them."""
    made: dict[int, Calibrated] = {}

    def once(problem: Problem, how: Sampling) -> Calibrated:
        if how.seed not in made:
            made[how.seed] = calibrate(problem, how)
        return made[how.seed]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeat_posterior, "calibrate", once)
        yield


def _forged(session: Session, kind: str, forge: Forge, role: str = "") -> Any:
    """The first event of a kind, with a table in this role if one is named, forged, appended and repeated."""
    listed = (event for event in session.state.events.values() if event.kind == kind)
    event = next(event for event in listed if not role or event.blob(role))
    body = json.loads(event.body)
    tables = {blob.role: session.table(event, blob.role) for blob in event.blobs if not blob.role.startswith(FILE_ROLE)}
    data = session.ledger.files(event)
    forge(body, tables)
    blobs = [session.ledger.put_table(role, table) for role, table in tables.items()]
    # Another state of rest by its last bit, so that what is said of it is not read from the same.
    blobs += [session.ledger.put_file(name, b[:-1] + bytes([b[-1] ^ 1])) for name, b in data.items()]
    inputs = [(item.role, session.state.events[item.id]) for item in event.inputs]
    draft = Draft(kind, body, event.study, inputs, blobs, event.seed)
    repeat = KINDS[kind].repeater()
    assert repeat
    # Forged under the claims of this fixture, repeated by this very build.
    made: Event = session.append([draft])[0]
    reader = Session(Ledger.open(session.ledger.place.root))
    return repeat(reader, made, 0)


def _nudged(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """No number to the bit, and none that matters."""
    return table.with_columns(pl.col(column) * (1 + 1e-13) for column in columns)


def _mean(body: dict[str, Any], tables: Tables) -> None:
    """Another result, and errors so large that it would be within them."""
    tables["draws"] = tables["draws"].with_columns(pl.col(body["names"][0]) + 0.5)
    tables["diagnostics"] = tables["diagnostics"].with_columns(mcse=pl.lit(1e9))


def _spread(body: dict[str, Any], tables: Tables) -> None:
    """The same mean, and a tenth of the spread, with all that is said of it."""
    name = body["names"][0]
    column = pl.col(name)
    tables["draws"] = tables["draws"].with_columns(column.mean() + (column - column.mean()) * 0.1)
    row = body["summary"]["rows"][0]
    row["std"] *= 0.1


def _correlation(body: dict[str, Any], tables: Tables) -> None:
    """Marginals as they were, and no correlation: one parameter's draws in another order."""
    name = body["names"][0]
    order = np.random.default_rng(1).permutation(tables["draws"].height)
    tables["draws"] = tables["draws"].with_columns(pl.Series(name, tables["draws"][name].to_numpy()[order]))


def _summary(body: dict[str, Any], tables: Tables) -> None:
    tables["draws"] = _nudged(tables["draws"], body["names"][0])
    body["summary"]["rows"][1]["mean"] *= 1.05


def _endless(body: dict[str, Any], tables: Tables) -> None:
    """What is no number hides in comparisons: every one with it is false."""
    tables["indices"] = tables["indices"].with_columns(
        pl.Series("value", [float("inf"), *(tables["indices"]["value"] * 2)[1:]])
    )


def _terms(body: dict[str, Any], tables: Tables) -> None:
    """The coefficients that predictions are made with, and neither residuals nor errors."""
    tables["terms"] = tables["terms"].with_columns(pl.col("coefficient") * 1.5)


def _errors(body: dict[str, Any], tables: Tables) -> None:
    """So large an error that any fit is within it."""
    tables["terms"] = tables["terms"].with_columns(pl.col("coefficient") * 1.5)
    tables["outputs"] = tables["outputs"].with_columns(variance=pl.lit(1e12))


def _said_of_errors(body: dict[str, Any], tables: Tables) -> None:
    """Tables as they were but for rounding, and a third of the error in what a person reads."""
    tables["terms"] = _nudged(tables["terms"], "coefficient")
    body["largest_error"] /= 3


def _bayes_factor(body: dict[str, Any], tables: Tables) -> None:
    """A Bayes factor that only rounding has touched, beside another table."""
    body["bayes_factors"][0]["log"] *= 1 + 1e-12
    floats = [name for name, type in tables["posteriors"].schema.items() if type.is_float()]
    tables["posteriors"] = tables["posteriors"].with_columns(pl.col(floats) * 2)


def _small_unit(body: dict[str, Any], tables: Tables) -> None:
    """One output is a million times larger than the others in SI: they are not small beside it."""
    outputs = tables["outputs"]
    tables["outputs"] = outputs.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(1e12).otherwise("mean").alias("mean")
    )


def _level(body: dict[str, Any], tables: Tables) -> None:
    table = tables["convergence"]
    tables["convergence"] = table.with_columns(pl.col("value") * 1.01)


def _rest(body: dict[str, Any], tables: Tables) -> None:
    """More than the tolerance of the contact solver leaves open to the other build that made it."""
    body["steps"] *= 10


def _curve(body: dict[str, Any], tables: Tables) -> None:
    """The end of a history, by a part in ten thousand; the outputs as they were."""
    table = tables["curves"]
    last = pl.int_range(pl.len()).over("sample") == pl.len().over("sample") - 1
    name = next(n for n in table.columns if table[n].dtype.is_float() and table[n].abs().max() and n != "time")
    tables["curves"] = table.with_columns(pl.when(last).then(pl.col(name) * 1.0001 + 1e-4).otherwise(name).alias(name))


def _no_run(body: dict[str, Any], tables: Tables) -> None:
    """A history more, of a sample that the event does not name: regions would have it among the others."""
    more = tables["curves"].filter(pl.col("sample") == body["samples"][0]).with_columns(pl.col("sample") + 1000)
    tables["curves"] = tables["curves"].vstack(more)


def _no_history(body: dict[str, Any], tables: Tables) -> None:
    """Histories of runs that kept none."""
    tables["curves"] = pl.DataFrame({"sample": [body["samples"][0]] * 2, "time": [0.0, 1.0], "x": [0.0, 9.0]})


def _followed(body: dict[str, Any], tables: Tables) -> None:
    """Innovations that are half as large flatter the filter."""
    floats = [name for name, type in tables["innovations"].schema.items() if type.is_float()]
    tables["innovations"] = tables["innovations"].with_columns(pl.col(floats) * 0.5)


def _verdict(body: dict[str, Any], tables: Tables) -> None:
    floats = [name for name, type in tables["course"].schema.items() if type.is_float()]
    tables["course"] = _nudged(tables["course"], *floats)
    body["verdict"] = "drift" if body["verdict"] == "adequate" else "adequate"
    body["reasons"] = []


@pytest.mark.parametrize(
    ("kind", "forge", "words"),
    [
        ("scene.settled", _rest, "steps was"),
        ("runs.completed", _curve, "and nearby as well"),
        ("runs.completed", _no_run, "not one of its runs"),
        ("runs.completed", _no_history, "does not come out"),
        ("validation.computed", _followed, "what was followed"),
        ("validation.computed", _verdict, "the verdict was"),
        ("posterior.sampled", _mean, "by its own draws"),
        ("posterior.sampled", _spread, "by its own draws"),
        ("posterior.sampled", _correlation, ""),
        ("posterior.sampled", _summary, "summary"),
        ("indices.computed", _endless, None),
        ("surrogate.fitted", _terms, "apart"),
        ("surrogate.fitted", _errors, "apart"),
        ("surrogate.fitted", _said_of_errors, "its own tables give another largest_error"),
        ("comparison.made", _bayes_factor, "apart"),
        ("prediction.made", _small_unit, "apart"),
        ("convergence.checked", _level, "and nearby as well"),
    ],
)
def test_what_no_claim_excuses(session: Session, kind: str, forge: Forge, words: str | None) -> None:
    again = _forged(session, kind, forge, "curves" if forge in (_curve, _no_run) else "")
    if words is None:  # not excused either, but not shown to be wrong
        assert (again.verdict, again.by_claim) == ("cannot", True)
        return
    assert again.verdict == "differs", again
    assert words in again.sentence


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        ([("skill", "base/y"), ("skill", "base/z")], []),
        ([("skill", "base/y")], ["skill (base/z)"]),
        ([("convergence", "")], ["skill (base/y)", "skill (base/z)"]),
        ([("skill", "")], []),  # of the whole
    ],
)
def test_every_output_that_fails_is_named(said: list[tuple[str, str]], hidden: list[str]) -> None:
    """What is left out is used by whatever is made from the surrogate."""

    def failed(gate: str, about: str) -> Verdict:
        return Verdict(gate, False, "misses 0.9", 0.9, 0.5, (about,) if about else ())

    body = SurrogateFitted(names=(), cases=(), points=1, settings={}, trust=tuple(failed(*one) for one in said))
    own = (failed("skill", "base/y"), failed("skill", "base/z"))
    assert hidden_failures(cast(Event, SimpleNamespace(content=body)), own) == hidden


def test_a_nudge_is_within(session: Session) -> None:
    """Rounding is what claims are for."""
    for kind, role, column in (
        ("indices.computed", "indices", "value"),
        ("surrogate.fitted", "terms", "coefficient"),
        ("convergence.checked", "convergence", "value"),
    ):

        def nudge(body: dict[str, Any], tables: Tables, role: str = role, column: str = column) -> None:
            tables[role] = _nudged(tables[role], column)

        assert _forged(session, kind, nudge).verdict == "within", kind


def test_draws_that_are_distributed_otherwise(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forger who makes all that is said fit the draws is left with draws that do not come out."""
    event = next(event for event in session.state.events.values() if event.kind == "posterior.sampled")
    problem = load_problem(session, event)
    body = PosteriorSampled.of(event)
    now = calibrate(problem, Sampling(body.sampler, body.settings, Stopping(**body.stopping), 7))  # type: ignore[arg-type]
    then = load_posterior(session, event)
    middle = then.draws.mean(axis=(0, 1))
    bound = then.draws.copy()  # each parameter as it was, and one follows the other
    for chain in bound:
        chain[np.argsort(chain[:, 0]), 1] = np.sort(chain[:, 1])
    forged = {
        "": then.draws,  # another seed: chance
        "the mean of": then.draws + 0.5 * then.draws.std(axis=(0, 1)),
        f"{then.names[0]}: distributed otherwise": middle + 0.5 * (then.draws - middle),
        f"{then.names[0]} with {then.names[1]}: distributed otherwise": bound,
    }
    for words, draws in forged.items():
        monkeypatch.setattr(repeat_posterior, "load_posterior", lambda *_, at=draws: replace(then, draws=at))
        said = repeat_posterior._outside(session, event, now, 6.0, 3.0)
        assert (said is None) if not words else said and said.startswith(words), (words, said)


@pytest.mark.parametrize(
    ("then", "now", "apart"),
    [
        ({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0}, 0.0),
        # A force beside a displacement does not make that small.
        ([{"force": 1e9}, {"drift": 0.2}], [{"force": 1e9}, {"drift": 0.1}], 1.0),
        # What cancels is compared with what it is the rest of.
        ({"mean": 1e-14, "std": 1.0}, {"mean": 3e-14, "std": 1.0}, 2e-8),
        ({"a": float("inf")}, {"a": 1.0}, float("inf")),
        ({"a": None}, {"a": 1.0}, float("inf")),
        ({"a": True}, {"a": 1}, float("inf")),
        ({"a": "x"}, {"a": "y"}, 0.5),
        ([1.0, 2.0], [1.0], float("inf")),
    ],
)
def test_how_far_bodies_are_apart(then: Any, now: Any, apart: float) -> None:
    assert _apart(then, now, words=0.5) == pytest.approx(apart)


def test_probabilities_beyond_chance() -> None:
    def facts(probability: float, cv: float | None = 0.1, index: float | None = 2.0) -> ProbabilityFacts:
        return ProbabilityFacts(probability=probability, index=index, interval=None, cv=cv)

    assert _beyond_chance(facts(1.5e-3), facts(1e-3)) is None
    # The error is that of what came out: a forged one excuses nothing.
    assert "was 1e-06" in str(_beyond_chance(facts(1e-6, cv=100.0), facts(1e-3)))
    assert _beyond_chance(facts(1e-3), None) is None
    assert _beyond_chance(facts(0.0), facts(1e-3))
    assert _beyond_chance(facts(1e-3, None, 4.0), facts(1e-2, None, 2.3))
    assert _beyond_chance(facts(1e-3, None, 2.31), facts(1e-2, None, 2.3)) is None


def test_beyond_what_rounding_explains() -> None:
    now = np.array([1.0, 2.0, np.nan])
    apart = [now * (1 + 1e-10), now * (1 - 1e-10)]
    assert beyond(now, now, apart) is None
    assert beyond(np.array([1.0, 2.001, 5.0]), now, apart) == 1
    assert beyond(np.array([1.0, np.inf, 5.0]), now, apart) == 1
    assert beyond(np.array([1.0, 2.001, 5.0]), now, [now, now + 1.0]) is None  # those nearby do not agree
    # A course that has come apart stays so, though it crosses itself.
    course, other = np.array([1.0, 1.0, 1.0]), np.array([1.0, 1.5, 1.0])
    assert beyond(np.array([1.0, 1.0, 2.0]), course, [other], together=True) is None
    assert beyond(np.array([2.0, 1.0, 1.0]), course, [other], together=True) == 0
