"""Superseding: it needs a reason, can be taken back, and marks all that stands on the event, to any depth."""

from __future__ import annotations

import json

import pytest

LINEAR = """
[model]
kind = "benchmark"
function = "linear-gaussian"
inputs = ["a", "b"]
outputs = ["y1", "y2", "y3"]
matrix = [[1, 0], [0.5, 1], [1, 1]]
{settings}

[parameters.a]
prior = {{ kind = "normal", mean = 0, std = 1 }}
[parameters.b]
prior = {{ kind = "normal", mean = 0, std = 2 }}
"""
WHY = ("--reason", "wrong gap in the study file")
TAKEN_BACK = ("--withdraw", "--reason", "the gap was right")


@pytest.fixture
def chain(percuss, make_study, folder, once) -> dict[str, str]:
    """Ids, by kind, of everything from a design to a comparison."""

    def make() -> None:
        study = make_study("linear", text=LINEAR)
        (folder / "data.csv").write_text("output,value,std\ny1,0.4,0.5\ny2,1.0,0.5\ny3,1.9,0.5\n")
        found = {"design": percuss("design", study, "--sampler", "halton", "--n", 128, "--skip", 1).id}
        found["campaign"] = percuss("run", found["design"]).id
        found["surrogate"] = percuss("surrogate", found["campaign"], "--family", "chaos", "--degree", "1..2").id
        found["observations"] = percuss("observe", "linear", "data.csv").id
        given = (found["surrogate"], "--observations", found["observations"])
        found["posterior"] = percuss("calibrate", *given).id
        found["other"] = percuss("calibrate", *given, "--seed", 8).id
        found["prediction"] = percuss("predict", found["posterior"], "--draws", 50).id
        (folder / "chain.json").write_text(json.dumps(found))

    make_study("linear", text=LINEAR)
    once("supersede-chain", make)
    return json.loads((folder / "chain.json").read_text())


def test_why_must_be_said(percuss, chain) -> None:
    percuss("supersede", chain["surrogate"]).refused(2, "--reason", "0 characters")
    percuss("supersede", chain["surrogate"], "--reason", "  ").refused(2, "--reason")
    percuss("supersede", chain["surrogate"], "--withdraw").refused(2, "--reason")
    assert all(not event["superseded"] for event in _log(percuss))


@pytest.mark.parametrize("what", ["design", "campaign"])
def test_what_is_made_from_what_stands_on_it_is_marked_and_exits_with_1(percuss, chain, what) -> None:
    """Two and more steps away: the surrogate, the posterior and the prediction are not superseded themselves."""
    percuss("supersede", chain[what], *WHY)
    told = (
        f"NOT TRUSTED: {'design.created' if what == 'design' else 'campaign.completed'}, on which it stands, is super"
    )
    calls = [
        ("predict", chain["posterior"], "--draws", 50),
        ("calibrate", chain["surrogate"], "--observations", chain["observations"]),
        ("compare", chain["posterior"], chain["other"]),
        ("sensitivity", chain["surrogate"]),
    ]
    for call in calls:
        said = percuss(*call)
        assert said.code == 1, (call, said.err)
        assert said.err.splitlines()[0].startswith(told), said.err
        assert f"(event {chain[what]})" in said.err.splitlines()[0]
        assert "wrong gap" in said.err.splitlines()[0]
        assert "--accept superseded" in said.err
    accepted = percuss("predict", chain["posterior"], "--draws", 50, "--accept", "superseded")
    assert accepted.id
    # What was accepted stays accepted in what follows from it, and stays marked.
    body = json.loads(percuss("show", accepted.id, "--json").out)
    assert [v["accepted"] for v in body["body"]["trust"] if v["gate"] == "superseded"] == [True]
    assert body["standing"][0].startswith("accepted all the same: ")


def test_a_filter_and_a_surrogate_of_runs_whose_proposal_is_superseded(percuss, chain, folder) -> None:
    (folder / "seen.csv").write_text("output,value\ny1,0.4\ny2,1.0\ny3,1.9\n")
    flags = ("--data", "seen.csv", "--noise", "y1=0.5", "--noise", "y2=0.5", "--noise", "y3=0.5")
    first = percuss("filter", chain["campaign"], *flags).id
    proposed = percuss("design", "--propose", first, "--n", 128).id
    campaign = percuss("run", proposed).id
    percuss("supersede", first, *WHY)
    for call in [("filter", campaign, *flags), ("surrogate", campaign, "--folds", 0), ("run", proposed)]:
        said = percuss(*call)
        assert said.code == 1, (call, said.err)
        assert "filter.updated, on which it stands, is superseded" in said.err
        assert percuss(*call, "--accept", "superseded").code == 0
    percuss("design", "--propose", first, "--n", 5).refused(2, "is superseded")


def test_lists_mark_it_and_all_that_stands_on_it(percuss, chain) -> None:
    percuss("supersede", chain["surrogate"], *WHY)
    log = {event["id"]: event for event in _log(percuss)}
    below = {chain["posterior"], chain["other"], chain["prediction"]}
    assert {id for id, event in log.items() if event["superseded"]} == {chain["surrogate"]}
    assert {id for id, event in log.items() if event["stands_on_superseded"]} == below
    lines = percuss("log", "--limit", 0).out.splitlines()
    assert sum("(superseded)" in line for line in lines) == 1
    assert sum("(depends on superseded)" in line for line in lines) == 3

    tree = percuss("lineage", chain["prediction"]).out
    assert f"prediction.made {chain['prediction']} (depends on superseded)" in tree
    assert f"surrogate.fitted {chain['surrogate']} (superseded)" in tree
    assert f"campaign.completed {chain['campaign']}\n" in tree
    onwards = percuss("lineage", chain["campaign"], "--from").out
    assert f"posterior.sampled {chain['posterior']} (depends on superseded)" in onwards
    nodes = {e["id"]: e for e in json.loads(percuss("lineage", chain["prediction"], "--json").out)["events"]}
    assert nodes[chain["surrogate"]]["superseded"]
    assert nodes[chain["prediction"]]["stands_on_superseded"] == [chain["surrogate"]]
    assert percuss("lineage", chain["prediction"], "--format", "dot").out.count("style=dashed") == 3

    shown = json.loads(percuss("show", chain["prediction"], "--json").out)["standing"]
    assert shown == [
        "NOT TRUSTED: surrogate.fitted, on which it stands, is superseded: wrong gap in the study file "
        f"(event {chain['surrogate']})"
    ]
    assert percuss("show", chain["prediction"]).out.splitlines()[1] == shown[0]
    assert json.loads(percuss("show", chain["campaign"], "--json").out)["standing"] == []

    for call in (("plot", chain["posterior"], "--to", "p.svg"), ("export", "csv", chain["posterior"], "--to", "d.csv")):
        assert percuss(*call).err.startswith("NOT TRUSTED: surrogate.fitted, on which it stands, is superseded"), call


@pytest.mark.parametrize("what", ["surrogate", "posterior"])
def test_what_was_made_from_it_before_is_still_computed_again(percuss, chain, what) -> None:
    percuss("compare", chain["posterior"], chain["other"])
    percuss("supersede", chain[what], *WHY)
    said = percuss("audit", "--rerun", 9)
    assert said.code == 0, said.out
    assert "1 of 1 predictions; 1 of 1 comparisons" in said.out


def test_it_can_be_taken_back(percuss, chain) -> None:
    said = percuss("supersede", chain["surrogate"], *WHY).id
    percuss("calibrate", chain["surrogate"], "--observations", chain["observations"]).refused(2, "is superseded")
    percuss("supersede", said, *WHY).refused(2, "cannot be superseded")
    back = percuss("supersede", chain["surrogate"], *TAKEN_BACK).id
    assert percuss("predict", chain["posterior"], "--draws", 50).code == 0
    assert json.loads(percuss("show", chain["prediction"], "--json").out)["standing"] == []
    assert [event["id"] for event in _log(percuss) if event["superseded"]] == [said]
    percuss("supersede", chain["surrogate"], *TAKEN_BACK).refused(2, "is not superseded")
    # Taking back what took it back, and so on: the newest word holds.
    again = percuss("supersede", back, *TAKEN_BACK).id
    percuss("predict", chain["posterior"], "--draws", 50).refused(2, "is superseded")
    percuss("supersede", again, *TAKEN_BACK)
    assert percuss("predict", chain["posterior"], "--draws", 50).code == 0
    assert percuss("audit").code == 0


def test_what_was_made_meanwhile_is_not_marked_for_ever(percuss, chain) -> None:
    percuss("supersede", chain["campaign"], *WHY)
    made = percuss("sensitivity", chain["surrogate"])
    assert made.code == 1
    percuss("supersede", chain["campaign"], *TAKEN_BACK)
    assert json.loads(percuss("show", made.out.strip(), "--json").out)["standing"] == []


def test_runs_count_again_when_it_is_taken_back(percuss, chain) -> None:
    runs = next(event["id"] for event in _log(percuss) if event["kind"] == "runs.completed")
    percuss("supersede", runs, *WHY)
    percuss("surrogate", chain["design"]).refused(2, "runs are missing")
    percuss("supersede", runs, *TAKEN_BACK)
    assert "nothing was missing" in percuss("run", chain["design"]).err


def _log(percuss) -> list[dict]:
    return json.loads(percuss("log", "--limit", 0, "--json").out)
