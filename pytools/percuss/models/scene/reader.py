"""Reads the tables of [model] into a scene, gathering every fault on the way.

The same reader serves twice: once to find the inputs that a scene names, with a placeholder for each, and then for
every run, with its values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from percuss.errors import InputError
from percuss.models.model import Input
from percuss.models.scene.expressions import evaluate, inputs_in, is_expression, is_plain
from percuss.models.scene.files import shape_from_file
from percuss.models.scene.links import (
    inputs_of_formula,
    read_actuator,
    read_bushing,
    read_joint,
    read_spring,
    with_values,
)
from percuss.models.scene.tables import (
    BODY,
    BOND,
    CONTACTOR,
    CUTS,
    GRAVITY,
    LAW,
    LOAD,
    MOTIONS,
    PATTERNS,
    PROBE,
    SETTLE,
    SHAPE_FILES,
    SHAPES,
)
from percuss.scene import (
    SHAPES as SHAPE_CLASSES,
)
from percuss.scene import (
    Body,
    BodyProbe,
    Bond,
    Contactor,
    JointProbe,
    Law,
    Load,
    Motion,
    PairProbe,
    PointProbe,
    Probe,
    SampledMotion,
    Scene,
    Settle,
    Shape,
    SineMotion,
    SteadyMotion,
    cut,
    grid,
    polar,
    shatter,
)
from percuss.settings import Setting, SettingsError, clean_settings
from percuss.spelling import did_you_mean, shown
from percuss.units import same_dimension

# More than any study needs; bounds the work a stranger's file can ask for.
MOST_BODIES = 100_000
# Above the lower bound of every coefficient and setting, so that a scene can be made before its inputs are known.
STAND_IN = 0.5
# What a reader keeps of files, by names that begin so.
FROM_FILE = "from file: "
# Where the inputs of a formula stand.
BARE = Setting("formula", "number", expression=True)

# A key and the unit of its place make the name of the attribute.
SUFFIX = {
    "1": "",
    "m": "_m",
    "m^2": "_m2",
    "m/s": "_m_per_s",
    "rad": "_rad",
    "rad/s": "_rad_per_s",
    "kg": "_kg",
    "kg/m^3": "_kg_per_m3",
    "kg*m^2": "_kg_m2",
    "s": "_s",
    "Hz": "_hz",
    "Pa": "_pa",
    "J/m^2": "_j_per_m2",
    "N": "_n",
    "N*m": "_n_m",
    "N/m": "_n_per_m",
    "N*s/m": "_n_s_per_m",
    "N*m/rad": "_n_m_per_rad",
    "N*m*s/rad": "_n_m_s_per_rad",
}
MOTION_CLASSES: dict[str, type[Motion]] = {"steady": SteadyMotion, "sine": SineMotion, "sampled": SampledMotion}

T = TypeVar("T")
# What tables without inputs make, by their place: the same for every point.
Kept = dict[str, Any]
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)


class Inputs:
    """The inputs that a scene names, found by reading it once."""

    def __init__(self) -> None:
        self.by_name: dict[str, Input] = {}

    def note(self, text: str, place: Setting, where: str) -> None:
        """Take down the inputs of an expression: their unit and, for an input by itself, the bounds of its place."""
        low, high = (place.low, place.high) if is_plain(text) else (-float("inf"), float("inf"))
        for name in inputs_in(text):
            known = self.by_name.get(name) or Input(name, place.unit, doc=f"of {where}")
            if not same_dimension(str(known.unit), place.unit):
                raise InputError(f"`${name}` is in {place.unit} here and in {known.unit} elsewhere ({known.doc[3:]})")
            self.by_name[name] = replace(known, low=max(known.low, low), high=min(known.high, high))


class Reader:
    """Reads with the values of a point, or with none to find the inputs; faults are in `faults`."""

    def __init__(
        self,
        point: Mapping[str, Any] | None = None,
        kept: Kept | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.point = point
        self.files = files or {}
        self.kept: Kept = {} if kept is None else kept
        self.inputs = Inputs()
        self.faults: list[tuple[str, str]] = []

    def scene(self, settings: Mapping[str, Any]) -> Scene:
        """The whole scene."""
        bodies: list[Body] = []
        for i, raw in enumerate(settings["bodies"]):
            bodies += self._once(raw, f"bodies[{i}]", self._body)
            if len(bodies) > MOST_BODIES:
                self.fault(f"bodies[{i}]", f"there are more than {MOST_BODIES} bodies")
                break
        joints = self._each(settings, "joints", lambda raw, where: read_joint(self, raw, where))
        kinds = {joint.name: joint.kind for joint in joints}
        elements = [
            *self._each(settings, "springs", lambda raw, where: read_spring(self, raw, where, kinds)),
            *self._each(settings, "bushings", lambda raw, where: read_bushing(self, raw, where)),
            *self._each(settings, "actuators", lambda raw, where: read_actuator(self, raw, where, kinds)),
        ]
        return Scene(
            bodies,
            self._each(settings, "laws", self._law),
            self._each(settings, "loads", lambda raw, where: self._made(Load, raw, LOAD, where)),
            self._each(settings, "probes", self._probe),
            self.resolved(settings["gravity"], GRAVITY, "gravity"),
            joints,
            elements,
            self._each(settings, "bonds", self._bond),
        )

    def resolved(self, value: Any, place: Setting, where: str) -> Any:
        """A cleaned value with its expressions replaced by numbers, its lists by tuples."""
        if isinstance(value, list):
            return tuple(self.resolved(item, place, f"{where}[{i}]") for i, item in enumerate(value))
        if not (place.expression and is_expression(value)):
            return value
        try:
            if self.point is None:
                self.inputs.note(value, place, where)
                return min(STAND_IN, place.high)
            number = evaluate(value, place.unit, self.point.__getitem__)
            if not place.low <= number <= place.high:
                unit = "" if place.unit == "1" else f" {place.unit}"
                raise InputError(f"{value} = {number:g} is outside [{place.low:g}, {place.high:g}]{unit}")
            return number
        except InputError as fault:
            self.fault(where, str(fault))
            return min(STAND_IN, place.high)

    def formula(self, value: Any, where: str) -> str:
        """A formula in t with numbers for its inputs; a bare number is one too."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return repr(float(value))
        if not isinstance(value, str):
            self.fault(where, f"{shown(value)} is no formula in t")
            return "0"
        names = inputs_of_formula(value)
        try:
            if self.point is None:
                for name in names:
                    self.inputs.note(f"${name}", BARE, where)
            return with_values(value, self.point or dict.fromkeys(names, STAND_IN))
        except InputError as fault:
            self.fault(where, str(fault))
            return "0"

    def surfaces(self) -> Kept:
        """What was read from files: all that a later reader needs of them."""
        return {name: made for name, made in self.kept.items() if name.startswith(FROM_FILE)}

    def settle(self, raw: Any) -> Settle:
        """When a scene counts as settled."""
        return self._made(Settle, raw, SETTLE, "settle") or Settle()

    def fault(self, where: str, message: str) -> None:
        self.faults.append((re.split(r"[\[.]", where)[0], f"`{where}`: {message}"))

    def _each(self, settings: Mapping[str, Any], key: str, read: Callable[[Any, str], Any]) -> list[Any]:
        items = (self._once(raw, f"{key}[{i}]", read) for i, raw in enumerate(settings.get(key, ())))
        return [item for item in items if item is not None]

    def _once(self, raw: Any, where: str, read: Callable[[Any, str], T]) -> T:
        """What a table makes; one that names no input is read once for all points."""
        if where in self.kept:
            kept: T = self.kept[where]
            return kept
        before = len(self.faults)
        made = read(raw, where)
        if len(self.faults) == before and "$" not in str(raw):
            self.kept[where] = made
        return made

    def table(
        self, raw: Any, schema: Mapping[str, Setting], where: str, suffixed: Collection[str] | None = None
    ) -> dict[str, Any] | None:
        """A table in SI, its keys as `percuss.scene` spells them; None after a fault.

        Keys carry their unit, or only those of `suffixed` do.
        """
        if not isinstance(raw, dict):
            self.fault(where, f"{shown(raw)} is no table")
            return None
        try:
            cleaned = clean_settings(schema, raw)
        except SettingsError as faults:
            for key, message in faults.faults:
                self.fault(f"{where}.{key}", message)
            return None
        return {
            key + (SUFFIX[schema[key].unit] if suffixed is None or key in suffixed else ""): self.resolved(
                value, schema[key], f"{where}.{key}"
            )
            for key, value in cleaned.items()
        }

    def _made(self, kind: type[T], raw: Any, schema: Mapping[str, Setting], where: str) -> T | None:
        """What a table describes, or None after a fault."""
        table = self.table(raw, schema, where)
        return kind(**table) if table is not None else None

    def _kind(self, raw: Any, key: str, kinds: Mapping[str, Any], where: str) -> tuple[str, dict[str, Any]]:
        """The kind that a table names under a key, and the rest of it."""
        table = dict(raw) if isinstance(raw, dict) else {}
        kind = table.pop(key, None)
        if not isinstance(kind, str) or kind not in kinds:
            complaint = "missing" if kind is None else f"{shown(kind)} is not known"
            self.fault(f"{where}.{key}", f"{complaint}; {did_you_mean(str(kind), kinds)}")
            return "", {}
        return kind, table

    def _body(self, raw: Any, where: str) -> list[Body]:
        fields = dict(raw) if isinstance(raw, dict) else raw
        motion, repeat, parted = (
            fields.pop(key, None) if isinstance(fields, dict) else None for key in ("motion", "repeat", "cut")
        )
        table = self.table(fields, BODY, where)
        if table is None:
            return []
        self._name(table["name"], f"{where}.name")
        contactors = enumerate(table.pop("contactors"))
        table["contactors"] = [c for i, raw in contactors for c in self._contactor(raw, f"{where}.contactors[{i}]")]
        if motion is not None:
            table["motion"] = self._motion(motion, f"{where}.motion")
        body = Body(**table)
        bodies = [body] if repeat is None else self._repeated(body, repeat, f"{where}.repeat")
        return bodies if parted is None else self._parts(bodies, parted, f"{where}.cut")

    def _parts(self, bodies: list[Body], raw: Any, where: str) -> list[Body]:
        kind, fields = self._kind(raw, "by", CUTS, where)
        table = self.table(fields, CUTS[kind], where, ()) if kind else None
        if table is None:
            return []
        try:
            if kind == "voronoi":
                return [part for body in bodies for part in shatter(body, **table)]
            planes = list(zip(table["points"], table["normals"], strict=True))
            return [part for body in bodies for part in cut(body, planes)]
        except (InputError, ValueError) as fault:
            self.fault(where, str(fault) if isinstance(fault, InputError) else "give as many normals as points")
            return []

    def _bond(self, raw: Any, where: str) -> Bond | None:
        table = self.table(raw, BOND, where)
        if table is None:
            return None
        self._name(table["name"], f"{where}.name")
        for key in ("bodies", "groups"):
            if key in table:
                table[key] = self._pair(table[key], f"{where}.{key}")
        for key in ("tension", "shear"):
            if f"{key}_energy_j_per_m2" in table:
                table[f"{key}_j_per_m2"] = table.pop(f"{key}_energy_j_per_m2")
        return Bond(**table)

    def _contactor(self, raw: Any, where: str) -> list[Contactor]:
        kind, table = self._kind(raw, "shape", SHAPES, where)
        if not kind:
            return []
        from_file = "file" in table and kind in SHAPE_FILES
        schema = SHAPE_FILES[kind] if from_file else SHAPES[kind]
        own = {key: table.pop(key) for key in list(table) if key in schema}
        shape = self._read_file(kind, own, where) if from_file else self._made(SHAPE_CLASSES[kind], own, schema, where)
        placed = self.table(table, CONTACTOR, where)
        if shape is None or placed is None:
            return []
        self._name(placed["group"], f"{where}.group")
        return [Contactor(shape, **placed)]

    def _read_file(self, kind: str, raw: Any, where: str) -> Shape | None:
        """A shape whose numbers stand in a file, read once for all points."""
        table = self.table(raw, SHAPE_FILES[kind], where)
        if table is None:
            return None
        name = f"{FROM_FILE}{kind} {sorted(table.items())}"
        if name not in self.kept:
            try:
                self.kept[name] = shape_from_file(kind, self.files, **table)
            except InputError as fault:
                self.fault(f"{where}.file", str(fault))
                return None
        shape: Shape = self.kept[name]
        return shape

    def _motion(self, raw: Any, where: str) -> Motion | None:
        kind, table = self._kind(raw, "kind", MOTIONS, where)
        return self._made(MOTION_CLASSES[kind], table, MOTIONS[kind], where) if kind else None

    def _repeated(self, body: Body, raw: Any, where: str) -> list[Body]:
        kind, fields = self._kind(raw, "pattern", PATTERNS, where)
        table = self.table(fields, PATTERNS[kind], where) if kind else None
        if table is None:
            return []
        counts = table.get("counts", (table.get("count"),))
        if not all(type(count) is int and 1 <= count <= MOST_BODIES for count in counts):
            self.fault(where, f"counts {list(counts)}: must be whole numbers from 1 to {MOST_BODIES}")
            return []
        if math.prod(counts) > MOST_BODIES or (kind == "grid" and len(counts) != 3):
            self.fault(where, f"counts {list(counts)}: must be three, of at most {MOST_BODIES} bodies")
            return []
        try:
            return grid(body, **table) if kind == "grid" else polar(body, **table)
        except InputError as fault:
            self.fault(where, str(fault))
            return []

    def _probe(self, raw: Any, where: str) -> Probe | None:
        table = self.table(raw, PROBE, where)
        if table is None:
            return None
        self._name(table["name"], f"{where}.name")
        keys = [key for key in ("body", "contacts_of", "between", "joint") if key in table]
        if len(keys) != 1 or ("point_m" in table and keys != ["body"]):
            keys_text = " and ".join(keys) or "nothing"
            self.fault(where, f"measures {keys_text}: give one of body (with point), contacts_of, between and joint")
            return None
        if keys == ["between"]:
            return PairProbe(table["name"], self._pair(table["between"], f"{where}.between"))
        if keys == ["joint"]:
            return JointProbe(table["name"], table["joint"])
        if keys == ["contacts_of"]:
            return BodyProbe(table["name"], table["contacts_of"])
        return PointProbe(**table)

    def _law(self, raw: Any, where: str) -> Law | None:
        table = self.table(raw, LAW, where)
        return None if table is None else Law(**table | {"groups": self._pair(table["groups"], f"{where}.groups")})

    def _pair(self, value: Any, where: str) -> tuple[str, str]:
        if len(value) != 2 or not all(isinstance(name, str) for name in value):
            kind = "bodies" if where.endswith(".bodies") else "groups"
            self.fault(where, f"{shown(list(value))} is not a list of two {kind}")
            return "", ""
        return value[0], value[1]

    def _name(self, name: str, where: str) -> None:
        """Names become parts of the names of inputs and quantities."""
        if not _NAME.fullmatch(name):
            self.fault(where, f"{shown(name)}: letters, digits, '_', '-' and '.' only, at most 64")
