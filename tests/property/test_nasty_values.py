"""Every value of every study replaced in turn by what nobody would write: it loads, or every fault has its sentence.

A test run takes a sample, the same each time; `make fuzz` takes all.
"""

import copy
import math
import os
import re
import tomllib
from itertools import product
from pathlib import Path

import pytest

from percuss.errors import InputError
from percuss.study.load import read_inside
from percuss.study.schema import read_study

ROOT = Path(__file__).parents[2]
ALL = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
# A prime, so that the sample goes through values and places alike.
STRIDE = 1 if ALL else 29

NASTY = [
    {"a": 1},
    {},
    [],
    [[{}]],
    True,
    math.nan,
    math.inf,
    10**18,
    9007199254740993,
    10**7,
    -1,
    0,
    0.5,
    1e308,
    -1e308,
    "",
    "x" * 5000,
    "1e999 m",
    "5 kg",
    "$",
    "$new",
]

# What no study of the tree has.
OSCILLATORS = """
[model]
kind = "oscillators"
duration = "12 s"
sampling = "1 ms"
masses = [{ name = "1", mass = "6 kg", displacement = "-40 mm" }, { name = "2", mass = "5 kg" }]
springs = [{ between = ["base", "1"], stiffness = "288 N/m" }, { between = ["base", "2"], stiffness = "288 N/m" }]
dampers = [{ name = "d", between = ["1", "2"], coefficient = "1 N.s/m" }]
contacts = [{ between = ["1", "2"], gap = "23 mm", law = "hertz-damp", restitution = 0.5, stiffness = "1 N/m^1.5" }]
base_harmonics = [{ amplitude = "1 m/s^2", frequency = "2 Hz", phase = 0.5, start = "1 s", end = "2 s" }]
sensor = { range = "100 m/s^2", resolution = "1 mm/s^2" }
"""
SYNTHETIC = re.sub("base_harmonics.*", 'base_synthetic = { frequency = "2 Hz", step = "10 ms" }', OSCILLATORS)
SCENE = """
[model]
kind = "scene"
duration = "1 s"
step = "1 ms"
sampling = "10 ms"
settle = { speed = "1 mm/s", quiet_steps = 10, max_steps = 100 }
laws = [{ groups = ["soil", "b"], friction = 0.5, restitution = 0.1, rolling = "1 mm" }]
loads = [{ body = "stone_1", force = [1, 0, 0], times = [0, 1], factors = [0, 1] }]
probes = [{ name = "p", body = "stone_1", point = [0, 0, 0] }, { name = "q", between = ["soil", "b"] },
          { name = "r", contacts_of = "block_1" }]
[[model.bodies]]
name = "ground"
fixed = true
contactors = [{ shape = "half-space", group = "soil" }]
[[model.bodies]]
name = "drum"
motion = { kind = "sine", amplitude = [0, 0, "1 mm"], frequency = "2 Hz" }
position = [5, 5, 5]
contactors = [{ shape = "ring", inner_radius = 1, outer_radius = 2, height = 1, group = "b" }]
[[model.bodies]]
name = "belt"
motion = { kind = "sampled", times = [0, 1], velocities = [[0, 0, 1], [0, 0, 0]] }
[[model.bodies]]
name = "block"
density = 2000
position = [0, 0, 0.5]
contactors = [{ shape = "polyhedron", vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], group = "b" }]
repeat = { pattern = "grid", counts = [2, 1, 1], pitch = [3, 0, 0], centred = true }
[[model.bodies]]
name = "stone"
mass = 1
gyration = [0.1, 0.1, 0.1, 0, 0, 0]
position = [9, 0, 5]
birth = 0.1
removal = 0.9
repeat = { pattern = "polar", count = 3, angle = "20 deg", axis = [0, 0, 1] }
"""


def sources() -> dict[str, tuple[Path, str]]:
    """Studies by name, with the folder of their files."""
    found = {path.parent.name: (path.parent, path.read_text()) for path in sorted(ROOT.glob("studies/*/study.toml"))}
    for page in sorted(ROOT.glob("docs/*.md")):
        for i, block in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)):
            if "[model]" in block:
                found[f"{page.stem}-{i}"] = (ROOT, block)
    return found | {name: (ROOT, globals()[name]) for name in ("OSCILLATORS", "SYNTHETIC", "SCENE")}


def places(value, at=()):
    """Paths of all that is in parsed TOML, tables and lists too."""
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*at, key))


def replaced(raw, at, value):
    copied = copy.deepcopy(raw)
    table = copied
    for key in at[:-1]:
        table = table[key]
    table[at[-1]] = value
    return copied


SOURCES = sources()


@pytest.mark.parametrize("name", SOURCES)
def test_nasty_values_load_or_are_explained(name):
    folder, text = SOURCES[name]
    raw = tomllib.loads(text)
    start = sum(map(ord, name)) % STRIDE
    for at, value in list(product(places(raw), NASTY))[start::STRIDE]:
        faults = []
        try:
            study = read_study(
                name,
                replaced(raw, at, value),
                lambda path, message, faults=faults: faults.append((path, message)),
                lambda relative, limit: read_inside(folder, relative, limit),
            )
            # What was let through makes a model, and the facts of an event.
            if study is not None and not faults:
                study.model()
                assert study.digest
        except InputError as fault:
            faults.append(((), str(fault)))
        except Exception as fault:
            pytest.fail(f"{'.'.join(map(str, at))} = {str(value)[:60]}: {type(fault).__name__}: {fault}")
        assert all(message for _, message in faults), (at, value)
