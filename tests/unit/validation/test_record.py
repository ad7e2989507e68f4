"""Records obey the units in their headers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.study.load import load_study
from percuss.validation.record import read_record
from percuss.validation.settings import Validating, read_validation

STUDY = Path(__file__).parents[3] / "studies" / "duffing-extrapolation"


@pytest.fixture(scope="module")
def asked() -> Validating:
    return read_validation(load_study(STUDY), "linear")


def record(header: str) -> bytes:
    rows = "".join(f"{0.01 * k:.2f},{k},{2 * k}\n" for k in range(12))
    return f"# logger\n{header}\n{rows}".encode()


@pytest.mark.parametrize(
    ("header", "said", "scale"),
    [("u1 [mm]", None, 1e-3), ("u1", None, 1.0), ("u1", "cm", 1e-2), ("u1 [mm]", "mm", 1e-3)],
)
def test_units_of_headers(asked: Validating, header: str, said: str | None, scale: float) -> None:
    channel = replace(asked.observed[0], column="u1", unit=said)
    found = read_record(record(f"t_s,force_n,{header}"), "low.csv", replace(asked, observed=(channel,)))
    assert np.allclose(found.data[:, 0], 2 * scale * np.arange(12), rtol=1e-15)
    assert np.allclose(found.inputs["1"], np.arange(12))


def test_a_header_that_contradicts_the_study(asked: Validating) -> None:
    channel = replace(asked.observed[0], column="u1", unit="m")
    with pytest.raises(InputError, match=r"low\.csv: column u1 \[mm\]: the study says that it is in m"):
        read_record(record("t_s,force_n,u1 [mm]"), "low.csv", replace(asked, observed=(channel,)))


@pytest.mark.parametrize(
    ("header", "factor", "refused"), [("vel_1", 1.0, True), ("vel_1", 2.0, False), ("displ_1", 1.0, False)]
)
def test_a_column_named_after_another_quantity(asked: Validating, header: str, factor: float, refused: bool) -> None:
    channel = replace(asked.observed[0], column=header, unit="m", factor=factor)
    table, settings = record(f"t_s,force_n,{header}"), replace(asked, observed=(channel,))
    if not refused:
        read_record(table, "low.csv", settings)
        return
    with pytest.raises(
        InputError, match=r"low\.csv: column vel_1 names another quantity \(velocity\): for u1 it must be in m"
    ):
        read_record(table, "low.csv", settings)
