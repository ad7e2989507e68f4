"""Data groups: what belongs together, and with which discrepancy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from percuss.calibration.blocks import block_of
from percuss.calibration.groups import make_groups
from percuss.errors import InputError
from percuss.inference.discrepancies.correlated import Correlated
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.study.load import load_study

STUDY = """
[model]
kind = "oscillators"
duration = "1 s"
masses = [{ name = "1", mass = "1 kg", displacement = "10 mm" }]
springs = [{ name = "1", between = ["base", "1"], stiffness = "300 N/m" }]

[parameters.damping_ratio_1]
prior = { kind = "uniform", low = 0.01, high = 0.1 }

[cases.near]
displacement_1 = "10 mm"
[cases.far]
displacement_1 = "20 mm"
"""
OUTPUTS = "".join(
    f'\n[outputs.{curve}_{ms}]\nquantity = "{curve}"\nreduce = "at"\nat = "{ms} ms"\nunit = "{unit}"\n'
    for curve, unit in (("u1", "mm"), ("v1", "m/s"))
    for ms in (100, 200, 300)
)


@pytest.fixture
def grouped(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY + OUTPUTS)
    study = load_study(tmp_path)
    pairs = [(case, output) for case in study.cases for output in study.outputs]
    rows = [
        {
            "entry": i,
            "case": case,
            "output": output,
            "value": float(i),
            "std": 1e-4,
            "point": output[:2],
            "axis": None,
            "instant": study.outputs[output].at,
        }
        for i, (case, output) in enumerate(pairs)
    ]
    schema = {"axis": pl.String()}

    def make(table):  # type: ignore[no-untyped-def]
        observations = pl.DataFrame(rows, schema_overrides=schema)
        return make_groups(study, block_of(study, "test", table), observations, lambda *p: ("model", pairs.index(p)))

    return make


def test_one_group_by_default(grouped) -> None:
    found = grouped({})
    (group,) = found.groups
    assert len(group.observed) == 12
    assert group.discrepancy.std == 0.0
    np.testing.assert_array_equal(group.outputs, np.arange(12))
    np.testing.assert_array_equal(found.data["value"], group.observed)


def test_a_bare_std_is_in_the_unit_of_each_output(grouped) -> None:
    (group,) = grouped({"discrepancy": {"std": 2}}).groups
    np.testing.assert_allclose(group.discrepancy.std[:6], [2e-3] * 3 + [2.0] * 3)


def test_selection_and_split(grouped) -> None:
    found = grouped({"outputs": ["u1_*"], "by": "case", "discrepancy": {"std": "1 mm"}})
    assert [group.name for group in found.groups] == ["data/near", "data/far"]
    assert [len(group.observed) for group in found.groups] == [3, 3]
    assert found.data["group"].to_list() == ["data/near"] * 3 + ["data/far"] * 3


def test_each_part_of_a_split_infers_its_own_std(grouped) -> None:
    prior = {"prior": {"kind": "log-uniform", "low": "10 um", "high": "1 cm"}}
    found = grouped({"points": ["u1"], "by": "case", "discrepancy": {"std": prior}})
    stds = [group.discrepancy.std for group in found.groups]
    assert all(isinstance(std, Unknown) for std in stds)
    assert [std.name for std in stds] == ["std_data/near", "std_data/far"]
    assert stds[0].prior.support() == (1e-5, 1e-2)
    assert found.units == {"std_data/near": "mm", "std_data/far": "mm"}


def test_time_histories_are_correlated_each_by_itself_and_share_what_is_inferred(grouped) -> None:
    length = {"prior": {"kind": "uniform", "low": "10 ms", "high": "1 s"}}
    table = {"outputs": ["u1_*"], "discrepancy": {"kind": "correlated", "std": "1 mm", "length": length}}
    found = grouped(table)
    assert [group.name for group in found.groups] == ["data/model/near/u1/u1", "data/model/far/u1/u1"]
    for group in found.groups:
        assert isinstance(group.discrepancy, Correlated)
        np.testing.assert_allclose(group.discrepancy.places, [0.1, 0.2, 0.3])
        assert group.discrepancy.length.name == "length_data"
        assert group.discrepancy.length.prior.support() == (0.01, 1.0)
    assert found.units == {"length_data": "s"}


def test_measurement_error_can_be_left_out(grouped) -> None:
    assert (grouped({}).groups[0].measurement_std == 1e-4).all()
    assert grouped({"measurement_error": False}).groups[0].measurement_std == 0.0


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"discrepancy": {"std": {"prior": {"kind": "uniform", "low": 0, "high": 1}}}}, "outputs in mm and in m/s"),
        ({"discrepancy": {"std": "1 mm"}}, "m/s"),
        ({"outputs": ["u1_*"], "discrepancy": {"kind": "correlated", "std": 1}}, "`length`: missing"),
        ({"discrepancy": {"kind": 3}}, "must be a text"),
        ({"groups": {"a": {"points": ["u1"]}, "b": {"outputs": ["u1_100"]}}}, "a datum counts once"),
        ({"points": ["w"]}, "no observation belongs"),
    ],
)
def test_what_is_refused(grouped, table, words) -> None:
    with pytest.raises(InputError, match=words):
        grouped(table)
