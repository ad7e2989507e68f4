"""A loaded study: points, outputs, digest, and the way to JSON and back."""

import json
import pickle
from pathlib import Path

import pytest

from percuss.errors import InputError
from percuss.ledger.canonical import canonical_json
from percuss.models.model import MODELS, configure
from percuss.study.load import find_studies, load_study
from percuss.study.study import Study
from percuss.units import parse_unit

STUDIES = Path(__file__).parents[3] / "studies"

BLOCK = """
[model]
kind = "benchmark"
function = "impact"
duration = "900 ms"
restitution = 0.4
[parameters.speed]
unit = "cm/s"
prior = { kind = "uniform", low = 100, high = 200 }
[cases.near]
gap = "1 cm"
[cases.far]
gap = "1 m"
friction = 0.5
[outputs.rest_position]
[outputs.peak]
quantity = "position"
reduce = "max"
"""


@pytest.fixture
def block(tmp_path):
    (tmp_path / "study.toml").write_text(BLOCK)
    return load_study(tmp_path)


def test_point_merges_defaults_fixed_case_and_values(block):
    assert block.point("near", {"speed": 1.5}) == {
        "friction": 0.3,
        "restitution": 0.4,
        "gap": 0.01,
        "speed": 1.5,
    }
    assert block.point("far", {"speed": 1.5, "gap": 2})["gap"] == 2.0
    assert block.point("far", {"speed": 1.5})["friction"] == 0.5


def test_numbers_are_si_and_text_is_as_a_person_writes(block):
    assert block.point("far", {"speed": "150"})["speed"] == 1.5
    assert block.point("far", {"speed": "5.4 km/h"})["speed"] == 1.5
    assert block.point("far", {"speed": 1.5, "gap": "3"})["gap"] == 3.0


@pytest.mark.parametrize(
    ("case", "values", "said"),
    [
        (None, {"speed": 1}, "several cases: name one of near, far"),
        ("nera", {"speed": 1}, "no case `nera`: did you mean `near`"),
        ("near", {}, "no value for `speed`"),
        ("near", {"sped": 1}, "no input `sped`: did you mean `speed`"),
        ("near", {"speed": -1}, "outside [0, inf) m/s"),
        ("near", {"speed": float("nan")}, "outside"),
        ("near", {"speed": 10**400}, "outside"),
        ("near", {"speed": "1 kg"}, "wanted"),
        ("near", {"speed": None}, "no number"),
    ],
)
def test_points_that_cannot_be(block, case, values, said):
    with pytest.raises(InputError) as caught:
        block.point(case, values)
    assert said in str(caught.value)


def test_the_only_case_needs_no_name():
    study = load_study(STUDIES / "ishigami")
    assert list(study.cases) == ["base"]
    assert study.point(None, {"x1": 0, "x2": 0, "x3": 0}) == study.point("base", {"x1": 0, "x2": 0, "x3": 0})


def test_outputs_of_a_run(block):
    (done,) = block.model().run([block.point("near", {"speed": 1.5})], [0])
    # Free sliding 1.5^2 / (2 x 0.3 x 9.80665), stop at 0.01, restitution 0.4.
    sliding = 1.5**2 / (2 * 0.3 * 9.80665)
    outputs = block.evaluate(done.values, done.curves)
    assert outputs["rest_position"] == pytest.approx(0.01 - 0.16 * (sliding - 0.01), rel=1e-14)
    # The peak is at the stop; the curve has a point within 4.5 ms of it, at most 1.5 m/s x 2.25 ms away.
    assert outputs["peak"] == pytest.approx(0.01, abs=1.5 * 2.25e-3)


@pytest.mark.parametrize("name", find_studies(STUDIES))
def test_resolved_and_back(name):
    study = load_study(STUDIES / name)
    text = canonical_json(study.resolved())
    again = Study.from_resolved(json.loads(text), study.files)
    assert again == study
    assert again.digest == study.digest
    assert list(again.parameters) == list(study.parameters)
    assert pickle.loads(pickle.dumps(study)) == study


def test_order_of_parameters_is_part_of_the_digest(tmp_path):
    first = (STUDIES / "gfunction" / "study.toml").read_text()
    lines = first.split("\n")
    swapped = [line.replace("x1.", "x9.").replace("x2.", "x1.").replace("x9.", "x2.") for line in lines]
    digests = set()
    for text in (first, "\n".join(swapped)):
        (tmp_path / "study.toml").write_text(text)
        digests.add(load_study(tmp_path).digest)
    assert len(digests) == 2


def test_spelling_of_units_does_not_move_the_digest(tmp_path):
    digests = set()
    for gap in ('"1 cm"', "0.01", '"10 mm"'):
        (tmp_path / "study.toml").write_text(BLOCK.replace('"1 cm"', gap))
        digests.add(load_study(tmp_path).digest)
    assert len(digests) == 1


def test_files_are_part_of_the_digest_and_checked_on_the_way_back():
    study = load_study(STUDIES / "linear-gaussian")
    data = study.resolved()
    with pytest.raises(InputError, match="needs the file"):
        Study.from_resolved(data, {})
    with pytest.raises(InputError, match="is not the one"):
        Study.from_resolved(data, {"observations/sensors.csv": b"other"})


@pytest.mark.parametrize("key", ["format", "study", "model", "parameters", "cases", "outputs", "sections", "files"])
def test_malformed_resolved_data(key):
    data = load_study(STUDIES / "ishigami").resolved()
    for broken in ({k: v for k, v in data.items() if k != key}, {**data, key: 3}):
        with pytest.raises(InputError):
            Study.from_resolved(broken, {})


def test_models_speak_si():
    settings = {
        "ishigami": {},
        "gfunction": {"coefficients": [1, 2]},
        "borehole": {},
        "linear-gaussian": {"inputs": ["x"], "outputs": ["y"], "matrix": [[1]]},
        "impact": {},
    }
    models = [configure("benchmark", {"function": function, **own}, {}) for function, own in settings.items()]
    models += [load_study(STUDIES / name).model() for name in find_studies(STUDIES)]
    described = {
        "name": "f",
        "source": "def f(x): ...",
        "inputs": {"x": {"unit": "m"}},
        "outputs": {"y": {"unit": "s"}},
    }
    models.append(configure("function", described, {}))
    assert {model.kind for model in models} == set(MODELS)
    for model in models:
        units = [i.unit for i in model.inputs.values()] + [q.unit for q in model.quantities.values()]
        assert all(parse_unit(unit).scale == 1 for unit in units if unit is not None)
