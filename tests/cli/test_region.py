"""`percuss region` through the command line: a body of uncertain inertia, its curves, its sources, its pictures."""

from __future__ import annotations

import json

import pytest

SPINNING = """
[model]
kind = "scene"
duration = "20 ms"
step = "1 ms"
gravity = [0, 0, 0]
{settings}
[[model.bodies]]
name = "rock"
mass = "$mass"
gyration = ["$z_xx", "$z_yy", "$z_zz", "$z_xy", "$z_xz", "$z_yz"]
angular_velocity = ["$spin", 40, 60]
[[model.probes]]
name = "rock"
body = "rock"
[parameters.mass]
prior = {{ kind = "gamma", mean = "20 kg", dispersion = 0.5 }}
[parameters.spin]
prior = {{ kind = "uniform", low = 20, high = 21 }}
[parameters.z]
prior = {{ kind = "kummer-beta", mean = [0.04, 0.03, 0.01], upper = [0.12, 0.09, 0.03] }}
[cases.spin]
hold = ["z"]
[cases.all]
[outputs.wx]
quantity = "rock_wx"
reduce = "final"
"""


@pytest.fixture
def study(make_study):
    return make_study("spinning", "", text=SPINNING)


def _campaign(percuss, study, *options):
    design = percuss("design", study, "--n", 64, "--seed", 1, "--curves", *options).id
    return percuss("run", design).id


def test_regions_with_pictures_and_report(percuss, study, folder):
    campaign = _campaign(percuss, study, "--sampler", "monte-carlo")
    said = percuss("region", campaign, "--curve", "rock_wx", "--curve", "rock_wz", "--json")
    assert said.code == 0, said.err
    facts = json.loads(said.out)
    assert [(fact["case"], fact["curve"], fact["runs"]) for fact in facts["curves"]] == [
        ("spin", "rock_wx", 64),
        ("all", "rock_wx", 64),
        ("spin", "rock_wz", 64),
        ("all", "rock_wz", 64),
    ]
    assert all(fact["factor"] >= 1 for fact in facts["curves"])
    drawn = percuss("plot", facts["id"], "--to", folder / "region.svg")
    assert "4 panels" in drawn.err
    assert (folder / "region.svg").read_text().startswith("<?xml")
    assert percuss("report", facts["id"], "--to", folder / "page.html").code == 0
    page = (folder / "page.html").read_text()
    assert "Regions of time histories: " in page and "of whole histories, the band that holds" in page
    assert "rock_wx, rock_wz" in percuss("log").out
    assert percuss("audit").code == 0


def test_sources_of_a_saltelli_design(percuss, study):
    campaign = _campaign(percuss, study, "--sampler", "saltelli", "-o", "groups=weight=mass")
    said = json.loads(percuss("region", campaign, "--curve", "rock_wx", "--json").out)
    held, free = said["curves"]
    assert held["runs"] == free["runs"] == 128
    assert list(free["split"]) == ["weight", "spin", "z"]
    # The spin of a free body does not know its mass; held at its mean, the tensor explains nothing.
    assert free["split"]["weight"]["total"] == pytest.approx(0, abs=1e-12)
    assert held["split"]["spin"]["first"] == pytest.approx(1, abs=0.05)
    assert free["split"]["z"]["total"] > 0.5
    indices = json.loads(percuss("sensitivity", campaign, "--json").out)
    assert indices["parameters"] == ["weight", "spin", "z"]
    assert indices["outputs"][1]["total"]["weight"] == pytest.approx(0, abs=1e-12)


def test_what_makes_no_region(percuss, study):
    few = percuss("run", percuss("design", study, "--sampler", "monte-carlo", "--n", 4, "--curves").id).id
    assert "too few" in percuss("region", few, "--curve", "rock_wx").err
    bare = percuss("run", percuss("design", study, "--sampler", "monte-carlo", "--n", 4).id).id
    assert "without their curves" in percuss("region", bare, "--curve", "rock_wx").err
    assert "no such curve" in percuss("region", few, "--curve", "rock_w").err
    assert percuss("region", few, "--curve", "rock_wx", "--level", 1).code == 2
    assert "components of a kummer-beta tensor" in percuss("surrogate", few).err
    assert "components of a kummer-beta tensor" in percuss("design", study, "--sampler", "morris", "--n", 2).err
    mean = percuss("run", percuss("design", study, "--sampler", "mean", "--curves").id).id
    assert "independent runs" in percuss("region", mean, "--curve", "rock_wx").err
