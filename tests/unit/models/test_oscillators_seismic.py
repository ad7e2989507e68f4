"""Suites of records, scaling, pulses, matched spectra; drifts, spectra and measures as quantities of runs."""

import math
from pathlib import Path

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.models.model import Done
from percuss.models.oscillators.seismic import hermite_peak
from percuss.study.load import load_study
from percuss.study.study import Study

MODEL = """
[model]
kind = "oscillators"
duration = "8 s"
sampling = "10 ms"
masses = [{ name = "1", mass = "1 t" }, { name = "2", mass = "1 t" }]
springs = [
  { between = ["base", "1"], stiffness = "400 kN/m", damping_ratio = 0.05 },
  { between = ["1", "2"], stiffness = "400 kN/m", damping_ratio = 0.05 },
]
"""


def study(folder: Path, text: str, tail: str = "") -> Study:
    (folder / "study.toml").write_text('[study]\ntitle = "t"\nsource = "s"\n' + MODEL + text + "\n" + tail)
    for i in (1, 2, 3):
        generator = np.random.Generator(np.random.PCG64(i))
        rows = [f"{0.02 * k:.2f},{v!r}" for k, v in enumerate(generator.normal(size=300).tolist())]
        (folder / f"r{i}.csv").write_text("\n".join(["t [s],a [m/s2]", *rows]))
    return load_study(folder)


def run(loaded: Study, case: str | None = None, seed: int = 1, **values: float | str) -> Done:
    (done,) = loaded.model().run([loaded.point(case, values)], [seed])
    assert isinstance(done, Done), done
    return done


RECORDS = 'base_records = ["r1.csv", "r2.csv", "r3.csv"]\nbase_record_end = "rest"\nbase_measures = true\n'


def test_cases_choose_records_by_name(tmp_path: Path) -> None:
    cases = '[cases.one]\nbase_record = "r1.csv"\n[cases.three]\nbase_record = "r3.csv"\nbase_scale = 2.0\n'
    loaded = study(tmp_path, RECORDS, cases)
    assert run(loaded, "one").values["pga"] != run(loaded, "three").values["pga"]


def test_designs_choose_records_by_number_and_scale_them(tmp_path: Path) -> None:
    text = RECORDS + 'base_record_by = "number"\nbase_scaling = { measure = "pga" }\n'
    parameters = (
        '[parameters.base_record_number]\nprior = { kind = "uniform", low = 1, high = 4 }\n'
        '[parameters.base_pga]\nunit = "m/s^2"\nprior = { kind = "uniform", low = 1, high = 5 }\n'
    )
    loaded = study(tmp_path, text, parameters)
    found = [run(loaded, base_record_number=n, base_pga=3.0).values for n in (1.0, 1.9, 2.0, 3.999)]
    assert [v["pga"] for v in found] == pytest.approx([3.0] * 4)
    assert found[0]["arias"] == found[1]["arias"]
    assert len({v["arias"] for v in found}) == 3
    with pytest.raises(InputError, match="outside \\[1, 4\\)"):
        loaded.point(None, {"base_record_number": 4.0, "base_pga": 1.0})


def test_scaling_to_a_spectral_acceleration_gives_it_back(tmp_path: Path) -> None:
    text = (
        'base_record = "r1.csv"\nbase_record_end = "rest"\n'
        'base_scaling = { measure = "sa", period = "0.5 s" }\nbase_sa = "1 m/s^2"\n'
        'spectra = { shortest = "0.05 s", longest = "5 s", count = 41, floors = ["2"] }\n'
    )
    done = run(study(tmp_path, text), base_sa=4.0)
    assert done.curves is not None
    period = done.curves["period"]
    (here,) = np.flatnonzero(np.isclose(period, 0.5))
    assert done.curves["sa_base"][here] == pytest.approx(4.0, rel=1e-9)
    # A stiff thing on a floor moves with it.
    assert done.curves["sa_2"][0] == pytest.approx(done.values["peak_a2"], rel=0.1)


def test_peak_displacement_is_the_ordinate_of_the_spectrum(tmp_path: Path) -> None:
    """A mass alone on its spring is the oscillator of the spectrum: the event integrator against the recurrence."""
    text = (
        'base_record = "r2.csv"\nbase_record_end = "rest"\n'
        'spectra = { shortest = "0.25 s", longest = "1 s", count = 3 }\n'
        'storeys = [{ name = "a", between = ["base", "1"], height = "2 m" }]\n'
    )
    loaded = study(tmp_path, text)
    stiffness = 1000 * (2 * math.pi / 0.5) ** 2
    done = run(loaded, stiffness_1=stiffness, stiffness_2=0.0, damping_ratio_2=0.0)
    assert done.curves is not None
    sd = done.curves["sa_base"][1] * (0.5 / (2 * math.pi)) ** 2
    assert done.values["peak_u1"] == pytest.approx(sd, rel=1e-8)
    assert done.values["drift_ratio_a"] == pytest.approx(sd / 2.0, rel=1e-5)


def test_drifts_of_storeys_and_buildings(tmp_path: Path) -> None:
    text = (
        'base_record = "r1.csv"\nbase_record_end = "rest"\nstoreys = [\n'
        '  { name = "low", between = ["base", "1"], height = "4 m", building = "A" },\n'
        '  { name = "high", between = ["1", "2"], height = "3 m" },\n]\n'
    )
    done = run(study(tmp_path, text))
    assert done.curves is not None
    values = done.values
    assert values["drift_ratio_low"] == pytest.approx(values["peak_u1"] / 4, rel=1e-5)
    sampled = np.abs(done.curves["u2"] - done.curves["u1"]).max() / 3
    assert sampled <= values["drift_ratio_high"] <= 1.01 * sampled
    assert values["largest_drift_ratio_A"] == values["drift_ratio_low"]
    assert values["largest_drift_ratio"] == max(values["drift_ratio_low"], values["drift_ratio_high"])


def test_hermite_peak_converges_with_the_fourth_power() -> None:
    def error(count: int) -> float:
        t = np.linspace(0, 1, count + 1)
        return abs(hermite_peak(t, np.sin(2.2 * t + 0.1), 2.2 * np.cos(2.2 * t + 0.1)) - 1)

    assert error(7) / error(28) > 4**3.5


def test_a_pulse_alone_and_on_a_record(tmp_path: Path) -> None:
    pulse = 'base_measures = true\nbase_pulse = { velocity = "0.6 m/s", period = "1 s", oscillations = 2.0 }\n'
    loaded = study(tmp_path, pulse)
    assert run(loaded).values["pgv"] == pytest.approx(0.6, rel=1e-3)
    assert run(loaded, pulse_velocity=1.2).values["pgv"] == pytest.approx(1.2, rel=1e-3)
    both = run(study(tmp_path, pulse + 'base_record = "r1.csv"\nbase_record_end = "rest"\n'))
    alone = run(study(tmp_path, 'base_measures = true\nbase_record = "r1.csv"\nbase_record_end = "rest"\n'))
    nothing = run(study(tmp_path, pulse + 'base_record = "r1.csv"\nbase_record_end = "rest"\n'), pulse_velocity=0.0)
    assert both.values["arias"] > 1.2 * alone.values["arias"]
    assert nothing.values["arias"] == pytest.approx(alone.values["arias"], rel=1e-9)


def test_a_matched_motion_drives_the_base(tmp_path: Path) -> None:
    (tmp_path / "target.csv").write_text("T [s],sa [g0]\n0.05,0.3\n0.5,0.3\n4,0.02\n")
    text = (
        'base_compatible = { shape = "table", file = "target.csv", rise = "1 s", plateau = "4 s", decay = "1 1/s" }\n'
        'spectra = { shortest = "0.1 s", longest = "2 s", count = 20 }\n'
    )
    loaded = study(tmp_path, text)
    assert "target.csv" in loaded.files
    first, again, other = (run(loaded, seed=seed).curves for seed in (1, 1, 2))
    assert first is not None and again is not None and other is not None
    assert (first["u1"] == again["u1"]).all()
    assert (first["u1"] != other["u1"]).any()
    wanted = np.exp(np.interp(np.log(first["period"]), np.log([0.05, 0.5, 4]), np.log([0.3, 0.3, 0.02]))) * 9.80665
    assert np.abs(np.log(first["sa_base"] / wanted)).mean() < 0.1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('base_scaling = { measure = "pga" }', "goes with base_record, which the study does not have"),
        ('base_record = "r1.csv"\nbase_record_by = "number"', "goes with base_records"),
        ('base_record = "r1.csv"\nbase_scaling = { measure = "sa" }', 'measure = "sa" needs the period'),
        ('base_record = "r1.csv"\nbase_scaling = { measure = "pga", period = "1 s" }', "takes no period"),
        ("base_measures = true", "needs a base motion with samples"),
        (
            'base_record = "r1.csv"\nbase_record_end = "rest"\n[cases.two]\nbase_record = "r2.csv"',
            "the same in all cases; set `base_records` there instead",
        ),
        ('base_record = "r1.csv"\nspectra = { floors = ["3"] }', "floor '3': no such mass"),
        ('base_record = "r1.csv"\nspectra = { shortest = "5 s", longest = "1 s" }', "`shortest` must lie below"),
        ('storeys = [{ name = "a", between = ["base", "9"], height = "3 m" }]', "between '9': no such mass"),
        ('base_compatible = { shape = "asce7", short = "5 m/s^2" }', "`one_second` is missing"),
        (
            'base_pulse = { velocity = "1 m/s", period = "1 s" }\n'
            'base_harmonics = [{ amplitude = "1 m/s^2", frequency = "1 Hz" }]',
            "not with base_harmonics",
        ),
        ('base_record = "zero.csv"\nbase_scaling = { measure = "pga" }', "a record of zeros cannot be scaled"),
    ],
)
def test_what_does_not_go_together(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "zero.csv").write_text("t [s],a [m/s2]\n0,0\n9,0\n")
    with pytest.raises(InputError) as caught:
        study(tmp_path, text)
    assert words in str(caught.value)


def test_a_record_that_ends_before_the_run_is_refused_unless_the_base_is_to_rest(tmp_path: Path) -> None:
    (tmp_path / "short.csv").write_text("t [s],a [m/s2]\n0,0\n5.98,0\n6,0\n")
    with pytest.raises(InputError) as caught:
        study(tmp_path, 'base_record = "short.csv"\n')
    assert "model.duration" in str(caught.value)
    assert (
        "the record short.csv ends at 6 s, before the run of 8 s: shorten duration, or say "
        'base_record_end = "rest" for a base that is at rest for the last 2 s'
    ) in str(caught.value)
    rests = study(tmp_path, 'base_record = "short.csv"\nbase_record_end = "rest"\n')
    told = "the record short.csv ends at 6 s, before the run of 8 s: the base is at rest for the last 2 s"
    assert rests.records()[0].mismatch() == told
    # What a ledger holds from before the rule can still be repeated.
    resolved = rests.resolved()
    del resolved["model"]["settings"]["base_record_end"]
    assert Study.from_resolved(resolved, rests.files).records()[0].mismatch() == told
    with pytest.raises(InputError, match="goes with base_record"):
        study(tmp_path, 'base_record_end = "rest"\n')


@pytest.mark.parametrize(("end", "fits"), [("8", True), ("7.98", True), ("7.97", False), ("0.1", False)])
def test_how_early_a_record_may_end(tmp_path: Path, end: str, fits: bool) -> None:
    """A step, but no more than a hundredth of the run: two samples are no long step."""
    before = "" if end == "0.1" else f"{float(end) - 0.02:.2f},1\n"
    (tmp_path / "a.csv").write_text(f"t [s],a [m/s2]\n0,0\n{before}{end},0\n")
    if fits:
        assert study(tmp_path, 'base_record = "a.csv"\n').records()[0].mismatch() == ""
        return
    with pytest.raises(InputError, match="before the run of 8 s"):
        study(tmp_path, 'base_record = "a.csv"\n')


def test_a_record_that_goes_on_after_the_run_is_told(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("t [s],a [m/s2]\n0,0\n9,0\n")
    (facts,) = study(tmp_path, 'base_record = "long.csv"\n').records()
    assert "the rest of it is not used" in facts.mismatch()
