"""Tables that people bring: one reader, whose sentences name file, line, row and column."""

from __future__ import annotations

import hashlib
import io
import math
from pathlib import Path

import polars as pl
import pytest

from percuss.errors import InputError
from percuss.measured import parse_measured, read_measured, text_in
from percuss.text_tables import header_unit, number_in


def parse(text: str, file: str = "data.csv", *, logged: bool = False):
    return parse_measured(file, text.encode(), logged=logged)


def test_numbers_gaps_and_units() -> None:
    measured = parse("gap [mm],speed\n20,1\n,nan\n30,n/a\n")
    column = measured.column("gap")
    assert (column, measured.unit(column, "m"), measured.unit("speed", "m/s")) == ("gap [mm]", "mm", "m/s")
    assert measured.numbers(column)[::2] == [20.0, 30.0] and math.isnan(measured.numbers(column)[1])
    assert [math.isnan(x) for x in measured.numbers("speed")] == [False, True, True]
    assert measured.columns() == {"gap": "gap [mm]", "speed": "speed"}
    assert measured.columns({"width": "speed"}) == {"gap": "gap [mm]", "width": "speed"}
    assert measured.sha256 == hashlib.sha256(measured.data).hexdigest()


def test_units_as_loggers_write_them() -> None:
    headers = ("Roof (mm)", "Roof (left)", "LVDT (1)", "roof_m", "u_max", "roof")
    measured = parse(",".join(headers) + "\n" + ",".join("1" * len(headers)) + "\n", logged=True)
    assert [measured.unit(header, "m") for header in headers] == ["mm", "m", "m", "m", "m", "m"]
    assert measured.unit("roof_mm", "m", "mm") == "mm"  # said in the study


@pytest.mark.parametrize(
    ("text", "asked", "words"),
    [
        ("a_mm\n1\n", lambda m: m.unit("a_mm", "m"), "column a_mm: seems to be in mm, and without brackets would be"),
        ("t ms\n1\n", lambda m: m.unit("t ms", "s"), "column t ms: seems to be in ms, and without brackets would be"),
        ("acc_g\n1\n", lambda m: m.unit("acc_g", "m/s^2"), "column acc_g: seems to be in g, and without brackets"),
        ("acc (g)\n1\n", lambda m: m.unit("acc (g)", "m/s^2"), "column acc (g): must be in m/s^2, or in a unit of"),
        ("a,b\n1,2\n3,x\n", lambda m: m.numbers("b"), "data.csv: line 3, row 2 of column b is 'x', not a number"),
        ("a,b\n1,2\n\n3,x\n", lambda m: m.numbers("b"), "data.csv: line 4, row 3 of column b is 'x'"),
        ('a,b\n"two\nlines",2\n3,x\n', lambda m: m.numbers("b"), "data.csv: line 4, row 2 of column b"),
        ("a,b\n1,\n", lambda m: m.finite("b", "a sensor"), "line 2, row 1 of column b is nan: a sensor needs a number"),
        ("a,b\n1,inf\n", lambda m: m.with_gaps("b"), "line 2, row 1 of column b is inf: a finite number is needed"),
        ("a,b\n1,true\n", lambda m: m.numbers("b"), "column b holds Boolean, not numbers"),
        ("a [s]\n1\n", lambda m: m.unit("a [s]", "m"), "column a [s]: must be in m, or in a unit of the same dim"),
        ("a [sensor]\n1\n", lambda m: m.unit("a [sensor]", "m"), "column a [sensor]: unknown unit `sensor`"),
        ("a [mm]\n1\n", lambda m: m.unit("a [mm]", "m", "m"), "column a [mm]: the study says that it is in m"),
        ("a [mm],a [m]\n1,1\n", lambda m: m.column("a"), "several columns for a: a [mm], a [m]"),
        ("a [mm],a [m]\n1,1\n", lambda m: m.columns(), "two columns for a: a [mm] and a [m]"),
        ("a,b\n1,1\n", lambda m: m.column("aa"), "has no column `aa`: did you mean `a`?"),
        ("a,b\n1,1\n", lambda m: m.columns({"x": "c"}), "has no column c for x"),
    ],
)
def test_sentences_name_file_line_row_and_column(text, asked, words) -> None:
    with pytest.raises(InputError) as fault:
        asked(parse(text))
    assert str(fault.value).startswith("data.csv: ") and words in str(fault.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;b\n1;2\n", "separated by `;`, and `,` is needed"),
        ("logger 7;serial 4\ntest 3\na,b,c\n1,2,3\n2,3,4\n", "its first line names 2 columns, and line 3 has 3"),
        ("a\tb\n1\t2\n", "separated by tabs, and `,` is needed"),
        ("Logger 7\n\na,b\n1,2\n", "its first line names 1 column, and line 3 has 2"),
        ("Logger 7\nt;b;c\n1,5;2,5;0\n", "its first line names 1 column, and line 2 has 3"),
        ("a,a\n1,2\n", "has the column a 2 times"),
        ("a,b\n", "has no rows"),
        ("a\n1\n2,3,4\n", "its first line names 1 column, and line 3 has 3"),
        ("a\n1\n" + "2\n" * 100 + "3,4,5\n", "not a readable table"),
    ],
)
def test_tables_that_are_none(text, words) -> None:
    with pytest.raises(InputError, match=r"data\.csv: ") as fault:
        parse(text)
    assert words in str(fault.value)


def test_endings() -> None:
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet"):
        parse("a\n1\n", "data.txt")
    assert parse("a\n1\n", "data.txt", logged=True).numbers("a") == [1.0]


def test_what_a_logger_wrote() -> None:
    """Comments are passed over and counted as lines; a column that is there twice cannot be asked for."""
    measured = parse("# logger 7\nt,u,u\n0,1,2\n# gap\n1,x,2\n", "log.dat", logged=True)
    assert measured.numbers("t") == [0.0, 1.0]
    with pytest.raises(InputError, match="has the column u several times"):
        measured.column("u")
    with pytest.raises(InputError, match=r"log\.dat: line 5, row 2 of column u is 'x'"):
        measured.numbers("u")


def test_comments_are_for_loggers_only() -> None:
    """Elsewhere a cell may begin with the sign: a row must not vanish."""
    assert parse("point,value\n#1,3\n#2,4\n").numbers("value") == [3.0, 4.0]


def test_a_unit_said_by_the_study_stands_beside_a_header_that_has_none() -> None:
    measured = parse("a [sensor 3],b [mm],c\n1,2,3\n")
    said = {"a [sensor 3]": "cm", "b [mm]": "mm", "c": "cm"}
    assert [measured.unit(column, "m", unit) for column, unit in said.items()] == ["cm", "mm", "cm"]


def test_parquet_has_rows_without_lines() -> None:
    into = io.BytesIO()
    pl.DataFrame({"a": ["1", "x"]}).write_parquet(into)
    with pytest.raises(InputError, match=r"data\.parquet: row 2 of column a is 'x'"):
        parse_measured("data.parquet", into.getvalue()).numbers("a")


def test_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_measured(tmp_path / "a.csv", 10)
    with pytest.raises(InputError, match="is not a regular file"):
        read_measured(tmp_path, 10**6)
    (tmp_path / "a.csv").write_text("a\n1\n2\n3\n4\n5\n")
    with pytest.raises(InputError, match="12 bytes, and at most 10 are read"):
        read_measured(tmp_path / "a.csv", 10)


def test_cells() -> None:
    assert (header_unit("a [ ]"), header_unit("a [-]"), header_unit("a[m] b")) == ("1", "1", None)
    assert (text_in(" x "), text_in("  "), text_in(None)) == ("x", None, None)
    assert number_in("3", "here") == 3.0
    for cell in ("x", None, math.inf, True):
        with pytest.raises(InputError, match="here is "):
            number_in(cell, "here")
