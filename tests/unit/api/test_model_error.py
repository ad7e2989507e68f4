"""A wrong model, calibrated with its error: better by evidence, right between the data, and marked beyond them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import percuss
from percuss.kinds.comparison_made import ComparisonMade
from percuss.study.faults import StudyError
from percuss.study.load import load_study

# Chains are short on purpose, and percuss says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*by the thresholds of its block alone:percuss.NotTrusted")

INSTANTS = [round(0.1 * i, 1) for i in range(1, 13)]
# The last two are predicted, not measured.
MEASURED = INSTANTS[:-2]
STUDY = """
[study]
title = "A released oscillator whose spring is 10 % stiffer than the model's"

[model]
kind = "oscillators"
duration = "1.3 s"
sampling = "10 ms"
masses = [{ name = "1", mass = "1 kg" }]
springs = [{ name = "1", between = ["base", "1"], stiffness = "40 N/m", damping_ratio = 0.03 }]

[parameters.displacement_1]
unit = "mm"
prior = { kind = "uniform", low = 10, high = 30 }

[parameters.damping_ratio_1]
unit = "%"
prior = { kind = "uniform", low = 0.5, high = 10 }

[observations]
file = "twin.csv"
std = "0.2 mm"
twin = { displacement_1 = "20 mm", damping_ratio_1 = "3 %" }

[calibration.without]
r_hat = 1.05
ess = 200
settings = { chains = 20 }

[calibration.with]
r_hat = 1.05
ess = 200
settings = { chains = 20 }
[calibration.with.discrepancy]
kind = "model-error"
std = "5 mm"
length = "0.4 s"
"""


def write_study(folder: Path) -> Path:
    outputs = [
        f'[outputs.u_{int(1000 * t)}ms]\nquantity = "u1"\nreduce = "at"\nat = "{t} s"\nunit = "mm"\n' for t in INSTANTS
    ]
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY + "\n".join(outputs))
    rng = np.random.default_rng(7)
    omega, ratio = np.sqrt(44.0), 0.03
    damped = omega * np.sqrt(1 - ratio**2)
    t = np.array(MEASURED)
    truth = 20 * np.exp(-ratio * omega * t) * (np.cos(damped * t) + ratio * omega / damped * np.sin(damped * t))
    values = truth + 0.2 * rng.standard_normal(len(t))
    rows = [f"u_{int(1000 * at)}ms,{value:.4f}" for at, value in zip(t, values, strict=True)]
    (folder / "twin.csv").write_text("output,value [mm]\n" + "\n".join(rows) + "\n")
    return folder


def test_a_stiffer_frame_is_explained_by_an_error_of_the_model(tmp_path: Path) -> None:
    ledger = percuss.open_ledger(tmp_path / "ledger", progress=False)
    study = write_study(tmp_path / "stiffer")
    surrogate = ledger.surrogate(ledger.run(ledger.design(study, 32, skip=1)), bootstrap=0, family="chaos")
    with pytest.warns(percuss.NotTrusted, match="does not explain"):
        plain, wrong = (ledger.calibrate(surrogate, block=name, evaluations=40_000) for name in ("without", "with"))
    assert any(not v.passed and v.gate == "fit" for v in plain.trust)
    assert not any(not v.passed and v.gate == "fit" for v in wrong.trust)
    with pytest.warns(percuss.NotTrusted, match="does not explain"):
        compared = ledger.compare(plain, wrong)
    factor = ComparisonMade.of(compared.event).bayes_factors[0]
    assert factor.log < -10  # for the second, which has the error
    with pytest.warns(percuss.NotTrusted, match="the error of the model was learnt"):
        prediction = ledger.predict(wrong, draws=200)
    failed = [v for v in prediction.trust if v.gate == "model-error"]
    assert [v.passed for v in failed] == [False] and set(failed[0].about) == {"base/u_1100ms", "base/u_1200ms"}
    assert "instant 0.1 to 1" in failed[0].sentence
    after = prediction.table("outputs").filter(pl.col("when") == "posterior")
    width = dict(zip(after["output"], after["q975"] - after["q025"], strict=True))
    assert width["u_1200ms"] > 3 * width["u_500ms"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('length = "0.4 s"', 'length = "0.4 s"\nover = "speed"', "is no number that all cases have"),
        ('length = "0.4 s"', 'length = "0.4 s"\northogonal = 1', "must be true or false"),
        ('length = "0.4 s"', "", "length: missing"),
        ('length = "0.4 s"', 'length = "0.4 mm"', "0.4 mm"),
    ],
)
def test_faults_of_the_discrepancy_are_faults_of_the_study(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    folder = write_study(tmp_path / "stiffer")
    path = folder / "study.toml"
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(StudyError, match=message):
        load_study(folder)
