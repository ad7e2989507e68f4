"""What is said fits a terminal of 80 columns, between words, and colours are asked for."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios

import pytest

from percuss.cli.output import say_table, table_text, text_width

LONG = "a sentence that goes on for rather longer than there is room for in a column of a narrow terminal"


def test_tables_wrap_between_words() -> None:
    rows = [(1, "first", LONG), (22, "second", "short")]
    lines = table_text(("n", "name", "words"), rows, width=60).split("\n")
    assert max(map(len, lines)) <= 60
    assert " ".join(line[12:].strip() for line in lines[1:-1]) == LONG
    # Continuation lines stand under their column.
    assert all(line.startswith(" " * 12) for line in lines[2:-1])
    assert table_text(("n", "name", "words"), rows, width=0).split("\n")[1].endswith(LONG)
    # A word is never broken, even if it is longer than the terminal.
    assert "x" * 90 in table_text(("a", "b"), [("x" * 90, LONG)], width=60)


def test_a_table_whose_rows_have_names_goes_on_below() -> None:
    rows = [
        ("release", name, f"0.{k}1 (0.{k}0 to 0.{k}2)", f"0.{k}3 (0.{k}2 to 0.{k}4)") for k, name in enumerate("ab")
    ]
    heads = ("case", "parameter", "first", "total")
    text = table_text(heads, rows, width=50, whole=("first", "total"), keys=2)
    first, second = text.split("\n\n")
    assert [part.split("\n")[0].split() for part in (first, second)] == [
        ["case", "parameter", "first"],
        ["case", "parameter", "total"],
    ]
    assert max(map(len, text.split("\n"))) <= 50
    assert first.split("\n")[2].split() == ["release", "b", "0.11", "(0.10", "to", "0.12)"]
    assert "\n\n" not in table_text(heads, rows, width=80, whole=("first", "total"), keys=2)


@pytest.fixture
def chain(percuss, make_study, once) -> str:
    """A ledger with a campaign of several batches, a surrogate and its indices."""
    make_study("cases")

    def make() -> None:
        campaign = percuss("run", percuss("design", "ishigami", "--n", 64 * 4).id).id
        percuss("sensitivity", percuss("surrogate", campaign, "--family", "chaos").id)

    once("indices", make)
    return "@last:campaign"


@pytest.mark.parametrize(
    "words",
    [
        ["log"],
        ["log", "--unfold"],
        ["lineage", "@last:indices"],
        ["lineage", "@last:indices", "--unfold"],
        ["show", "@last:design"],
        ["show", "@last:surrogate"],
        ["show", "@last:indices"],
        ["show", "@last:campaign"],
        ["models"],
        ["models", "oscillators"],
        ["models", "scene"],
        ["study", "list"],
        ["study", "show", "ishigami"],
        ["doctor"],
        ["audit", "--rerun", "0"],
    ],
    ids=" ".join,
)
def test_eighty_columns(percuss, chain, monkeypatch, words) -> None:
    wide = percuss(*words).out
    monkeypatch.setenv("COLUMNS", "80")
    narrow = percuss(*words).out
    # Lines that are longer are one word, as a digest is, after their indent and name.
    for line in narrow.splitlines():
        assert len(line) <= 80 or max(map(len, line.split())) > 50, line
    # No word is broken: a table that is too wide is a list of its rows, with the same words.
    if words[0] == "show":
        new = set(narrow.split()) - set(wide.split())
        assert all(word == "-" or word.isdecimal() for word in new), new


def test_words_follow_the_terminal_they_go_to(monkeypatch) -> None:
    """Of `percuss calibrate - > id` the table goes to the terminal, and stdout to a file."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 61))
    monkeypatch.delenv("COLUMNS", raising=False)
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert text_width(sys.stderr) == 61
        assert text_width() == 0
        say_table(("n", "words"), [(1, LONG)])
        terminal.flush()
        shown = os.read(ours, 10_000).decode().split("\r\n")
    os.close(ours)
    assert len(shown) > 2
    assert max(map(len, shown)) <= 61


def test_the_log_folds_batches(percuss, chain) -> None:
    folded, every = percuss("log").out.splitlines(), percuss("log", "--unfold").out.splitlines()
    (line,) = [line for line in folded if "runs.completed" in line]
    assert "256 runs in 4 batches" in line
    assert sum("runs.completed" in line for line in every) == 4
    assert len(every) == len(folded) + 3
    # Asked for, each is a line.
    assert len(percuss("log", "--kind", "runs.completed").out.splitlines()) == 5


def test_a_limit_counts_lines_and_never_cuts_one_short(percuss, chain, monkeypatch) -> None:
    """`--limit` was applied before batches were folded: of 256 runs in 4 batches the last two lines told of 64."""
    whole = percuss("log").out.splitlines()
    for limit in range(1, len(whole)):
        shown = percuss("log", "--limit", str(limit))
        assert [line.split() for line in shown.out.splitlines()[1:]] == [line.split() for line in whole[-limit:]]
    # Too many batches to open are counted as events.
    monkeypatch.setattr("percuss.work.log.MOST_OPENED", 3)
    (line,) = [line for line in percuss("log").out.splitlines() if "runs.completed" in line]
    assert line.endswith("  4 events")


def test_the_lineage_folds_batches(percuss, chain) -> None:
    tree = percuss("lineage", "@last:indices").out
    assert tree.count("runs.completed") == 1
    assert "runs: runs.completed, 256 runs in 4 batches" in tree
    # From the other end too; one that is marked stands by itself.
    onwards = percuss("lineage", "@last:design", "--from").out
    assert onwards.count("runs.completed") == 1
    percuss("supersede", "@last:runs", "--reason", "a test")
    lines = [line for line in percuss("lineage", "@last:indices").out.splitlines() if "runs.completed" in line]
    assert ["192 runs in 3 batches" in lines[0], "(superseded)" in lines[1], len(lines)] == [True, True, 2]


@pytest.mark.parametrize("plain", [False, True], ids=["colour", "NO_COLOR"])
def test_colours_on_a_terminal_unless_they_are_not_wanted(folder, percuss, chain, plain) -> None:
    percuss("supersede", chain, "--reason", "a test")
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"} | ({"NO_COLOR": "1"} if plain else {})
    if not plain:
        environment.pop("NO_COLOR", None)
    there, here = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "percuss", "log"], stdout=here, stderr=here, cwd=folder, env=environment, timeout=60
    )
    os.close(here)
    said = os.read(there, 100_000).decode()
    os.close(there)
    assert done.returncode == 0
    assert "(superseded)" in said
    assert ("\x1b[2m" in said) != plain
