"""Calibration on what a logger recorded: from the study's table to the report, and what is refused."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import percuss
from percuss.errors import InputError
from percuss.kinds.prediction_made import PredictionMade
from percuss.study.faults import StudyError
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.work.repeat_posterior import repeat_posterior

# Chains are short on purpose, and percuss says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*by the thresholds of its block alone:percuss.NotTrusted")

STUDY = Path(__file__).parents[3] / "studies" / "logged-oscillator"
LOGGER = "observations/logger.csv"
Edit = Callable[[str], str]


def edited(folder: Path, study: Edit = str, data: Edit = str) -> Path:
    """The study with its file and its data edited."""
    shutil.copytree(STUDY, folder)
    for path, edit in ((folder / "study.toml", study), (folder / LOGGER, data)):
        path.write_text(edit(path.read_text()))
    return folder


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[percuss.Ledger, str]:
    """A ledger with a surrogate of the curve."""
    folder = tmp_path_factory.mktemp("histories")
    ledger = percuss.open_ledger(folder / "ledger", progress=False)
    # Half of the thresholds: what is asked here needs no more.
    study = edited(
        folder / "logged-oscillator",
        lambda text: text.replace("[calibration.data-sheet]", "[calibration.data-sheet]\nr_hat = 1.05\ness = 200"),
    )
    runs = ledger.run(ledger.design(study, 32, skip=1, curves=True))
    return ledger, ledger.surrogate(runs, curves="u1", bootstrap=0).event.id


@pytest.fixture(scope="module")
def posterior(prepared: tuple[percuss.Ledger, str]) -> percuss.Posterior:
    ledger, surrogate = prepared
    return ledger.calibrate(surrogate, block="data-sheet", settings={"chains": 20}, evaluations=60_000)


def test_parameters_and_the_delay_of_the_clock_are_found(posterior: percuss.Posterior) -> None:
    rows = {row.name: row for row in posterior.stored.trusted_summary().rows}
    for name, truth in {"stiffness_1": 42.0, "damping_ratio_1": 0.03, "delay_logger": 0.012}.items():
        assert abs(rows[name].mean - truth) < 4 * rows[name].std
        assert rows[name].contraction > 0.9
    assert posterior.stored.units["delay_logger"] == "s"
    assert any("one sample of" in note for note in posterior.stored.body.notes)


def test_predictions_are_of_the_curve_and_of_the_samples(
    prepared: tuple[percuss.Ledger, str], posterior: percuss.Posterior, tmp_path: Path
) -> None:
    ledger, _ = prepared
    prediction = ledger.predict(posterior, draws=100, verify=2)
    data, curves = prediction.table("data"), prediction.table("curves")
    assert set(data["output"]) == {"u1"} and set(curves["quantity"]) == {"u1"}
    after = data.filter(pl.col("when") == "posterior")
    inside = ((after["q025"] <= after["value"]) & (after["value"] <= after["q975"])).mean()
    assert 0.85 < inside <= 1.0  # type: ignore[operator]
    verified = PredictionMade.of(prediction.event).verification
    assert verified and verified.passed and {output.output[:3] for output in verified.outputs} == {"u1#"}
    page = ledger.report(prediction).html
    assert "Time histories" in page and "bands over time" in page
    (tmp_path / "page.html").write_text(page)


def test_gaps_are_left_out_and_nothing_else(prepared: tuple[percuss.Ledger, str]) -> None:
    from percuss.work.observe import own_data

    measured = own_data(load_study(STUDY))
    assert measured is not None
    written = [line.split(",") for line in (STUDY / LOGGER).read_text().splitlines()[1:]]
    kept = [(float(t) / 1000, float(value) / 1000) for t, value, _ in written if value != "nan"]
    assert np.array(measured.table.select("instant", "value").rows()) == pytest.approx(np.array(kept))


@pytest.mark.parametrize(
    ("study", "data", "message"),
    [
        (str, lambda text: text.replace("ch1 [mm]", "ch1 [m]"), "is it in another unit .a factor of 1000."),
        (str, lambda text: text.replace("ch1 [mm]", "ch1 [cm]"), "is it in another unit .a factor of 10."),
        (str, lambda text: text.replace("t [ms]", "t"), "samples lie on it"),
        (
            lambda text: text.replace('"ch1" }', '"ch1" }\nflip = ["u1"]'),
            str,
            "upside down, with a correlation of -1.00",
        ),
        (str, lambda text: text.replace("27.830", "23.7"), "line 4, row 3 .* the clock does not rise"),
        (str, lambda text: text.replace("ch1 [mm]", "ch1 [N]"), "must be in m, or in a unit of the same dimension"),
        (str, lambda text: text.replace("ch1 [mm]", "ch2 [mm]"), "no column `ch1`"),
        (str, lambda text: text.replace("temperature", "ch1 [mm]"), "has the column ch1 .mm. several times"),
        (str, lambda text: re.sub(r"(?m)^(\d[^,]*),[\d.-]+,", r"\1,7.5,", text), "samples are 7.5 mm, .*is the sensor"),
        (str, lambda text: re.sub(r"(?m)^(\d[^,]*),[\d.-]+,", r"\1,0,", text), "samples are 0 mm, .*is the sensor"),
    ],
    ids=[
        "millimetres-as-metres",
        "millimetres-as-centimetres",
        "milliseconds-as-seconds",
        "sign",
        "clock",
        "dimension",
        "column",
        "column-twice",
        "stuck",
        "not-connected",
    ],
)
def test_wrong_channels_are_refused_and_nothing_is_appended(
    prepared: tuple[percuss.Ledger, str], tmp_path: Path, study: Edit, data: Edit, message: str
) -> None:
    ledger, surrogate = prepared
    before = len(ledger.session.state.events)
    with pytest.raises(InputError, match=message):
        ledger.calibrate(surrogate, study=edited(tmp_path / "logged-oscillator", study, data), block="data-sheet")
    assert len(ledger.session.state.events) == before


def test_outputs_surrogates_do_not_stand_for_curves(prepared: tuple[percuss.Ledger, str]) -> None:
    ledger, _ = prepared
    campaign = next(e for e in ledger.session.state.events.values() if e.kind == "campaign.completed")
    outputs = ledger.surrogate(campaign.id, bootstrap=0)
    with pytest.raises(InputError, match="no surrogate has the curve u1"):
        ledger.calibrate(outputs, block="data-sheet")
    with pytest.raises(InputError, match="time histories"):
        ledger.calibrate(direct=STUDY, block="data-sheet")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('{ u1 = "ch1" }', '{ u9 = "ch1" }', "no such curve"),
        ('{ u1 = "ch1" }', "{ u1 = 3 }", "the name of a column"),
        ("[outputs.peak_1]", "[outputs.u1]", "an output of the study has the name of this curve"),
        ('thin = "information"', "thin = 0", r"0 is outside \[1, inf\]"),
        ('std = "0.2 mm"', 'std = "0.2 s"', "0.2 s"),
        ('time = "t"', 'tyme = "t"', "time: missing; column of the clock; and 1 more"),
        ('mean = 0, std = "10 ms"', 'mean = 0, std = "10 mm"', "10 mm"),
        ('thin = "information"', "drift = -1", r"-1 is outside \(-1, inf\]"),
        ('thin = "information"', 'drift.prior = { kind = "normal", mean = 0, std = 1 }', "a clock stands still"),
        ('thin = "information"', 'from = "2 s"\nto = "1 s"', "2 s is not before to, 1 s"),
    ],
)
def test_faults_of_the_table_are_faults_of_the_study(tmp_path: Path, before: str, after: str, message: str) -> None:
    folder = edited(tmp_path / "logged-oscillator", lambda text: text.replace(before, after))
    with pytest.raises(StudyError, match=message):
        load_study(folder)


def test_a_resolved_study_resolves_to_itself() -> None:
    from percuss.study.sections import normal

    study = load_study(STUDY)
    again = Study.from_resolved(study.resolved(), study.files)
    assert again.digest == study.digest and normal(again).digest == study.digest


def test_a_known_clock_is_sampled_by_the_core_and_older_posteriors_as_they_were(
    prepared: tuple[percuss.Ledger, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, surrogate = prepared
    clock = 'delay = { prior = { kind = "normal", mean = 0, std = "10 ms" } }'
    known = edited(tmp_path / "logged-oscillator", lambda text: text.replace(clock, 'delay = "12 ms"'))
    few: Any = {"block": "data-sheet", "study": known, "settings": {"chains": 20}, "evaluations": 60_000}
    with monkeypatch.context() as before:
        before.setattr("percuss.inference.compiled.curve_entries", lambda *_: None)
        older = ledger.calibrate(surrogate, **few)
    newer = ledger.calibrate(surrogate, **few)
    assert older.event.content.not_compiled == "the clock or the error of a time history is inferred"
    assert newer.event.content.not_compiled is None
    then, now = (posterior.table("draws")["stiffness_1"].to_numpy() for posterior in (older, newer))
    assert abs(then.mean() - now.mean()) < 0.2 * now.std() and abs(then.std() / now.std() - 1) < 0.2
    for posterior in (older, newer):
        assert repeat_posterior(ledger.session, posterior.event).verdict == "same"
