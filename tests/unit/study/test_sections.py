"""Sections that other parts read: checked to the end, with key and line; kept in SI; compared version by version."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from percuss.settings import Setting, check_table, table_of
from percuss.study.differences import differences
from percuss.study.load import check_study, load_study
from percuss.study.sections import SECTIONS, Section, normal
from percuss.study.shipped import new_study
from percuss.study.study import Study

STUDIES = Path(__file__).parents[3] / "studies"
WITH_SECTIONS = [
    path.parent
    for path in sorted(STUDIES.glob("*/study.toml"))
    if any(f"[{name}" in path.read_text() for name in SECTIONS)
]


@pytest.fixture
def copied(tmp_path: Path):
    """A study of the project with one text of its file exchanged for another."""

    def copy(name: str, old: str = "", new: str = "") -> Path:
        folder = tmp_path / name
        shutil.copytree(STUDIES / name, folder, dirs_exist_ok=True)
        text = (STUDIES / name / "study.toml").read_text()
        assert old in text
        (folder / "study.toml").write_text(text.replace(old, new, 1) if old else text + new)
        return folder

    return copy


@pytest.mark.parametrize(
    ("line", "key", "words"),
    [
        ('sampler = "nuts"', "sampler", "unknown sampler `nuts`: known: adaptive-metropolis"),
        ("settings = { chain = 3 }", "settings.chain", "unknown key; did you mean `chains`"),
        ("settings = { chains = 1e9 }", "settings.chains", "1000000000.0 is outside ["),
        ("r_hat = 0.5", "r_hat", "0.5 is outside (1, inf]"),
        ("ess = -1", "ess", "-1 is outside (0, inf]"),
        ("evaluations = 0.5", "evaluations", "0.5 is no whole number"),
        ('discrepancy = { kind = "gausian" }', "discrepancy.kind", "did you mean `gaussian`?"),
        ("discrepancy = { std = 1, length = 2 }", "discrepancy.length", "a gaussian discrepancy has no such field"),
        (
            'discrepancy = { std = "5 mm" }',
            "discrepancy.std",
            "is in mm (m) where a number without a unit is wanted",
        ),
        ("discrepancy = { std = -1 }", "discrepancy.std", "-1 is outside [0, inf]"),
        ("discrepancy = { kind = 3 }", "discrepancy.kind", "must be a text, not a number"),
        (
            "discrepancy = { kind = 'student-t', std = 1, degrees_of_freedom = 0 }",
            "discrepancy.degrees_of_freedom",
            "0 is outside (0, inf]",
        ),
        ("discrepancy = { kind = 'correlated', std = 1 }", "discrepancy.length", "missing; how far along the axis"),
        ("discrepancy = { kind = 'correlated', length = 1 }", "discrepancy.std", "missing; standard deviation"),
        (
            "discrepancy = { kind = 'model-error', std = 1, length = 1, anchored = true }",
            "discrepancy",
            "`anchored` or `orthogonal`, not both",
        ),
        ("discrepancy = { std = { prior = 3 } }", "discrepancy.std.prior", "must be a table, not a number"),
        ("discrepancy = { std = {} }", "discrepancy.std.prior", "missing"),
        (
            "discrepancy = { kind = 'correlated', std = 1, length = 1, kernel = 'gauss' }",
            "discrepancy.kernel",
            "'gauss' is not known; known: exponential",
        ),
        (
            "discrepancy = { std = { prior = { kind = 'unform', low = 0, high = 1 } } }",
            "discrepancy.std.prior.kind",
            "did you mean `uniform`",
        ),
        (
            "discrepancy = { std = { prior = { kind = 'uniform', low = 0, high = 1, hgh = 2 } } }",
            "discrepancy.std.prior.hgh",
            "did you mean `high`?",
        ),
        (
            "discrepancy = { std = { prior = { kind = 'normal', mean = 0, std = 1 } } }",
            "discrepancy.std",
            "cannot be below 0",
        ),
        (
            "discrepancy = { std = { name = 'x1', prior = { kind = 'uniform', low = 0, high = 1 } } }",
            "discrepancy.std.name",
            "must name nothing else",
        ),
        ("groups = 3", "groups", "must be a table"),
        ("noise_free = 1", "noise_free", "must be true or false"),
        # Held against the study's own observations.
        ("points = ['nowhere']", "", "no observation belongs to the group"),
        ("groups.a = { outputs = ['y1'] }\ngroups.b = { outputs = ['*'] }", "", "a datum counts once"),
        ("measurement_error = false", "", "lose their std by measurement_error = false"),
    ],
)
def test_calibrations_are_checked_to_the_end(copied, line: str, key: str, words: str) -> None:
    folder = copied("linear-gaussian", "", f"\n[calibration.wrong]\n{line}\n")
    (fault,) = check_study(folder)
    assert fault.key == ".".join(filter(None, ("calibration.wrong", key)))
    assert words in fault.message
    text = (folder / "study.toml").read_text().splitlines()
    assert text[fault.line - 1] in ("[calibration.wrong]", line)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('time = "t_s"', 'tme = "t_s"', "validation.tme", "did you mean `time`?"),
        ('settle = "20 s"', 'settle = "20 m"', "validation.settle", "20 m"),
        ('settle = "20 s"', 'settle = "20 min"', "validation.file", "before anything has settled"),
        ('training = "50 s"', 'training = "50 ms"', "validation.file", "training: 0.05 s hold"),
        ('quantity = "u1"', 'quantity = "x1"', "validation.observed[0].quantity", "must be u, v or a"),
        ('quantity = "u1"', 'quantity = "u7"', "validation.observed[0].quantity", "no such mass; known: 1"),
        ("noise_variance = 1e-5", "noise_variance = 0", "validation.observed[0].noise_variance", "above 0"),
        ("noise_variance = 1e-5", "noise_std = 1e300", "validation.observed[0].noise_std", "huge"),
        ("noise_variance", "noise_varance", "validation.observed[0].noise_varance", "unknown"),
        ('column = "u1_m"', 'column = "u1_mm"', "validation.file", "has no column `u1_mm`"),
        ("cubic_1 = { kind", "cubc_1 = { kind", "validation.priors.cubc_1", "did you mean `cubic_1`"),
        ("shape = 1, scale", "shape = 1, scle", "validation.priors.variance_u1.scle", "did you mean `scale`"),
        ("values = { cubic_1 = 0 }", "values = { cubic = 0 }", "validation.linear.values.cubic", "no such input"),
        ("values = { cubic_1 = 0 }", 'case = "wet"', "validation.linear.case", "no case `wet`"),
        ("values = { cubic_1 = 0 }", 'track = ["mass"]', "validation.priors", "has no prior"),
        (
            'extrapolate = "observations/high.csv"',
            'extrapolate = "study.toml"',
            "validation.extrapolate",
            "its first line names 1 column",
        ),
    ],
)
def test_validations_are_checked_to_the_end(copied, old: str, new: str, key: str, words: str) -> None:
    folder = copied("duffing-extrapolation", old, new)
    faults = check_study(folder)
    assert any(fault.key == key and words in fault.message and fault.line > 1 for fault in faults), faults


def test_a_misspelt_table_is_not_taken_for_a_model_without_a_word(copied) -> None:
    folder = copied("duffing-extrapolation", "[validation.priors]", "[validation.prior]")
    said = {fault.key: fault.message for fault in check_study(folder)}
    assert "is taken for a model under test; did you mean `priors`" in said["validation.prior"]


def test_observations_are_read(copied) -> None:
    folder = copied("linear-gaussian")
    (folder / "observations" / "sensors.csv").write_text("output,value\ny1,2.3\ny7,0.4\n")
    (fault,) = check_study(folder)
    assert fault.key == "observations.file"
    assert "row 2: output 'y7'" in fault.message
    # What is in the files does not keep a study from being loaded: it may be run all the same.
    assert load_study(folder).files


def test_what_is_said_of_every_file_is_checked_without_one(copied) -> None:
    """`[observations]` without a file speaks of those that `percuss observe` is given."""
    folder = copied("linear-gaussian", 'file = "observations/sensors.csv"\nstd = { y1', "std = { y9")
    (fault,) = check_study(folder)
    assert (fault.key, "no such output" in fault.message) == ("observations.std.y9", True)


def test_one_std_is_for_the_outputs_that_are_measured_in_its_unit(tmp_path) -> None:
    folder = new_study("pair", "oscillators", tmp_path)
    written = (folder / "study.toml").read_text()
    (folder / "roof.csv").write_text("case,output,value\nrelease-40mm,uright_1s,3\n")

    def faults(more: str) -> list[str]:
        (folder / "study.toml").write_text(f'{written}\n[outputs.impacts]\n[observations]\nfile = "roof.csv"\n{more}\n')
        return [f"{fault.key}: {fault.message}" for fault in check_study(folder)]

    # `impacts` is a count beside displacements.
    assert faults('std = "0.3 mm"') == []
    assert load_study(folder).resolved()["sections"]["observations"]["std"] == {
        "peak_uright": "0.0003 m",
        "uright_1s": "0.0003 m",
    }
    (fault,) = faults('std = "0.3 kg"')
    assert fault.startswith("observations.std: `0.3 kg` is in kg")
    (fault,) = faults('std = "0.3 mm"\ncolumns = { uleft = "Roof left" }')
    assert "columns.uleft: no output is taken from this curve" in fault


@pytest.mark.parametrize("std", ["", "std = { y1 = 0, y2 = 0.2, y3 = 0.1 }"])
def test_data_without_error_must_be_asked_for(copied, std: str) -> None:
    """A likelihood of the surrogate's error alone is none: give std, infer it, or say that there is none."""
    given = "std = { y1 = 0.1, y2 = 0.2, y3 = 0.1 }"
    (fault,) = check_study(copied("linear-gaussian", given, std))
    assert fault.key == "calibration.exact"
    for words in ("group data", "observations/sensors.csv", "base/y1", "give the data a std", "noise_free = true"):
        assert words in fault.message
    for cure in (
        "noise_free = true",
        "discrepancy = { std = 0.1 }",
        'discrepancy = { std = { prior = { kind = "log-uniform", low = 0.01, high = 1 } } }',
    ):
        folder = copied("linear-gaussian", given, std)
        file = folder / "study.toml"
        file.write_text(file.read_text() + f"\n{cure}\n")
        assert check_study(folder) == []


@pytest.mark.parametrize("folder", WITH_SECTIONS, ids=lambda folder: folder.name)
def test_what_is_resolved_resolves_to_itself(folder: Path) -> None:
    study = load_study(folder)
    again = Study.from_resolved(study.resolved(), study.files)
    assert again.digest == normal(again).digest == study.digest


def test_sections_are_in_si(copied) -> None:
    """However a quantity is written, the study is the same, and what was written before is understood as before."""
    study = load_study(copied("pounding-twin"))
    assert study.sections["observations"]["std"] == "0.0003 m"
    assert study.sections["observations"]["twin"]["gap"] == "0.021 m"
    noise = study.sections["calibration"]["all-unknown-noise"]["discrepancy"]["std"]["prior"]
    assert noise == {"kind": "log-uniform", "low": "5e-05 m", "high": "0.005 m"}
    for old, new in (('std = "0.3 mm"', "std = 0.3"), ('"21 mm"', "21"), ('low = "0.05 mm", high = "5 mm"',
                                                                          'low = 0.05, high = "0.5 cm"')):  # fmt: skip
        assert load_study(copied("pounding-twin", old, new)).digest == study.digest
    law = load_study(copied("pounding-law")).sections["validation"]
    assert (law["settle"], law["displacement_std"], law["observed"][0]["noise_std"]) == (1.0, 1e-5, "0.0001 m")
    assert law["hertz"]["values"]["stiffness"] == "400000.0 N/m^1.5"
    as_written = replace(study, sections={**study.sections, "observations": {
        "file": "observations/twin.csv", "std": "0.3 mm",
        "twin": {"restitution": 0.55, "gap": "21 mm", "damping_ratio_1": "0.6 %"}}})  # fmt: skip
    assert as_written.digest != study.digest
    assert differences(as_written, study) == []


def test_what_was_edited_is_named(copied) -> None:
    study = load_study(copied("pounding-twin"))
    text = 'doc = "other words"\n[calibration.all]\nr_hat = 1.05'
    edited = load_study(copied("pounding-twin", "[calibration.all]", text))
    assert differences(study, edited) == ["calibration.all.r_hat nothing -> 1.05"]
    folder = copied("pounding-twin", 'std = "0.3 mm"', 'std = "0.6 mm"')
    (folder / "observations" / "twin.csv").write_text("case,output,value\nrelease-40mm,u1_500ms,1\n")
    found = differences(study, load_study(folder))
    assert found[0] == "observations.std 0.0003 m -> 0.0006 m"
    assert found[1].startswith("file observations/twin.csv sha256 ")


def test_a_section_can_be_added_at_run_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an installed package does: one module and one line, and its keys, SI, files and faults are those of any."""

    def resolve(study: Study, table, note):
        return check_table(heights.SCHEMA, table, ("heights",), note)

    def check_data(study: Study, note) -> None:
        if study.files["heights.csv"] != b"good":
            note(("heights", "file"), "is not good")

    heights = ModuleType("percuss_heights")
    heights.SCHEMA = table_of(Setting("file", "file"), Setting("height", "number", unit="m", low=0))
    heights.resolve, heights.check_data = resolve, check_data
    monkeypatch.setitem(sys.modules, "percuss_heights", heights)
    text = (STUDIES / "ishigami" / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text + '\n[heights]\nfile = "./heights.csv"\nheight = "5 cm"\n')
    (tmp_path / "heights.csv").write_text("good")
    assert any("heights: unknown key" in str(fault) for fault in check_study(tmp_path))
    monkeypatch.setitem(SECTIONS, "heights", Section("percuss_heights", "what must not be reached"))
    assert check_study(tmp_path) == []
    study = load_study(tmp_path)
    assert (
        study.sections["heights"] == {"file": "heights.csv", "height": 0.05} and study.files["heights.csv"] == b"good"
    )
    (tmp_path / "heights.csv").write_text("bad")
    (fault,) = check_study(tmp_path)
    assert (fault.key, fault.message) == ("heights.file", "is not good")
    (tmp_path / "study.toml").write_text(text + '\n[heights]\nheight = "-5 cm"\nwidth = 2\n')
    assert {fault.key: fault.message for fault in check_study(tmp_path)} == {
        "heights.height": "-5 cm is outside [0, inf] m",
        "heights.width": "unknown key; known: file, height",
    }
