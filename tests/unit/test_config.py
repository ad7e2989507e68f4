"""Settings: flag > environment > project file > default, each with its source."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from percuss.config import find_settings, variable_of
from percuss.errors import InputError


def _found(name: str, tmp_path: Path, flag: object = None, env: str | None = None, project: str = "") -> tuple:
    (tmp_path / "percuss.toml").write_text(project)
    environment = {variable_of(name): env} if env is not None else {}
    found = find_settings({name: flag}, environment, tmp_path)[name]
    return found.value, found.source


def test_precedence(tmp_path) -> None:
    file = str(tmp_path / "percuss.toml")
    assert _found("jobs", tmp_path) == (0, "default")
    assert _found("jobs", tmp_path, project="jobs = 2") == (2, file)
    assert _found("jobs", tmp_path, env="3", project="jobs = 2") == (3, "environment PERCUSS_JOBS")
    assert _found("jobs", tmp_path, flag=4, env="3", project="jobs = 2") == (4, "flag --jobs")
    assert _found("jobs", tmp_path, env="", project="jobs = 2") == (2, file)


def test_paths_of_the_project_file_are_meant_from_its_folder(tmp_path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "percuss.toml").write_text('ledger = "results/ledger"\nstudies = "/elsewhere"\n')
    found = find_settings({}, {}, below)
    assert found["ledger"].value == str(tmp_path / "results" / "ledger")
    assert found["studies"].value == "/elsewhere"
    assert find_settings({}, {"PERCUSS_LEDGER": "x"}, below)["ledger"].value == "x"


@pytest.mark.parametrize(
    ("project", "words"),
    [
        ("legder = 'x'", "did you mean `ledger`?"),
        ("quite_else = 'x'", "known: ledger"),
        ("jobs = -1", "jobs must be a whole number"),
        ("jobs = 1.5", "jobs must be a whole number"),
        ("jobs = true", "jobs must be a whole number"),
        ("jobs = 'many'", "jobs must be a whole number"),
        ("flush_s = nan", "flush_s must be a number"),
        ("ledger = 3", "ledger must be a text"),
        ("ledger = ", "not readable TOML"),
        ("a = " + "[" * 5000, "not readable TOML"),
        ("# " + "x" * 70_000, "at most 65536"),
    ],
)
def test_project_files_that_are_wrong(tmp_path, percuss, folder, project, words) -> None:
    (folder / "percuss.toml").write_text(project)
    with pytest.raises(InputError) as caught:
        find_settings({}, {}, folder)
    assert words in f"{caught.value} {caught.value.hint}"
    percuss("config", "show").refused(2, "percuss.toml")
    percuss("log").refused(2, "percuss.toml")


def test_environment_that_is_wrong(percuss, monkeypatch) -> None:
    monkeypatch.setenv("PERCUSS_JOBS", "all")
    percuss("config", "show").refused(2, "PERCUSS_JOBS", "'all'", "whole number")


def test_config_show_says_where_each_came_from(percuss, folder, monkeypatch) -> None:
    (folder / "percuss.toml").write_text('studies = "studies"\nflush_s = 2\n')
    monkeypatch.setenv("PERCUSS_FLUSH_S", "0.5")
    shown = json.loads(percuss("config", "show", "--jobs", 3, "--json").out)
    assert {name: item["source"] for name, item in shown.items()} == {
        "ledger": "default",
        "identity": "default",
        "studies": str(folder / "percuss.toml"),
        "jobs": "flag --jobs",
        "flush_s": "environment PERCUSS_FLUSH_S",
        "host": "default",
        "private": "default",
        "import_mb": "default",
    }
    table = percuss("config", "show", "--ledger", "elsewhere").out
    assert any(line.split()[:4] == ["ledger", "elsewhere", "flag", "--ledger"] for line in table.splitlines())


def test_settings_reach_the_commands(percuss, folder, monkeypatch) -> None:
    (folder / "percuss.toml").write_text('ledger = "from-file"\n')
    assert percuss("design", "ishigami", "--n", 4).id
    monkeypatch.setenv("PERCUSS_LEDGER", "from-environment")
    assert percuss("design", "ishigami", "--n", 4).id
    assert percuss("design", "ishigami", "--n", 4, "--ledger", "from-flag").id
    assert all((folder / name / "ledger.toml").exists() for name in ("from-file", "from-environment", "from-flag"))
    monkeypatch.setenv("PERCUSS_IMPORT_MB", "0")
    (folder / "t.csv").write_text("x1,x2,x3,y\n1,1,1,2\n")
    percuss("import", "t.csv", "--study", "ishigami").refused(2, "at most 0")


def test_a_folder_above_that_cannot_be_entered(monkeypatch, tmp_path) -> None:
    """It may hold settings that change results: not passed over in silence."""
    real = Path.is_file

    def is_file(path: Path) -> bool:
        if path.parent == tmp_path:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "is_file", is_file)
    (tmp_path / "below").mkdir()
    with pytest.raises(InputError, match=rf"{tmp_path}/percuss\.toml: whether there .* cannot be seen \(Permission"):
        find_settings(start=tmp_path / "below")
