"""The one checker of tables: every fault at its key, in a sentence with the value and what is allowed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from percuss.errors import InputError
from percuss.settings import (
    Noted,
    Setting,
    SettingsError,
    check_table,
    clean_options,
    clean_setting,
    clean_settings,
    in_units,
    table_of,
)

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


def test_units_that_only_the_reader_knows_are_put_in() -> None:
    schema = in_units(
        table_of(Setting("std", "number", low=0, unit_of="output"), Setting("n", "integer")), {"output": "m"}
    )
    assert schema["std"].unit == "m" and schema["n"].unit == "1"
    assert clean_settings(schema, {"std": "5 cm", "n": 2.0}) == {"std": 0.05, "n": 2}
    with pytest.raises(SettingsError, match="5 s"):
        clean_settings(schema, {"std": "5 s"})


def test_a_table_may_stand_where_a_number_does() -> None:
    inner = table_of(Setting("prior", "table", required=True, doc="of it"), Setting("name", "text"))
    schema = table_of(Setting("std", "number", of=inner))
    assert clean_settings(schema, {"std": {"prior": {}}}) == {"std": {"prior": {}}}
    faults: list[tuple[Any, str]] = []
    check_table(schema, {"std": {"nam": "a"}}, (), lambda path, message: faults.append((path, message)))
    assert faults == [(("std", "nam"), "unknown key; did you mean `name`?"), (("std", "prior"), "missing; of it")]
    with pytest.raises(SettingsError):
        clean_settings(table_of(Setting("std", "number")), {"std": {"prior": {}}})


def test_words_beside_whole_numbers_and_truth() -> None:
    thin, counted = Setting("a", "integer", low=1, choices=("few",)), Setting("a", "boolean", choices=("common",))
    assert clean_setting(thin, "few") == "few" and clean_setting(thin, 3) == 3
    assert clean_setting(counted, "common") == "common" and clean_setting(counted, False) is False
    assert thin.allowed() == 'a whole number of at least 1 or "few"'
    for setting, value in ((thin, "many"), (thin, 0), (counted, "any"), (counted, 1)):
        with pytest.raises(InputError):
            clean_setting(setting, value)


def test_options_of_a_command_line() -> None:
    schema = table_of(
        Setting("count", "integer", low=1), Setting("share", "bare", low=0), Setting("on", "boolean"),
        Setting("how", "text", choices=("a", "b")),
    )  # fmt: skip
    asked = {"count": "12345678901234567890", "share": "0.5", "on": "yes", "how": "a"}
    assert clean_options("a design", schema, asked) == {
        "count": 12345678901234567890, "share": 0.5, "on": True, "how": "a"
    }  # fmt: skip
    for name, value, words in (
        ("shar", 1, "a design has no option `shar`: did you mean `share`?"),
        ("count", "1.5", "option `count` of a design is '1.5': it takes a whole number of at least 1"),
        ("count", True, "option `count` of a design is True"),
        ("share", "inf", "option `share` of a design is 'inf'"),
        ("on", "perhaps", "it takes true or false"),
        ("how", "c", "option `how` of a design: 'c' is not known"),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            clean_options("a design", schema, {name: value})
