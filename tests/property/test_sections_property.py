"""Random damage to the sections of a study is explained, never a crash; what passes resolves to itself."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from percuss.study.load import read_inside
from percuss.study.schema import read_study
from percuss.study.sections import SECTIONS, check_data, normal

STUDIES = Path(__file__).parents[2] / "studies"
NAMES = ("linear-gaussian", "pounding-law", "pounding-twin")
RAW = {name: tomllib.loads((STUDIES / name / "study.toml").read_text()) for name in NAMES}
# What may stand where something else belongs: every type, and tables and lists of other keys.
VALUES = st.sampled_from(
    [3, -1, 0, 1e300, 2**60, "x", "", "5 mm", "20 s", True, [], [1], ["u1"], [{}], [[1]], {}, {"a": 1}, {"prior": 3},
     {"prior": {"kind": "uniform"}}, {"file": "x.csv"}, {"kind": "gamma", "shape": 1, "scale": 1}]
)  # fmt: skip
KEYS = st.sampled_from(
    ["std", "kind", "prior", "file", "values", "priors", "observed", "name", "groups", "discrepancy", "settings",
     "case", "twin", "columns", "track", "settle", "kernel", "length", "sampler", "r_hat", "evaluations", "outputs"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_damaged_sections_are_explained(name: str, data: st.DataObject) -> None:
    raw = copy.deepcopy(RAW[name])
    node = raw[data.draw(st.sampled_from([section for section in SECTIONS if section in raw]))]
    while True:
        inside = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.one_of(st.sampled_from(inside), KEYS) if isinstance(node, dict) else st.sampled_from(inside))
        old = node[key] if key in inside else None
        if isinstance(old, dict | list) and old and data.draw(st.booleans()):
            node = old
            continue
        node[key] = copy.deepcopy(data.draw(VALUES))
        break
    faults: list[tuple[object, str]] = []

    def note(path: object, message: str) -> None:
        faults.append((path, message))

    study = read_study(name, raw, note, lambda path, limit: read_inside(STUDIES / name, path, limit))
    if study and not faults:
        check_data(study, note)
        assert normal(study).digest == study.digest
    assert all(message for _, message in faults)
