"""`percuss diff`: everything that differs between two events of a kind, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Call

SHORT = ("--evaluations", 200_000)


def test_posteriors_of_an_edited_study_differ_where_it_was_edited(percuss: Call, folder: Path, linear: str) -> None:
    first = percuss("calibrate", linear, *SHORT).out.strip()
    study = folder / "studies" / "linear-gaussian"
    (study / "study.toml").write_text((study / "study.toml").read_text().replace("std = 1.0 }", "std = 0.9 }"))
    (data,) = (study / "observations").glob("*.csv")
    data.write_text(data.read_text().replace("2.64", "2.65"))
    second = percuss("calibrate", linear, "--study", study, "--seed", 3, *SHORT).out.strip()

    said = percuss("diff", first, second, "--json")
    assert said.code == 1
    found = json.loads(said.out)["differences"]
    values = {group: {d["key"]: (d["a"], d["b"]) for d in found[group]["values"]} for group in found}
    assert values["study"] == {"parameters.x2.prior.std": (1.0, 0.9)}
    assert values["settings"] == {"seed": (0, 3)}
    assert values["data"] == {"observations/sensors.csv line 2": ("2.31,0.42,2.64", "2.31,0.42,2.65")}
    (datum,) = found["data"]["tables"]["observations"]["changes"]
    assert (datum["row"], datum["column"], datum["a"], datum["b"]) == ([2], "value", 2.64, 2.65)
    assert round(datum["in_errors"], 3) == 0.071  # 0.01 of two std of 0.1
    assert "observations" in values["made from"] and "code" not in found
    mean = next(d for d in found["results"]["values"] if d["key"] == "summary.rows.x1.mean")
    assert mean["in_errors"] is not None

    told = percuss("diff", first, second, "--rows", 1).out
    assert "parameters.x2.prior.std  1  0.9  -0.1" in told and "table draws: " in told


def test_what_does_not_differ(percuss: Call) -> None:
    first = percuss("run", percuss("design", "ishigami", "--n", 4).id).id
    second = percuss("run", percuss("design", "ishigami", "--n", 4).id).id
    assert percuss("diff", "@last:runs", "@last:runs").code == 0
    # The same runs of another design: made from other events, and nothing else differs.
    said = percuss("diff", first, second, "--json")
    assert said.code == 1
    assert list(json.loads(said.out)["differences"]) == ["made from"]
    designs = [json.loads(percuss("show", id, "--json").out)["inputs"][1]["id"] for id in (first, second)]
    said = percuss("diff", *designs)
    assert (said.code, said.out) == (0, "") and "do not differ" in said.err


def test_superseded_events_are_compared_and_kinds_are_not_mixed(percuss: Call) -> None:
    first, second = percuss("design", "ishigami", "--n", 4).id, percuss("design", "ishigami", "--n", 5).id
    percuss("supersede", first, "--reason", "too few")
    said = percuss("diff", first, second)
    assert said.code == 1 and "n  4  5  1" in said.out and "1 only in B (sample: 4)" in said.out
    percuss("diff", first, "@last:study").refused(2, "give two of a kind")


def test_words_of_strangers_stay_escaped(percuss: Call) -> None:
    design = percuss("design", "ishigami", "--n", 4).id
    notes = [percuss("note", design, text).id for text in ("\x1b[2J one", "\x1b[2J two")]
    for form in ((), ("--json",)):
        said = percuss("diff", *notes, *form)
        assert said.code == 1 and "\x1b" not in said.out and "two" in said.out


def test_a_payload_that_is_gone_is_said_and_is_not_the_same(percuss: Call, folder: Path) -> None:
    ids = [percuss("design", "ishigami", "--n", n).id for n in (4, 5)]
    blob = json.loads(percuss("show", ids[0], "--json").out)["blobs"][0]["sha256"]
    (folder / "ledger" / "blobs" / blob[:2] / f"{blob}.parquet").unlink()
    said = percuss("diff", *ids)
    assert said.code == 1 and "not compared: table design" in said.err
