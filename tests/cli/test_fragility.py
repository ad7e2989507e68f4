"""`percuss fragility` through the command line: curves, rates, pictures, audit, and what it refuses."""

from __future__ import annotations

import json

import pytest

# One storey on a base that moves: a linear oscillator, whose demand grows with the intensity.
SHAKEN = """
[model]
kind = "oscillators"
duration = "6 s"
sampling = "20 ms"
masses = [{{ name = "1", mass = "1 t" }}]
springs = [{{ between = ["base", "1"], stiffness = "158 kN/m", damping_ratio = 0.05 }}]
storeys = [{{ name = "a", between = ["base", "1"], height = "3 m" }}]
base_synthetic = {{ rise = "1 s", plateau = "3 s", decay = "1 1/s" }}
base_measures = true
{settings}
[parameters.intensity]
unit = "g0"
prior = {{ kind = "log-uniform", low = 0.01, high = 0.2 }}
[outputs.largest_drift_ratio]
[outputs.pga]
unit = "g0"
"""
STATES = ("--state", "slight=0.002", "--state", "severe=0.006")
ASKED = ("--output", "largest_drift_ratio", "--draws", 60)


@pytest.fixture
def campaign(percuss, make_study) -> str:
    make_study("shaken", text=SHAKEN)
    return percuss("run", percuss("design", "shaken", "--sampler", "sobol", "--n", 64).id).id


def test_curves_rates_picture_report_and_audit(percuss, campaign, folder) -> None:
    (folder / "hazard.csv").write_text("intensity [m/s^2],annual_rate\n0.05,1e-1\n0.5,2e-3\n3,1e-5\n")
    said = percuss(
        "fragility", campaign, "--intensity", "intensity", *ASKED, *STATES, "--hazard", "hazard.csv", "--json"
    )
    assert said.code == 0, said.err
    slight, severe = json.loads(said.out)["states"]
    assert 0.1 < slight["median"] < severe["median"] < 2
    assert slight["dispersion"] == severe["dispersion"]
    assert slight["rate"] > severe["rate"] > 0
    low, high = severe["rate_bayes"]
    assert low < severe["rate"] < high
    assert "hazard: exceeded 0.1 times a year at 0.005099 g0, 1e-05 at 0.3059 g0" in said.err
    assert "slight" in said.err and "median [g0]" in said.err and "rate [1/year]" in said.err
    assert percuss("plot", "@last:fragility", "--to", "f.svg").code == 0
    assert "severe" in (folder / "f.svg").read_text()
    assert percuss("report", "@last:fragility", "--to", "f.html").code == 0
    assert "Lognormal curves of the damage states" in (folder / "f.html").read_text()
    again = percuss("reproduce", "@last:fragility")
    assert again.code == 0, again.err
    assert percuss("audit").code == 0


def test_a_cloud_over_a_measure_of_the_motion(percuss, campaign) -> None:
    said = percuss("fragility", campaign, "--intensity", "pga", *ASKED, *STATES, "--method", "cloud")
    assert len(said.id) == 36
    assert "median [g0]" in said.err


def test_verdicts_come_first_and_can_be_accepted(percuss, campaign) -> None:
    few = ("fragility", campaign, "--intensity", "intensity", *ASKED, "--state", "worst=0.022", "--method", "cloud")
    said = percuss(*few)
    assert said.code == 1
    assert "NOT TRUSTED: state worst" in said.err.splitlines()[0]
    assert percuss(*few, "--accept", "exceedances", "--accept", "extrapolation", "--accept", "lognormal").code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--output", "drift", "--state", "a=1"), "output drift"),
        (("--output", "largest_drift_ratio", "--state", "a=3 mm"), "state a"),
        (("--output", "largest_drift_ratio", "--state", "a=0.01", "--state", "b=0.005"), "thresholds that rise"),
        (("--output", "largest_drift_ratio", "--state", "a=9"), "state a: no run exceeds it"),
        (("--output", "largest_drift_ratio", "--state", "a=1e-9"), "state a: every run exceeds it"),
        (("--output", "largest_drift_ratio", "--state", "a=0.003", "--method", "clouds"), "method clouds"),
        (("--output", "largest_drift_ratio", "--state", "a=0.003", "--dispersion", "two"), "dispersion two"),
        (("--output", "largest_drift_ratio", "--state", "a=0.003", "--motion", "record"), "motion record"),
        (("--output", "largest_drift_ratio", "--state", "a=0.003", "--level", "1"), "must lie between 0 and 1"),
        (("--output", "largest_drift_ratio", "--state", "a=0.003", "--case", "none"), "case none"),
        (("--output", "largest_drift_ratio", "--state", "a=0.003", "--hazard", "no.csv"), "there is no such file"),
        (("--output", "largest_drift_ratio", "--state", "a=0.003", "--hazard", "1,-2"), "must be above 0"),
        (("--output", "largest_drift_ratio", "--state", "a=0.003", "--method", "ida"), "at several intensities"),
    ],
)
def test_bad_input_is_one_sentence_and_no_event(percuss, campaign, words, sentence) -> None:
    before = percuss("log").out
    percuss("fragility", campaign, "--intensity", "intensity", *words).refused(2, sentence)
    percuss("fragility", campaign, "--intensity", "strength", *ASKED, *STATES).refused(2, "intensity strength")
    assert percuss("log").out == before
