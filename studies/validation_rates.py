"""How often `percuss validate` is right: simulated cases of known truth, judged with its own thresholds.

    python studies/validation_rates.py [CASES] [--table]     # 60 cases of each family by default; some minutes

Families differ in what made the data and what model follows them. Every case draws its own parameters, excitation and
noise from (SEED, family, case). Prints one line a family: the share of each verdict; with --table also quantiles of the
indicators, which is what the thresholds in `percuss.validation.verdict` were chosen by.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from percuss.errors import InputError
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.validation.drift_filter import filter
from percuss.validation.indicators import innovations_of, path_of, settled
from percuss.validation.settings import LADDER
from percuss.validation.verdict import WORDS, judge

HERE = Path(__file__).parent
SEED = 21
STEP_S, SAMPLES = 0.01, 8000


@cache
def known(name: str) -> Study:
    """A study beside this file, read once."""
    return load_study(HERE / name)


@dataclass
class Case:
    """Data and how they are followed: arguments of `percuss.validation.filter`."""

    study: str
    arguments: dict


def integrate(
    acceleration: Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray], inputs: np.ndarray, masses: int
) -> tuple[np.ndarray, np.ndarray]:
    """Displacements and accelerations (samples, cases, masses) of many cases at once, inputs (samples, cases)."""
    cases = inputs.shape[1]
    u, v = np.zeros((cases, masses)), np.zeros((cases, masses))
    h = STEP_S / 2
    us, accelerations = [u], [acceleration(u, v, inputs[0], 0.0)]
    for i in range(1, len(inputs)):
        for half in (0, 1):
            f0, f2 = (inputs[i - 1] + (half + part) / 2 * (inputs[i] - inputs[i - 1]) for part in (0, 1))
            f1, t = (f0 + f2) / 2, (i - 1 + half / 2) * STEP_S
            a1 = acceleration(u, v, f0, t)
            v2 = v + h / 2 * a1
            a2 = acceleration(u + h / 2 * v, v2, f1, t + h / 2)
            v3 = v + h / 2 * a2
            a3 = acceleration(u + h / 2 * v2, v3, f1, t + h / 2)
            v4 = v + h * a3
            a4 = acceleration(u + h * v3, v4, f2, t + h)
            u = u + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
            v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        us.append(u)
        accelerations.append(acceleration(u, v, inputs[i], i * STEP_S))
    return np.array(us), np.array(accelerations)


def single(
    kind: str, model: str, strength: tuple[float, float]
) -> Callable[[int, np.random.Generator], Iterator[Case]]:
    """One mass under a random force. `strength` is the share of the force, at the rms motion, that `kind` adds."""

    def make(cases: int, random: np.random.Generator) -> Iterator[Case]:
        k, c = random.uniform(5, 40, cases), random.uniform(0.05, 0.4, cases)
        inputs = random.standard_normal((SAMPLES, cases)) * random.uniform(0.5, 2, cases)
        share = random.uniform(*strength, cases)

        def plain(u: np.ndarray, v: np.ndarray, f: np.ndarray, t: float) -> np.ndarray:
            return f[:, None] - c[:, None] * v - k[:, None] * u

        rms = integrate(plain, inputs, 1)[0].std(axis=0)[:, 0]
        rate = rms * np.sqrt(k)
        cubic, square, loss = (np.zeros(cases) for _ in range(3))
        if kind == "cubic":
            cubic = share * k / rms**2
        elif kind == "damping":
            square = share * c / rate
        elif kind == "loss":
            loss = share

        def motion(u: np.ndarray, v: np.ndarray, f: np.ndarray, t: float) -> np.ndarray:
            now = k * (1 - loss * (t > SAMPLES * STEP_S / 2))
            force = c[:, None] * v + now[:, None] * u + cubic[:, None] * u**3 + square[:, None] * v * np.abs(v)
            return f[:, None] - force

        u = integrate(motion, inputs, 1)[0][:, :, 0]
        for i in range(cases):
            noise = u[:, i].std() * random.uniform(0.02, 0.1)
            off = 1 + 0.1 * random.standard_normal(3)
            start = {"stiffness_1": (k[i] * off[0], 0.2 * k[i]), "coefficient_1": (c[i] * off[1], 0.3 * c[i])}
            values = {"stiffness_1": k[i], "coefficient_1": c[i], "cubic_1": 0.0}
            if model == "cubic":
                start["cubic_1"] = (cubic[i] * off[2], 0.3 * cubic[i])
            yield Case(
                "duffing-extrapolation",
                {
                    "observed": {"u1": u[:, i] + noise * random.standard_normal(SAMPLES)},
                    "noise_variance": noise**2,
                    "inputs": {"1": inputs[:, i]},
                    "start": start,
                    "track": list(start),
                    "values": values,
                },
            )

    return make


def storeys(strength: tuple[float, float]) -> Callable[[int, np.random.Generator], Iterator[Case]]:
    """Two storeys on a shaker, accelerations measured; `strength`: friction of the joints in N."""

    def make(cases: int, random: np.random.Generator) -> Iterator[Case]:
        masses = np.array([5.0, 4.6])
        k = random.uniform(1200, 1800, (cases, 2))
        c = random.uniform(4, 10, (cases, 2))
        friction = random.uniform(*strength, (cases, 1)) * np.array([1.0, 0.8])
        times = STEP_S * np.arange(SAMPLES)
        frequency = random.uniform(1.5, 1.9, cases)
        levels = random.uniform(0.2, 1.0, (4, cases))
        level = levels[np.minimum((times / 20).astype(int), 3)]
        base = level * np.sin(2 * np.pi * frequency * times[:, None])

        def motion(u: np.ndarray, v: np.ndarray, b: np.ndarray, t: float) -> np.ndarray:
            across = np.stack([u[:, 0], u[:, 1] - u[:, 0]], axis=1)
            rate = np.stack([v[:, 0], v[:, 1] - v[:, 0]], axis=1)
            force = k * across + c * rate + friction * np.tanh(rate / 5e-3)
            return np.stack([force[:, 1] - force[:, 0], -force[:, 1]], axis=1) / masses - b[:, None]

        floors = integrate(motion, base, 2)[1] + base[:, :, None]
        for i in range(cases):
            noise = random.uniform(0.01, 0.05)
            off = 1 + 0.1 * random.standard_normal(4)
            names = ("stiffness_1", "stiffness_2", "coefficient_1", "coefficient_2")
            true = (*k[i], *c[i])
            noisy = floors[:, i] + noise * random.standard_normal((SAMPLES, 2))
            yield Case(
                "two-storey",
                {
                    "observed": {"a1": noisy[:, 0], "a2": noisy[:, 1]},
                    "noise_variance": noise**2,
                    "inputs": {"base": base[:, i]},
                    "start": {n: (x * o, 0.2 * x) for n, x, o in zip(names, true, off, strict=True)},
                    "state_std": (1e-3, 1e-2),
                },
            )

    return make


def frames(made: str, law: str) -> Callable[[int, np.random.Generator], Iterator[Case]]:
    """Two frames with a pad between them, displacements measured: law of the data, law of the model."""

    def make(cases: int, random: np.random.Generator) -> Iterator[Case]:
        study = known("pounding-law")
        for _ in range(cases):
            e, share = random.uniform(0.45, 0.8), random.uniform(0.7, 1.4)
            units = {"kelvin-voigt": (2e4, "N/m"), "hertz-damp": (4e5, "N/m^1.5")}
            true = f"{units[made][0] * share!r} {units[made][1]}"
            release = random.uniform(-0.07, -0.04)
            first = {"law": made, "restitution": e, "stiffness": true, "displacement_1": release}
            curves = study.model().run([study.point(None, first)], [0])[0].curves
            noise = random.uniform(5e-5, 2e-4)
            guess = units[law][0] * share * (1 + 0.1 * random.standard_normal())
            yield Case(
                "pounding-law",
                {
                    "times_s": curves["t"],
                    "observed": {q: curves[q] + noise * random.standard_normal(len(curves[q])) for q in ("u1", "u2")},
                    "noise_variance": noise**2,
                    "track": ["restitution", "stiffness"],
                    "start": {
                        "restitution": (e + 0.05 * random.standard_normal(), 0.1),
                        "stiffness": (guess, guess / 4),
                    },
                    "values": {"law": law, "stiffness": f"{guess!r} {units[law][1]}", "displacement_1": release},
                    "state_std": (1e-5, 1e-4),
                    "substeps": 8,
                },
            )

    return make


# Name, whether the model is right, and what makes its cases.
FAMILIES: dict[str, tuple[bool, Callable[[int, np.random.Generator], Iterator[Case]]]] = {
    "linear, followed by linear": (True, single("none", "linear", (0, 0))),
    "cubic 1-30 %, followed by cubic": (True, single("cubic", "cubic", (0.01, 0.3))),
    "two linear storeys": (True, storeys((0, 0))),
    "Kelvin-Voigt pad, its own law": (True, frames("kelvin-voigt", "kelvin-voigt")),
    "Hertz pad, its own law": (True, frames("hertz-damp", "hertz-damp")),
    "cubic 0.3-1 %, followed by linear": (False, single("cubic", "linear", (0.003, 0.01))),
    "cubic 1-3 %, followed by linear": (False, single("cubic", "linear", (0.01, 0.03))),
    "cubic 3-30 %, followed by linear": (False, single("cubic", "linear", (0.03, 0.3))),
    "quadratic damping 30-100 %": (False, single("damping", "linear", (0.3, 1.0))),
    "stiffness lost halfway, 1-5 %": (False, single("loss", "linear", (0.01, 0.05))),
    "two storeys, joints slip at 0.03-0.3 N": (False, storeys((0.03, 0.3))),
    "Hertz pad, followed by Kelvin-Voigt": (False, frames("hertz-damp", "kelvin-voigt")),
}


def judged(case: Case) -> tuple[str, float, float, float]:
    """Verdict, largest wander, gain and largest surprise of a case."""
    study = known(case.study)
    times = case.arguments.pop("times_s", STEP_S * np.arange(SAMPLES))
    try:
        rungs = [filter(study, times_s=times, drift=drift, **case.arguments) for drift in LADDER]
    except InputError:  # an estimate that no law can take: the filter could not follow
        return WORDS[2], np.inf, np.inf, np.inf
    first = settled(times, None)
    paths = [path_of(rungs[-1], name, first) for name in case.arguments["start"]]
    best = max(rungs, key=lambda rung: rung.log_likelihood)
    innovations = [innovations_of(best, i, first) for i in range(len(case.arguments["observed"]))]
    gain = rungs[-1].log_likelihood - rungs[0].log_likelihood
    verdict = judge(paths, innovations, gain)
    return verdict.word, max(p.wander for p in paths), gain, max(i.surprise for i in innovations)


def rates(cases: int, families: list[str] | None = None) -> dict[str, list[tuple[str, float, float, float]]]:
    """What was said of every case of every family."""
    found = {}
    for number, (name, (_, make)) in enumerate(FAMILIES.items()):
        if families is None or name in families:
            found[name] = [judged(case) for case in make(cases, np.random.default_rng([SEED, number]))]
    return found


def main(cases: int, table: bool) -> None:
    """Print the table of docs/validation.md."""
    print(f"| data, and the model that follows them | model | {' | '.join(WORDS)} |")
    print("| --- | --- | --- | --- | --- |")
    for name, said in rates(cases).items():
        right = FAMILIES[name][0]
        shares = " | ".join(f"{100 * np.mean([word == item[0] for item in said]):.0f} %" for word in WORDS)
        print(f"| {name} | {'right' if right else 'wrong'} | {shares} |", flush=True)
        if table:
            for which, label in ((1, "wander"), (2, "gain"), (3, "surprise")):
                at = np.quantile([item[which] for item in said], (0.0, 0.05, 0.5, 0.95, 0.99, 1.0), method="nearest")
                print(f"    {label}: {np.array2string(at, precision=3)}")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(numbers[0] if numbers else 60, "--table" in sys.argv)
