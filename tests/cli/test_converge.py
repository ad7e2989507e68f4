"""percuss converge: closed forms of known order, what has no limit is refused, verdicts and exit codes."""

from __future__ import annotations

import json
import math
import re
import signal
from pathlib import Path

import pytest

from percuss.ledger.ledger import Ledger
from percuss.trust import read_trust

G = 9.80665
BALL = """
[model]
kind = "scene"
duration = "0.5 s"
step = "10 ms"
tolerance = 1e-10
height = "471.488 mm"   # it is down shortly before 31 steps and a hundredth, at every level at the start of a step
speed = 0
e = 0.5
gravity = [0, 0, "-1 * $g"]
g = 9.80665
{settings}

[[model.bodies]]
name = "ground"
fixed = true
contactors = [{{ shape = "half-space", group = "ground" }}]

[[model.bodies]]
name = "ball"
mass = "2 kg"
position = [0, 0, "10 cm + $height"]
velocity = [0, 0, "-1 * $speed"]
contactors = [{{ shape = "sphere", radius = "10 cm", group = "ball" }}]

[[model.laws]]
groups = ["ground", "ball"]
restitution = "$e"

[[model.probes]]
name = "ball"
body = "ball"

[[model.probes]]
name = "hit"
between = ["ground", "ball"]

[[model.probes]]
name = "on"
contacts_of = "ball"

[outputs]
impulse = {{ quantity = "hit_normal_impulse", reduce = "final" }}
impulse_on_ball = {{ quantity = "on_impulse_z", reduce = "final" }}
force = {{ quantity = "hit_normal_force", reduce = "max", window = "0.1 s", unit = "kN" }}
peak = {{ quantity = "hit_normal_force", reduce = "max" }}
jolt = {{ quantity = "ball_az", reduce = "max" }}
lost = {{ quantity = "impact_ground_ball" }}
steps = {{}}
"""
MEANT = ("impulse", "impulse_on_ball", "force", "lost")


def _outputs(said) -> dict[str, dict]:
    return {item["name"]: item for item in json.loads(said.out)["outputs"]}


def _event(folder):
    return list(Ledger.open(folder / "ledger").events())[-1]


@pytest.fixture
def ball(make_study):
    return make_study("ball", text=BALL)


def test_a_blow_without_gravity_is_exact_at_any_step_and_its_peak_force_has_no_limit(percuss, ball, folder) -> None:
    said = percuss("converge", ball, "--set", "g=0", "--set", "speed=3", "--set", "height=0.1", "--json")
    assert said.code == 1
    found = _outputs(said)
    impulse = 2 * 1.5 * 3
    for name, exact in {"impulse": impulse, "impulse_on_ball": impulse, "force": impulse / 0.1, "lost": 6.75}.items():
        assert found[name]["value"] == pytest.approx(exact, rel=1e-9)
        assert found[name]["quote"] == "yes"
        assert found[name]["off"] < 1e-8 * exact
    assert (found["peak"]["quote"], found["jolt"]["quote"], found["steps"]["quote"]) == (
        "no limit",
        "no limit",
        "diagnostic",
    )
    assert found["peak"]["order"] == pytest.approx(-1.0, abs=1e-6)
    trust = read_trust(_event(folder).data)
    assert {v.about[0]: v.passed for v in trust} == {f"base/{name}": name in MEANT for name in (*MEANT, "peak", "jolt")}
    assert {v.gate for v in trust} == {"step"}
    # The values it understood stand before a long run, verdicts before its results.
    first = said.err.splitlines()[1]
    assert first.startswith("NOT TRUSTED: peak has no limit as the step shrinks: where bodies hit")


def test_a_drop_converges_with_order_one_and_the_error_told_covers_the_true_one(percuss, ball) -> None:
    found = _outputs(percuss("converge", ball, "--json", "--tolerance", "4 %"))
    impulse = 2 * 1.5 * math.sqrt(2 * G * 0.471488)
    exact = {"impulse": impulse, "impulse_on_ball": impulse, "force": impulse / 0.1}
    exact["lost"] = 2 * 0.75 * G * 0.471488
    for name, truth in exact.items():
        item = found[name]
        assert item["order"] == pytest.approx(1.0, abs=0.02), name
        assert abs(item["value"] - truth) < item["error"] < 2 * abs(item["value"] - truth), name
        assert item["quote"] == "yes"


def test_a_step_that_is_too_large_is_told_with_one_that_is_enough(percuss, ball) -> None:
    said = percuss("converge", ball)
    assert said.code == 1
    (line,) = [line for line in said.err.splitlines() if line.startswith("NOT TRUSTED: impulse is")]
    assert "step = 0.0025 s is enough" in line
    assert re.search(r"^impulse .* from /4 on", said.err, re.MULTILINE)
    # And so it is.
    text = (ball / "study.toml").read_text().replace("10 ms", "2.5 ms")
    (ball / "study.toml").write_text(text)
    assert _outputs(percuss("converge", ball, "--json"))["impulse"]["quote"] == "yes"


def test_what_is_accepted_stays_marked_and_the_event_holds_every_run(percuss, ball, folder) -> None:
    said = percuss("converge", ball, "--accept", "step", "--levels", 3, "--refine", 3)
    assert said.code == 0
    event = _event(folder)
    assert (event.id, event.kind) == (said.out.strip(), "convergence.checked")
    assert all(v.accepted for v in read_trust(event.data) if not v.passed)
    table = Ledger.open(folder / "ledger").table(event, "convergence")
    rows = table.filter(output="impulse")
    assert rows["step"].to_list() == pytest.approx([1e-2, 1e-2 / 3, 1e-2 / 9, 1e-2 / 9])
    assert rows["tolerance"].to_list() == pytest.approx([1e-10] * 3 + [1e-11])
    assert rows["level"].to_list() == [0, 1, 2, 2]
    assert "0 of 6 outputs may be quoted" in percuss("log").out
    assert percuss("audit").code == 0
    assert percuss("report", event.id, "--to", "page.html").code == 0
    page = (folder / "page.html").read_text()
    assert "Convergence with the step" in page
    for head in ("error at finest step", "error at own step", "may be quoted"):
        assert head in said.err and head in page
    assert "peak has no limit as the step shrinks" in page


def test_an_output_may_have_a_tolerance_of_its_own(percuss, ball) -> None:
    tolerances = ("--tolerance", "1e-6", "--tolerance", "force=5 N")
    found = _outputs(percuss("converge", ball, *tolerances, "--json"))
    assert found["force"]["tolerance"] == 5.0
    assert (found["force"]["quote"], found["impulse"]["quote"]) == ("yes", "no")


SWING = """
[model]
kind = "oscillators"
duration = "1 s"
sampling = "10 ms"
step = "10 ms"
masses = [{{ name = "1", mass = "1 kg", displacement = "1 m" }}]
springs = [{{ between = ["base", "1"], stiffness = "40 N/m" }}]
integrator = "{settings}"
[outputs]
end = {{ quantity = "u1", reduce = "final" }}
largest = {{ quantity = "u1", reduce = "min" }}
peak_v1 = {{}}
"""


@pytest.mark.parametrize("integrator", ["newmark", "central-difference"])
def test_second_order_is_found_for_integrators_of_second_order(percuss, make_study, integrator) -> None:
    item = _outputs(percuss("converge", make_study("swing", integrator, SWING), "--json"))["end"]
    assert item["order"] == pytest.approx(2.0, abs=0.05)
    assert abs(item["value"] - math.cos(math.sqrt(40.0))) < item["error"]


def test_located_events_have_no_step_and_only_curves_hang_on_their_sampling(percuss, make_study, folder) -> None:
    said = percuss("converge", make_study("swing", "event", SWING), "--json")
    assert said.code == 0
    found = _outputs(said)
    assert found["peak_v1"]["change"] == 0.0
    assert found["peak_v1"]["digits"] is None, "what did not move tells nothing of its digits"
    assert found["largest"]["change"] != 0.0
    numerics = _event(folder).data["numerics"]
    assert (numerics["name"], numerics["tolerance"]) == ("sampling", None)
    assert "events are located and take no step" in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ishigami"], "the model benchmark has no step that could be refined"),
        (["ball", "--tolerance", "2"], "--tolerance 2: must lie between 0 and 1"),
        (["ball", "--tolerance", "force=0"], "--tolerance force=0: must be above 0"),
        (["ball", "--tolerance", "farce=1"], "--tolerance farce: is no output; did you mean `force`?"),
        (["ball", "--tolerance", "1e-3", "--tolerance", "1e-4"], "is given twice"),
        (["ball", "--levels", "12", "--refine", "4"], "must be at most 4096 times finer"),
        (["ball", "--to", "changes.txt"], "must end in .svg"),
        (["ball", "--accept", "steps"], "--accept steps: is no gate"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_appended(percuss, ball, folder, words, said) -> None:
    percuss("converge", *words).refused(2, said)
    assert not (folder / "ledger").exists()


def test_a_run_that_fails_at_a_finer_step_is_told(percuss, ball, folder) -> None:
    text = (ball / "study.toml").read_text().replace('window = "0.1 s"', 'window = "0.6 s"')
    (ball / "study.toml").write_text(text)
    percuss("converge", ball).refused(1, "the run at the step over 1 failed: output `force`: a window of 0.6")
    assert not (folder / "ledger").exists()


def test_outputs_without_a_limit_are_named_wherever_they_are_shown(percuss, ball, folder) -> None:
    note = "note: output peak has no limit as the step shrinks: where bodies hit, a contact force is an impulse"
    checked = percuss("study", "check", ball)
    assert checked.code == 0
    for said in (checked, percuss("study", "show", ball), percuss("simulate", ball)):
        assert note in said.err
        assert "note: output jolt" in said.err
        assert not re.search(r"note: output (force|impulse|lost)", said.err)
    assert percuss("report", "@last", "--to", "page.html").code == 0
    assert "these outputs have no limit as the step of the model shrinks" in (folder / "page.html").read_text()


def test_without_anything_to_hit_accelerations_have_a_limit(percuss, make_study) -> None:
    free = BALL.replace('[[model.laws]]\ngroups = ["ground", "ball"]\nrestitution = "$e"\n', "")
    free = re.sub(r"e = 0.5\n", "", free)
    free = re.sub(r'\[\[model.probes\]\]\nname = "(hit|on)"\n.*\n', "", free)
    free = re.sub(r"(impulse|impulse_on_ball|force|peak|lost) = .*\n", "", free)
    free = re.sub(r"contactors = .*\n", "", free).replace(
        'mass = "2 kg"', 'mass = "2 kg"\ninertia = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]'
    )
    free = free.replace('[[model.bodies]]\nname = "ground"\nfixed = true\n', "")
    said = percuss("study", "check", make_study("free", text=free))
    assert said.code == 0, said.err
    assert "note" not in said.err


def test_a_picture_of_the_changes(percuss, ball, folder) -> None:
    percuss("converge", ball, "--to", "changes.svg")
    assert "change / last value" in (folder / "changes.svg").read_text()


ROCK = Path(__file__).parents[2] / "studies" / "uncertain-projectile" / "study.toml"


def test_of_a_rock_impulse_windowed_force_and_energy_are_quoted_and_the_peak_force_is_not(percuss, make_study) -> None:
    """At 10 %, over the first hit: what a loose wall does after it is chaotic, and settles at no step."""
    text = ROCK.read_text().replace('duration = "0.3 s"', 'duration = "0.2 s"')
    text = (
        text[: text.index("[outputs.")].replace("{", "{{").replace("}", "}}")
        + """
    [outputs]
    peak = {{ quantity = "impact_fx", reduce = "absmax" }}
    force = {{ quantity = "impact_fx", reduce = "absmax", window = "10 ms" }}
    impulse = {{ quantity = "impact_impulse_x", reduce = "final" }}
    kinetic = {{ quantity = "kinetic_energy", reduce = "final" }}
    lost = {{ quantity = "impact_block_rock" }}
    """
    )
    study = make_study("rock", text=text)
    found = _outputs(percuss("converge", study, "--case", "all", "--tolerance", "10 %", "--levels", 3, "--json"))
    assert {name: item["quote"] for name, item in found.items()} == {
        "peak": "no limit",
        "force": "yes",
        "impulse": "yes",
        "kinetic": "yes",
        "lost": "yes",
    }
    assert found["peak"]["order"] == pytest.approx(-1.0, abs=0.05)
    assert found["force"]["off"] < 0.005 * found["force"]["value"]


def test_ctrl_c_leaves_nothing_behind(make_study, spawn, wait_for_work, folder) -> None:
    ball = make_study("ball", text=BALL.replace("10 ms", "5 us"))
    process = spawn("converge", ball, "--levels", 10)
    wait_for_work(process.pid)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert not (folder / "ledger").exists()
