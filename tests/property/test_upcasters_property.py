"""Old versions of a kind are read in their newest meaning; unknown kinds and newer versions are kept and skipped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from percuss.kinds.body import Body
from percuss.kinds.kind import Kind
from percuss.kinds.table import KINDS, is_known, upcast
from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import fold


@dataclass(frozen=True, kw_only=True)
class Anything(Body):
    """A body of any version: what each version may hold is what this test is about."""

    gap: dict[str, Any] | None = None
    gap_m: float | None = None
    gap_mm: float | None = None


# A gap that was first kept in millimetres, then in metres, then beside its standard deviation.
GAP = Kind(
    "gap.measured",
    Anything,
    "a gap was measured",
    version=3,
    upcasters={
        1: lambda body: {"gap_m": body["gap_mm"] / 1000},
        2: lambda body: {"gap": {"mean_m": body["gap_m"], "std_m": None}},
    },
)


@given(st.floats(0, 1e6))
def test_upcasters_keep_meaning(gap_mm: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KINDS, "gap.measured", GAP)
        new = {"gap": {"mean_m": gap_mm / 1000, "std_m": None}}
        assert upcast("gap.measured", 1, {"gap_mm": gap_mm}) == new
        assert upcast("gap.measured", 2, {"gap_m": gap_mm / 1000}) == new
        assert upcast("gap.measured", 3, new) == new


def test_events_of_three_versions_in_one_ledger(tmp_path, maker, monkeypatch) -> None:
    book = Ledger.open(tmp_path / "ledger", maker, create=True)
    bodies = [{"gap_mm": 23}, {"gap_m": 0.023}, {"gap": {"mean_m": 0.023, "std_m": None}}]
    for version, body in enumerate(bodies, start=1):
        upcasters = {step: GAP.upcasters[step] for step in range(1, version)}
        monkeypatch.setitem(KINDS, "gap.measured", replace(GAP, version=version, upcasters=upcasters))
        book.append([Draft("gap.measured", body)])
    events = Ledger.open(tmp_path / "ledger").events()
    assert [event.version for event in events] == [1, 2, 3]
    assert [event.data for event in events] == [bodies[2]] * 3
    assert [Anything.of(event).gap for event in events] == [bodies[2]["gap"]] * 3
    # The stored text and the hash over it stay as they were written.
    assert events[0].body == '{"gap_mm":23}'
    assert all(event.computed_hash() == event.hash for event in events)

    monkeypatch.setitem(KINDS, "gap.measured", replace(GAP, version=1, upcasters={}))
    assert [is_known(event.kind, event.version) for event in events] == [True, False, False]
    assert fold(Ledger.open(tmp_path / "ledger").events()).skipped == 2


def test_every_kind_of_the_table_can_read_its_older_versions() -> None:
    for name, kind in KINDS.items():
        assert sorted(kind.upcasters) == list(range(1, kind.version)), name
        for needed in (k for kinds in kind.needs.values() for k in kinds):
            assert needed in KINDS, (name, needed)
