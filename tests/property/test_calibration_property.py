"""Data groups are bookkeeping: however independent data are split, the likelihood is the same."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from percuss.calibration.blocks import block_of
from percuss.calibration.groups import make_groups
from percuss.inference.likelihood import Likelihood
from percuss.study.load import load_study

STUDY = """
[model]
kind = "benchmark"
function = "impact"
gap = 0.3
[parameters.speed]
prior = { kind = "uniform", low = 1, high = 3 }
[cases.soft]
restitution = 0.2
[cases.hard]
restitution = 0.8
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.toml").write_text(STUDY)
    return load_study(folder)


SCHEMA = {
    "entry": pl.Int64(), "case": pl.String(), "output": pl.String(), "value": pl.Float64(), "std": pl.Float64(),
    "point": pl.String(), "axis": pl.String(), "instant": pl.Float64(),
}  # fmt: skip
OUTPUTS = ("rest_position", "rebound_speed", "rest_time")
DATA = st.lists(
    st.tuples(
        st.sampled_from(["soft", "hard"]),
        st.sampled_from(OUTPUTS),
        st.floats(-2, 2),
        st.one_of(st.none(), st.floats(0, 1)),
        st.one_of(st.none(), st.sampled_from(["A", "B"])),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=25)
@given(
    rows=DATA,
    by=st.sampled_from([None, "output", "case", "point", "axis"]),
    kind=st.sampled_from(["gaussian", "student-t"]),
)
def test_splitting_changes_nothing(study, rows, by, kind) -> None:
    entries = [
        dict(zip(SCHEMA, (i, case, output, value, std, point, None, None), strict=True))
        for i, (case, output, value, std, point) in enumerate(rows)
    ]
    observations = pl.DataFrame(entries, SCHEMA)

    def likelihood(**more: object) -> Likelihood:
        block = block_of(study, "test", {"discrepancy": {"kind": kind, "std": 0.5}, **more})
        # Two forward models: cases of their own, as surrogates may be.
        find = lambda case, output: (case, OUTPUTS.index(output))  # noqa: E731
        grouped = make_groups(study, block, observations, find)
        assert grouped.data.sort("entry").drop("group").equals(observations)
        forwards = {
            case: lambda x, shift=i: (np.stack([x[:, 0] * (j + 1) + shift for j in range(3)], axis=1), np.full(3, 0.01))
            for i, case in enumerate(study.cases)
        }
        return Likelihood(("speed",), forwards, grouped.groups)

    x = np.array([[1.0], [1.7], [2.9]])
    whole = likelihood()(x)
    np.testing.assert_allclose(likelihood(**({"by": by} if by else {}))(x), whole, rtol=1e-12)
