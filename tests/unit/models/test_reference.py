"""The reference of model kinds: complete, in units that can be read, for kinds added at run time as well."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.models.model import MODELS, Done, Input, Kind, Quantity
from percuss.models.reference import kind_reference, setting_lines
from percuss.settings import Setting, clean_settings, table_of
from percuss.study.load import check_study, find_studies, load_study
from percuss.units import parse_unit

STUDIES = Path(__file__).parents[3] / "studies"


@pytest.mark.parametrize("kind", MODELS)
def test_every_field_says_what_it_is_and_in_which_unit(kind: str) -> None:
    reference = kind_reference(kind)
    lines = setting_lines(reference.settings)
    assert lines
    for line in lines:
        assert len(line.doc()) > 3, line.key
        assert parse_unit(line.unit()), line.key
        assert line.setting.allowed(), line.key
    for item in reference.general.inputs:
        assert len(item.doc) > 3 and (item.unit is None or parse_unit(item.unit)), item.name
    for quantity in reference.general.quantities:
        assert len(quantity.says()) > 3 and parse_unit(quantity.unit), quantity.name
    assert reference.general.conventions
    assert json.loads(json.dumps(reference.to_json()))["kind"] == kind


@pytest.mark.parametrize("name", find_studies(STUDIES))
def test_every_input_and_quantity_of_a_study_says_what_it_is(name: str) -> None:
    study = load_study(STUDIES / name)
    model = study.model()
    if study.model_kind == "command":
        return  # its words are the study's own
    assert all(item.doc for item in model.inputs.values())
    assert all(item.says() for item in model.quantities.values())


@pytest.mark.parametrize("name", ["pounding-law", "pounding-row", "two-storey", "toyoura-quick", "rockfall-coarse"])
def test_a_study_has_what_the_reference_of_its_kind_says(name: str) -> None:
    """Names of the study stand where the reference has <mass>, <spring>, <contact>."""
    study = load_study(STUDIES / name)
    reference = kind_reference(study.model_kind)
    model = study.model()
    for known, own in ((reference.general.inputs, model.inputs), (reference.general.quantities, model.quantities)):
        plain = {item.name: item.unit for item in known if "<" not in item.name}
        stems = {(item.name.partition("<")[0].rstrip("_"), item.unit) for item in known if "<" in item.name}
        for item in own.values():
            fits = any(item.name.startswith(stem) and unit == item.unit for stem, unit in stems)
            assert plain.get(item.name, "none") == item.unit or fits, item.name


def test_settings_in_tables_and_by_choice_have_their_place() -> None:
    keys = {(line.key, line.when) for line in setting_lines(kind_reference("scene").settings)}
    assert {("bodies[].mass", ""), ("settle.speed", ""), ("joints[].limits[].low", "")} <= keys
    assert ("bodies[].contactors[].size", 'shape = "box"') in keys
    keys = {(line.key, line.when) for line in setting_lines(kind_reference("benchmark").settings)}
    assert ("coefficients", 'function = "gfunction"') in keys


def test_gap_and_force_have_the_signs_that_are_said() -> None:
    study = load_study(STUDIES / "pounding-law")
    model = study.model()
    point = study.point(next(iter(study.cases)), {p.name: p.prior.mean() for p in study.parameters.values()})
    (done,) = model.run([point], [0])
    assert isinstance(done, Done) and done.curves is not None
    gap = float(point["gap"]) + done.curves["u2"] - done.curves["u1"]
    assert np.abs(done.curves["gap"] - gap).max() < 1e-12
    assert done.curves["force"].max() > 0 and done.values["smallest_gap"] < 0


def test_the_study_on_the_page_on_oscillators_runs(tmp_path: Path) -> None:
    text = (STUDIES.parent / "docs" / "oscillators.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "study.toml").write_text(example)
    assert check_study(tmp_path) == []
    study = load_study(tmp_path)
    (done,) = study.model().run([study.point(None, {"gap": 0.01, "restitution": 0.5})], [0])
    assert isinstance(done, Done) and study.evaluate(done.values, done.curves)["peak_force"] > 0


def test_unknown_kind() -> None:
    with pytest.raises(InputError, match="did you mean `oscillators`"):
        kind_reference("ocillators")


@dataclass(frozen=True)
class Doubling:
    inputs = {"x": Input("x", "m", doc="what is doubled")}  # noqa: RUF012 (a test)
    quantities = {"y": Quantity("y", "m", doc="twice x")}  # noqa: RUF012 (a test)
    kind: str = "doubling"
    batch: int = 1


def test_a_kind_added_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("percuss_doubling")
    module.settings = lambda table: table_of(Setting("times", "integer", 2, low=1, doc="how often"))
    module.configure = lambda settings, files: Doubling()
    monkeypatch.setitem(sys.modules, "percuss_doubling", module)
    monkeypatch.setitem(MODELS, "doubling", Kind("percuss_doubling", "twice as much"))
    reference = kind_reference("doubling")
    (line,) = setting_lines(reference.settings)
    assert (line.key, line.default(), line.setting.allowed()) == ("times", "2", "a whole number of at least 1")
    assert reference.to_json()["inputs"] == []
    assert clean_settings(reference.settings, {}) == {"times": 2}
