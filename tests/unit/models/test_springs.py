"""Springs with a law: static cycles in closed form, motions against an independent integrator, tables."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from percuss import _core
from percuss.errors import InputError
from percuss.models.model import Done, configure
from percuss.models.oscillators.springs import SPRING_LAWS
from percuss.models.oscillators.springs_page import page
from percuss.models.oscillators.system import Oscillators
from percuss.models.oscillators.tracking import trace
from percuss.settings import SettingsError

ROOT = Path(__file__).parents[3]
STIFFNESS, YIELD, HARDENING = 1000.0, 10.0, 0.05
NUMBERS: dict[str, dict[str, float]] = {
    "linear": {},
    "bilinear": {"yield_force": YIELD, "hardening": HARDENING},
    "bouc-wen": {"yield_force": YIELD, "hardening": HARDENING},
    "menegotto-pinto": {"yield_force": YIELD, "hardening": HARDENING},
    "gap": {"slack": 0.004},
    "hook": {"slack": 0.004},
    "friction": {"friction": 0.1, "weight": 100.0},
    "pendulum": {"friction": 0.1, "weight": 100.0, "radius": 2.0},
    "lead-rubber": {"strength": 9.0, "rubber_share": 0.1},
}


def numbers(law: str, **changed: float) -> list[float]:
    said = NUMBERS[law] | changed
    return [said.get(name, item.default) for name, item in SPRING_LAWS[law].numbers.items()]  # type: ignore[misc]


CYCLE = 4000


def cycles(amplitude_m: float, count: int) -> np.ndarray:
    return amplitude_m * np.sin(np.linspace(0, 2 * np.pi * count, count * CYCLE + 1))


def enclosed(law: str, amplitude_m: float, **changed: float) -> float:
    """Work over the last of three cycles."""
    e = cycles(amplitude_m, 3)
    force = np.array(_core.spring_cycle(law, STIFFNESS, numbers(law, **changed), e.tolist()))
    last = slice(2 * CYCLE, None)
    return float(np.trapezoid(force[last], e[last]))


def test_every_law_is_tried() -> None:
    assert set(NUMBERS) == set(SPRING_LAWS)


@pytest.mark.parametrize(
    ("law", "area"),
    [
        ("linear", 0.0),
        ("gap", 0.0),
        ("hook", 0.0),
        ("bilinear", 4 * (1 - HARDENING) * YIELD * (0.05 - 0.01)),
        ("friction", 4 * 10.0 * (0.05 - 0.01)),
        ("pendulum", 4 * 10.0 * (0.05 - 0.01)),
        ("lead-rubber", 4 * 9.0 * (0.05 - 0.01)),
        # a sharp corner makes the curve of Menegotto and Pinto the bilinear one
        ("menegotto-pinto", 4 * (1 - HARDENING) * YIELD * (0.05 - 0.01)),
    ],
)
def test_the_work_of_a_cycle_is_the_area_of_its_loop(law: str, area: float) -> None:
    sharp = {"roundness": 400.0, "roundness_loss": 0.0} if law == "menegotto-pinto" else {}
    assert enclosed(law, 0.05, **sharp) == pytest.approx(area, rel=2e-3 if sharp else 2e-6, abs=1e-9)


def test_a_bouc_wen_loop_is_that_of_the_closed_form() -> None:
    """With n = 1 and beta = gamma = 1/2 loading is `z = 1 - (1 - z0) exp(-x)` above zero, unloading a line."""
    e = cycles(0.05, 2)
    force = np.array(_core.spring_cycle("bouc-wen", STIFFNESS, numbers("bouc-wen"), e.tolist()))
    z = (force - HARDENING * STIFFNESS * e) / ((1 - HARDENING) * YIELD)
    first = e[:1000] / 0.01
    np.testing.assert_allclose(z[:1000], 1 - np.exp(-first), atol=1e-9)
    top = int(np.argmax(e))
    down = slice(top, top + 300)
    np.testing.assert_allclose(z[down], z[top] + (e[down] - e[top]) / 0.01, atol=1e-9)


def test_degradation_weakens_the_loop() -> None:
    strong = enclosed("bouc-wen", 0.05)
    weaker = enclosed("bouc-wen", 0.05, strength_loss=0.02)
    softer = enclosed("bouc-wen", 0.05, stiffness_loss=0.05)
    assert 0 < weaker < 0.95 * strong
    assert 0 < softer < strong


def oscillator(**spring: Any) -> dict[str, Any]:
    masses = [{"name": "A", "mass": 2.0, "velocity": 0.9}]
    table = {"name": "1", "between": ["base", "A"], "stiffness": STIFFNESS, **spring}
    harmonic = {"amplitude": 4.0, "frequency": 2.3, "phase": 0.4}
    return {"duration": 1.5, "sampling": 0.01, "masses": masses, "springs": [table], "base_harmonics": [harmonic]}


def run(table: dict[str, Any], **values: float | str) -> Done:
    model = configure("oscillators", table, {})
    point = {name: item.default for name, item in model.inputs.items()} | values
    outcome = model.run([point], [0])[0]  # type: ignore[list-item]
    assert isinstance(outcome, Done), outcome
    return outcome


def ground(t: float) -> float:
    return 4.0 * math.sin(2 * math.pi * 2.3 * t + 0.4)


def independent(force: Callable[[float, float, float], float], slip: Callable[[float, float], float]) -> np.ndarray:
    """Elongation at 0.01 s intervals by scipy at tight tolerance, restarted at each."""
    times = np.linspace(0, 1.5, 151)

    def rhs(t: float, y: np.ndarray) -> list[float]:
        return [y[1], -force(y[0], y[1], y[2]) / 2.0 - ground(t), slip(y[1], y[2])]

    found = np.empty(len(times))
    state, now = [0.0, 0.9, 0.0], 0.0
    found[0] = 0.0
    for i, end in enumerate(times[1:], start=1):
        step = solve_ivp(rhs, (now, end), state, "DOP853", rtol=1e-13, atol=1e-15, max_step=1e-3)
        state, now = step.y[:, -1].tolist(), end
        found[i] = state[0]
    return found


def test_bouc_wen_follows_an_independent_integrator() -> None:
    def slip(rate: float, z: float) -> float:
        return (rate - abs(z) * (0.5 * rate + 0.5 * abs(rate) * math.copysign(1, z))) / 0.01

    def force(e: float, _: float, z: float) -> float:
        return HARDENING * STIFFNESS * e + (1 - HARDENING) * YIELD * z

    curves = run(oscillator(law="bouc-wen", **NUMBERS["bouc-wen"])).curves
    assert curves is not None
    reference = independent(force, slip)
    assert np.abs(curves["uA"] - reference).max() < 1e-7 * np.abs(reference).max()


def bilinear_pieces() -> np.ndarray:
    """The bilinear oscillator by the event detection of scipy: elastic, or slipping one way, until the event."""
    times = np.linspace(0, 1.5, 151)
    now, state, slip_way, plastic = 0.0, np.array([0.0, 0.9]), 0, 0.0
    found = np.empty(len(times))
    found[0] = 0.0
    done = 1
    while done < len(times):

        def force(e: float, way: int = slip_way, p: float = plastic) -> float:
            elastic = way * 0.01 if way else e - p
            return HARDENING * STIFFNESS * e + (1 - HARDENING) * STIFFNESS * elastic

        def rhs(t: float, y: np.ndarray, force: Any = force) -> list[float]:
            return [y[1], -force(y[0]) / 2.0 - ground(t)]

        def ends(_: float, y: np.ndarray, way: int = slip_way, p: float = plastic) -> float:
            return float(-way * y[1]) if way else float(abs(y[0] - p) - 0.01)

        ends.terminal, ends.direction = True, 1.0  # type: ignore[attr-defined]
        span = (now, times[-1])
        piece = solve_ivp(rhs, span, state, "DOP853", times[done:], events=ends, rtol=1e-13, atol=1e-15, max_step=0.01)
        found[done : done + len(piece.t)] = piece.y[0]
        done += len(piece.t)
        if piece.status != 1:
            break
        now, state = piece.t_events[0][0], piece.y_events[0][0]
        if slip_way:
            plastic, slip_way = state[0] - slip_way * 0.01, 0
        else:
            slip_way = int(np.sign(state[0] - plastic))
    return found


def test_bilinear_follows_an_independent_integrator() -> None:
    done = run(oscillator(law="bilinear", **NUMBERS["bilinear"]))
    assert done.curves is not None
    reference = bilinear_pieces()
    assert np.abs(done.curves["uA"] - reference).max() < 1e-9 * np.abs(reference).max()
    assert abs(done.values["energy_closing_error"]) < 1e-12


def test_quantities_of_a_yielding_spring() -> None:
    table = oscillator(law="bilinear", **NUMBERS["bilinear"], ultimate_drift=0.2, damage_factor=0.1)
    done = run(table)
    values, curves = done.values, done.curves
    assert curves is not None
    peak, energy = values["peak_drift_1"], values["hysteretic_energy_1"]
    assert values["peak_drift"] == peak == pytest.approx(np.abs(curves["drift_1"]).max(), rel=1e-2)
    assert values["ductility_1"] == pytest.approx(peak / 0.01)
    assert values["damage_1"] == pytest.approx(peak / 0.2 + 0.1 * energy / (YIELD * 0.2))
    assert values["energy_hysteretic"] == energy > 0
    np.testing.assert_array_equal(curves["drift_1"], curves["uA"])
    unloaded = curves["drift_1"][-1] - curves["spring_force_1"][-1] / STIFFNESS
    assert values["residual_drift_1"] == pytest.approx(unloaded)
    assert np.abs(curves["spring_force_1"]).max() <= YIELD + HARDENING * STIFFNESS * (peak - 0.01) * (1 + 1e-12)


def test_numbers_of_a_law_are_inputs() -> None:
    table = oscillator(law="bilinear", **NUMBERS["bilinear"])
    weak, strong = run(table), run(table, yield_force_1=1e6)
    assert abs(strong.values["hysteretic_energy_1"]) < 1e-12 < weak.values["hysteretic_energy_1"]
    # one that never yields is the linear spring
    linear = run(oscillator(law="linear"))
    assert strong.values["peak_drift_1"] == pytest.approx(linear.values["peak_drift_1"], rel=1e-12)


@pytest.mark.parametrize("integrator", ["event", "newmark", "central-difference", "rk4", "moreau-jean"])
@pytest.mark.parametrize("law", [law for law in NUMBERS if law not in ("gap", "hook")])
def test_all_integrators_agree(integrator: str, law: str) -> None:
    table = oscillator(law=law, **NUMBERS[law])
    exact, found = run(table), run(table, integrator=integrator, step=2e-4)
    assert exact.curves and found.curves
    off = np.abs(found.curves["uA"] - exact.curves["uA"]).max()
    assert off < 2e-3 * np.abs(exact.curves["uA"]).max()
    assert abs(found.values["energy_closing_error"]) < 5e-3


def test_springs_without_a_law_say_nothing_new() -> None:
    table = oscillator()
    model = configure("oscillators", table, {})
    assert not [name for name in (*model.inputs, *model.quantities) if "drift" in name or "hysteretic" in name]


@pytest.mark.parametrize(
    ("spring", "message"),
    [
        ({"law": "bilinar"}, "`law`: 'bilinar' .*bilinear"),
        ({"law": "bilinear"}, "`yield_force`: missing"),
        ({"law": "bilinear", "yield_force": -1.0}, "`yield_force`: "),
        ({"law": "bilinear", "yield_force": "5 m"}, "`yield_force`: "),
        ({"yield_force": 5.0}, "`yield_force`: unknown setting"),
        ({"law": "gap", "ultimate_drift": 1.0}, "`ultimate_drift`: unknown setting"),
    ],
)
def test_bad_springs_are_refused(spring: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        configure("oscillators", oscillator(**spring), {})


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "spring-laws.md").read_text() == page()


def test_the_drift_filter_takes_springs_that_remember_nothing() -> None:
    def respond(table: dict[str, Any], name: str = "mass_A") -> np.ndarray:
        model = configure("oscillators", table, {})
        assert isinstance(model, Oscillators)
        traced = trace(model, {name: item.default for name, item in model.inputs.items()}, [name])
        follow = {"step_s": 1e-3, "substeps": 2, "base_m_s2": None, "forces_n": [], "sensors": [("displacement", 0)]}
        follow |= {"tracked": traced.tracked, "ratios": traced.ratios}
        return _core.respond_oscillators(traced.system, follow, [0.0, 0.9], np.array([[2.0]]), 400)

    hook = oscillator(law="hook", slack=0.004)
    hook.pop("base_harmonics")
    done = run(hook | {"duration": 0.399, "sampling": 1e-3})
    assert done.curves is not None
    np.testing.assert_allclose(respond(hook).ravel(), done.curves["uA"], atol=1e-6)
    with pytest.raises(ValueError, match="remembers its past, which a filter does not estimate"):
        respond(oscillator(law="bilinear", **NUMBERS["bilinear"]))
    with pytest.raises(InputError, match="`yield_force_1` cannot be tracked"):
        respond(oscillator(law="bilinear", **NUMBERS["bilinear"]), "yield_force_1")
