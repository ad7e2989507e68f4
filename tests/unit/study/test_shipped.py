"""Studies that come with percuss are whole, and so is what is made of them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.conftest import Call

from percuss.errors import InputError
from percuss.models.model import MODELS
from percuss.study.load import EXAMPLES, check_study, find_studies, load_study
from percuss.study.shipped import TEMPLATES, copy_example, new_study

ROOT = Path(__file__).parents[3]
# Defined where it is run, so that no file can hold it.
WITHOUT_TEMPLATE = {"function"}
# Some seconds a run: checked, not run here.
SLOW = {"rockfall-wall"}


def test_every_kind_of_model_has_a_template() -> None:
    assert set(find_studies(TEMPLATES)) == set(MODELS) - WITHOUT_TEMPLATE


@pytest.mark.parametrize("kind", sorted(set(MODELS) - WITHOUT_TEMPLATE))
def test_a_new_study_has_no_faults_and_runs(kind: str, tmp_path: Path) -> None:
    path = new_study("mine", kind, tmp_path / "studies")
    assert not check_study(path)
    study = load_study(path)
    assert study.name == "mine"
    assert study.title.startswith("mine: ")
    assert study.model_kind == kind
    if kind not in SLOW:
        study = study.allow_commands()
        case = next(iter(study.cases))
        point = study.point(case, {name: float(item.prior.ppf(0.5)) for name, item in study.parameters.items()})
        (run,) = study.model().run([point], [0])
        assert set(study.evaluate(run.values, run.curves)) == set(study.outputs)


def test_examples_are_the_studies_of_the_repository(tmp_path: Path) -> None:
    assert find_studies(EXAMPLES) == find_studies(ROOT / "studies")
    path = copy_example("pounding-twin", tmp_path)
    copied = {file.relative_to(path) for file in path.rglob("*") if file.is_file()}
    assert Path("observations/twin.csv") in copied
    assert all((path / file).read_bytes() == (ROOT / "studies/pounding-twin" / file).read_bytes() for file in copied)


def test_files_of_examples_lie_no_deeper_than_packages_take_them() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["include"]
    deepest = max(item["path"].removeprefix("pytools/percuss/examples/").count("/") for item in patterns)
    for name in find_studies(EXAMPLES):
        for file in (ROOT / "studies" / name).rglob("*"):
            inside = file.relative_to(ROOT / "studies")
            if file.is_file() and not {"__pycache__", "ledger"} & set(inside.parts):
                assert len(inside.parts) - 1 <= deepest, inside


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path) -> None:
    copy_example("ishigami", tmp_path)
    for again in (lambda: copy_example("ishigami", tmp_path), lambda: new_study("ishigami", "scene", tmp_path)):
        with pytest.raises(InputError, match="is there already"):
            again()
    with pytest.raises(InputError, match="no study comes with percuss"):
        copy_example("../tests", tmp_path)
    with pytest.raises(InputError, match="name of a study"):
        new_study("a/b", "scene", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ishigami"]


def test_commands_say_where_the_study_is_and_what_to_do_next(folder: Path, percuss: Call) -> None:
    assert percuss("study", "new", "mine", "--kind", "benchmark").out.strip() == str(Path("studies/mine"))
    assert percuss("study", "check", "mine").code == 0
    percuss("study", "new", "mine", "--kind", "benchmark").refused(2, "is there already")
    percuss("study", "new", "other", "--kind", "scenes").refused(2, "no template")
    assert "study copy borehole" in percuss("design", "borehole", "--n", "4").err
    assert percuss("study", "copy", "borehole").code == 0
    assert "rockfall-wall" in percuss("study", "list", "--examples").out
