"""What commands understood of the values they were given, and what they say of those they cannot take."""

from __future__ import annotations

import json

import pytest

from percuss.ledger.ledger import Ledger

IMPACT = """
[model]
kind = "benchmark"
function = "impact"
samples = 11
{settings}

[parameters.gap]
unit = "mm"
prior = {{ kind = "uniform", low = 10, high = 50 }}
[parameters.speed]
prior = {{ kind = "uniform", low = 0.1, high = 2 }}

[cases.free]
[cases.held]
hold = ["gap"]

[outputs.rest_position]
unit = "mm"
"""
RECORD = "PEER\nSomewhere\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 4, DT= .01 SEC\n0 .1 -.2 0\n"
SHAKEN = """
[model]
kind = "oscillators"
duration = "100 ms"
masses = [{{ name = "1", mass = "1 kg" }}]
springs = [{{ between = ["base", "1"], stiffness = "100 N/m" }}]
base_record = "quake.AT2"
base_record_end = "rest"
{settings}
[outputs.peak_u1]
"""


@pytest.fixture
def impact(make_study) -> None:
    make_study("impact", text=IMPACT)


def test_values_are_echoed_with_their_units(percuss, impact) -> None:
    given = ("--set", "gap=23", "--set", "speed=1", "--set", "friction=30 %")
    said = percuss("simulate", "impact", "--case", "free", *given)
    assert said.err.splitlines()[0] == "gap = 23 mm, speed = 1 m/s, friction = 0.3"
    assert 'note: gap=23 is a bare number, taken in mm, the unit of this study; "23 mm" says it' in said.err
    assert said.err.count("note: ") == 1, "m/s is SI, and 30 % says its unit"
    said = percuss("simulate", "impact", "--case", "free", "--set", "gap=2.3 cm", "--set", "speed=3.6 km/h")
    assert said.err.splitlines()[0] == "gap = 23 mm, speed = 1 m/s"
    assert "note: " not in said.err


def test_designs_and_twins_echo_their_values(percuss, impact, folder) -> None:
    said = percuss("design", "impact", "--n", 4, "--set", "friction=40 %")
    assert said.err.splitlines()[0] == "friction = 0.4"
    (folder / "seen.csv").write_text("output,value,std\nrest_position,15,1\n")
    said = percuss("observe", "impact", "seen.csv", "--case", "free", "--twin", "gap=21")
    assert said.err.splitlines()[0] == "gap = 21 mm"
    assert "rest_position = 15 mm\n" in said.err
    assert "note: gap=21 is a bare number, taken in mm" in said.err


def test_measured_values_echo_their_range(percuss, impact, folder) -> None:
    (folder / "seen.csv").write_text("output,value [m],std\nrest_position,0.015,1\nrest_position,0.02,1\n")
    assert "rest_position = 15 to 20 mm\n" in percuss("observe", "impact", "seen.csv", "--case", "free").err
    percuss("run", percuss("design", "impact", "--n", 16, "--skip", 1, "--case", "free").id)
    (folder / "steps.csv").write_text("output,value\nrest_position,15\n")
    said = percuss("filter", "@last:campaign", "--case", "free", "--data", "steps.csv", "--noise", "rest_position=5")
    # Hardly a sample is left by so small a noise: the verdict first, then what was understood.
    first, *echoed = said.err.splitlines()
    assert first.startswith("NOT TRUSTED: 16 samples are worth 3.37")
    assert [line for line in echoed if not line.startswith("note: ")][:2] == [
        "rest_position = 5 mm",
        "rest_position = 15 mm",
    ]


def test_of_many_measured_outputs_the_first_are_echoed(percuss, folder) -> None:
    names = [f"y{i}" for i in range(15)]
    study = folder / "many"
    study.mkdir()
    (study / "study.toml").write_text(
        f'[model]\nkind = "benchmark"\nfunction = "linear-gaussian"\ninputs = ["a"]\noutputs = {json.dumps(names)}\n'
        f'matrix = {[[1.0]] * 15}\n[parameters.a]\nprior = {{ kind = "normal", mean = 0, std = 1 }}\n'
    )
    (folder / "data.csv").write_text("output,value\n" + "".join(f"{name},1\n" for name in names))
    said = percuss("observe", study, "data.csv")
    assert "y11 = 1 and 3 more\n" in said.err and "y12 = 1" not in said.err


def test_tables_of_points_echo_their_units(percuss, impact, folder) -> None:
    percuss("run", percuss("design", "impact", "--n", 12, "--skip", 1, "--case", "free").id)
    percuss("surrogate", "@last:campaign", "--family", "chaos", "--folds", 0, "--bootstrap", 0)
    (folder / "points.csv").write_text("gap,speed [km/h]\n20,3.6\n")
    said = percuss("surrogate", "@last:surrogate", "--at", "points.csv")
    assert said.err.splitlines()[0] == "read gap in mm, speed in km/h"
    assert "note: no unit in the header of gap" in said.err
    (folder / "points.csv").write_text("gap,speed\n20,fast\n")
    percuss("surrogate", "@last:surrogate", "--at", "points.csv").refused(2, "row 1 of column speed", "'fast'")


def test_values_that_cannot_be_taken(percuss, impact, folder) -> None:
    free = ("simulate", "impact", "--case", "free", "--set")
    percuss(*free, "restitution=nan").refused(2, "`restitution`", "`nan` is no quantity: write a number, as in `0.5`")
    percuss(*free, "gap=wide").refused(2, "`gap`", "as in `2 mm`")
    percuss("simulate", "impact", "--case", "held", "--set", "gap=20").refused(2, "`gap`", "case held holds it")
    assert not (folder / "ledger").exists()


def test_a_record_shorter_than_the_run_is_one_sentence(percuss, make_study) -> None:
    path = make_study("shaken", text=SHAKEN.replace('base_record_end = "rest"\n', ""))
    (path / "quake.AT2").write_text(RECORD)
    said = percuss("simulate", "shaken")
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1 and "the record quake.AT2 ends at 0.03 s, before the run of 0.1 s" in said.err
    assert percuss("log").out == "", "nothing was appended"


def test_the_record_in_use_is_told(percuss, make_study, folder) -> None:
    path = make_study("shaken", text=SHAKEN)
    (path / "quake.AT2").write_text(RECORD)
    said = percuss("simulate", "shaken", "--set", "base_scale=2")
    told = "quake.AT2: PGA 3.923 m/s^2 (0.4 g0), PGV 0.01961 m/s, 0.03 s long"
    assert told in said.err and "step 0.01 s, 4 samples" in said.err
    shown = percuss("study", "show", "shaken").out
    (row,) = (line for line in shown.splitlines() if line.startswith("quake.AT2"))
    assert row.split()[1:4] == ["1.96133", "0.00980665", "0.03"]
    page = percuss("report", said.out.strip(), "--format", "markdown").out
    assert "Records of the base motion" in page
    (row,) = (line for line in page.splitlines() if line.startswith("| quake.AT2"))
    assert row.split()[3:8:2] == ["1.961", "0.009807", "0.03"]
    (path / "quake.AT2").write_text(RECORD.replace("ACCELERATION", "VELOCITY"))
    percuss("simulate", "shaken").refused(2, "quake.AT2", "VELOCITY", "an acceleration over time is needed")


def test_large_designs_say_their_size(percuss, monkeypatch) -> None:
    monkeypatch.setattr("percuss.cli.design.LARGE_MB", 1e-3)
    assert "note: 100 points of 3 parameters take about 0 MB" in percuss("design", "ishigami", "--n", 100).err
    assert "note" not in percuss("design", "ishigami", "--n", 10).err


def test_misspelt_commands_and_kinds(percuss) -> None:
    percuss("desing", "ishigami").refused(2, "there is no command 'desing': did you mean `design`")
    assert "Did you mean 'check'" in percuss("study", "chek", "ishigami").err
    assert percuss("design", "ishigami", "--n", 4).id
    percuss("log", "--kind", "desing").refused(2, "--kind desing", "did you mean `design`")
    assert percuss("log", "--kind", "runs").code == 0, "a kind of which there is no event yet"


def test_curves_of_a_campaign_are_drawn(percuss, impact, folder) -> None:
    pytest.importorskip("matplotlib")
    percuss("run", percuss("design", "impact", "--n", 6, "--skip", 1, "--curves").id)
    said = percuss("plot", "@last:campaign", "--curve", "position", "--samples", 4, "--to", "p.svg")
    assert said.code == 0 and "1 panel. Curves of position, 8 runs" in said.err
    drawn = (folder / "p.svg").read_bytes()
    percuss("run", percuss("design", "impact", "--n", 6, "--skip", 1).id)
    said = percuss("plot", "@last:campaign", "--curve", "position", "--samples", 4, "--to", "again.svg")
    assert said.code == 0 and "1 panel. Curves of position, 8 runs" in said.err
    assert (folder / "again.svg").read_bytes() == drawn, "made again where they were not kept"
    percuss("run", percuss("design", "ishigami", "--n", 4).id)
    percuss("plot", "@last:campaign", "--curve", "y", "--to", "p.svg").refused(2, "--curve y")
    assert "Outputs of 4 runs" in percuss("plot", "@last:campaign", "--to", "p.pdf", "--style", "paper").err
    assert (
        "Scatter matrix of 4 points"
        in percuss("plot", percuss("design", "ishigami", "--n", 4, "--seed", 2).id, "--to", "d.svg").err
    )
    assert "Priors" in percuss("plot", "@last:study", "--to", "s.svg").err
    note = percuss("note", "@last:campaign", "words").id
    percuss("plot", note, "--to", "n.svg").refused(2, "nothing to draw")
    percuss("plot", "@last:campaign", "@last:study", "--to", "n.svg").refused(2, "one by one")
    percuss("plot", "@last:study", "@last:study", "--to", "n.svg").refused(2, "one event")


def test_files_of_a_study_are_exported(percuss, make_study) -> None:
    path = make_study("impact", text=IMPACT + '[observations]\nfile = "seen.csv"\n')
    (path / "seen.csv").write_text("output,value,std,case\nrest_position,15,1,free\n")
    assert percuss("observe", "impact").code == 0
    table = ("--table", "file:seen.csv")
    assert percuss("export", "csv", "@last:study", *table).out == "output,value,std,case\nrest_position,15,1,free\n"
    shaken = make_study("shaken", text=SHAKEN)
    (shaken / "quake.AT2").write_text(RECORD)
    assert percuss("simulate", "shaken").code == 0
    percuss("export", "csv", "@last:study", "--table", "file:quake.AT2").refused(2, "quake.AT2", "must end in .csv")


def test_a_ledger_opens_by_name(percuss) -> None:
    """As in docs/surrogates.md."""
    id = percuss("design", "ishigami", "--n", 4).id
    assert Ledger.open("ledger").event("@last").id == id
