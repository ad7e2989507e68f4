"""Records of ground motion: headers are obeyed or refused, and the facts told of a record are those of closed forms."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from percuss.errors import InputError
from percuss.models.ground.record import read_record
from percuss.study.load import load_study

G = 9.80665
LINES = [
    "PEER NGA STRONG MOTION DATABASE RECORD",
    "Somewhere, 1979, VELOCITY AVENUE, 230",
    "ACCELERATION TIME SERIES IN UNITS OF G",
    "NPTS=   6, DT=   .0050 SEC,",
    "  .1E-01  .2E-01 -.3E-01",
    "  0.0 1.0E-02 .5",
]


def at2(third: str = LINES[2], fourth: str = LINES[3], values: list[str] = LINES[4:]) -> bytes:
    return "\n".join([*LINES[:2], third, fourth, *values]).encode()


@pytest.mark.parametrize(
    ("third", "fourth", "scale"),
    [
        (LINES[2], LINES[3], G),
        (
            "ACCELERATION TIME HISTORY IN UNITS OF G.  FILTER POINTS: HP=0.1 Hz LP=40.0 Hz",
            "  6   0.00500    NPTS, DT",
            G,
        ),
        ("ACCELERATION TIME SERIES IN UNITS OF CM/SEC/SEC", "NPTS=6,DT=0.005", 0.01),
        ("Acceleration time series in units of cm/s**2", "NPTS=  6, DT= .005 SEC", 0.01),
        ("ACCELERATION TIME SERIES IN UNITS OF M/S2", "    6    .0050  NPTS, DT", 1.0),
        ("ACCELERATION TIME SERIES IN UNITS OF GAL", "NPTS=   6, DT=  .00500SEC", 0.01),
        ("ACCELERATION TIME HISTORY (G)", "NPTS =   6 , DT = 5.00E-03 SEC", G),
        ("ACCELERATION IN CM/SEC/SEC, RECORDED IN EL CENTRO", LINES[3], 0.01),
        ("ACCELERATION TIME SERIES, UNITS: CM/SEC2", LINES[3], 0.01),
    ],
)
def test_headers_old_and_new_are_obeyed(third: str, fourth: str, scale: float) -> None:
    record = read_record("a.AT2", at2(third, fourth), None)
    assert record.times_s == tuple(i * 0.005 for i in range(6))
    assert record.accelerations_m_s2 == pytest.approx(
        [scale * x for x in (0.01, 0.02, -0.03, 0.0, 0.01, 0.5)], rel=1e-15
    )


@pytest.mark.parametrize(
    ("data", "unit", "words"),
    [
        (at2("VELOCITY TIME SERIES IN UNITS OF CM/SEC"), None, "an acceleration over time is needed"),
        (at2("DISPLACEMENT TIME SERIES IN UNITS OF CM"), None, "an acceleration over time is needed"),
        (at2("VELOCITY TIME SERIES IN UNITS OF CM/SEC"), "g0", "an acceleration over time is needed"),
        (at2("ACCELERATION TIME SERIES IN UNITS OF CM/SEC"), None, "not read as a unit of acceleration"),
        (at2("ACCELERATION IN CM/SEC"), "g0", "not read as a unit of acceleration"),
        (at2("ACCELERATION (CM/SEC/SEC)"), "g0", "says cm/s/s, and the study base_record_unit = g0"),
        (at2("PSEUDO ACCELERATION RESPONSE SPECTRUM IN UNITS OF G"), None, "an acceleration over time is needed"),
        (at2("ACCELERATION FOURIER AMPLITUDES IN UNITS OF G"), "g0", "an acceleration over time is needed"),
        (at2("ACCELERATION TIME SERIES IN UNITS OF FURLONGS"), None, "not read as a unit of acceleration"),
        (at2(), "m/s^2", "says g0, and the study base_record_unit = m/s^2"),
        (at2("ACCELERATION TIME SERIES"), None, 'base_record_unit = "g0"'),
        (at2("something else"), None, 'base_record_unit = "g0"'),
        (at2(), "m/s", "no unit of acceleration"),
        (at2(fourth="NPTS= 7, DT= .005 SEC"), None, "6 values where NPTS says 7: it is cut off"),
        (at2(fourth="NPTS= 5, DT= .005 SEC"), None, "longer than it says"),
        (at2(fourth="NPTS= 6, DT= 0 SEC"), None, "DT above 0"),
        (at2(fourth="NPTS= 6, DT= -.005 SEC"), None, "DT above 0"),
        (at2(fourth="NPTS= 6.5, DT= .005 SEC"), None, "whole number"),
        (at2(fourth="6 values"), None, "line 4 must give NPTS and DT"),
        (at2(values=["1 2 3", "4 nan 6"]), None, "line 6: a value is nan: a finite number is needed"),
        (at2(fourth="6  5.0  NPTS, DT (MSEC)"), None, "line 4 must give NPTS and DT"),
        (at2(fourth="NPTS= 6, DT= 5 MSEC"), None, "line 4 must give NPTS and DT"),
        (at2("ACCELERATION AND VELOCITY IN G"), None, "an acceleration over time is needed"),
        (at2("VEL. TIME SERIES"), "g0", "an acceleration over time is needed"),
        (at2("ACCELERATION TIME SERIES IN UNITS OF G * 980"), None, "not read as a unit of acceleration"),
        (at2("ACCELERATION TIME SERIES IN UNITS OF CM / S"), None, "not read as a unit of acceleration"),
        (b"1 2 3", None, "four lines of header"),
    ],
)
def test_what_an_at2_file_must_not_be(data: bytes, unit: str | None, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_record("a.at2", data, unit)
    assert words in str(caught.value)


def test_files_of_velocity_are_none_of_acceleration_unless_they_say_so() -> None:
    for name in ("a.VT2", "a.dt2"):
        with pytest.raises(InputError, match="an acceleration over time is needed"):
            read_record(name, at2("TIME SERIES"), "g0")
        assert read_record(name, at2(), None).accelerations_m_s2[5] == pytest.approx(0.5 * G)


def test_a_study_may_say_the_unit_that_a_header_leaves_out() -> None:
    record = read_record("a.at2", at2("ACCELERATION TIME SERIES"), "cm/s^2")
    assert record.accelerations_m_s2[5] == pytest.approx(0.005)
    assert read_record("a.at2", at2(), "g0").accelerations_m_s2[5] == pytest.approx(0.5 * G)


@pytest.mark.parametrize(
    ("text", "unit", "last"),
    [
        ("time [ms],acc [g0]\n0,0\n500,2\n", None, (0.5, 2 * G)),
        ("time (s), acceleration (m/s2)\n0,0\n0.5,2\n", None, (0.5, 2.0)),
        ("t_s,a_m_s2\n\n# note\n0,0\n0.5,2\n", None, (0.5, 2.0)),
        ("t_ms,a_g0\n0,0\n500,2\n", "g0", (0.5, 2 * G)),
        ("t,a\n0,0\n0.5,2\n", "cm/s^2", (0.5, 0.02)),
        ("t_msec,acc_filtered\n0,0\n500,2\n", "cm/s^2", (0.5, 0.02)),
        ("ms,g0\n0,0\n500,2\n", None, (0.5, 2 * G)),
        ("0,0\n0.5,2\n", "m/s^2", (0.5, 2.0)),
        ("Time since trigger [s],Acceleration of the displaced floor [Gal]\n0,0\n0.5,2\n", None, (0.5, 0.02)),
        ("\ufefft [s],a [Gal]\r\n0,0\r\n0.5,2,\r\n", None, (0.5, 0.02)),
    ],
)
def test_units_in_the_header_of_a_csv_are_obeyed(text: str, unit: str | None, last: tuple[float, float]) -> None:
    record = read_record("a.csv", text.encode(), unit)
    assert (record.times_s[-1], record.accelerations_m_s2[-1]) == pytest.approx(last, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "words"),
    [
        ("t,a\n0,0\n1,2\n", None, 'base_record_unit = "g0"'),
        ("0,0\n1,2\n", None, 'base_record_unit = "g0"'),
        ("t [s],a [m/s2]\n0,0\n1,2\n", "g0", "says m/s2, and the study base_record_unit = g0"),
        ("t [s],v [m/s]\n0,0\n1,2\n", None, "is in m/s"),
        ("t [s],velocity\n0,0\n1,2\n", "g0", "an acceleration is needed"),
        ("t [s],Relative displacement [m/s2]\n0,0\n1,2\n", None, "another quantity (displacement): an acceleration"),
        ("t [s],groundVel_m_s2\n0,0\n1,2\n", None, "another quantity (velocity)"),
        ("acceleration [s],time [m/s2]\n0,0\n1,2\n", None, "another quantity (acceleration): a time"),
        ("Period [s],acceleration [g0]\n0,0\n1,2\n", None, "another quantity (period): a time"),
        ("t [m],a [g0]\n0,0\n1,2\n", None, "is in m"),
        ("t [s],a [g]\n0,0\n1,2\n", None, "standard gravity is `g0`"),
        ("t [s],a [parsec]\n0,0\n1,2\n", None, "unknown unit"),
        ("time ms,acc g0\n0,0\n1,2\n", "g0", "in brackets"),
        ("t-ms,a [g0]\n0,0\n1,2\n", None, "column `t-ms`: write its unit in brackets"),
        ("step,a [g0]\n0,0\n1,2\n", None, "column `step`: write its unit in brackets"),
        ("t,acc_g\n0,0\n1,2\n", "m/s^2", "column `acc_g`: write its unit in brackets"),
        ("t,acc_mg\n0,0\n1,2\n", "m/s^2", "column `acc_mg`: write its unit in brackets"),
        ("t,a_ms2\n0,0\n1,2\n", "g0", "column `a_ms2`: write its unit in brackets"),
        ("t,a_m_s\n0,0\n1,2\n", "g0", "column `a_m_s`: write its unit in brackets"),
        ("t;a\n0;0\n1;2\n", "g0", "separated by `;`"),
        ("t,x,y\n0,0,0\n1,2,3\n", "g0", "3 columns"),
        ("t,a\n0,0\n1,nan\n", "g0", "line 3: the value is nan: a finite number is needed"),
        ("0,1\n0,2\n", "g0", "does not come after"),
        ("0,1\n", "g0", "at least 2"),
    ],
)
def test_what_a_csv_must_not_be(text: str, unit: str | None, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_record("a.csv", text.encode(), unit)
    assert words in str(caught.value)


def test_a_worker_that_reads_a_record_loads_no_tables() -> None:
    code = "import sys; from percuss.models.ground.record import read_record\n"
    code += "read_record('a.csv', b't [s],a [g0]\\n0,0\\n1,2\\n', None); sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_facts_of_a_sine_are_those_of_the_closed_form() -> None:
    """a = A sin(wt) over ten periods: PGA A, PGV 2 A / w; the intensity grows evenly but for its ripple.

    The trapezoidal rule with 1000 steps a period is off by (2 pi / 1000)^2 / 12 = 3e-6.
    """
    amplitude, count = 3.0, 10_000
    rows = [f"{i / 1000},{amplitude * math.sin(2 * math.pi * i / 1000)!r}" for i in range(count + 1)]
    facts = read_record("a.csv", "\n".join(["t [s],a [m/s2]", *rows]).encode(), None).facts(-2.0)
    assert facts.pga_m_s2 == pytest.approx(6.0, rel=1e-12)
    assert facts.pgv_m_s == pytest.approx(2 * 6.0 / (2 * math.pi), rel=1e-5)
    assert facts.duration_s == pytest.approx(10.0)
    # Half a period from either end is half of an even growth, and 5 % of the intensity of ten periods.
    assert facts.significant_s == pytest.approx(9.0, abs=1e-3)
    assert (facts.step, facts.samples) == ("0.001", count + 1)
    assert "PGA 6 m/s^2 (0.6118 g0), PGV 1.91 m/s, 10 s long" in facts.sentence()


def test_facts_of_odd_records() -> None:
    """A record of zeros has no intensity; an uneven one says so."""
    facts = read_record("a.csv", b"t [s],a [g0]\n0,0\n1,0\n3,0\n", None).facts()
    assert (facts.pga_m_s2, facts.significant_s, facts.step) == (0.0, 0.0, "1 to 2")


def test_the_study_of_the_page_loads(tmp_path: Path) -> None:
    """The study of docs/ground-motion.md, with records as the page describes them."""
    page = (Path(__file__).parents[4] / "docs" / "ground-motion.md").read_text()
    first, second = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "valley.AT2").write_bytes(at2())
    (tmp_path / "records" / "harbour.csv").write_text("t_s,a_m_s2\n0,0\n0.5,2\n")
    (tmp_path / "study.toml").write_text(second)
    assert load_study(tmp_path).outputs["floor"].at == 0.2
    (tmp_path / "study.toml").write_text(first)
    study = load_study(tmp_path)
    assert study.cases["harbour"] == {"base_record": "records/harbour.csv", "base_scale": 0.8}
