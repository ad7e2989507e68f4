"""What a kind calls asked for is of its body."""

from __future__ import annotations

from dataclasses import fields

import pytest

from percuss.kinds.table import KINDS


@pytest.mark.parametrize("name", KINDS)
def test_fields_that_were_asked_for_are_of_the_body(name: str) -> None:
    kind = KINDS[name]
    known = {item.name for item in fields(kind.body)}  # type: ignore[arg-type]
    assert set(kind.asked) <= known and len(set(kind.asked)) == len(kind.asked)
