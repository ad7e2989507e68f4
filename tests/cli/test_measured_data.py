"""Measured data through the command line: bound to outputs, with an error each, told when their study was edited."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.calibrations import add_blocks, known

from percuss.ledger.ledger import Ledger


def test_observe(percuss, folder) -> None:
    known(folder, "linear-gaussian")
    first = percuss("observe", "linear-gaussian")
    assert "3 measured values of 3 outputs" in first.err and "no data of" not in first.err
    assert percuss("observe", "linear-gaussian").id == first.id
    (folder / "more.csv").write_text("sensor,value,std,who\ny1,2.3,0.1,me\ny1,2.4,,me\n")
    call = ("observe", "linear-gaussian", "more.csv", "--column", "output=sensor", "--twin", "x1=2", "--json")
    said = percuss(*call)
    assert json.loads(said.out)["twin"] == {"x1": 2.0}
    assert "2 twin values" in said.err and "no data of: y2, y3\n" in said.err
    assert "left out: who" in said.err
    percuss("observe", "linear-gaussian", "--case", "base").refused(2, "go with FILE")
    percuss("observe", "ishigami").refused(2, "FILE is needed")
    percuss("observe", "linear-gaussian", "none.csv").refused(2, "none.csv")
    percuss("observe", "linear-gaussian", "more.csv", "--twin", "x9=1").refused(2, "no such parameter")
    percuss("observe", "linear-gaussian", "more.csv").refused(2, "column sensor is no output")
    file = folder / "studies" / "linear-gaussian" / "study.toml"
    file.write_text(file.read_text().replace('file = "observations/sensors.csv"', ""))
    (folder / "more.csv").write_text("output,value\ny2,2.3\n")
    bare = percuss("observe", "linear-gaussian", "more.csv").id
    book = Ledger.open(folder / "ledger")
    assert book.table(book.event(bare), "observations")["std"].to_list() == [0.2]


def test_refused_observations_leave_nothing_behind(percuss, folder) -> None:
    known(folder, "linear-gaussian")
    (folder / "bad.csv").write_text("output,value\nno-such-output,1\n")
    percuss("observe", "linear-gaussian", "bad.csv").refused(2, "no-such-output")
    assert not (folder / "ledger").exists()


def events(folder: Path) -> int:
    return sum(1 for _ in Ledger.open(folder / "ledger").events())


@pytest.mark.parametrize("std", ["", "std = { y1 = 0, y2 = 0.2, y3 = 0.1 }"])
def test_data_without_error_are_refused(percuss, folder, linear, std) -> None:
    """The surrogate's own error must not stand for that of the measurement: refused everywhere, nothing appended."""
    file = known(folder, "linear-gaussian") / "study.toml"
    file.write_text(file.read_text().replace("std = { y1 = 0.1, y2 = 0.2, y3 = 0.1 }", std))
    before = events(folder)
    words = ("group data", "observations/sensors.csv (base/y1", "have no std above 0", "give the data a std")
    checked = percuss("study", "check", "linear-gaussian")
    assert checked.code == 2
    assert all(word in checked.err for word in ("study.toml:", "calibration.exact", *words)), checked.err
    percuss("observe", "linear-gaussian").refused(2, *words)
    percuss("calibrate", linear, "--study", "linear-gaussian").refused(2, *words)
    # Data from elsewhere are refused if no block can use them.
    (folder / "more.csv").write_text("output,value\ny1,2.3\n")
    percuss("observe", "linear-gaussian", "more.csv").refused(2, "more.csv", "have no std above 0")
    assert events(folder) == before
    prior = "discrepancy = { std = { prior = { kind = 'log-uniform', low = 0.01, high = 1 } } }"
    add_blocks(folder, f"[calibration.noise]\n{prior}\n")
    taken = percuss("observe", "linear-gaussian", "more.csv")
    assert "1 of them have no std above 0" in taken.err
    assert "calibration exact, group data: 1 data of more.csv" in taken.err
    call = ("calibrate", linear, "--observations", taken.id, "--block")
    percuss(*call, "exact").refused(2, "more.csv (base/y1) have no std above 0")
    assert percuss(*call, "noise", "--evaluations", 200_000, "--accept", "convergence").code == 0


def test_an_error_next_to_nothing_is_none(percuss, folder, linear) -> None:
    """A std of 1e-12 would leave the surrogate's error alone in the likelihood, just as 0 does."""
    file = known(folder, "linear-gaussian") / "study.toml"
    original = file.read_text()
    file.write_text(original.replace("y1 = 0.1", "y1 = 1e-12"))
    words = ("(base/y1", "have a std of at most 1e-09 of their own size", "noise_free = true")
    assert all(word in percuss("study", "check", "linear-gaussian").err for word in words)
    percuss("observe", "linear-gaussian").refused(2, *words)
    percuss("calibrate", linear, "--study", "linear-gaussian").refused(2, *words)
    # With a discrepancy that has an error of its own they are welcome.
    file.write_text(file.read_text().replace("[calibration.exact]", "[calibration.exact]\ndiscrepancy = { std = 0.1 }"))
    assert percuss("study", "check", "linear-gaussian").code == 0


def test_a_table_that_was_pasted_twice_is_told(percuss, folder, linear) -> None:
    """Every datum counts twice then: nothing else would say so."""
    known(folder, "linear-gaussian")
    rows = "y1,2.31\ny2,0.72\n"
    (folder / "once.csv").write_text("output,value\n" + rows)
    (folder / "twice.csv").write_text("output,value\n" + rows + rows)
    told = {}
    for name in ("once", "twice"):
        observations = percuss("observe", "linear-gaussian", f"{name}.csv").id
        call = ("calibrate", linear, "--observations", observations, "--evaluations", 100_000)
        told[name] = percuss(*call, "--accept", "convergence", "--accept", "fit").err
    assert "2 of 4 data are the same as another to the last digit" in told["twice"]
    assert "to the last digit" not in told["once"]


def test_noise_free_data_are_marked(percuss, folder, kinked) -> None:
    """Asked for by name they are taken, and the posterior and all that follows from it bear the mark."""
    add_blocks(folder, "[calibration.exact]\nmeasurement_error = false\nnoise_free = true\n", "kinked")
    call = ("calibrate", kinked, "--study", "kinked", "--block", "exact", "--evaluations", 200_000)
    said = percuss(*call, "--accept", "convergence", "--json")
    assert said.code == 1
    assert "NOT TRUSTED: 2 of 2 data are held to be free of error" in said.err
    (mark,) = (verdict for verdict in json.loads(said.out)["trust"] if verdict["gate"] == "measurement-error")
    assert (mark["passed"], mark["figure"], mark["threshold"]) == (False, 2, 0)
    assert "--accept measurement-error" in said.err
    taken = percuss(*call, "--accept", "convergence", "--accept", "measurement-error")
    assert taken.code == 0
    assert "accepted all the same: 2 of 2 data" in taken.err
    predicted = json.loads(percuss("predict", taken.id, "--draws", 20, "--json").out)
    (inherited,) = (verdict for verdict in predicted["trust"] if verdict["gate"] == "measurement-error")
    assert inherited["accepted"] and inherited["source"] == taken.id


def test_a_study_edited_since_is_told(percuss, folder, linear, posterior) -> None:
    """The study counts as it was for the surrogate, and what is another today is said and kept."""
    path = known(folder, "linear-gaussian")
    first = percuss("calibrate", linear)
    assert "was edited" not in first.err
    file = path / "study.toml"
    original = file.read_text()
    file.write_text(original.replace("y1 = 0.1", "y1 = 0.3").replace("exact", "exactly"))
    words = "study linear-gaussian was edited since surrogate", "observations.std.y1 0.1 -> 0.3"
    then = percuss("calibrate", linear)
    for text in (*words, "taken as it was then", "--study studies/linear-gaussian takes it as it is now"):
        assert text in then.err
        assert text in posterior(then.id).body.notes[0]
    assert posterior(then.id).event.blob("draws").digest == posterior(first.id).event.blob("draws").digest
    now = percuss("calibrate", linear, "--study", "linear-gaussian")
    for text in (*words, "taken as it is now"):
        assert text in now.err
    assert posterior(now.id).event.blob("draws").digest != posterior(first.id).event.blob("draws").digest
    refused = percuss("calibrate", linear, "--block", "exactly").refused(2, "no such calibration")
    assert all(word in refused.err for word in words)
    file.write_text(original.replace("[calibration.exact]", "[calibration.exact]\nsampler = 'nuts'"))
    assert "cannot be read as it is now" in percuss("calibrate", linear).err


def test_observations_named_later_are_told(percuss, folder) -> None:
    file = known(folder, "linear-gaussian") / "study.toml"
    original = file.read_text()
    file.write_text(original[: original.index("[observations]")])
    campaign = percuss("run", percuss("design", "linear-gaussian", "--n", 12, "--skip", 1).id).id
    surrogate = percuss("surrogate", campaign, "--degree", "1..2", "--bootstrap", 0).id
    file.write_text(original)
    refused = percuss("calibrate", surrogate).refused(2, "as it is taken, names no file of observations")
    assert "observations.file nothing -> observations/sensors.csv" in refused.err
    assert "--study studies/linear-gaussian takes it as it is now" in refused.err
    assert percuss("calibrate", surrogate, "--study", "linear-gaussian").code == 0


def test_repeated_measurements_do_not_average_the_surrogates_error_away(percuss, folder, posterior) -> None:
    """Twenty measurements of each output on a coarse surrogate; by name the other way, five times as sure."""
    study = known(folder, "pounding-twin")
    once = pl.read_csv(study / "observations" / "twin.csv")
    noise = np.random.default_rng(1).normal(0.0, 0.3, 20 * once.height)
    many = pl.concat([once] * 20).with_columns(pl.col("value [mm]") + pl.Series(noise))
    many.write_csv(folder / "many.csv")
    add_blocks(folder, "[calibration.each]\nsurrogate_error = 'per-datum'\n", "pounding-twin")
    campaign = percuss("run", percuss("design", "pounding-twin", "--n", 24, "--skip", 1).id).id
    surrogate = percuss("surrogate", campaign, "--family", "chaos", "--degree", 1, "--bootstrap", 0).id
    data = percuss("observe", "pounding-twin", "many.csv", "--twin", "restitution=0.55").id
    found = {}
    for block in ("all", "each"):
        made = posterior(percuss("calibrate", surrogate, "--observations", data, "--block", block).id)
        assert made.body.not_compiled is None
        found[block] = made.flat().std(axis=0)[:3]
    assert (found["all"] > 1.5 * found["each"]).all()
    # Outputs are told with what the data leave of the surrogate's error: a band of some width, around the data's mean.
    prediction = percuss("predict", "@last:posterior").id
    assert prediction
    assert percuss("audit", "--rerun", 2).code == 0
