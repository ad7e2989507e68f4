"""Surrogates that know nothing of an output: named, marked, and left out of conclusions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from percuss.errors import InputError

# One output that two parameters explain, and one that is next to nothing but noise.
NOISY = """
[model]
kind = "benchmark"
function = "linear-gaussian"
inputs = ["x1", "x2"]
outputs = ["clear", "noise"]
matrix = [[10.0, 5.0], [0.01, 0.01]]
noise = 1.0

[parameters.x1]
prior = { kind = "normal", mean = 0.0, std = 1.0 }
[parameters.x2]
prior = { kind = "normal", mean = 0.0, std = 1.0 }

[observations]
file = "measured.csv"
std = { clear = 1.0, noise = 0.1 }

[calibration.clear]
outputs = ["clear"]
[calibration.noise]
outputs = ["noise"]
"""
QUICK = ("--family", "chaos", "--degree", "1..3", "--bootstrap", 0)


@pytest.fixture
def noisy(percuss, folder: Path) -> str:
    """A campaign of the noisy study."""
    path = folder / "studies" / "noisy"
    path.mkdir(parents=True)
    (path / "study.toml").write_text(NOISY)
    (path / "measured.csv").write_text("clear,noise\n4.0,0.3\n")
    return str(percuss("run", percuss("design", "noisy", "--n", 48, "--skip", 1).id).id)


def _body(percuss, id: str) -> dict:
    return json.loads(percuss("show", id, "--json").out)["body"]


def test_indices_of_a_dozen_runs_are_not_given(percuss) -> None:
    percuss("run", percuss("design", "ishigami", "--n", 12, "--skip", 1).id)
    said = percuss("surrogate", "@last:campaign", "--search", "early", "--bootstrap", 10)
    assert said.code == 1
    assert said.err.startswith("NOT TRUSTED: y, base: the surrogate misses")
    (verdict,) = _body(percuss, said.out.strip())["trust"]
    assert verdict["gate"] == "skill" and not verdict["passed"] and verdict["about"] == ["base/y"]
    assert verdict["figure"] > verdict["threshold"] == 0.5

    said = percuss("sensitivity", "@last:surrogate", "--json")
    told = json.loads(said.out)
    assert said.code == 1
    assert said.err.startswith("NOT TRUSTED: y, base")
    assert told["outputs"] == told["cases_together"] == []
    assert told["left_out"] == ["base/y"]
    assert _body(percuss, told["id"])["trust"][0]["source"] == _body_id(percuss, "@last:surrogate")

    said = percuss("sensitivity", "@last:surrogate", "--accept", "skill", "--json")
    told = json.loads(said.out)
    assert said.code == 0
    assert said.err.startswith("accepted all the same: y, base")
    assert told["left_out"] == []
    assert len(told["outputs"]) == 1
    assert told["trust"][0]["accepted"]


def _body_id(percuss, id: str) -> str:
    return json.loads(percuss("show", id, "--json").out)["id"]


def test_an_accepted_surrogate_is_not_asked_about_again_and_stays_marked(percuss, noisy) -> None:
    fitted = percuss("surrogate", noisy, *QUICK, "--accept", "skill").id
    said = percuss("sensitivity", fitted, "--json")
    assert said.code == 0
    assert [item["output"] for item in json.loads(said.out)["outputs"]] == ["clear", "noise"]
    assert "accepted all the same: noise, base" in said.err


def test_only_what_uses_a_worthless_output_is_marked(percuss, folder, noisy) -> None:
    fitted = percuss("surrogate", noisy, *QUICK).out.strip()
    (verdict,) = _body(percuss, fitted)["trust"]
    assert verdict["about"] == ["base/noise"]
    said = percuss("sensitivity", fitted, "--json")
    assert said.code == 1
    assert [item["output"] for item in json.loads(said.out)["outputs"]] == ["clear"]
    clear = percuss("calibrate", fitted, "--block", "clear", "--json")
    assert clear.code == 0, clear.err
    assert all(verdict["gate"] != "skill" for verdict in json.loads(clear.out)["trust"])
    predicted = percuss("predict", json.loads(clear.out)["id"])
    assert predicted.code == 0, predicted.err
    assert "nothing is predicted for base/noise" in predicted.err
    blind = percuss("calibrate", fitted, "--block", "noise", "--json")
    assert blind.code == 1
    assert [v["about"] for v in json.loads(blind.out)["trust"] if v["gate"] == "skill"] == [["base/noise"]]
    # Its predictive mean is fitted to the datum: a small error of it would say nothing.
    said = percuss("predict", json.loads(blind.out)["id"], "--json")
    told = json.loads(said.out)
    assert said.code == 1 and told["scores"] == [] and "RMSE" not in said.err
    percuss("export", "csv", told["id"], "--table", "data", "--to", "data.csv")
    assert len((folder / "data.csv").read_text().splitlines()) == 1
    assert percuss("audit", "--rerun", 9).code == 0


def test_a_report_says_what_failed_before_it_is_made(percuss, noisy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page takes seconds, and progress must not be what is read first."""
    fitted = percuss("surrogate", noisy, *QUICK).out.strip()

    def stopped(*_: object) -> None:
        raise InputError("stopped here")

    assert percuss("show", fitted).err.startswith("NOT TRUSTED: noise, base")
    monkeypatch.setattr("percuss.work.report.make_report", stopped)
    said = percuss("report", fitted, "--to", "report.html")
    assert said.code == 2 and said.err.startswith("NOT TRUSTED: noise, base")


def test_a_surrogate_that_admits_to_know_nothing_is_not_approved(percuss, noisy) -> None:
    """Its error is as large as it claims; what the data could tell does not come through it."""
    fitted = percuss("surrogate", noisy, *QUICK, "--accept", "skill").id
    blind = percuss("calibrate", fitted, "--block", "noise").id
    said = percuss("predict", blind, "--verify", 8, "--json")
    told = json.loads(said.out)
    assert said.code == 1
    assert "limited by the surrogate, NOT by the data" in said.err
    honest, useful = (v for v in told["trust"] if v["gate"] == "verification")
    assert honest["passed"] and honest["figure"] <= honest["threshold"] == 2
    assert not useful["passed"] and useful["figure"] < useful["threshold"] == 0.5
    assert not told["verification"]["passed"]
    clear = percuss("calibrate", fitted, "--block", "clear").id
    assert percuss("predict", clear, "--verify", 8).code == 0


def test_the_report_names_them_and_concludes_nothing_from_them(percuss, folder, noisy) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    fitted = percuss("surrogate", noisy, *QUICK, "--accept", "skill").id
    indices = percuss("sensitivity", fitted).id
    percuss("report", indices, "--to", "report.md")
    text = (folder / "report.md").read_text()
    short = text.partition("In short")[2].partition("\n## ")[0]
    assert "noise, base: the surrogate misses" in short
    (matters,) = [line for line in short.splitlines() if "What matters most" in line]
    assert "clear" in matters and "noise" not in matters
    assert "the largest error of the others is" in short
    assert "## Surrogate of clear, noise" in text
    percuss("report", indices, "--to", "report.html")
    text = (folder / "report.html").read_text()
    short = text.partition("<h2>In short</h2>")[2].partition("</section>")[0]
    assert short.count("outputs that the surrogate knows too little of:<ul><li>noise, base: the surrogate misses") == 1
    blind = percuss("calibrate", fitted, "--block", "noise").id
    percuss("report", percuss("predict", blind, "--accept", "skill").id, "--to", "blind.md")
    text = (folder / "blind.md").read_text()
    short = text.partition("In short")[2].partition("\n## ")[0]
    assert "noise, base: the surrogate misses" in short and "Root mean square error" not in short


def test_errors_without_folds_are_said_to_be_unknown(percuss, noisy) -> None:
    said = percuss("surrogate", noisy, *QUICK, "--folds", 0, "--accept", "skill")
    assert "no point was kept from the fit: its error is not known" in said.err
    told = json.loads(percuss("sensitivity", said.id, "--json").out)
    assert "first_interval" not in told["outputs"][0]
