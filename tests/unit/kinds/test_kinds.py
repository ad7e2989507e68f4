"""Kinds are types: what fits is kept, what does not is refused before it is appended, and nobody reads by key."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from tests.drafts import study_draft

import percuss
from percuss.errors import InputError, LedgerError
from percuss.kinds.body import Body
from percuss.kinds.design_created import DesignCreated
from percuss.kinds.note_added import NoteAdded
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.kinds.table import KINDS, plain
from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger

SOURCES = Path(percuss.__file__).parent
DESIGN = {"sampler": "sobol", "n": 4, "names": ["x"], "cases": ["base"], "fixed": {}, "options": {}}


def test_every_kind_is_one_file_with_all_that_is_to_know() -> None:
    for name, kind in KINDS.items():
        file = SOURCES / "kinds" / f"{name.replace('.', '_')}.py"
        assert file.is_file(), name
        assert kind.name == name
        assert kind.says and kind.body.__doc__, name
        assert issubclass(kind.body, Body) and is_dataclass(kind.body), name
        assert kind.body.__dataclass_params__.frozen, name
        for role, allowed in {**kind.needs, **kind.one_of}.items():
            assert role and set(allowed) <= set(KINDS), (name, role)
        for table in kind.tables.values():
            assert table.row, name
        for place in filter(None, (kind.load, kind.repeat)):
            module, _, function = place.partition(":")
            path = SOURCES.parent / Path(*module.split(".")).with_suffix(".py")
            assert f"\ndef {function}(" in path.read_text(), (name, place)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"oops": 1}, "no such field `oops`"),
        ({}, "missing required field"),
        (DESIGN | {"n": 1.5}, "Expected `int`, got `float` - at `$.n`"),
        (DESIGN | {"n": -1}, ">= 0"),
        (DESIGN | {"n": 2**63}, "`$.n`"),
        (DESIGN | {"n": True}, "got `bool`"),
        (DESIGN | {"names": ["x", 3]}, "$.names[1]"),
        (DESIGN | {"fixed": {"gap": [1]}}, "fixed"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_before_it_is_appended(body, words) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        Draft("design.created", body)


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(InputError, match=r"design\.made: is no kind of event"):
        Draft("design.made", DESIGN)


def test_bodies_are_read_as_they_were_written(tmp_path, maker) -> None:
    book = Ledger.open(tmp_path / "ledger", maker, create=True)
    body = DesignCreated(
        sampler="sobol",
        n=4,
        names=("x",),
        cases=("base",),
        fixed={"gap": 0.02, "law": "rigid"},
        options={"scramble": True},
    )
    event = book.append([Draft("design.created", body, seed=1)])[0]
    assert DesignCreated.of(event) == body
    assert DesignCreated.of(Ledger.open(tmp_path / "ledger").event(event.id)) == body
    assert json.loads(event.body) == plain(body)
    with pytest.raises(InputError, match=r"is of the kind design\.created, not NoteAdded"):
        NoteAdded.of(event)


def test_a_strangers_body_that_does_not_fit_is_a_fault_of_the_ledger(tmp_path, maker, monkeypatch) -> None:
    """What another program wrote under our name is found at reading, with the field; `log` goes on."""
    book = Ledger.open(tmp_path / "ledger", maker, create=True)
    with monkeypatch.context() as patch:
        patch.setattr("percuss.ledger.event.check_body", lambda kind, data: None)
        event = book.append([Draft("design.created", {"oops": 1}, seed=1)])[0]
    with pytest.raises(LedgerError, match=rf"event {event.id} \(design.created\): its body does not fit its kind"):
        DesignCreated.of(event)
    from percuss.work.log import log_lines

    (line,) = log_lines(book)
    assert "does not fit" in line.summary


def test_settled_scenes_of_one_study_are_one_line_of_the_log(tmp_path, maker) -> None:
    from percuss.work.log import log_lines

    book = Ledger.open(tmp_path / "ledger", maker, create=True)
    studies = [book.append([study_draft(notes=words)])[0] for words in ("one", "another")]
    for study, count in zip(studies, (3, 2), strict=True):
        for key in range(count):
            book.append([Draft("scene.settled", {"key": f"{key}", "steps": 10}, inputs=[("study", study)])])
    assert [line.summary for line in log_lines(book, fold=True)][2:] == ["3 scenes", "2 scenes"]
    assert [line.summary for line in log_lines(book)][2:] == ["10 steps"] * 5


def test_a_log_line_for_every_kind() -> None:
    """`filter.updated` and `validation.computed` were forgotten once."""
    silent = {name for name, kind in KINDS.items() if kind.summary.__qualname__ == "Kind.<lambda>"}
    assert silent == set()


def test_nobody_reads_bodies_by_key() -> None:
    """`.data` is for printing whole bodies; what is in one is read through its type."""
    allowed = {"ledger/event.py", "cli/show.py", "session.py", "api/results.py"}
    for path in SOURCES.rglob("*.py"):
        name = str(path.relative_to(SOURCES))
        if name in allowed or name.startswith(("inference", "models", "scene")):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            by_key = isinstance(node, ast.Subscript) or (
                isinstance(node, ast.Attribute) and node.attr in ("get", "items")
            )
            value = getattr(node, "value", None)
            if by_key and isinstance(value, ast.Attribute) and value.attr == "data":
                owner = ast.unparse(value.value)
                assert owner.split(".")[-1] not in ("event", "e", "batch", "design", "campaign", "last"), (name, owner)


def test_nested_types_are_types_throughout() -> None:
    """A field of a result that holds facts holds them as a type, not as a dictionary to be read by name."""
    for item in fields(PosteriorSampled):
        assert "dict[str, Any]" not in str(item.type) or item.name == "calibration", item.name
