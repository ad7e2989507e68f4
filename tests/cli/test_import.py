"""Runs made elsewhere: what is taken in, and every way a table can be wrong."""

from __future__ import annotations

import json
import os

import polars as pl
import pytest

IMPACT = """
[study]
title = "A block against a stop"
source = "closed form"

[model]
kind = "benchmark"
function = "impact"
{settings}

[parameters.gap]
unit = "mm"
prior = {{ kind = "uniform", low = 10, high = 50 }}
[parameters.speed]
unit = "m/s"
prior = {{ kind = "uniform", low = 0.1, high = 2 }}

[outputs.rest_position]
unit = "mm"
"""


@pytest.fixture
def take(percuss, make_study, folder):
    """Import a table given as text."""
    make_study("impact", text=IMPACT)

    def call(text: str, *options: object, name: str = "runs.csv"):  # type: ignore[no-untyped-def]
        (folder / name).write_text(text)
        return percuss("import", name, "--study", "impact", *options)

    return call


def test_units_of_study_and_header(take, percuss, folder) -> None:
    take("gap,speed,rest_position\n20,1,15\n30,1.5,25\n")
    first = percuss("export", "csv", "@last").out
    take('"gap [m]","speed [mm/s]","rest_position [cm]",note\n0.02,1000,1.5,x\n0.03,1500,2.5,y\n')
    assert percuss("export", "csv", "@last").out == first
    assert first.splitlines()[0] == "case,sample,gap_m,speed_m_s,failed,rest_position_m"
    assert first.splitlines()[1] == "base,0,0.02,1.0,,0.015"
    pl.DataFrame({"gap": [20, 30], "speed": [1.0, 1.5], "rest_position": [15, 25]}).write_parquet(
        folder / "runs.parquet"
    )
    assert percuss("import", "runs.parquet", "--study", "impact").id
    assert percuss("export", "csv", "@last").out == first
    assert percuss("audit").code == 0


def test_rows_without_a_result_are_failed_runs(take, percuss) -> None:
    said = take("gap,speed,rest_position\n20,1,15\n30,1.5,\n40,1,NaN\n50,1,inf\n10,1,nan\n", "--json")
    assert json.loads(said.out)["rows"] == 5
    assert json.loads(said.out)["failed"] == 4
    assert "4 of them without a result" in said.err
    assert len(percuss("export", "csv", "@last:campaign").out.splitlines()) == 6
    assert percuss("audit").code == 0
    assert "cannot be run again" in percuss("audit").out


def test_units_are_echoed(take) -> None:
    said = take("gap,speed,rest_position [cm]\n20,1,1.5\n")
    assert "read gap in mm, speed in m/s, rest_position in cm\n" in said.err
    assert "note: no unit in the header of gap: taken in that of the study; `gap [mm]` says it" in said.err
    assert "note" not in take('"gap [cm]",speed,"rest_position [cm]"\n2,1,1.5\n').err


def test_columns_of_other_names(take) -> None:
    assert take(
        "spalt,v,x,extra\n20,1,15,9\n", "--column", "gap=spalt", "--column", "speed=v", "--column", "rest_position=x"
    ).id


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gap,speed\n20,1\n", ["rest_position", "no column"]),
        ("gap,speed,rest_position\n", ["no rows"]),
        ("", ["runs.csv"]),
        ("gap,speed,rest_position\n20,fast,15\n", ["row 1 of column speed", "'fast'", "not a number"]),
        ("gap,speed,rest_position\n20,nan,15\n", ["row 1", "speed", "nan", "needs a number"]),
        ("gap;speed;rest_position\n20;1;15\n", ["separated by `;`", "`,` is needed"]),
        ("gap,speed,rest_position\n20,1,15\n60,1,15\n9,1,1\n", ["row 2 (and 1 more", "gap = 60 mm", "10 to 50 mm"]),
        ("gap,speed,rest_position\n20,true,15\n", ["speed", "not numbers"]),
        ("gap,speed,rest_position\n20,NaN,15\n", ["row 1", "speed", "nan"]),
        ("gap,speed,rest_position\n20,1,15\n20,,15\n", ["row 2", "speed", "nan"]),
        ("gap,speed,rest_position\n20,inf,15\n", ["row 1", "speed", "inf"]),
        ("gap,speed,rest_position\n20,-1,15\n", ["row 1", "speed", "-1"]),
        ("gap,gap,speed,rest_position\n20,30,1,15\n", ["gap", "2 times"]),
        (
            '"gap [mm]","gap [m]",speed,rest_position\n20,0.02,1,15\n',
            ["several columns for gap", "gap [mm]", "gap [m]"],
        ),
        ('"gap [s]",speed,rest_position\n20,1,15\n', ["gap [s]", "mm"]),
        ('"gap [parsnips]",speed,rest_position\n20,1,15\n', ["gap [parsnips]"]),
        ("gap,speed,rest_position\n20,1,15,16\n", ["runs.csv"]),
        ("gap,speed,rest_position\n1e400,1,15\n", ["gap"]),
        ("\x00\x01\x02", ["runs.csv"]),
    ],
)
def test_tables_that_are_wrong(take, folder, text, words) -> None:
    take(text).refused(2, *words)
    assert not (folder / "ledger" / "streams").exists()


def test_files_that_are_no_tables(take, percuss, folder) -> None:
    take("x", name="runs.txt").refused(2, ".csv or .parquet")
    take("x", name="runs.parquet").refused(2, "not a readable table")
    (folder / "folder.csv").mkdir()
    percuss("import", "folder.csv", "--study", "impact").refused(2, "regular file")
    os.mkfifo(folder / "pipe.csv")
    percuss("import", "pipe.csv", "--study", "impact").refused(2, "regular file")
    percuss("import", "none.csv", "--study", "impact").refused(2, "no such file")
    take("gap,speed,rest_position\n20,1,15\n", "--column", "gapp=gap").refused(2, "gapp", "gap")
    take("gap,speed,rest_position\n20,1,15\n", "--column", "gap=spalt").refused(2, "spalt")
    take("gap,speed,rest_position\n20,1,15\n", "--case", "other").refused(2, "other")


def test_a_gigabyte_is_refused_before_it_is_read(take, percuss, folder) -> None:
    for name in ("huge.csv", "huge.parquet"):
        (folder / name).touch()
        os.truncate(folder / name, 1 << 30)
        percuss("import", name, "--study", "impact").refused(2, "1073741824 bytes")


def test_few_bytes_that_stand_for_many_rows(take, percuss, folder) -> None:
    """Ten million equal rows in some kilobytes: counted before they are laid out."""
    from percuss import measured

    table = pl.select(gap=pl.repeat(20.0, 10_000_000), speed=1.0, rest_position=15.0)
    table.write_parquet(folder / "bomb.parquet", compression="zstd")
    assert (folder / "bomb.parquet").stat().st_size < 2_000_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured, "MOST_VALUES", 29_999_999)
        percuss("import", "bomb.parquet", "--study", "impact").refused(2, "10000000 rows of 3 columns")
