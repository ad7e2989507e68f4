"""docs/scenes.md: its examples run, and its tables name what the code knows."""

import re
from pathlib import Path

from percuss.models.model import configure
from percuss.models.scene.tables import (
    BODY,
    BOND,
    CUTS,
    LAW,
    LOAD,
    MOTIONS,
    PATTERNS,
    PROBE,
    SETTLE,
    SHAPE_FILES,
    SHAPES,
    settings,
)
from percuss.study.load import check_study, load_study

TEXT = (Path(__file__).parents[3] / "docs" / "scenes.md").read_text()
STUDY, TERRAIN = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
SURFACES, PROGRAM = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_study_loads_and_runs(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    assert check_study(tmp_path) == []
    study = load_study(tmp_path)
    (done,) = study.model().run([study.point("fast", {"mu": 0.4, "rise": 0.1})], [0])
    assert study.evaluate(done.values, done.curves)["top"] != 0.0
    named = set(re.findall(r"`([a-z_A-Z]+)`", TEXT))
    for name, quantity in study.model().quantities.items():
        general = re.sub(r"^top_", "NAME_", re.sub(r"_[yz]$|(?<=[uvaw])[yz]$", "_x", name))
        general = re.sub(r"(?<=NAME_[uvaw])_x$|(?<=NAME_alpha)_x$", "x", general)
        if quantity.curve:
            assert general in named or name in named, name


def test_the_program_runs():
    exec(compile(PROGRAM, "docs/scenes.md", "exec"), {})


def test_surfaces_are_read_from_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(SURFACES, "docs/scenes.md", "exec"), {})


ROCK = "v 0 0 0\nv 30 0 0\nv 0 20 0\nv 0 0 20\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def terrain(folder, heights="1.6 1.2 0.8\n1.6 1.2 0.8\n1.6 1.2 0.8", rock=ROCK):
    """The study of the document with its files."""
    (folder / "study.toml").write_text(TERRAIN)
    (folder / "slope.asc").write_text(f"ncols 3\nnrows 3\ncellsize 4\nNODATA_value -1\n{heights}\n")
    (folder / "rock.obj").write_text(rock)
    return folder


def test_terrain_belongs_to_its_study(tmp_path):
    study = load_study(terrain(tmp_path))
    assert set(study.files) == {"slope.asc", "rock.obj"}
    (done,) = study.model().run([study.point("base", {"drop": 2.0})], [0])
    assert study.evaluate(done.values, done.curves)["way"] > 1e-3
    again = type(study).from_resolved(study.resolved(), study.files)
    (same,) = again.model().run([again.point("base", {"drop": 2.0})], [0])
    assert same.values == done.values
    other = load_study(terrain(tmp_path, heights="1.6 1.2 0.8\n1.6 1.2 0.8\n1.6 1.2 0.7"))
    assert other.resolved() != study.resolved()


def test_bad_terrain_is_told_with_file_and_place(tmp_path):
    (hole,) = check_study(terrain(tmp_path, heights="1.6 1.2 0.8\n1.6 -1 0.8\n1.6 1.2 0.8"))
    assert "bodies[0].contactors[0].file" in str(hole) and "`slope.asc`: 1 of 9 points have no height" in str(hole)
    (turned,) = check_study(terrain(tmp_path, rock=ROCK.replace("f 1 3 2", "f 1 2 3")))
    assert "`rock.obj`: triangles 0 and 1 face opposite sides" in str(turned)
    (tmp_path / "rock.obj").unlink()
    (missing,) = check_study(tmp_path)
    assert "`rock.obj` does not exist" in str(missing)


def test_tables_are_complete():
    known = set(re.findall(r"`([a-z_-]+)`", TEXT))
    for schema in (
        settings({}),
        BODY,
        BOND,
        *CUTS.values(),
        LAW,
        LOAD,
        PROBE,
        SETTLE,
        *SHAPES.values(),
        *SHAPE_FILES.values(),
        *MOTIONS.values(),
        *PATTERNS.values(),
    ):
        assert schema.keys() <= known, schema.keys() - known
    assert SHAPES.keys() <= known
    for kind in MOTIONS:
        assert f'kind = "{kind}"' in TEXT
    for pattern in PATTERNS:
        assert f'pattern = "{pattern}"' in TEXT


def test_defaults_are_as_said():
    bodies = [{"name": "ball", "mass": 1, "contactors": [{"shape": "sphere", "radius": 1, "group": "a"}]}]
    bodies.append({"name": "ground", "fixed": True, "position": [0, 0, -9]} | {"contactors": bodies[0]["contactors"]})
    table = {"duration": 1, "step": 1e-3, "bodies": bodies, "laws": [{"groups": ["a", "a"]}], "settle": {}}
    experiment = configure("scene", table, {}).experiment({})
    assert (experiment.settings.theta, experiment.settings.tolerance, experiment.settings.solver) == (0.5, 1e-6, "auto")
    assert (experiment.settings.max_iterations, experiment.settings.max_factorisations) == (1000, 400)
    assert (experiment.settings.contact_tolerance_m, experiment.settings.overlap_tolerance_m) == (1e-8, 1e-6)
    assert experiment.settings.look_ahead_m == 0.0
    assert experiment.scene.gravity_m_per_s2 == (0.0, 0.0, -9.80665)
    settle = experiment.settle
    assert (settle.speed_m_per_s, settle.quiet_steps, settle.damping, settle.max_steps) == (1e-6, 10, 0.02, 20000)
