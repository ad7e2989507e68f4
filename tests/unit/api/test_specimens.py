"""A calibration over several specimens: from the column of the data to the prediction for a new one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import percuss
from percuss.errors import InputError
from percuss.study.faults import StudyError
from percuss.study.load import load_study

# Chains are short on purpose, and percuss says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*by the thresholds of its block alone:percuss.NotTrusted")

STUDY = """
[study]
title = "Specimens of one kind"

[model]
kind = "benchmark"
function = "linear-gaussian"
inputs = ["k", "offset"]
outputs = ["y", "w"]
matrix = [[1.0, 1.0], [0.0, 1.0]]

[parameters.k]
prior = { kind = "normal", mean = 2, std = 3 }

[parameters.offset]
prior = { kind = "normal", mean = 0, std = 1 }

[observations]
file = "specimens.csv"
std = 1.0

[calibration.all]
r_hat = 1.3
ess = 30
settings = { chains = 20 }
specimens = { population = ["k"], spread = { kind = "uniform", low = 0, high = 1.5 } }
"""


def write_study(folder: Path, text: str = STUDY) -> Path:
    folder.mkdir()
    (folder / "study.toml").write_text(text)
    rng = np.random.default_rng(3)
    rows = ["output,specimen,value"]
    for i, k in enumerate(rng.normal(1.5, 0.9, 3)):
        rows += [f"y,s{i},{k + 0.5 + rng.standard_normal():.4f}" for _ in range(2)]
        rows += [f"w,s{i},{0.5 + rng.standard_normal():.4f}" for _ in range(2)]
    (folder / "specimens.csv").write_text("\n".join(rows) + "\n")
    return folder


def test_a_population_is_inferred_and_a_new_specimen_predicted(tmp_path: Path) -> None:
    ledger = percuss.open_ledger(tmp_path / "ledger", progress=False)
    study = write_study(tmp_path / "specimens")
    surrogate = ledger.surrogate(ledger.run(ledger.design(study, 16, skip=1)), bootstrap=0, family="chaos")
    posterior = ledger.calibrate(surrogate, evaluations=40_000, settings={"chains": 20})
    assert posterior.names == ("k", "offset", "spread_k", "k@s0", "k@s1", "k@s2", "k@new")
    rows = {row.name: row for row in posterior.stored.trusted_summary().rows}
    assert rows["offset"].contraction > 0.5 and rows["spread_k"].mean > 0.1
    assert rows["k@new"].std == pytest.approx(1.0, abs=0.3)
    prediction = ledger.predict(posterior, draws=400)
    after = prediction.table("outputs").filter(pl.col("when") == "posterior")
    width = dict(zip(after["output"], after["q975"] - after["q025"], strict=True))
    assert width["y@new"] > 1.2 * width["y@s0"]
    assert width["w@new"] == pytest.approx(width["w@s0"], rel=0.3)
    with pytest.raises(InputError, match="parameters of their own"):
        ledger.predict(posterior, verify=1)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('population = ["k"]', 'population = ["q"]', "no such parameter"),
        ('population = ["k"]', 'population = ["k"], free = ["k"]', "not both"),
        ('population = ["k"], spread', "spread", "without any, all specimens are one"),
        ("low = 0, high = 1.5", "low = -1, high = 1.5", "a spread cannot be below 0"),
        (
            "specimens = { population",
            'specimens = { by = "colour", population',
            "'colour' is not known; known: specimen, case, point",
        ),
    ],
)
def test_faults_of_the_table_are_faults_of_the_study(tmp_path: Path, before: str, after: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        load_study(write_study(tmp_path / "specimens", STUDY.replace(before, after)))


def test_data_of_one_specimen_are_refused(tmp_path: Path) -> None:
    ledger = percuss.open_ledger(tmp_path / "ledger", progress=False)
    study = write_study(tmp_path / "specimens", STUDY.replace("specimens = { pop", 'specimens = { by = "case", pop'))
    surrogate = ledger.surrogate(ledger.run(ledger.design(study, 16, skip=1)), bootstrap=0, family="chaos")
    with pytest.raises(InputError, match="distinguished by case, and all data are of base"):
        ledger.calibrate(surrogate)
