"""What a logger wrote becomes the outputs of a study, reduced as the curves of a run are."""

from __future__ import annotations

from pathlib import Path

import pytest

from percuss.calibration.observations import Source, read_entries, study_plan
from percuss.errors import InputError
from percuss.models.model import Done
from percuss.study.load import check_study, load_study
from percuss.study.study import Study

STUDY = """
[model]
kind = "benchmark"
function = "impact"
gap = 0.3

[parameters.speed]
prior = { kind = "uniform", low = 1, high = 3 }

[cases.soft]
restitution = 0.2
[cases.hard]
restitution = 0.8

[outputs.rest_position]
[outputs.early]
quantity = "position"
reduce = "at"
at = "100 ms"
unit = "mm"
[outputs.middle]
quantity = "position"
reduce = "mean"
from = "0.1 s"
to = "0.2 s"
unit = "mm"
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "study.toml").write_text(STUDY)
    return load_study(tmp_path)


def read(study: Study, text: str, **more: object) -> list[tuple[str, str, float, float | None]]:
    source = Source("data.csv", **{"case": "hard", **more})  # type: ignore[arg-type]
    return read_entries(study, source, text.encode())[0].select("case", "output", "value", "std").rows()


def test_a_curve_of_the_model_gives_the_outputs_of_its_run(study: Study) -> None:
    (done,) = study.model().run([study.point("hard", {"speed": 2.0})], [0])
    assert isinstance(done, Done) and done.curves is not None
    rows = zip(done.curves["t_s"], done.curves["position"], strict=True)
    # As a logger would: milliseconds of its own clock, millimetres, other names.
    text = "clock [ms],LVDT [mm],note\n" + "".join(
        f"{float(t) * 1e3 + 2500!r},{float(x) * 1e3!r},ok\n" for t, x in rows
    )
    columns = {"instant": "clock [ms]", "position": "LVDT [mm]"}
    entries = read(study, text, columns=columns, start=2.5, std={"early": 1e-3})
    expected = study.evaluate(done.values, done.curves)
    assert [entry[:2] for entry in entries] == [("hard", "early"), ("hard", "middle")]
    assert [entry[3] for entry in entries] == [1e-3, None]
    for _, output, value, _ in entries:
        assert value == pytest.approx(expected[output], rel=1e-12)


def test_the_name_of_the_axis_will_do_and_gaps_are_passed_over(study: Study) -> None:
    entries = read(study, "t_s,position [mm]\n0,0\n0.05,\n0.1,100\n0.2,200\n")
    assert [(name, value) for _, name, value, _ in entries] == [("early", 0.1), ("middle", pytest.approx(0.15))]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t_s,position\n0,0\n0.1,1\n0.1,2\n", "line 4, row 3 of column t_s: instants must increase"),
        ("t_s,position\n0,0\n0.05,1\n", "output `early` asks for 0.1: the curve covers 0.0 to 0.05"),
        ("t_s,position\n5,0\n5.3,1\n", "covers 5.0 to 5.3; `start` says when the run begins on the clock of this file"),
        ("t_s,position\n0,0\n,1\n0.3,2\n", "row 2 of column t_s is nan"),
        ("t_s,case,position\n0,soft,0\n0.3,soft,2\n", "one file per case"),
        ("t_s [mm],position\n0,0\n0.3,2\n", "must be in s"),
    ],
)
def test_what_is_refused(study: Study, text: str, words: str) -> None:
    with pytest.raises(InputError, match=r"data\.csv") as refused:
        read(study, text)
    assert words in str(refused.value)


def test_a_study_names_its_loggers(tmp_path: Path) -> None:
    table = """
[observations.soft]
file = "soft.csv"
case = "soft"
start = "250 ms"
columns = { instant = "clock", position = "LVDT" }
std = "1 mm"
"""
    (tmp_path / "study.toml").write_text(STUDY + table)
    (tmp_path / "soft.csv").write_text("clock,LVDT\n0,0\n0.25,0\n0.6,0.2\n")
    assert check_study(tmp_path) == []
    (source,) = study_plan(load_study(tmp_path)).sources
    assert source.start == 0.25
    (tmp_path / "study.toml").write_text(STUDY + table.replace("position =", "posotion ="))
    assert any("did you mean `position`" in str(fault) for fault in check_study(tmp_path))
