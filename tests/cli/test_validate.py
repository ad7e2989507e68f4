"""`percuss validate` through the command line: findings, figures, Bayes factors, other data, gaps, refusals."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Call

SOURCES = Path(__file__).parents[2] / "studies"
STUDY = "studies/duffing-extrapolation"


@pytest.fixture
def studies(folder: Path) -> Path:
    for name in ("duffing-extrapolation", "two-storey", "pounding-law"):
        shutil.copytree(SOURCES / name, folder / "studies" / name)
    return folder / "studies"


def _record(folder: Path, samples: int = 2000, spoil: Callable[[list[str]], None] | None = None) -> Path:
    """The head of the twin data, changed."""
    lines = (SOURCES / "duffing-extrapolation" / "observations" / "low.csv").read_text().splitlines()[: samples + 1]
    if spoil:
        spoil(lines)
    path = folder / "other.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_findings_figures_and_bayes_factor(studies: Path, percuss: Call, folder: Path) -> None:
    """Both models on the same data: the ids chain into plot, compare, report and audit."""
    ids = {}
    for model in ("linear", "cubic"):
        said = percuss("validate", STUDY, "--model", model, "--training", "8 s", "--json")
        assert said.code == 0, said.err
        found = json.loads(said.out)
        ids[model] = found["id"]
        assert found["tracked"][0] == "stiffness_1"
        assert [rung["drift"] for rung in found["ladder"]] == [1e-5, 1e-4, 1e-3]
        assert found["calibration"]["samples"] == 800
        assert {part["part"] for part in found["predictions"]} == {"training", "held out", "extrapolated"}
        verdict = {"linear": "do not extrapolate", "cubic": "no evidence against"}[model]
        assert found["verdict"] == verdict and f"verdict on {model}: {verdict}" in said.err
    compared = json.loads(percuss("compare", ids["linear"], ids["cubic"], "--json").out)
    (factor,) = compared["bayes_factors"]
    assert factor["first"] == ids["linear"] and compared["same_data"]
    percuss("report", compared["id"], "--to", "compared.md")
    said = (folder / "compared.md").read_text()
    assert "stiffness_1 [N/m] in every calibration" in said and "variance_u1 [m²] in every calibration" in said
    for name, options in (("paths.svg", ()), ("close.svg", ("--window", "20", "30")), ("ladder.png", ("--ladder",))):
        said = percuss("plot", *ids.values(), "--to", name, *options)
        assert said.code == 0, said.err
        assert (folder / name).stat().st_size > 5000
    assert percuss("plot", ids["linear"], "--to", "k.svg", "--curve", "stiffness_1").code == 0
    percuss("plot", ids["linear"], "--to", "k.svg", "--curve", "stifness_1").refused(2, "--curve stifness_1")
    report = percuss("report", ids["linear"], "--to", "report.html")
    assert report.code == 0, report.err
    assert "do not extrapolate" in (folder / "report.html").read_text()
    audit = percuss("audit")
    assert audit.code == 0, audit.err + audit.out


def test_contact_law_is_revealed(studies: Path, percuss: Call) -> None:
    """Data of a Hertz pad: Kelvin-Voigt must change its stiffness from impact to impact, Hertz must not."""
    said = percuss("validate", "studies/pounding-law", "--no-traditional", "--json")
    found = json.loads(said.out)["models"]
    assert list(found) == ["kelvin-voigt", "hertz"]
    assert len(percuss("validate", "studies/pounding-law", "--no-traditional").out.split()) == 2
    assert found["kelvin-voigt"]["verdict"] == "do not extrapolate"
    assert any("stiffness wanders" in reason for reason in found["kelvin-voigt"]["reasons"])
    assert found["hertz"]["verdict"] == "no evidence against"
    restitution, stiffness = found["hertz"]["parameters"]
    assert restitution["mean"] == pytest.approx(0.6, abs=0.01)
    assert stiffness["mean"] == pytest.approx(4e5, rel=0.02)


def test_slipping_joints_are_revealed(studies: Path, percuss: Call) -> None:
    """Twin of two storeys: dampers drift, stiffnesses hardly."""
    found = json.loads(percuss("validate", "studies/two-storey", "--no-traditional", "--json").out)
    wander = {path["name"]: path["wander"] for path in found["parameters"]}
    assert found["verdict"] == "do not extrapolate"
    assert min(wander["coefficient_1"], wander["coefficient_2"]) > 3 > 1.2 > wander["stiffness_1"]


def test_other_data_and_gaps(studies: Path, percuss: Call, folder: Path) -> None:
    """NaN, empty cells and rows that are not there: refused with the place, or left out and counted."""

    def spoil(lines: list[str]) -> None:
        for row, text in ((101, "nan"), (102, ""), (400, "NaN")):
            lines[row] = ",".join([*lines[row].split(",")[:2], text])
        del lines[501:511]

    data = _record(folder, spoil=spoil)
    call = ("validate", STUDY, "--model", "cubic", "--data", data, "--no-traditional", "--settle", "5 s")
    percuss(*call).refused(2, "13 measurements are missing (10 samples are not in the table)", "`u1_m` at 1 s")
    said = percuss(*call, "--gaps", "skip", "--json")
    found = json.loads(said.out)
    assert (found["samples"], found["used"], found["skipped"]) == (2000, 1999 - 13, 13)
    assert any("left out" in note for note in found["notes"]) and any("straight lines" in n for n in found["notes"])
    whole = json.loads(percuss(*call[:5], _record(folder), *call[6:], "--json").out)
    assert whole["skipped"] == 0
    assert found["parameters"][0]["mean"] == pytest.approx(whole["parameters"][0]["mean"], abs=0.1)
    assert found["data"]["sha256"] != whole["data"]["sha256"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "quartic"), ("--model quartic",)),
        (("--model", "linear", "--track", "stifness_1"), ("stifness_1",)),
        (("--model", "linear", "--drift", "-1"), ("drift", "-1")),
        (("--model", "linear", "--gaps", "fill"), ("gaps", "fill")),
        (("--model", "linear", "--settle", "1 day"), ("settle",)),
        (("--model", "linear", "--settle", "300 s"), ("settle",)),
        (("--model", "linear", "--training", "1 ms"), ("training",)),
        (("--model", "linear", "--data", "none.csv"), ("none.csv",)),
    ],
)
def test_refusals(studies: Path, percuss: Call, options: tuple[str, ...], words: tuple[str, ...]) -> None:
    percuss("validate", STUDY, *options).refused(2, *words)


@pytest.mark.parametrize(
    ("row", "text", "words"),
    [
        (7, "0.06,1.0,abc", ("row 7", "u1_m", "'abc'")),
        (7, "0.06,1.0,inf", ("row 7", "u1_m")),
        (7, "0.01,1.0,0.0", ("time of row 7", "does not come after")),
        (7, "0.0637,1.0,0.0", ("not evenly spaced",)),
        (0, "t_s,force,u1_m", ("no column `force_n`", "force")),
    ],
)
def test_bad_data(studies: Path, percuss: Call, folder: Path, row: int, text: str, words: tuple[str, ...]) -> None:
    def spoil(lines: list[str]) -> None:
        lines[row] = text

    data = _record(folder, 100, spoil)
    percuss("validate", STUDY, "--model", "linear", "--data", data, "--no-traditional").refused(2, *words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('quantity = "u1"', 'quantity = "x1"', ("observed[0].quantity", "x1")),
        ("noise_variance = 1e-5", "noise_variance = 0", ("observed[0].noise_variance", "above 0")),
        (", noise_variance = 1e-5", "", ("observed[0]", "u1 needs noise_std or noise_variance")),
        ('time = "t_s"', 'tme = "t_s"', ("tme",)),
        ('unit = "N"', 'unit = "kg"', ("inputs[0].unit", "kg")),
        ('to = "1"', 'to = "9"', ("input to `9`",)),
        ("shape = 1, scale = 0.01", "shape = -1, scale = 0.01", ("priors.variance_u1",)),
        (
            'variance_u1 = { kind = "gamma", shape = 1, scale = 0.01 }',
            "variance_u1 = 3",
            ("priors.variance_u1", "table"),
        ),
        ('settle = "20 s"', "track = [1]", ("track", "names")),
        ('time = "t_s"', 'step = "0 s"', ("step", "above 0")),
        ("[validation.linear]", "[validation]", ("TOML",)),
    ],
)
def test_bad_sections(studies: Path, percuss: Call, old: str, new: str, words: tuple[str, ...]) -> None:
    path = studies / "duffing-extrapolation" / "study.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1) if not new.startswith("[v") else text.replace(old, new))
    percuss("validate", STUDY, "--model", "linear", "--no-traditional").refused(2, *words)


FREE = """
[model]
kind = "oscillators"
duration = "10 s"
sampling = "10 ms"
masses = [{{ name = "1", mass = "1 kg", displacement = "50 mm" }}]
springs = [{{ name = "1", between = ["base", "1"], stiffness = "10 N/m" }}]
dampers = [{{ name = "1", between = ["base", "1"], coefficient = "0.1 N.s/m" }}]

[parameters]
stiffness_1.prior = {{ kind = "uniform", low = 9, high = 11 }}
coefficient_1.prior = {{ kind = "uniform", low = 0.05, high = 0.2 }}

[outputs.early]
quantity = "u1"
reduce = "at"
at = "1.5 s"
[outputs.late]
quantity = "u1"
reduce = "at"
at = "4.0 s"

[observations]
file = "seen.csv"
std = "1 mm"

[calibration.both]

[validation]
time = "t"
observed = [{{ quantity = "u1", unit = "m", noise_std = "1 mm" }}]
"""


def test_a_posterior_is_where_the_filter_starts(percuss: Call, folder: Path, make_study: Callable[..., Path]) -> None:
    """From a study through surrogate and calibration to a validation that stands on the posterior."""
    study = make_study("free", text=FREE)
    (study / "seen.csv").write_text("early,late\n0.0,0.0\n")
    run = json.loads(
        percuss(
            "simulate", "free", "--set", "stiffness_1=10", "--set", "coefficient_1=0.1", "--csv", "run.csv", "--json"
        ).out
    )
    early, late = run["outputs"]["early"], run["outputs"]["late"]
    (study / "seen.csv").write_text(f"early,late\n{early},{late}\n")
    campaign = percuss("run", percuss("design", "free", "--n", 40, "--skip", 1).id).id
    surrogate = percuss("surrogate", campaign, "--family", "chaos")
    posterior = percuss("calibrate", surrogate.id).id
    times = np.loadtxt(folder / "run.csv", delimiter=",", skiprows=1, usecols=(0, 1))
    noisy = times[:, 1] + 1e-3 * np.random.default_rng(0).standard_normal(len(times))
    rows = (f"{t:.2f},{x:.8g}" for t, x in zip(times[:, 0], noisy, strict=True))
    (folder / "measured.csv").write_text("\n".join(["t,u1", *rows]))
    said = percuss("validate", posterior, "--data", "measured.csv", "--no-traditional", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    mean, std = found["start"]["stiffness_1"]
    assert abs(mean - 10) < 0.5 and 0 < std < 0.5
    assert found["verdict"] == "no evidence against"
    assert posterior in percuss("lineage", found["id"]).out
    percuss("validate", surrogate.id, "--data", "measured.csv").refused(2, "surrogate.fitted", "posterior.sampled")
    assert percuss("audit").code == 0
    # What its posterior stands on was withdrawn: the finding is marked, and accepted by name alone.
    percuss("supersede", surrogate.id, "--reason", "wrong clock")
    call = ("validate", posterior, "--data", "measured.csv", "--no-traditional")
    said = percuss(*call)
    assert said.code == 1
    assert said.err.startswith("NOT TRUSTED: surrogate.fitted, on which it stands, is superseded: wrong clock")
    assert percuss(*call, "--accept", "superseded").code == 0


def test_a_study_without_the_section_is_told_so(percuss: Call) -> None:
    percuss("validate", "studies/ishigami").refused(2, "has no [validation]")


def test_same_bits_again(studies: Path, percuss: Call, folder: Path) -> None:
    data = _record(folder, 1500)
    call = ("validate", STUDY, "--model", "linear", "--data", data, "--training", "5 s", "--settle", "2 s", "--json")
    first, second = (json.loads(percuss(*call).out) for _ in range(2))
    del first["id"], second["id"]
    assert first == second
    assert np.isfinite(first["calibration"]["evidence"]["laplace"]["log_evidence"])
