"""Loading and checking studies: every fault in one go, on its line."""

import re
from pathlib import Path

import pytest

from percuss.errors import InputError
from percuss.study.faults import StudyError
from percuss.study.load import check_study, find_studies, load_study

STUDIES = Path(__file__).parents[3] / "studies"

GOOD = """
[study]
title = "block against a stop"
[model]
kind = "benchmark"
function = "impact"
duration = "900 ms"
gap = "20 cm"
[parameters.speed]
unit = "km/h"
prior = { kind = "uniform", low = 3.6, high = "2 m/s" }
[parameters.restitution]
unit = "%"
prior = { kind = "beta", alpha = 2, beta = 2, low = 10, high = 90 }
[cases.dry]
friction = 0.6
[cases.wet]
friction = "30 %"
[outputs.rest]
quantity = "rest_position"
unit = "mm"
[outputs.rebound_speed]
[outputs.peak]
quantity = "position"
reduce = "max"
to = "0.5 s"
[outputs.middle]
quantity = "position"
reduce = "at"
at = "250 ms"
"""


def write(folder: Path, text: str) -> Path:
    (folder / "study.toml").write_text(text)
    return folder


def test_a_whole_study(tmp_path):
    study = load_study(write(tmp_path, GOOD))
    assert study.name == tmp_path.name
    assert study.settings["duration"] == 0.9
    assert study.fixed == {"gap": 0.2}
    assert study.parameters["speed"].prior.support() == (1.0, 2.0)
    assert study.parameters["restitution"].prior.support() == (0.1, 0.9)
    assert study.cases == {"dry": {"friction": 0.6}, "wet": {"friction": 0.3}}
    assert [output.name for output in study.outputs.values()] == ["rest", "rebound_speed", "peak", "middle"]
    assert (study.outputs["peak"].stop, study.outputs["middle"].at) == (0.5, 0.25)
    assert study.outputs["rest"].unit == "mm"


def test_a_file_by_itself_is_named_after_it(tmp_path):
    file = tmp_path / "pendulum.toml"
    file.write_text(GOOD)
    assert load_study(file).name == "pendulum"


def test_without_outputs_every_scalar_is_one(tmp_path):
    study = load_study(write(tmp_path, GOOD.partition("[outputs.rest]")[0]))
    assert list(study.outputs) == ["rest_position", "rebound_speed", "rest_time"]


# Each fault sits on the line that carries its mark; the mark says which words the message must hold.
FAULTY = """
[study]
titel = "x"                                                       #@ did you mean `title`
source = 3                                                        #@ must be a text, not a number
[model]                                                           #@ input `gap` has no value
kind = "benchmark"
function = "impact"
fricton = 0.3                                                     #@ did you mean `friction`
restitution = 1.5                                                 #@ outside [0, 1]
[parameters.speed]
unit = "kg"                                                       #@ kg (kg) is not of the dimension of m/s
prior = { kind = "uniform", low = -1, high = 2 }                  #@ the model takes [0, inf) m/s
[parameters.frition]                                              #@ did you mean `friction`
prior = { kind = "uniform", low = 0, high = 1 }
[parameters.restitution]
colour = "red"                                                    #@ unknown key
[parameters.restitution.prior]                                    #@ high missing
kind = "uniform"
low = 0
[outputs.a]
quantity = "positon"                                              #@ did you mean `position`
[outputs.b]
quantity = "position"
reduce = "median"                                                 #@ takes one of max, min
[outputs.c]
quantity = "position"
reduce = "at"
at = "3 m"                                                        #@ `3 m` is in m where s is wanted
from = 1
[outputs.rest_position]
reduce = "max"                                                    #@ one number already
[outputs.d]
quantity = "position"
reduce = "max"
from = 2
to = 1                                                            #@ must lie beyond from
[outputs."e f"]                                                   #@ a name holds letters
quantity = "rest_time"
[observation]                                                     #@ did you mean `observations`
[calibration]
bayes = 3                                                         #@ must be a table
"""


def test_every_fault_is_found_on_its_line(tmp_path):
    faults = check_study(write(tmp_path, FAULTY))
    said: dict[int, str] = {}
    for fault in faults:
        said[fault.line] = said.get(fault.line, "") + f"{fault.message}\n"
    wanted = {}
    for n, line in enumerate(FAULTY.split("\n"), 1):
        mark = re.search(r"#@ (.*)", line)
        if mark:
            wanted[n] = mark[1]
    missing = {n: words for n, words in wanted.items() if words not in said.get(n, "")}
    assert not missing, said
    # The one fault without a mark of its own: `at` with a window.
    assert {fault.key for fault in faults if fault.line not in wanted} == {"outputs.c"}
    assert [fault.line for fault in faults] == sorted(fault.line for fault in faults)


@pytest.mark.parametrize(("old", "new"), [('"benchmark"', '"bench"'), ('"impact"', '"imact"'), ("[model]", "[mdoel]")])
def test_other_faults_are_found_where_the_model_is_not_known(tmp_path, old, new):
    text = GOOD.replace(old, new).replace("km/h", "kmm/h").replace("alpha = 2", "alpha = 0")
    text = text.replace("reduce =", "redcue =", 1).replace("[cases.wet]", "[cases]\nwet = 3\n[other]")
    keys = {fault.key for fault in check_study(write(tmp_path, text))}
    wanted = {
        "parameters.speed.unit",
        "parameters.restitution.prior.alpha",
        "outputs.peak.redcue",
        "cases.wet",
        "other",
    }
    assert wanted < keys


def test_load_tells_the_first_fault_and_how_to_see_the_rest(tmp_path):
    with pytest.raises(StudyError) as caught:
        load_study(write(tmp_path, FAULTY))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'study.toml'}:3: study.titel: unknown key; did you mean `title`?")
    assert message.endswith(f"and {len(caught.value.faults) - 1} more: percuss study check {tmp_path}")
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('kind = "benchmark"', 'kind = "bench"', 5, "did you mean `benchmark`"),
        ('kind = "benchmark"', "", 4, "missing or no text"),
        ('function = "impact"', 'function = "imact"', 6, "did you mean `impact`"),
        ('function = "impact"', "", 4, "missing"),
        ('duration = "900 ms"', 'duration = "900 mm"', 7, "where s is wanted"),
        ('duration = "900 ms"', "duration = nan", 7, "not a finite number"),
        ('duration = "900 ms"', "duration = 1979-05-27", 7, "date or time"),
        ('duration = "900 ms"', f"duration = {2**70}", 7, "beyond 64 bits"),
        ('duration = "900 ms"', "samples = 1", 7, "outside [2, 1e+06]"),
        ('duration = "900 ms"', "fail_above = { sped = 1 }", 7, "did you mean `speed`"),
        ('gap = "20 cm"', "gap = -1", 8, "outside [0, inf) m"),
        ('gap = "20 cm"', "gap = true", 8, "no number"),
        ('gap = "20 cm"', "speed = 2\ngap = 1", 8, "a parameter as well"),
        ("friction = 0.6", "speed = 2", 16, "its values come from the design"),
        ("friction = 0.6", "mu = 2", 16, "no such input"),
        ("[cases.dry]", "[cases]\nbase = 3\n[cases.dry]", 16, "must be a table"),
        ('to = "0.5 s"', "speed = 3", 26, "unknown key"),
        ("[outputs.rest]", "[outputs.speed]", 19, "a parameter has the same name"),
        ('low = 3.6, high = "2 m/s" }', "low = 3.6, high = 3.6 }", 11, "must be above low"),
        (
            'prior = { kind = "uniform"',
            'prior = { kind = "normal", mean = 1, std = 1 } #',
            11,
            "truncated-normal",
        ),
        ("[study]", "study = 3\n[other]", 2, "must be a table"),
    ],
)
def test_single_faults(tmp_path, old, new, line, said):
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    found = [(fault.line, str(fault)) for fault in check_study(write(tmp_path, text))]
    assert any(n == line and said in message for n, message in found), found


def test_an_input_without_value_is_blamed_on_each_case(tmp_path):
    text = GOOD.replace('gap = "20 cm"\n', "").replace("friction = 0.6", "gap = 1")
    faults = check_study(write(tmp_path, text))
    assert [(fault.key, "`gap` has no value" in fault.message) for fault in faults] == [("cases.wet", True)]


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = \n", 2), ("a = 1\n\n[x", 3), ('a = "x\n', 1), ("a = 1\na = 2", 2), ("x = 1\né = 1", 2)],
)
def test_toml_faults_have_their_line(tmp_path, text, line):
    (fault,) = check_study(write(tmp_path, text))
    assert fault.line == line
    assert "not valid TOML" in fault.message


def test_not_utf8(tmp_path):
    (tmp_path / "study.toml").write_bytes(b"a = 1\nb = '\xff'\n")
    (fault,) = check_study(tmp_path)
    assert (fault.line, fault.message) == (2, "is not UTF-8 text")


def test_windows_line_ends(tmp_path):
    (tmp_path / "study.toml").write_bytes(FAULTY.replace("\n", "\r\n").encode())
    crlf = [(f.line, f.message) for f in check_study(tmp_path)]
    assert crlf == [(f.line, f.message) for f in check_study(write(tmp_path, FAULTY))]


def test_missing_study(tmp_path):
    with pytest.raises(StudyError, match="does not exist"):
        load_study(tmp_path / "nowhere")
    with pytest.raises(StudyError, match=r"study\.toml` does not exist"):
        load_study(tmp_path)


def test_find_studies(tmp_path):
    for name in ("b", "a", "empty"):
        (tmp_path / name).mkdir()
    write(tmp_path / "b", "this is not read")
    write(tmp_path / "a", "")
    assert find_studies(tmp_path) == ["a", "b"]
    assert find_studies(tmp_path / "nowhere") == []


@pytest.mark.parametrize("name", find_studies(STUDIES))
def test_studies_of_the_project_have_no_faults(name):
    assert check_study(STUDIES / name) == []
    assert (STUDIES / name / "README.md").is_file()
