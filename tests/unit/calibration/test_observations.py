"""Tables of measured values: both forms, units, and everything they are refused for."""

from __future__ import annotations

import io

import polars as pl
import pytest

from percuss.calibration.observations import Source, read_entries
from percuss.errors import InputError
from percuss.study.load import load_study

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
unit = "mm"
[outputs.early]
quantity = "position"
reduce = "at"
at = "100 ms"
unit = "mm"
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    return load_study(tmp_path)


def read(study, text: str, **source):  # type: ignore[no-untyped-def]
    return read_entries(study, Source("data.csv", **source), text.encode())[0]


def test_long_tables(study) -> None:
    table = read(
        study,
        "case,output,value,unit,std [mm],point,axis,instant [ms]\n"
        "soft,rest_position,12.5,cm,2,A,x,\n"
        "hard,early,90,,,B,,100\n",
        std={"early": 0.5e-3},
    )
    assert table.columns == ["entry", "case", "output", "value", "std", "point", "axis", "instant"]
    assert table.rows() == [
        (0, "soft", "rest_position", 0.125, 0.002, "A", "x", None),
        (0, "hard", "early", 0.09, 0.0005, "B", None, 0.1),
    ]


def test_wide_tables_with_repetitions_and_holes(study) -> None:
    table = read(study, "case,rest_position [m],early\nsoft,0.1,80\nsoft,,81\n", std={"early": 1e-3})
    assert table.select("case", "output", "value", "std", "instant").rows() == [
        ("soft", "rest_position", 0.1, None, None),
        ("soft", "early", 0.08, 0.001, 0.1),
        ("soft", "early", 0.081, 0.001, 0.1),
    ]


def test_parquet_and_columns_of_other_names(study) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"sensor": ["early"], "reading": [70.0], "who": ["me"]}).write_parquet(buffer)
    source = Source("data.parquet", "hard", {"output": "sensor", "value": "reading"})
    table, left_out = read_entries(study, source, buffer.getvalue())
    assert table["value"].to_list() == [0.07]
    assert table["case"].to_list() == ["hard"]
    assert left_out == ["who"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("case,output,value\nsoft,rest_positon,1\n", "did you mean `rest_position`"),
        ("case,output,value\nsofd,early,1\n", "no case `sofd`"),
        ("output,value\nearly,1\n", "several cases"),
        ("case,output,value\nsoft,early,nan\n", "row 1: value is nan"),
        ("case,output,value\nsoft,early,\n", "row 1: value is None"),
        ("case,output,value\nsoft,early,much\n", "'much': not a number"),
        ("case,output,value,unit\nsoft,early,1,s\n", "unit 's' must be mm"),
        ("case,output,value [kg]\nsoft,early,1\n", "must be in mm"),
        ("case,output,value,std\nsoft,early,1,-2\n", "std is -0.002 (SI): must be at least 0"),
        ("case,output,value,instant\nsoft,early,1,0.2\n", "is taken at 0.1 s"),
        ("case,output\nsoft,early\n", "has no column value"),
        ("case,output,value,value [mm]\nsoft,early,1,2\n", "two columns for value"),
        ("case,position\nsoft,1\n", "column position is no output"),
        ("case,early\nsoft,nan\n", "row 1: early is nan"),
        ("case,early\nsoft,\n", "holds no measured value"),
        ("case,early\n", "has no rows"),
    ],
)
def test_what_is_refused(study, text, words) -> None:
    with pytest.raises(InputError) as told:
        read(study, text)
    assert words in str(told.value)
    assert "data.csv" in str(told.value)
