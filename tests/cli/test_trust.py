"""Verdicts through the command line: told first, kept, inherited, accepted by name, and the only way to exit code 1."""

from __future__ import annotations

import json

import pytest
from tests.cli.calibrations import known

from percuss.ledger.ledger import Ledger

FIT = ("--family", "chaos", "--degree", "1..5", "--search", "early", "--bootstrap", "0")
BAD = "NOT TRUSTED: the model does not explain the data"


@pytest.fixture
def stiffer(percuss, folder) -> str:
    """A surrogate of the frames that pound, and twin data of frames of which one is 10 % stiffer."""
    study = known(folder, "pounding-twin")
    text = (study / "study.toml").read_text()
    other = folder / "studies" / "stiffer"
    other.mkdir()
    (other / "study.toml").write_text(text.replace("330.278 N/m", "363.306 N/m").split("[observations]")[0])
    rows = ["case,output,value"]
    for case in ("release-40mm", "release-50mm"):
        call = ("simulate", "stiffer", "--case", case, "--set", "restitution=0.55", "--set", "gap=21 mm")
        told = json.loads(percuss(*call, "--set", "damping_ratio_1=0.6 %", "--json").out)
        rows += [f"{case},{name},{1e3 * value!r}" for name, value in told["outputs"].items()]
    (study / "observations" / "twin.csv").write_text("\n".join(rows))
    campaign = percuss("run", percuss("design", "pounding-twin", "--n", 40, "--skip", 1).id).id
    return percuss("surrogate", campaign, *FIT).id


def test_a_model_that_does_not_explain_the_data_says_so_wherever_it_is_used(percuss, folder, stiffer) -> None:
    said = percuss("calibrate", stiffer, "--block", "all", "--json")
    assert said.code == 1
    assert said.err.startswith(BAD)
    told = json.loads(said.out)
    assert told["converged"] and told["summary"]
    assert told["fit"]["all"]["p_value"] < 1e-3
    (failed,) = [v for v in told["trust"] if not v["passed"]]
    assert failed["gate"] == "fit" and failed["figure"] < failed["threshold"] and failed["source"] is None
    predicted = percuss("predict", told["id"], "--draws", 50, "--json")
    assert predicted.code == 1 and predicted.err.startswith(BAD)
    (inherited,) = json.loads(predicted.out)["trust"]
    assert inherited == {**failed, "source": told["id"]}
    assert percuss("log").out.count("; failed fit") == 2
    page = percuss("report", json.loads(predicted.out)["id"], "--format", "markdown")
    assert page.err.startswith(BAD)
    assert page.out.startswith(f"> **warning:** {BAD}")


def test_what_was_accepted_stays_marked(percuss, folder, stiffer) -> None:
    said = percuss("calibrate", stiffer, "--block", "all", "--accept", "fit")
    assert said.code == 0
    assert said.err.startswith("accepted all the same: the model does not explain the data")
    predicted = percuss("predict", said.id, "--draws", 50)
    assert predicted.code == 0
    assert predicted.err.startswith("accepted all the same: the model does not explain the data")
    event = Ledger.open(folder / "ledger").event(predicted.id)
    (mark,) = event.data["trust"]
    assert mark["accepted"] and mark["source"] == said.id
    assert percuss("log").out.count("; failed fit (accepted)") == 2
    other = percuss("calibrate", stiffer, "--block", "energy")
    compared = percuss("compare", said.id, other.out.strip())
    assert compared.err.startswith("accepted all the same: the model does not explain the data")


def test_a_gate_that_is_none_is_refused(percuss, folder, stiffer) -> None:
    percuss("calibrate", stiffer, "--block", "all", "--accept", "fti").refused(2, "--accept fti", "did you mean `fit`")


def test_a_prior_far_from_the_data_is_told(percuss, folder) -> None:
    study = known(folder, "linear-gaussian")
    text = (study / "study.toml").read_text()
    assert text.count("std = 2.0") == 1
    (study / "study.toml").write_text(text.replace("std = 2.0", "std = 0.2"))
    campaign = percuss("run", percuss("design", "linear-gaussian", "--n", 20, "--skip", 1).id).id
    said = percuss("calibrate", percuss("surrogate", campaign, "--degree", "1..2", "--bootstrap", 0).id, "--json")
    assert said.code == 1
    told = json.loads(said.out)
    assert [tuple(v["about"]) for v in told["trust"] if not v["passed"]][-1] == ("x1",)
    (x1, x2) = told["fit"]["prior_distances"]
    assert x1["deviations"] > 5 and abs(x2["deviations"]) < 2
