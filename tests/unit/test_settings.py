"""The one checker of tables: every fault at its key, in a sentence with the value and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from percuss.errors import InputError
from percuss.settings import Noted, Setting, SettingsError, check_table, clean_setting, clean_settings, table_of

SCHEMA = table_of(
    Setting("name", "text", required=True, doc="a short name"),
    Setting("length", "number", 1.0, unit="m", low=0, low_open=True, doc="how long"),
    Setting("count", "integer", 3, low=1, high=9),
    Setting("mass", "bare", 0.95, low=0, high=1, low_open=True, high_open=True),
    Setting("size", "numbers", unit="m", length=3),
    Setting("kind", "text", choices=("box", "ball")),
    Setting("on", "boolean", False),
    Setting("files", "files"),
    Setting("more", "any"),
)


def checked(table: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    faults: dict[str, str] = {}
    found = check_table(
        SCHEMA, table, ("top",), lambda path, message: faults.update({".".join(map(str, path)): message})
    )
    return found, faults


def test_si_and_defaults() -> None:
    found, faults = checked({"name": "a", "length": "5 cm", "size": [1, "2 mm", 3], "more": {"x": [1]}})
    assert not faults
    assert found == {"name": "a", "length": 0.05, "count": 3, "mass": 0.95, "size": [1, 0.002, 3], "on": False,
                     "more": {"x": [1]}}  # fmt: skip
    assert clean_settings(SCHEMA, found) == found


def test_every_fault_is_noted_at_its_key() -> None:
    _, faults = checked(
        {"length": 0, "count": 2.5, "mass": 1, "size": [1, 2], "kind": "bix", "on": 1, "files": ["a", 3], "lenght": 2}
    )
    assert faults == {
        "top.name": "missing; a short name",
        "top.length": "0 is outside (0, inf] m",
        "top.count": "2.5 is no whole number",
        "top.mass": "1 must lie between 0 and 1",
        "top.size": "[1, 2] is not a list of 3 numbers",
        "top.kind": "'bix' is not known; did you mean `box`?",
        "top.on": "1 is not true or false: must be true or false, not a number",
        "top.files": "['a', 3] is not a list of paths inside the study's folder",
        "top.lenght": "unknown key; did you mean `length`?",
    }


def test_an_exception_holds_all_of_them() -> None:
    with pytest.raises(SettingsError, match=r"model setting `nam`: unknown setting.*and 1 more") as caught:
        clean_settings(SCHEMA, {"nam": 1})
    assert [key for key, _ in caught.value.faults] == ["nam", "name"]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting("a", "integer", low=4, high=9), "a whole number from 4 to 9"),
        (Setting("a", "number", low=0), "a number of at least 0"),
        (Setting("a", "number", low=0, low_open=True), "a number above 0"),
        (Setting("a", "bare", low=0, high=1, low_open=True, high_open=True), "a number between 0 and 1"),
        (Setting("a", "numbers", length=3), "a list of 3 numbers"),
        (Setting("a", "text", choices=("x", "y")), "one of x, y"),
        (Setting("a", "table"), "a table"),
    ],
)
def test_what_is_allowed_in_words(setting: Setting, words: str) -> None:
    assert setting.allowed() == words


def test_bare_numbers_take_no_text_and_no_truth() -> None:
    for value in ("3", True, None):
        with pytest.raises(InputError, match="must be a number"):
            clean_setting(Setting("a", "bare"), value)
    with pytest.raises(InputError, match="outside"):
        clean_setting(Setting("a", "bare", low=0), float("nan"))


def test_expressions_are_left_to_the_reader() -> None:
    assert clean_setting(Setting("a", "number", unit="m", low=0, expression=True), "2 * $gap") == "2 * $gap"


def test_faults_are_counted() -> None:
    noted = Noted(lambda path, message: None)
    check_table(SCHEMA, {}, (), noted)
    assert noted.faults == 1
