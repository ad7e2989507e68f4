"""docs/scenes.md: its examples run, and its tables name what the code knows."""

import re
from pathlib import Path

from percuss.models.registry import configure
from percuss.models.scene.tables import BODY, BOND, CUTS, LAW, LOAD, MOTIONS, PATTERNS, PROBE, SETTLE, SHAPES, settings
from percuss.study.load import check_study, load_study

TEXT = (Path(__file__).parents[3] / "docs" / "scenes.md").read_text()
(STUDY,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
(PROGRAM,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


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
    assert (experiment.settings.max_iterations, experiment.settings.max_factorisations) == (1000, 50)
    assert (experiment.settings.contact_tolerance_m, experiment.settings.overlap_tolerance_m) == (1e-8, 1e-6)
    assert experiment.settings.look_ahead_m == 0.0
    assert experiment.scene.gravity_m_per_s2 == (0.0, 0.0, -9.80665)
    settle = experiment.settle
    assert (settle.speed_m_per_s, settle.quiet_steps, settle.damping, settle.max_steps) == (1e-6, 10, 0.02, 20000)
