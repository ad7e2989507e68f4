"""The parts of the command model: templates, results, settings."""

from __future__ import annotations

import io
import json
import re
import string
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from percuss.errors import InputError
from percuss.models.command.results import ResultError, Source, read_results
from percuss.models.command.tables import settings
from percuss.models.command.template import check_template, render
from percuss.models.model import configure
from percuss.settings import SettingsError
from percuss.study.load import check_study

DOCUMENT = Path(__file__).parents[3] / "docs" / "programs.md"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself(x: float) -> None:
    assert float(render("{{ x }}", {"x": x})) == x


@given(st.text(string.printable), st.text(string.printable))
def test_only_places_mean_anything(before: str, after: str) -> None:
    text = (before + "|" + after).replace("{{", "{")
    assert render(text, {}) == text
    assert render(text + "{{a:.3f}}", {"a": 1}) == text + "1.000"


def test_values_are_not_templates() -> None:
    assert render("{{a}}", {"a": "{{b}}", "b": "secret"}) == "{{b}}"


@pytest.mark.parametrize(
    "text", ["{{b}}", "{{a:s}}", "{{a:>9999999999}}", "{{a:{b}}}", "{{a:.9999e}}", "{{a!r:d}}{{b}}"]
)
def test_places_that_are_wrong(text: str) -> None:
    if "{{a:{" in text:
        check_template(text, ["a"])  # not a place at all: left as it is
        assert render(text, {"a": 1}) == text
        return
    with pytest.raises(InputError):
        check_template(text, ["a"])


def test_results_from_every_format(tmp_path) -> None:
    t, u = np.array([0.0, 0.5, 1.0]), np.array([1.0, -2.0, 4.0])
    (tmp_path / "a.csv").write_text("t,u\n0,1\n0.5,-2\n1,4\n")
    (tmp_path / "b.json").write_text(json.dumps({"run": {"t": t.tolist(), "peak": 4}, "list": [[1, 2], [3, 4]]}))
    pl.DataFrame({"t": t, "u": u}).write_parquet(tmp_path / "c.parquet")
    np.save(tmp_path / "d.npy", np.column_stack([t, u]))
    np.save(tmp_path / "e.npy", np.array(7))
    np.save(tmp_path / "f.npy", np.array([(1.0, 2.0)], dtype=[("t", float), ("u", float)]))
    sources = {
        "csv": Source("a.csv", "u", "mm", curve=True),
        "last": Source("a.csv", "u", "mm", row=-1),
        "json": Source("b.json", "run.t", "ms", curve=True),
        "peak": Source("b.json", "run.peak", "g0"),
        "nested": Source("b.json", "list.1", "1", row=0),
        "parquet": Source("c.parquet", "u", "1", curve=True),
        "npy": Source("d.npy", 1, "1", curve=True),
        "single": Source("e.npy", None, "1"),
        "named": Source("f.npy", "u", "1"),
    }
    values, curves = read_results(tmp_path, sources, 10**6)
    assert values == {"last": 0.004, "peak": 4 * 9.80665, "nested": 3.0, "single": 7.0, "named": 2.0}
    np.testing.assert_array_equal(curves["csv"], u * 1e-3)
    np.testing.assert_array_equal(curves["json"], t * 1e-3)
    np.testing.assert_array_equal(curves["parquet"], u)
    np.testing.assert_array_equal(curves["npy"], u)


def _written(suffix: str) -> bytes:
    frame = pl.DataFrame({"u": [1.25, 2.5]})
    buffer = io.BytesIO()
    match suffix:
        case "csv":
            return frame.write_csv().encode()
        case "json":
            return json.dumps({"u": [1.25, 2.5]}).encode()
        case "parquet":
            frame.write_parquet(buffer)
        case "npy":
            np.save(buffer, np.array([[1.25], [2.5]]))
    return buffer.getvalue()


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet", "npy"])
@given(share=st.floats(0, 0.99), byte=st.integers(0, 255), place=st.floats(0, 0.99))
def test_damaged_results_are_told_and_never_raise_anything_else(tmp_path_factory, suffix, share, byte, place) -> None:
    folder = tmp_path_factory.mktemp("scratch")
    whole = _written(suffix)
    source = {"u": Source(f"x.{suffix}", 0 if suffix == "npy" else "u", "1", curve=True)}
    cut = whole[: int(share * len(whole))]
    (folder / f"x.{suffix}").write_bytes(cut)
    try:
        found = read_results(folder, source, 10**6)[1]["u"].tolist()
        # A text cut at the end of a line is a shorter table; nobody can tell.
        assert suffix == "csv"
        assert found in ([], [1.25])
    except ResultError as fault:
        assert str(folder) not in str(fault)
    spoilt = bytearray(whole)
    spoilt[int(place * len(whole))] = byte
    (folder / f"x.{suffix}").write_bytes(bytes(spoilt))
    try:
        read_results(folder, source, 10**6)
    except ResultError as fault:
        assert str(folder) not in str(fault)


GOOD = {
    "command": ["true"],
    "inputs": {"x": {"unit": "mm", "low": 0}},
    "quantities": {"y": {"file": "o.csv", "column": "y", "unit": "mm"}},
}


def test_the_example_of_the_documentation_loads(tmp_path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    (tmp_path / "study.toml").write_text(example)
    (tmp_path / "frame.py").write_text("")
    (tmp_path / "given.json").write_text("{{gap:.3f}}")
    assert check_study(tmp_path) == []
    named = {
        name for row in re.findall(r"^\| (`.*?) \|", DOCUMENT.read_text(), re.M) for name in re.findall(r"`(\w+)", row)
    }
    assert named == set(settings({}))


def test_inputs_and_quantities_are_in_si() -> None:
    model = configure("command", GOOD | {"inputs": {"k": {"unit": "N/mm", "low": 1}, "f": {"unit": "N/m"}}}, {})
    assert (model.inputs["k"].unit, model.inputs["k"].low) == ("kg/s^2", 1000.0)
    assert model.inputs["f"].unit == "N/m"
    assert model.quantities["y"].unit == "m"


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        ({"command": []}, "command", "must be a list of texts"),
        ({"command": "rm -rf /"}, "command", "is not a list"),
        ({"command": ["a\0b"]}, "command", "must be a list of texts"),
        ({"command": ["{{x}}"]}, "command", "must not depend on values"),
        ({"command": ["a", "{{z}}"]}, "command", "{{z}} is no input"),
        ({"environment": {"A B": "1"}}, "environment", "name of a variable"),
        ({"environment": {"A": "{{z}}"}}, "environment", "{{z}} is no input"),
        ({"pass_environment": ["A=B"]}, "pass_environment", "name of a variable"),
        ({"inputs": {"seed": {}}}, "inputs", "seed: stands for the seed"),
        ({"inputs": {"x": {"units": "m"}}}, "inputs", "did you mean `unit`"),
        ({"inputs": {"x": {"unit": "m", "low": "3 kg"}}}, "inputs", "x: low: `3 kg`"),
        ({"inputs": {"x": {"choices": ["a"], "default": "b"}}}, "inputs", "must be one of a"),
        ({"quantities": {}}, "quantities", "at least one"),
        ({"quantities": {"y": {"file": "../o.csv", "column": "y"}}}, "quantities", "inside the scratch folder"),
        ({"quantities": {"y": {"file": "o.txt", "column": "y"}}}, "quantities", "must end in .csv"),
        ({"quantities": {"y": {"file": "o.csv"}}}, "quantities", "column: missing"),
        (
            {"quantities": {"y": {"file": "o.csv", "column": "y", "axis": "t"}}},
            "quantities",
            "must be another quantity",
        ),
        ({"files": ["../x"]}, "files", "inside the study's folder"),
        ({"templates": ["/etc/passwd"]}, "templates", "inside the study's folder"),
        ({"writable": ["tmp"]}, "writable", "absolute paths"),
        ({"exit_codes": []}, "exit_codes", "whole numbers"),
        ({"timeout": "0 s"}, "timeout", "outside"),
    ],
)
def test_settings_that_are_wrong(change, key, words) -> None:
    with pytest.raises(SettingsError) as fault:
        configure("command", GOOD | change, {"../x": b"", "/etc/passwd": b""})
    assert fault.value.faults[0][0] == key
    assert words in str(fault.value)
