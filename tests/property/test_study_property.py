"""Random studies: TOML to SI to JSON and back is the identity, and random damage is always explained."""

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from percuss.ledger.canonical import canonical_json
from percuss.study.load import check_study, load_study
from percuss.study.study import Study

NUMBERS = st.floats(-1e12, 1e12).map(lambda x: x + 0.0)
WIDTHS = st.floats(1e-6, 1e6)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=30)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


@st.composite
def priors(draw):
    kind = draw(st.sampled_from(["uniform", "normal", "lognormal", "gamma", "log-uniform"]))
    low, width = draw(st.floats(1e-6, 1e6)), draw(WIDTHS)
    fields = {
        "uniform": {"low": low, "high": low + width},
        "normal": {"mean": low, "std": width},
        "lognormal": {"mu": draw(st.floats(-5, 5)), "sigma": draw(st.floats(0.1, 2))},
        "gamma": {"mean": low, "std": width},
        "log-uniform": {"low": low, "high": low * (1 + width)},
    }[kind]
    body = ", ".join(f"{key} = {value!r}" for key, value in fields.items())
    return f'{{ kind = "{kind}", {body} }}'


@st.composite
def studies(draw):
    # Prefixed, so that no input is called like a setting of the model.
    names = draw(st.lists(NAMES.map(lambda name: f"in_{name}"), min_size=1, max_size=5, unique=True))
    varied = draw(st.lists(st.sampled_from(names), unique=True))
    outputs = draw(st.lists(NAMES.map(lambda name: f"out_{name}"), min_size=1, max_size=4, unique=True))
    rows = [[draw(NUMBERS) for _ in names] for _ in outputs]
    lines = [
        "[study]",
        f"title = {json.dumps(draw(WORDS), ensure_ascii=False)}",
        f"notes = {json.dumps(draw(WORDS), ensure_ascii=False)}",
    ]
    lines += [
        "[model]",
        'kind = "benchmark"',
        'function = "linear-gaussian"',
        f"inputs = {json.dumps(names)}",
    ]
    lines += [
        f"outputs = {json.dumps(outputs)}",
        f"matrix = {json.dumps(rows)}",
        f'delay = "{draw(st.integers(0, 9))} ms"',
    ]
    for name in names:
        if name not in varied:
            lines.append(f"{name} = {draw(NUMBERS)!r}")
    for name in varied:
        unit = draw(st.sampled_from(["1", "%", "ppm"]))
        lines += [f"[parameters.{name}]", f'unit = "{unit}"', f"prior = {draw(priors())}"]
    for case in draw(st.lists(NAMES, max_size=3, unique=True)):
        lines.append(f"[cases.{case}]")
    if draw(st.booleans()):
        lines += [
            "[calibration.a]",
            f"evaluations = {draw(st.integers(1000, 10**6))}",
            f"discrepancy = {{ std = {draw(st.floats(1e-3, 1e3))!r} }}",
        ]
    return "\n".join(lines) + "\n"


def load(text: str) -> Study:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "s.toml").write_text(text)
        return load_study(Path(folder, "s.toml"))


@given(studies())
@settings(max_examples=60, deadline=None)
def test_resolved_and_back_is_the_identity(text):
    study = load(text)
    again = Study.from_resolved(json.loads(canonical_json(study.resolved())), study.files)
    assert again == study
    assert again.digest == study.digest == load(text).digest
    assert list(again.parameters) == list(study.parameters)
    assert list(again.cases) == list(study.cases)
    assert canonical_json(again.resolved()) == canonical_json(study.resolved())


@given(studies(), st.data())
@settings(max_examples=100, deadline=None)
def test_random_damage_is_explained_and_never_crashes(text, data):
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 12))
    patch = data.draw(st.text("[]{}=\"'\n.,#ab10-_ \\é", max_size=4))
    damaged = text[:at] + patch + text[at + length :]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "s.toml")
        file.write_text(damaged)
        for fault in check_study(file):
            assert fault.message
            assert 1 <= fault.line <= damaged.count("\n") + 1
