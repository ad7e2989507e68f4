"""The filter through the command line: conjugate posteriors, imported runs, iterations, model choice, refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from percuss.ledger.ledger import Ledger
from percuss.models.benchmark import exact_posterior

LINEAR = """
[model]
kind = "benchmark"
function = "linear-gaussian"
inputs = ["a", "b"]
outputs = ["y1", "y2", "y3"]
matrix = [[1, 0], [{settings}, 1], [1, 1]]

[parameters.a]
prior = {{ kind = "normal", mean = 0, std = 1 }}
[parameters.b]
prior = {{ kind = "normal", mean = 0, std = 2 }}
"""
CURVES = """
[model]
kind = "benchmark"
function = "impact"
samples = 21
gap = "20 cm"
{settings}
[parameters.speed]
unit = "m/s"
prior = {{ kind = "uniform", low = 1, high = 3 }}

[cases.soft]
restitution = 0.2
[cases.hard]
restitution = 0.8
"""
MATRIX, DATA, NOISE = np.array([[1, 0], [0.5, 1], [1, 1]]), np.array([0.4, 1.0, 1.9]), 0.5
FLAGS = ("--noise", "y1=0.5", "--noise", "y2=0.5", "--noise", "y3=0.5")


def _tell(percuss, *args: object) -> dict:
    said = percuss(*args, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)


@pytest.fixture
def linear(percuss, make_study, folder) -> str:
    """A campaign of the linear model, and its observations in `data.csv`."""
    study = make_study("linear", "0.5", text=LINEAR)
    (folder / "data.csv").write_text("output,value\ny1,0.4\ny2,1.0\ny3,1.9\n")
    design = percuss("design", study, "--sampler", "halton", "--n", 512, "--skip", 1).id
    return percuss("run", design).id


def _exact():
    return exact_posterior(MATRIX, np.zeros(3), DATA, NOISE**2 * np.eye(3), np.zeros(2), np.diag([1.0, 4.0]))


def test_a_conjugate_posterior_and_its_evidence(percuss, linear, folder) -> None:
    """512 Halton points: the standard error of plain sampling at this effective size is some 5 %."""
    pictures = ("--densities", "densities.svg", "--runs", "runs.svg")
    facts = _tell(percuss, "filter", linear, "--data", "data.csv", *FLAGS, *pictures)
    assert all((folder / name).stat().st_size > 1000 for name in ("densities.svg", "runs.svg"))
    exact = _exact()
    for k, name in enumerate("ab"):
        std = math.sqrt(exact.covariance[k, k])
        assert facts["identified"][name]["mean"] == pytest.approx(exact.mean[k], abs=0.15 * std)
        assert facts["identified"][name]["std"] == pytest.approx(std, rel=0.15)
    assert facts["log_evidence"] == pytest.approx(exact.log_evidence, abs=0.05)
    book = Ledger.open(folder / "ledger")
    event = book.event(facts["id"])
    weights = book.table(event, "weights")
    assert weights.height == 3 * 512
    np.testing.assert_allclose(weights.group_by("step").agg(pl.col("weight").sum())["weight"], 1, rtol=1e-12)
    assert {b.role for b in event.blobs} >= {"steps", "densities", "pairs", "correlations", "mixture", "covariance"}
    strong = book.table(event, "correlations").filter(pl.col("parameter") == "a", pl.col("output") == "y1")
    assert strong["correlation"][0] == pytest.approx(1)
    assert percuss("audit").code == 0


def test_iterations_sharpen_the_estimate_and_keep_the_posterior(percuss, linear) -> None:
    first = _tell(percuss, "filter", linear, "--data", "data.csv", *FLAGS)
    last = first
    for _ in range(2):
        proposed = percuss("design", "--propose", last["id"], "--n", 256).id
        last = _tell(percuss, "filter", percuss("run", proposed).id, "--data", "data.csv", *FLAGS)
    exact = _exact()
    assert last["samples"] == 1024
    assert last["effective"] > 4 * first["effective"]
    for k, name in enumerate("ab"):
        std = math.sqrt(exact.covariance[k, k])
        assert last["identified"][name]["mean"] == pytest.approx(exact.mean[k], abs=0.1 * std)
        assert last["identified"][name]["std"] == pytest.approx(std, rel=0.07)
    assert last["log_evidence"] == pytest.approx(exact.log_evidence, abs=0.03)
    assert percuss("audit").code == 0


def test_an_ensemble_of_another_case_starts_where_the_weight_was(percuss, make_study, folder) -> None:
    """Weights of its points are corrected for the proposal: the posterior of the other case, not of the first."""
    study = make_study("twice", "0.5", text=LINEAR + "\n[cases.one]\n[cases.two]\n")
    (folder / "data.csv").write_text("output,value\ny1,0.4\ny2,1.0\ny3,1.9\n")
    design = percuss("design", study, "--sampler", "halton", "--n", 512, "--skip", 1, "--case", "one").id
    first = _tell(percuss, "filter", percuss("run", design).id, "--data", "data.csv", "--case", "one", *FLAGS)
    other = percuss("design", "--propose", first["id"], "--case", "two", "--n", 512).id
    last = _tell(percuss, "filter", percuss("run", other).id, "--data", "data.csv", "--case", "two", *FLAGS)
    exact = _exact()
    assert last["samples"] == 512
    for k, name in enumerate("ab"):
        std = math.sqrt(exact.covariance[k, k])
        assert last["identified"][name]["mean"] == pytest.approx(exact.mean[k], abs=0.1 * std)
        assert last["identified"][name]["std"] == pytest.approx(std, rel=0.1)
    assert last["log_evidence"] == pytest.approx(exact.log_evidence, abs=0.05)


def test_models_are_weighed_against_each_other(percuss, linear, make_study, folder) -> None:
    one = _tell(percuss, "filter", linear, "--data", "data.csv", *FLAGS)
    other = make_study("other", "-3", text=LINEAR)
    design = percuss("design", other, "--sampler", "halton", "--n", 512, "--skip", 1).id
    campaign = percuss("run", design).id
    two = _tell(percuss, "filter", campaign, "--data", "data.csv", *FLAGS, "--against", one["id"])
    odds = math.exp(two["log_evidence"] - one["log_evidence"])
    assert two["probabilities"]["this"] == pytest.approx(odds / (1 + odds))
    assert sum(two["probabilities"].values()) == pytest.approx(1)
    said = percuss("filter", campaign, "--data", "data.csv", "--covariance", "maximum", "--scale", 1)
    percuss("filter", linear, "--data", "data.csv", *FLAGS, "--against", said.id).refused(2, "other covariance")


def test_imported_runs_as_steps_of_one_variable(percuss, make_study, folder) -> None:
    """Three outputs are one variable at three instants: they share its largest size."""
    study = make_study("linear", "0.5", text=LINEAR)
    points = np.random.default_rng(0).normal(size=(50, 2))
    columns = {"a": points[:, 0], "b": points[:, 1]} | {f"y{i + 1}": points @ MATRIX[i] for i in range(3)}
    pl.DataFrame(columns).write_csv(folder / "runs.csv")
    campaign = percuss("import", "runs.csv", "--study", study).id
    (folder / "seen.csv").write_text("step,output,variable,value\n1,y1,y,0.4\n2,y2,y,-1.0\n3,y3,y,1.9\n")
    facts = _tell(percuss, "filter", campaign, "--data", "seen.csv", "--covariance", "maximum", "--scale", 0.5)
    logs = -0.5 * (((points @ MATRIX.T - [0.4, -1.0, 1.9]) / 0.95) ** 2).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    assert facts["identified"]["a"]["mean"] == pytest.approx(float(weights @ points[:, 0]), rel=1e-11)
    searched = _tell(percuss, "filter", campaign, "--data", "seen.csv", "--covariance", "relative", "--ess", 0.4)
    assert searched["effective"] == pytest.approx(0.4 * 50, rel=1e-9)


def test_observations_that_were_taken_in_before(percuss, linear, folder) -> None:
    """The same data from a file and from an event that has their deviations: the same weights."""
    study = Ledger.open(folder / "ledger").event(linear).study
    assert study is not None
    (folder / "seen.csv").write_text("output,value,std\ny1,0.4,0.5\ny2,1.0,0.5\ny3,1.9,0.5\n")
    seen = percuss("observe", study.name, "seen.csv").id
    plain = _tell(percuss, "filter", linear, "--data", "data.csv", *FLAGS)
    bound = _tell(percuss, "filter", linear, "--observations", seen)
    assert bound["identified"] == plain["identified"]
    assert bound["log_evidence"] == plain["log_evidence"]
    event = Ledger.open(folder / "ledger").event(bound["id"])
    assert event.input("observations") == seen
    both = percuss("filter", linear, "--observations", seen, "--data", "data.csv")
    assert both.code == 2
    assert "give one" in both.err
    other = percuss("filter", linear, "--observations", linear)
    assert other.code == 2
    assert "observations.imported" in other.err
    # One deviation of two must not pass for that of both.
    for second, words in (("0.1", "0.5 (SI) and 0.1 (SI)"), ("", "0.5 (SI) and none")):
        (folder / "seen.csv").write_text(f"output,value,std\ny1,0.4,0.5\ny1,0.5,{second}\n")
        several = percuss("observe", study.name, "seen.csv").id
        percuss("filter", linear, "--observations", several).refused(2, "output y1 has several std", words)
    (folder / "seen.csv").write_text("output,value,std\ny1,0.4,0\n")
    exact = percuss("observe", study.name, "seen.csv").id
    percuss("filter", linear, "--observations", exact).refused(2, "needs a standard deviation above 0")


def test_curves_of_several_cases_and_a_picture(percuss, make_study, folder) -> None:
    study = make_study("block", text=CURVES)
    design = percuss("design", study, "--sampler", "halton", "--n", 200, "--skip", 1, "--curves").id
    campaign = percuss("run", design).id
    truth = percuss("simulate", study, "--case", "hard", "--set", "speed=2.2")
    book = Ledger.open(folder / "ledger")
    seen = book.table(book.event(truth.id), "curves").gather_every(4).with_columns(case=pl.lit("hard"))
    names = {"t_s": "t_s [ms]", "position": "position [mm]"}
    table = seen.select("case", pl.col("t_s") * 1000, pl.col("position") * 1000).rename(names)
    table.write_csv(folder / "seen.csv")
    facts = _tell(
        percuss, "filter", campaign, "--data", "seen.csv", "--noise", "position=60 mm", "--plot", "evolution.svg"
    )
    assert facts["identified"]["speed"]["mean"] == pytest.approx(2.2, abs=0.05)
    assert (folder / "evolution.svg").stat().st_size > 1000
    late = table.with_columns(pl.col("t_s [ms]") + 1e6)
    late.write_csv(folder / "late.csv")
    percuss("filter", campaign, "--data", "late.csv", "--noise", "position=5 mm").refused(2, "the runs cover")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "constant needs a standard deviation"),
        (("--covariance", "maximum"), "--scale"),
        (("--covariance", "best"), "best"),
        (("--noise", "y9=1"), "y9"),
        ((*FLAGS, "--scale", "-1"), "--scale: -1"),
        ((*FLAGS, "--ess", "2"), "--ess: 2"),
        ((*FLAGS, "--ess", "0.0001"), "--ess 0.0001"),
        ((*FLAGS, "--ess", "0.5", "--scale", "2"), "give one"),
        (("--covariance", "maximum", "--scale", "1", "--noise", "y1=1"), "--noise"),
    ],
)
def test_options_that_cannot_be(percuss, linear, options, words) -> None:
    percuss("filter", linear, "--data", "data.csv", *options).refused(2, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("output,value\ny7,1\n", "y7"),
        ("output,value\ny1,\n", "needs a number"),
        ("output,value,step\ny1,1,1\ny1,2,1\n", "twice"),
        ("when,what\n1,2\n", "columns output and value"),
        ("output,value,case\ny1,1,wet\n", "wet"),
    ],
)
def test_observations_that_cannot_be(percuss, linear, folder: Path, text, words) -> None:
    (folder / "bad.csv").write_text(text)
    percuss("filter", linear, "--data", "bad.csv", *FLAGS).refused(2, words)


def test_an_ensemble_that_does_not_explain_the_data_says_so(percuss, linear, folder) -> None:
    """y3 = a + b, so that these three contradict each other: weight enough, and no sample near all of them."""
    (folder / "off.csv").write_text("output,value\ny1,0.4\ny2,1.0\ny3,6.0\n")
    said = percuss("filter", linear, "--data", "off.csv", *FLAGS, "--json")
    assert said.code == 1
    assert said.err.startswith("NOT TRUSTED: the best sample does not explain the data")
    facts = json.loads(said.out)
    assert [(v["gate"], v["passed"]) for v in facts["trust"]] == [("effective-sample", True), ("fit", False)]
    assert percuss("filter", linear, "--data", "off.csv", *FLAGS, "--accept", "fit").code == 0
    # The scale that is searched says nothing about errors.
    assert percuss("filter", linear, "--data", "off.csv", "--covariance", "maximum", "--ess", 0.2).code == 0
    right = _tell(percuss, "filter", linear, "--data", "data.csv", *FLAGS)
    assert all(v["passed"] for v in right["trust"])


def test_too_few_effective_samples_give_no_estimate(percuss, linear, folder) -> None:
    """The errors a hundred times smaller: hardly a sample of 512 is left."""
    sharp = ("--data", "data.csv", *FLAGS, "--scale", 0.01, "--plot", "evolution.svg", "--densities", "densities.svg")
    said = percuss("filter", linear, *sharp, "--json")
    facts = json.loads(said.out)
    assert said.code == 1, said.err
    first = said.err.splitlines()[0]
    assert first.startswith(
        f"NOT TRUSTED: 512 samples are worth {facts['effective']:.3g}, and estimates need 10: at least"
    )
    assert f"at least {math.ceil(512 * 10 / facts['effective'])} such samples" in first
    assert facts["identified"] is None
    assert "q05" not in said.err
    assert not (folder / "evolution.svg").exists() and not (folder / "densities.svg").exists()
    book = Ledger.open(folder / "ledger")
    event = book.event(facts["id"])
    assert event.outcome == "failed"
    assert {b.role for b in event.blobs} == {"weights", "steps", "mixture", "correlations", "observations"}
    assert book.table(event, "steps").columns == ["step", "effective", "log_evidence"]
    (verdict,) = facts["trust"]
    assert (verdict["gate"], verdict["figure"], verdict["threshold"]) == ("effective-sample", facts["effective"], 10)

    taken = percuss("filter", linear, *sharp, "--accept", "effective-sample", "--json")
    assert taken.code == 0
    assert taken.err.startswith("accepted all the same: 512 samples are worth")
    assert json.loads(taken.out)["identified"]["a"]["std"] > 0
    assert (folder / "evolution.svg").exists()
    # What is weighed against it is marked; what goes on from it, in the way the message says, is what it is for.
    marked = percuss("filter", linear, *sharp[:-4], "--against", facts["id"])
    assert marked.code == 1
    assert f"(event {facts['id']})" in marked.err
    # So small errors the model cannot meet, as the gate `fit` says then.
    enough = _enough(percuss, facts["id"], (*sharp[:-4], "--accept", "fit"))
    assert percuss("show", enough["id"]).code == 0
    exact = exact_posterior(
        MATRIX, np.zeros(3), DATA, (0.01 * NOISE) ** 2 * np.eye(3), np.zeros(2), np.diag([1.0, 4.0])
    )
    for k, name in enumerate("ab"):
        std = math.sqrt(exact.covariance[k, k])
        # The mean is known to a third of the standard deviation with 10 effective samples: three times that.
        assert enough["identified"][name]["mean"] == pytest.approx(exact.mean[k], abs=std)
        assert enough["identified"][name]["std"] == pytest.approx(std, rel=0.75)


def _enough(percuss, last: str, flags: tuple[object, ...]) -> dict:
    """Propose and filter until estimates are given."""
    for _ in range(8):
        campaign = percuss("run", percuss("design", "--propose", last, "--n", 128).id).id
        said = percuss("filter", campaign, *flags, "--json")
        facts = json.loads(said.out)
        if said.code == 0:
            return facts
        last = facts["id"]
    raise AssertionError(said.err)


def test_the_evolution_over_one_observation_is_a_line(percuss, linear, folder, monkeypatch) -> None:
    """From before the observation to after it, in every panel, and not a point without extent."""
    from percuss.plots import files

    drawn: list = []
    saved = files.save
    monkeypatch.setattr("percuss.work.plot.save", lambda figure, *rest: (drawn.append(figure), saved(figure, *rest)))
    (folder / "one.csv").write_text("output,value\ny1,0.4\n")
    percuss("filter", linear, "--data", "one.csv", "--noise", "y1=0.5", "--plot", "one.svg")
    panels = drawn[0].axes
    assert len(panels) == 3
    for line in (line for panel in panels for line in panel.lines):
        assert list(line.get_xdata()) == [0, 1]
    # Before: the prior, N(0, 1). After: N(0.32, 0.45) (conjugate, variance 0.2).
    low, high, mean = (line.get_ydata() for line in panels[0].lines)
    assert panels[0].lines[2].get_marker() == "o"
    assert mean == pytest.approx([0, 0.32], abs=0.05)
    assert high - low == pytest.approx([2 * 1.645, 2 * 1.645 * 0.447], rel=0.1)
    assert panels[2].lines[0].get_ydata()[0] == pytest.approx(512)


def test_a_proposal_needs_a_filter(percuss, linear) -> None:
    percuss("design", "--propose", linear, "--n", 5).refused(2, "filter.updated")
    percuss("design", "--propose", linear).refused(2, "--n N")


def test_the_study_may_say_what_was_observed(percuss, make_study, folder: Path) -> None:
    """[filter] does what the options do; an option takes its place, and that of the error as a whole."""
    section = '[filter]\nfile = "seen.csv"\nnoise = {{ y1 = 0.5, y2 = 0.5, y3 = 0.5 }}\n'
    study = Path(make_study("told", "0.5", text=LINEAR + section))
    (study / "seen.csv").write_text("output,value\ny1,0.4\ny2,1.0\ny3,1.9\n")
    (folder / "other.csv").write_text("output,value\ny1,0.2\n")
    campaign = percuss("run", percuss("design", study, "--sampler", "halton", "--n", 256, "--skip", 1).id).id
    (study / "seen.csv").unlink()  # it is kept with the study
    by_study = _tell(percuss, "filter", campaign)
    (folder / "seen.csv").write_text("output,value\ny1,0.4\ny2,1.0\ny3,1.9\n")
    by_options = _tell(percuss, "filter", campaign, "--data", "seen.csv", *FLAGS)
    for key in ("effective", "log_evidence", "identified"):
        assert by_study[key] == by_options[key]
    relative = _tell(percuss, "filter", campaign, "--covariance", "maximum", "--scale", "1")
    assert relative["log_evidence"] != by_study["log_evidence"]
    assert _tell(percuss, "filter", campaign, "--data", "other.csv", "--noise", "y1=0.5")["effective"] > 0


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ('covariance = "best"', "covariance: 'best' is not known"),
        ('covariance = "maximum"', "covariance: maximum needs scale SCALE"),
        ("scale = 0", "scale: 0 is outside"),
        ("ess = 2", "ess: 2 must lie between 0 and 1"),
        ('case = "wet"', "case: 'wet'"),
        ("noise = { y1 = '1 kg' }", "noise.y1: `1 kg` is in kg"),
        ("noise = { y9 = 1 }", "noise y9: is not observed"),
        ("sigma = 1", "sigma: unknown key"),
    ],
)
def test_sections_that_cannot_be(percuss, make_study, section: str, words: str) -> None:
    table = f'[filter]\nfile = "seen.csv"\n{section}\n'.replace("{", "{{").replace("}", "}}")
    study = Path(make_study("wrong", "0.5", text=LINEAR + table))
    (study / "seen.csv").write_text("output,value\ny1,0.4\n")
    checked = percuss("study", "check", study)
    assert checked.code == 2 and words in checked.err, checked.err
