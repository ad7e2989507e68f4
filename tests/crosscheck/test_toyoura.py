"""Measured triaxial curves of Toyoura sand and a packing of its authors, read in place from PERCUSS_TOYOURA."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.bench.toyoura import CL, FOLDER, HM, PEER, authors_packing, curve, measured, observed, off, peer, spec

pytestmark = pytest.mark.skipif(
    not (FOLDER / "experiment").exists() or not (FOLDER / "packings").exists(),
    reason="PERCUSS_TOYOURA names no folder with experiment and packings",
)

STUDY = """
[model]
kind = "grains"
grains = 200
law = "hertz-mindlin"
pressure = "0.2 MPa"
strain_step = 0.01
strain_end = 0.08
{settings}
[parameters.young]
unit = "GPa"
prior = {{ kind = "log-uniform", low = 0.1, high = 10 }}
[parameters.poisson]
prior = {{ kind = "uniform", low = 0, high = 0.5 }}
[parameters.rolling_stiffness]
prior = {{ kind = "uniform", low = 0, high = 1 }}
[parameters.rolling_friction]
prior = {{ kind = "uniform", low = 0, high = 1 }}
[parameters.friction_angle]
unit = "deg"
prior = {{ kind = "uniform", low = 10, high = 50 }}
"""


@pytest.mark.parametrize(("law", "short"), [(HM, "hm"), (CL, "cl")])
def test_the_papers_parameters_on_the_authors_packing(law: str, short: str) -> None:
    """With the peer's contacts: its curve, and the order of distance to the measured one that it reaches.

    Found to 2 %: 0.017 and 0.002 % (Hertz-Mindlin), 0.012 and 0.004 % (linear); half a step moves ours by 0.016.
    """
    found = curve(authors_packing(1000), spec(law, **PEER[law]))
    ratio, volume = off(found, peer(f"{short}_n1000_s0.2_light.csv"), 2)
    assert ratio < 0.04
    assert volume < 0.03
    # The peer: 0.10 to 0.25, 0.06 to 0.14 %. Chaos of one run beyond the peak moves both by some hundredths.
    ratio, volume = off(found, measured(0.2))
    assert ratio < 0.3
    assert volume < 0.2


def test_measured_values_bind_to_the_study(percuss, folder, capsys) -> None:
    observed()
    (folder / "observed.csv").write_text(capsys.readouterr().out)
    said = percuss("observe", Path(__file__).parents[2] / "studies" / "toyoura-triaxial", "observed.csv", "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["entries"] == 60


def test_three_measured_specimens_share_their_contacts(percuss, folder, capsys) -> None:
    """Few evaluations, by which nothing converges: the middle of the population is that of the study's README."""
    study = Path(__file__).parents[2] / "studies" / "toyoura-specimens"
    observed()
    kept = [row for row in capsys.readouterr().out.splitlines(keepends=True) if "_1," not in row and ",cl-" not in row]
    (folder / "observed.csv").write_text("".join(kept))
    surrogates = []
    for case in ("hm-0.2", "hm-0.5", "hm-1.0"):
        runs = percuss("import", "runs", study / "expected" / f"runs-{case}.csv", "--study", study, "--case", case).id
        surrogates.append(percuss("surrogate", runs, "--family", "chaos", "--search", "early", "--bootstrap", 0).id)
    data = percuss("observe", study, "observed.csv").id
    few = ("--evaluations", 200_000, "--accept", "convergence", "--json")
    said = percuss("calibrate", *surrogates, "--block", "measured", "--observations", data, *few)
    assert said.code == 0, said.err
    rows = {row["name"]: row for row in json.loads(said.out)["summary"]["rows"]}
    assert 4e9 < rows["young"]["mean"] < 8e9
    assert 23 < math.degrees(rows["friction_angle"]["mean"]) < 29
    assert rows["spread_young"]["interval"][0] < 0.1 and rows["spread_friction_angle"]["interval"][0] < 0.1


def test_a_filter_on_the_measured_curve(percuss, make_study, folder) -> None:
    study = make_study("sand", text=STUDY)
    rows = "".join(f"{strain},{ratio},{volume}\n" for strain, ratio, volume in zip(*measured(0.2), strict=True))
    (folder / "seen.csv").write_text("axial_strain [%],stress_ratio,volumetric_strain [%]\n" + rows)
    design = percuss("design", study, "--sampler", "halton", "--n", 16, "--skip", 1, "--curves").id
    campaign = percuss("run", design).id
    # 3 effective samples of 16: enough to see that it runs, not for an estimate.
    flags = ("--covariance", "maximum", "--ess", 0.2, "--accept", "effective-sample", "--json")
    said = percuss("filter", campaign, "--data", "seen.csv", *flags)
    assert said.code == 0, said.err
    facts = json.loads(said.out)
    assert facts["effective"] == pytest.approx(0.2 * facts["samples"], rel=1e-6)
    assert 20 < math.degrees(facts["identified"]["friction_angle"]["mean"]) < 50
