"""The line of every key, against texts whose lines are marked in the text itself."""

import re
import tomllib

import pytest

from percuss.study.toml_lines import key_lines

TEXT = '''# comment with [brackets] and = signs
title = "a [b] = # no comment"  #@ title

[model]  #@ model
kind = 'benchmark'  #@ model.kind
list = [  #@ model.list
  1, # one
  [2, 3],  #@ model.list.1
  { a = 1, "b c" = "]}" },  #@ model.list.2.b c
]
after.dotted . key = 3  #@ model.after.dotted.key
multi = """
[not.a.table]
x = 1 ""quoted"" \\""" still
"""
raw = \'\'\'
] } '' "
\'\'\'
when = 2020-01-01T00:00:00Z  #@ model.when

[parameters.x]  #@ parameters.x
prior = { kind = "uniform", low = 0, high = { deep = [1, 2] } }  #@ parameters.x.prior.high.deep.1

[ parameters . "y z" ]  #@ parameters.y z
unit = "m"  #@ parameters.y z.unit

[[points]]  #@ points.0
a = 1  #@ points.0.a
[points.sub]  #@ points.0.sub
b = 2  #@ points.0.sub.b
[[points]]  #@ points.1
a = 1  #@ points.1.a
[[points.inner]]  #@ points.1.inner.0
c = 1e5  #@ points.1.inner.0.c
'''


def test_every_marked_key_is_on_its_line():
    tomllib.loads(TEXT)
    lines = key_lines(TEXT)
    marks = [(n, re.search(r"#@ (.*)", line)) for n, line in enumerate(TEXT.split("\n"), 1)]
    marked = {mark[1]: n for n, mark in marks if mark}
    found = {".".join(map(str, path)): line for path, line in lines.items()}
    assert len(marked) == 20
    assert {path: found.get(path) for path in marked} == marked


def test_key_after_a_multi_line_string():
    assert key_lines('a = """\n\n"""\nb = 1\n') == {("a",): 1, ("b",): 4}
    assert key_lines('a = """x""""\nb = 1') == {("a",): 1, ("b",): 2}
    assert key_lines('"a\\u0062" = 1') == {("ab",): 1}


def paths(value, path=()):
    """List the path of every key and element of parsed TOML."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield (*path, key)
        yield from paths(child, (*path, key))


@pytest.mark.parametrize("text", [TEXT, "", "a.b.c = [[], [{}], [{x.y = 1}]]", "[a]\n[a.b]\n[c]\nd = []"])
def test_finds_exactly_the_paths_that_the_parser_finds(text):
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))
