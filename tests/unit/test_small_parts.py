"""Parts too small for a file of their own: prefixes, tables for people, shards, column names, references."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from percuss.cli.options import assignments
from percuss.cli.output import plain, table_text
from percuss.errors import InputError
from percuss.execution.batch import split
from percuss.execution.queue import Shard
from percuss.export.tables import column_name
from percuss.work.log import shortest_prefixes


@given(st.lists(st.text("ab", min_size=10, max_size=10), unique=True, max_size=30), st.integers(1, 8))
def test_shortest_prefixes_are_unique_and_shortest(ids: list[str], least: int) -> None:
    for id, prefix in shortest_prefixes(ids, ids, least).items():
        assert [other for other in ids if other.startswith(prefix)] == [id]
        assert len(prefix) >= least
        if len(prefix) > least:
            assert len([other for other in ids if other.startswith(prefix[:-1])]) > 1


def test_table_text_aligns() -> None:
    text = table_text(("name", "n", ""), [("a", 1, None), ("bcdef", 22, 1.0), ("x\ny", 3, "end ")])
    assert text.splitlines() == ["name    n", "a       1", "bcdef  22  1", "x\\ny    3  end"]
    assert table_text(("a", "b"), []) == "a  b"


@given(st.text())
def test_plain_text_is_one_printable_line(text: str) -> None:
    assert plain(text).isprintable()


def test_shards_of_a_campaign() -> None:
    assert Shard.parse("1/1") == Shard(1, 1)
    assert Shard.parse("03/12") == Shard(3, 12)
    for text in ("0/3", "4/3", "1", "1/", "/2", "a/b", "-1/3", "1/0", "1/3/5", "1 / 3", "", "9999999/9999999"):
        with pytest.raises(InputError, match="k/n"):
            Shard.parse(text)
    assert Shard(2, 4).stream("0192f0c1-aaaa-7bbb-8ccc-dddddddddddd") == "shard-0192f0c1-aaaa-7bbb-2-of-4"


@given(st.integers(0, 300), st.integers(1, 70))
def test_batches_cover_every_sample_once(count: int, size: int) -> None:
    batches = split(count, size)
    assert [sample for batch in batches for sample in batch] == list(range(count))
    assert all(len(batch) == size for batch in batches[:-1])


@pytest.mark.parametrize(
    ("name", "unit", "column"),
    [
        ("gap", "m", "gap_m"),
        ("restitution", "1", "restitution"),
        ("case", None, "case"),
        ("a", "m/s^2", "a_m_s2"),
        ("k", "N/m^1.5", "k_n_m1.5"),
        ("torque", "N m", "torque_n_m"),
        ("q", "m^3/s", "q_m3_s"),
    ],
)
def test_column_names_carry_units(name, unit, column) -> None:
    assert column_name(name, unit) == column


def test_assignments() -> None:
    assert assignments(["gap = 23 mm", "e=a=b"], "--set") == {"gap": "23 mm", "e": "a=b"}
    assert assignments(None, "--set") == {}
    for text in ("gap", "=3", "gap=", "gap= "):
        with pytest.raises(InputError, match="NAME=VALUE"):
            assignments([text], "--set")
    with pytest.raises(InputError, match="twice"):
        assignments(["a=1", "a=2"], "--set")
