"""Scenes through the command line: settling, campaigns, drawing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from percuss.ledger.ledger import Ledger

# A block that first falls onto the ground by a millimetre, beside one that is thrown.
SCENE = """
[model]
kind = "scene"
duration = "0.4 s"
step = "2 ms"
settle = {{ speed = "1e-5 m/s" }}
{settings}

[[model.bodies]]
name = "ground"
fixed = true
contactors = [{{ shape = "half-space", group = "ground" }}]

[[model.bodies]]
name = "block"
mass = "10 kg"
position = [0, 0, "10.1 cm"]
contactors = [{{ shape = "box", size = [0.4, 0.4, 0.2], group = "block" }}]

[[model.bodies]]
name = "ball"
mass = "$mass"
position = ["-1 m", 0, "20 cm"]
velocity = ["$speed", 0, 0]
contactors = [{{ shape = "sphere", radius = "8 cm", group = "ball" }}]

[[model.laws]]
groups = ["ground", "block"]
friction = 0.4

[[model.laws]]
groups = ["ball", "block"]
restitution = "$e"
friction = 0.2

[[model.probes]]
name = "block"
body = "block"

[parameters.e]
prior = {{ kind = "uniform", low = 0, high = 0.9 }}
[parameters.mass]
unit = "kg"
prior = {{ kind = "uniform", low = 2, high = 6 }}

[cases.slow]
speed = "4 m/s"
[cases.fast]
speed = "8 m/s"

[outputs.slip]
quantity = "block_ux"
reduce = "final"
unit = "mm"
[outputs.closing_error]
reduce = "absmax"
"""
POINT = ("--set", "e=0.3", "--set", "mass=4")


@pytest.fixture
def run(percuss, make_study):
    """A run of the fast case."""
    make_study("thrown", text=SCENE)
    return percuss("simulate", "studies/thrown", "--case", "fast", *POINT).id


def _kinds(folder: Path) -> list[str]:
    return [event.kind for event in Ledger.open(folder / "ledger").events()]


def test_settling_is_an_event_that_runs_share(percuss, folder, run) -> None:
    assert _kinds(folder).count("scene.settled") == 1
    second = percuss("simulate", "studies/thrown", "--case", "slow", "--set", "e=0.6", "--set", "mass=4").id
    assert _kinds(folder).count("scene.settled") == 1, "speed and restitution do not matter to what rests"
    percuss("simulate", "studies/thrown", "--case", "slow", "--set", "e=0.6", "--set", "mass=5")
    assert _kinds(folder).count("scene.settled") == 1, "nor does the mass of a ball that is held"
    assert "settled: scene.settled" in percuss("lineage", second).out
    shown = json.loads(percuss("show", "@last:scene", "--json").out)
    assert shown["body"]["steps"] > 0
    assert percuss("audit", "--rerun", 9).code == 0


def test_a_campaign_is_the_same_however_it_was_run(percuss, folder, make_study) -> None:
    make_study("thrown", text=SCENE)
    design = percuss("design", "studies/thrown", "--n", 6).id
    campaign = json.loads(percuss("run", design, "--jobs", 1, "--json").out)
    assert (campaign["completed"], campaign["failed"]) == (12, 0)
    assert _kinds(folder).count("scene.settled") == 1
    shutil.move(folder / "ledger", folder / "one")
    design = percuss("design", "studies/thrown", "--n", 6).id
    again = json.loads(percuss("run", design, "--jobs", 4, "--json").out)
    assert again["content"] == campaign["content"]
    shutil.move(folder / "ledger", folder / "two")
    design = percuss("design", "studies/thrown", "--n", 6).id
    elsewhere = json.loads(percuss("run", design, "--on", "processes", "--jobs", 2, "--json").out)
    assert elsewhere["content"] == campaign["content"]
    assert _kinds(folder).count("scene.settled") == 1
    assert percuss("audit", "--rerun", 12).code == 0


def test_what_never_rests_fails_with_the_reason(percuss, make_study) -> None:
    text = SCENE.replace('"1e-5 m/s"', '"1e-5 m/s", max_steps = 3')
    make_study("loose", text=text)
    percuss("simulate", "studies/loose", "--case", "fast", *POINT).refused(1, "the run failed", "does not come to rest")


def test_faults_of_a_scene_file_come_with_their_line(percuss, make_study) -> None:
    make_study("bad", text=SCENE.replace('mass = "10 kg"', 'mass = "10 m"').replace("friction = 0.4", "friction = -1"))
    said = percuss("study", "check", "studies/bad")
    assert said.code == 2
    assert "`bodies[1].mass`: `10 m` is in m" in said.out + said.err
    assert "`laws[0].friction`" in said.out + said.err


def test_vtk(percuss, folder, run) -> None:
    said = percuss("export", "vtk", run, "--to", "frames", "--interval", "50 ms", "--json")
    told = json.loads(said.out)
    assert told["frames"] == 9
    for file in told["files"]:
        sets = ElementTree.parse(folder / file).getroot().findall("Collection/DataSet")
        assert [float(item.get("timestep", "nan")) for item in sets] == pytest.approx([0.05 * k for k in range(9)])
        for item in sets:
            assert b'type="PolyData"' in (folder / "frames" / str(item.get("file"))).read_bytes()


def test_only_runs_with_bodies_can_be_drawn(percuss, folder, run) -> None:
    percuss("view", "@last:design").refused(2, "design.created", "only runs that finished")
    percuss("view", run, "--sample", 3).refused(2, "sample 3")
    percuss("view", run, "--interval", "-1 s").refused(2, "--interval")
    percuss("export", "vtk", run, "--to", "studies/thrown/study.toml").refused(2, "is a file")
    other = percuss("simulate", "studies/ishigami", "--set", "x1=1", "--set", "x2=1", "--set", "x3=1").id
    percuss("view", other).refused(2, "no bodies to draw")


def test_a_report_links_its_film(percuss, folder, run, make_study) -> None:
    pytest.importorskip("matplotlib", reason="reports need the extra `report`")
    assert percuss("report", run, "--film", "--to", "report.html").code == 0
    assert (
        '<a href="report-film.html">Film of a run (thrown, fast, sample 0)</a>' in (folder / "report.html").read_text()
    )
    assert 'id="film"' in (folder / "report-film.html").read_text()
    percuss("report", run, "--film", "--format", "markdown").refused(2, "--to FILE")


def test_a_run_that_is_not_what_was_recorded_is_not_drawn(percuss, folder, run, monkeypatch) -> None:
    from percuss.models.scene import experiment

    monkeypatch.setattr(experiment, "values_of", lambda scene, result: {"closing_error": 1.0})
    real = experiment.curves_of
    monkeypatch.setattr(
        experiment, "curves_of", lambda scene, result: {k: 1.001 * v for k, v in real(scene, result).items()}
    )
    percuss("view", run).refused(1, "made again, its outputs differ")


STACK = """
[model]
kind = "scene"
duration = "0.5 s"
step = "1 ms"
max_factorisations = 50
{settings}
laws = [{{ groups = ["ground", "block"], friction = 0.5 }}, {{ groups = ["block", "block"], friction = 0.5 }}]

[[model.bodies]]
name = "ground"
fixed = true
contactors = [{{ shape = "half-space", group = "ground" }}]

[[model.bodies]]
name = "light"
mass = "1 kg"
position = [0, 0, 0.5]
contactors = [{{ shape = "box", size = [1, 1, 1], group = "block" }}]

[[model.bodies]]
name = "heavy"
mass = "$heavy"
position = [0, 0, 1.5]
contactors = [{{ shape = "box", size = [1, 1, 1], group = "block" }}]

[parameters.heavy]
prior = {{ kind = "uniform", low = 1, high = 1e13 }}

[outputs.deepest_overlap]
"""


def test_a_run_that_sinks_fails_and_steps_that_missed_the_tolerance_are_told(percuss, folder, make_study) -> None:
    make_study("stack", text=STACK)
    percuss("simulate", "studies/stack", "--set", "heavy=1e12").refused(
        1, "the run failed: bodies sank into each other"
    )
    assert _kinds(folder)[-1] == "runs.failed"
    missed = "steps missed the tolerance of the contact solver"
    strained = percuss("simulate", "studies/stack", "--set", "heavy=1e9")
    assert strained.code == 0
    assert missed in strained.err
    ledger = Ledger.open(folder / "ledger")
    (said,) = ledger.table(ledger.events()[-1], "printed").rows(named=True)
    assert said["stream"] == "notes"
    assert missed in said["text"]
    assert missed not in percuss("simulate", "studies/stack", "--set", "heavy=10").err
