"""The model kind `oscillators`: tables, inputs, units of stiffness, curves; numbers are tested in the core."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from percuss import _core
from percuss.errors import InputError
from percuss.models.model import Done, Driven, Failed, configure
from percuss.models.oscillators.laws_page import page
from percuss.models.oscillators.separation import correlation, first_mode
from percuss.settings import SettingsError
from percuss.study.load import check_study, load_study
from percuss.study.study import Study

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "pounding"
FRAMES = load_study(ROOT / "studies" / "pounding-frames")


def run(case: str, **values: float | str) -> Done:
    outcome = FRAMES.model().run([FRAMES.point(case, values)], [0])[0]
    assert isinstance(outcome, Done), outcome
    return outcome


@pytest.mark.parametrize(
    ("case", "file"),
    [
        ("kv", "traj_kv_k2000_e0.5.csv"),
        ("ye", "traj_ye_k2000_e0.5.csv"),
        ("jankowski", "traj_jank_k500_e0.5.csv"),
        ("rigid", "traj_rigid_e0.5.csv"),
    ],
)
def test_the_two_frames_follow_the_reference(case: str, file: str) -> None:
    """Stored trajectories have seven decimals of a millimetre: that is the tolerance."""
    curves = run(case, damping="nominal").curves
    assert curves is not None
    reference = pl.read_csv(GOLDEN / file, comment_prefix="#")
    for name, column, scale in (("u1", "u1_mm", 1e3), ("u2", "u2_mm", 1e3), ("a2", "a2_ms2", 1.0)):
        np.testing.assert_allclose(curves[name][::20] * scale, reference[column].to_numpy(), atol=1e-6, rtol=0)


def test_a_stiffness_must_be_of_the_kind_the_law_takes() -> None:
    outcome = FRAMES.model().run([FRAMES.point("jankowski", {"stiffness": "2000 N/mm"})], [0])[0]
    assert outcome == Failed("`stiffness` = 2000000.0 N/m: the law jankowski takes a stiffness in N/m^1.5")
    with pytest.raises(InputError, match="must be a quantity in N/m or"):
        FRAMES.point("kv", {"stiffness": "3 kg"})


def test_the_rigid_law_takes_no_stiffness(tmp_path: Path) -> None:
    text = (ROOT / "studies" / "pounding-frames" / "study.toml").read_text()
    study = tmp_path / "study.toml"

    def faults(changed: str) -> list[str]:
        study.write_text(changed)
        return [f"{fault.key}: {fault.message}" for fault in check_study(study)]

    assert "stiffness" not in FRAMES.point("rigid", {})
    with pytest.raises(InputError, match='`stiffness` = 5 N/m: means nothing with law = "rigid"'):
        FRAMES.point("rigid", {"stiffness": "5 N/m"})
    # turned rigid by one value, the case's own stiffness is left aside
    assert run("kv", law="rigid").values == run("rigid").values
    # in the case itself: refused; in [model], for the cases that take one: not asked for, not refused
    (fault,) = faults(text + 'stiffness = "1 N/m"\n')
    assert fault == 'cases.rigid.stiffness: `stiffness` means nothing with law = "rigid": leave it out'
    assert not faults(text.replace('gap = "23 mm"', 'gap = "23 mm"\nstiffness = "200 N/mm"'))
    # where no case takes it
    alone = text[: text.index("[cases.kv]")] + '[cases.rigid]\nlaw = "rigid"\nrestitution = 0.5\n'
    assert not faults(alone)
    (fault,) = faults(alone.replace('gap = "23 mm"', 'gap = "23 mm"\nstiffness = "200 N/mm"'))
    assert "means nothing" in fault
    (fault,) = faults(alone.replace('["1", "2"] }', '["1", "2"], stiffness = "5 N/m" }'))
    assert "means nothing" in fault
    # and a law that is not rigid still asks
    (fault,) = faults(alone.replace('"rigid"', '"ye"'))
    assert "`stiffness` has no value" in fault


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"gap": "10 mm", "displacement_1": "20 mm"}, "overlaps by 0.01 m at the start"),
        ({"integrator": "central-difference", "step": "10 ms"}, "unstable"),
    ],
)
def test_what_cannot_be_run_says_why(values: dict[str, str], words: str) -> None:
    outcome = FRAMES.model().run([FRAMES.point("kv", values)], [0])[0]
    assert isinstance(outcome, Failed)
    assert words in outcome.reason


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("mass_1", -1.0, "outside"), ("restitution", 1.5, "outside"), ("law", "kelvin", "did you mean")],
)
def test_bad_inputs_are_named(name: str, value: float | str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        FRAMES.point("kv", {name: value})


def test_the_accelerometer_saturates() -> None:
    curves = run("kv").curves
    assert curves is not None
    assert np.abs(curves["read_a2"]).max() == pytest.approx(3 * 9.80665)
    assert np.abs(curves["a2"]).max() > 8 * 9.80665


def test_a_batch_gives_the_bits_of_single_runs() -> None:
    points = [FRAMES.point("kv", {"restitution": e}) for e in (0.3, 0.5, 0.7)]
    together = FRAMES.model().run(points, [0, 0, 0])
    for point, outcome in zip(points, together, strict=True):
        assert isinstance(outcome, Done)
        alone = FRAMES.model().run([point], [0])[0]
        assert isinstance(alone, Done)
        assert outcome.values == alone.values


def test_every_fault_of_the_tables_is_found() -> None:
    settings = {
        "duration": 1.0,
        "masses": [{"name": "1", "mass": "2 kg"}, {"name": "1", "mass": "2 m"}, {"name": "a b", "mass": 1}],
        "springs": [{"between": ["base", "7"], "stiffness": "1 N/m"}],
    }
    with pytest.raises(SettingsError) as caught:
        configure("oscillators", settings, {})
    text = " ".join(message for _, message in caught.value.faults)
    assert "`2 m` is in m" in text
    assert "'a b'" in text
    assert "no such mass" in text


def test_a_record_moves_the_base() -> None:
    """One mass on a stiff spring follows the base: its absolute acceleration is that of the record."""
    record = b"t [s],a [m/s2]\n0,0\n1,1\n2,0\n"
    settings = {
        "duration": 2.0,
        "masses": [{"name": "1", "mass": 1.0}],
        "springs": [{"between": ["base", "1"], "stiffness": 1e8, "damping_ratio": 0.5}],
        "base_record": "motion.csv",
    }
    model = configure("oscillators", settings, {"motion.csv": record})
    point = {name: given.default for name, given in model.inputs.items()}
    outcome = model.run([point], [0])[0]  # type: ignore[list-item]
    assert isinstance(outcome, Done) and outcome.curves
    expected = np.interp(outcome.curves["t"], [0, 1, 2], [0, 1, 0])
    np.testing.assert_allclose(outcome.curves["a1"], expected, atol=2e-3)
    with pytest.raises(SettingsError, match="a finite number is needed"):
        configure("oscillators", settings, {"motion.csv": b"t [s],a [m/s2]\n0,0\n1,nan\n"})


def test_a_case_may_have_its_own_record(tmp_path: Path) -> None:
    """With several records `base_record` is an input: of the model, of a case, of a call."""
    text = """
[model]
kind = "oscillators"
duration = "2 s"
masses = [{ name = "1", mass = "1 kg" }]
springs = [{ between = ["base", "1"], stiffness = "100 MN/m", damping_ratio = 0.5 }]
base_records = ["./weak.csv", "strong.csv"]
[cases.weak]
base_record = "weak.csv"
[cases.strong]
base_record = "strong.csv"
base_scale = 2
"""
    (tmp_path / "study.toml").write_text(text)
    for name, peak in (("weak", 1), ("strong", 3)):
        (tmp_path / f"{name}.csv").write_text(f"t [s],a [m/s2]\n0,0\n1,{peak}\n2,0\n")
    study = load_study(tmp_path)
    model = study.model()
    assert isinstance(model, Driven)
    for case, peak in (("weak", 1.0), ("strong", 6.0)):
        point = study.point(case, {})
        outcome = model.run([point], [0])[0]
        assert isinstance(outcome, Done)
        assert outcome.values["peak_a1"] == pytest.approx(peak, rel=1e-3)
        facts = model.record_of(point)
        assert facts is not None and facts.pga_m_s2 == pytest.approx(peak)
    assert [facts.name for facts in model.records()] == ["weak.csv", "strong.csv"]
    assert Study.from_resolved(study.resolved(), study.files).digest == study.digest
    (tmp_path / "study.toml").write_text(text.replace('base_record = "weak.csv"', ""))
    assert "input `base_record` has no value" in str(check_study(tmp_path)[0])
    (tmp_path / "study.toml").write_text(text.replace('base_record = "weak.csv"', 'base_record = "week.csv"'))
    assert "did you mean `weak.csv`" in str(check_study(tmp_path)[0])


def test_first_mode_and_correlation() -> None:
    """Two equal storeys: omega^2 = (3 - sqrt 5)/2 k/m; stiffness-proportional damping grows with frequency."""
    springs = [(-1, 0, 100.0, 0.0), (0, 1, 100.0, 0.0)]
    found = first_mode([1.0, 1.0], springs, [], (0.0, 0.01), 1)
    assert found is not None
    omega = np.sqrt((3 - np.sqrt(5)) / 2 * 100.0)
    assert found[0] == pytest.approx(2 * np.pi / omega)
    assert found[1] == pytest.approx(0.01 * omega / 2)
    assert first_mode([1.0], [], [], (0.0, 0.0), 0) is None
    assert correlation((0.5, 0.05), (1.0, 0.05)) < 0.02


def test_the_page_on_laws_is_what_the_core_says() -> None:
    assert (ROOT / "docs" / "impact-laws.md").read_text() == page()
    for law, *_ in _core.impact_laws():
        assert _core.achieved_restitution(law, "exact", 0.35) == pytest.approx(0.35, abs=1e-8)


@pytest.mark.parametrize("gap", ["60 mm", "10 m"])
def test_the_nearest_approach_is_exact_whatever_the_gap(gap: str) -> None:
    """Two frames that do not meet: the one that is pulled by 20 mm and let go comes as near, but for its damping."""
    free = run("kv", gap=gap, displacement_1="-20 mm", displacement_2=0.0)
    assert free.curves is not None
    fine = (free.curves["u1"] - free.curves["u2"]).max()
    assert free.values["impacts"] == 0
    found = free.values["closing"]
    # A top lies above the samples of the curve, by less than this.
    assert fine <= found <= fine * (1.0 + 1e-5)
    assert found == pytest.approx(run("kv", gap="1 m", displacement_1="-20 mm").values["closing"], rel=1e-12)


@pytest.mark.parametrize("name", ["pounding-frames", "pounding-row"])
def test_the_studies_have_no_faults(name: str) -> None:
    assert check_study(ROOT / "studies" / name) == []


def test_an_interval_too_short_to_sample_is_refused(tmp_path: Path) -> None:
    text = (ROOT / "studies" / "pounding-frames" / "study.toml").read_text()
    study = tmp_path / "study.toml"
    study.write_text(text.replace('sampling = "1 ms"', 'sampling = "1e-300 s"'))
    (fault,) = check_study(study)
    assert fault.key == "model.sampling"
    assert "1e-300 s is too short: at most 1e+08 samples are kept of 12 s" in str(fault)
    system = FRAMES.model()._system(FRAMES.point("kv", {}), 0)  # type: ignore[attr-defined]
    (refusal,) = _core.simulate_oscillators([system | {"sampling_s": 1e-300}])
    assert refusal == "sampling interval 1e-300 s: must be positive and give at most 1e8 samples over 12 s"


def test_what_a_filter_cannot_follow_is_an_error_of_its_input() -> None:
    system = FRAMES.model()._system(FRAMES.point("kv", {}), 0)  # type: ignore[attr-defined]
    follow = {"step_s": 0.1, "substeps": 1, "base_m_s2": None, "forces_n": [], "sensors": [], "tracked": []}
    with pytest.raises(ValueError, match="there is no sensor"):
        _core.misfit_oscillators(system, follow | {"ratios": []}, [0.0] * 4, np.zeros((1, 0)), np.zeros((3, 0)))
    sensed = follow | {"sensors": [("displacement", 0)], "ratios": [(0, 0, 0, 0.05, 3)]}
    with pytest.raises(ValueError, match="tracked parameter 3 does not exist"):
        _core.misfit_oscillators(system, sensed, [0.0] * 4, np.zeros((1, 0)), np.zeros((3, 1)))
