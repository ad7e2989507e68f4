"""`percuss models`, and what `study show` says of a model."""

from __future__ import annotations

import json

from percuss.models.model import MODELS


def test_kinds_are_listed(percuss) -> None:
    said = percuss("models").out
    assert all(any(line.startswith(kind) for line in said.splitlines()) for kind in MODELS)
    assert [item["kind"] for item in json.loads(percuss("models", "--json").out)] == list(MODELS)


def test_reference_of_a_kind(percuss) -> None:
    said = percuss("models", "oscillators").out
    for words in (
        "masses[].mass",
        "damping_ratio_<spring>",
        "peak_force_<contact>",
        "u<mass>",
        "positive when it pushes",
        "required",
    ):
        assert words in said, words
    found = json.loads(percuss("models", "oscillators", "--json").out)
    (masses,) = (item for item in found["settings"] if item["name"] == "masses")
    assert {"name": "mass", "unit": "kg", "required": True}.items() <= masses["of"][1].items()
    assert {item["name"] for item in found["curves"]} >= {"t", "u<mass>", "force_<contact>"}
    assert found["conventions"]


def test_every_kind_prints(percuss) -> None:
    for kind in MODELS:
        assert percuss("models", kind).code == 0, kind


def test_kind_that_is_none(percuss) -> None:
    percuss("models", "osillators").refused(2, "unknown model kind 'osillators'", "did you mean `oscillators`?")


def test_study_show_lists_all_of_the_model(percuss, make_study) -> None:
    make_study(
        "sliding",
        text="""
[model]
kind = "benchmark"
function = "impact"
gap = "20 cm"
[parameters.speed]
prior = {{ kind = "uniform", low = 1, high = 2 }}
""",
    )
    said = percuss("study", "show", "sliding").out
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert "duration s 2 span of the curves" in lines
    assert "gap m 0.2 distance to the stop; [0, inf) m" in lines
    assert "rest_time s when the block comes to rest" in lines
    assert "position m t_s position of the block" in lines
    found = json.loads(percuss("study", "show", "sliding", "--json").out)
    assert found["model"]["kind"] == "benchmark" and found["digest"]
    assert [item["name"] for item in found["inputs"]] == ["speed", "friction", "gap", "restitution"]
    assert [item["name"] for item in found["curves"]] == ["t_s", "position"]
    assert {item["name"] for item in found["settings"]} >= {"function", "duration", "samples"}
