"""The tables of [model]: what a mass, spring, damper, contact, sine and sensor may say."""

from __future__ import annotations

from collections.abc import Mapping

from percuss.models.ground_motion import SYNTHETIC
from percuss.settings import Setting

MASS = {
    "name": Setting("name", "text", required=True, doc="a short name: curves are called u<name>, v<name>, a<name>"),
    "mass": Setting("mass", "number", unit="kg", required=True),
    "displacement": Setting("displacement", "number", 0.0, unit="m", doc="at the start, relative to the base"),
    "velocity": Setting("velocity", "number", 0.0, unit="m/s", doc="at the start, relative to the base"),
}
SPRING = {
    "name": Setting("name", "text"),
    "between": Setting("between", "list", required=True, doc='two masses, or "base" and one'),
    "stiffness": Setting("stiffness", "number", unit="N/m", required=True),
    "cubic": Setting("cubic", "number", 0.0, unit="N/m^3"),
    "damping_ratio": Setting("damping_ratio", "number", 0.0, doc="of the second mass on this spring alone"),
}
DAMPER = {
    "name": Setting("name", "text"),
    "between": Setting("between", "list", required=True),
    "coefficient": Setting("coefficient", "number", unit="N.s/m", required=True),
}
CONTACT = {
    "name": Setting("name", "text"),
    "between": Setting("between", "list", required=True, doc="left and right mass"),
    "gap": Setting("gap", "number", unit="m"),
    "law": Setting("law", "text"),
    "restitution": Setting("restitution", "number"),
    "stiffness": Setting("stiffness", "text"),
    "damping": Setting("damping", "text"),
}
HARMONIC = {
    "amplitude": Setting("amplitude", "number", unit="m/s^2", required=True),
    "frequency": Setting("frequency", "number", unit="Hz", required=True),
    "phase": Setting("phase", "number", 0.0, unit="rad"),
    "start": Setting("start", "number", 0.0, unit="s"),
    "end": Setting("end", "number", unit="s"),
}
SENSOR = {
    "range": Setting("range", "number", unit="m/s^2", required=True, doc="largest acceleration it can read"),
    "resolution": Setting("resolution", "number", 0.0, unit="m/s^2"),
}


def _records(table: Mapping[str, object]) -> tuple[Setting, ...]:
    """Where records of the base motion are. With several, which of them is an input, `base_record`."""
    doc = "acceleration of the base: CSV with time and acceleration, or PEER AT2"
    several = "base_records" in table
    one = () if several else (Setting("base_record", "file", doc=doc),)
    # Without a record the unit means nothing, and stays what it was so that studies keep their digests.
    unit = None if several or "base_record" in table else "m/s^2"
    return (
        *one,
        Setting("base_records", "files", doc="several of them; the input base_record says which"),
        Setting("base_record_unit", "text", unit, doc="of acceleration, for records that do not say it"),
    )


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What [model] may set beside inputs."""
    return {
        setting.name: setting
        for setting in (
            Setting("duration", "number", required=True, unit="s", low=0, doc="how long to simulate"),
            Setting("sampling", "number", 1e-3, unit="s", low=0, doc="interval of the curves"),
            Setting("masses", "list", required=True, doc="tables of a mass: " + ", ".join(MASS)),
            Setting("springs", "list", [], doc="tables of a spring: " + ", ".join(SPRING)),
            Setting("dampers", "list", [], doc="tables of a damper: " + ", ".join(DAMPER)),
            Setting("contacts", "list", [], doc="tables of a contact: " + ", ".join(CONTACT)),
            Setting("rayleigh_mass", "number", 0.0, unit="1/s", low=0, doc="damping proportional to mass"),
            Setting("rayleigh_stiffness", "number", 0.0, unit="s", low=0, doc="damping proportional to stiffness"),
            *_records(table),
            Setting("base_harmonics", "list", [], doc="sines instead of a record: " + ", ".join(HARMONIC)),
            Setting("base_synthetic", "table", doc="synthetic motion, another for every run: " + ", ".join(SYNTHETIC)),
            Setting("sensor", "table", doc="an accelerometer on every mass: " + ", ".join(SENSOR)),
        )
    }
