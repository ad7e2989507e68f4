"""The tables of [model]: what a mass, spring, damper, contact, sine and sensor may say."""

from __future__ import annotations

from collections.abc import Mapping

from percuss.models.ground.compatible import COMPATIBLE
from percuss.models.ground.kanai_tajimi import SYNTHETIC
from percuss.models.ground.pulse import PULSE
from percuss.models.oscillators.seismic import SPECTRA, STOREY
from percuss.models.oscillators.springs import EXPONENT, LAW_TABLES
from percuss.settings import Setting, table_of

MASS = table_of(
    Setting("name", "text", required=True, doc="a short name: curves are called u<name>, v<name>, a<name>"),
    Setting("mass", "number", unit="kg", required=True, doc="mass; an input, mass_<name>"),
    Setting("displacement", "number", 0.0, unit="m", doc="initial displacement relative to the base"),
    Setting("velocity", "number", 0.0, unit="m/s", doc="initial velocity relative to the base"),
)
SPRING = table_of(
    Setting("name", "text", doc="name, at the end of the names of its inputs; default: its number, from 1"),
    Setting("between", "list", required=True, doc='two masses, or "base" and one'),
    Setting("stiffness", "number", unit="N/m", required=True, doc="force over elongation"),
    Setting(
        "cubic",
        "number",
        0.0,
        unit="N/m^3",
        doc="additional force over the cube of the elongation; hardening if above 0",
    ),
    Setting("damping_ratio", "number", 0.0, doc="damping ratio of the second mass on this spring alone"),
    Setting(
        "law",
        "text",
        choices=tuple(LAW_TABLES),
        doc="law instead of the linear force; the stiffness is then the initial one",
        variants=LAW_TABLES,
    ),
)
DAMPER = table_of(
    Setting("name", "text", doc="name, at the end of the name of its input; default: its number, from 1"),
    Setting("between", "list", required=True, doc='two masses, or "base" and one'),
    Setting("coefficient", "number", unit="N.s/m", required=True, doc="force over the rate of elongation"),
    Setting("exponent", "number", low=0.0, low_open=True, doc=f"{EXPONENT.doc}; default: 1, a linear damper"),
)
CONTACT = table_of(
    Setting(
        "name", "text", doc="name, at the end of the names of its inputs and quantities; default: its number, from 1"
    ),
    Setting("between", "list", required=True, doc='two masses, the left one first; "base" may be one of them'),
    Setting("gap", "number", unit="m", doc="distance at zero displacements; default: the input gap of all contacts"),
    Setting("law", "text", doc="impact law; default: the input law of all contacts"),
    Setting("restitution", "number", doc="rebound speed over approach speed; default: that of all contacts"),
    Setting(
        "stiffness",
        "text",
        doc="contact stiffness, in N/m or N/m^1.5 depending on the law; default: that of all contacts",
    ),
    Setting("damping", "text", doc="damping, exact or nominal; default: that of all contacts"),
)
HARMONIC = table_of(
    Setting("amplitude", "number", unit="m/s^2", required=True, doc="amplitude of the acceleration of the base"),
    Setting("frequency", "number", unit="Hz", required=True, doc="frequency of the sine"),
    Setting("phase", "number", 0.0, unit="rad", doc="phase at its start"),
    Setting("start", "number", 0.0, unit="s", doc="when it begins"),
    Setting("end", "number", unit="s", doc="when it ends; default: never"),
)
SENSOR = table_of(
    Setting("range", "number", unit="m/s^2", required=True, doc="largest acceleration it can read"),
    Setting("resolution", "number", 0.0, unit="m/s^2", doc="readings are rounded to this; 0: no rounding"),
)
SCALING = table_of(
    Setting(
        "measure",
        "text",
        required=True,
        choices=("pga", "sa"),
        doc="intensity measure to scale to; the input is base_pga or base_sa",
    ),
    Setting("period", "number", unit="s", low=1e-3, high=100, doc="period of the oscillator, with sa"),
    Setting("damping", "number", 0.05, low=0, high=1, doc="damping ratio of the oscillator, with sa"),
)


def _records(table: Mapping[str, object]) -> tuple[Setting, ...]:
    """Where records of the base motion are. With several, which of them is an input, `base_record`."""
    doc = "acceleration of the base: CSV with time and acceleration, or PEER AT2"
    several = "base_records" in table
    one = () if several else (Setting("base_record", "file", doc=doc),)
    # Without a record the unit means nothing, and stays what it was so that studies keep their digests.
    unit = None if several or "base_record" in table else "m/s^2"
    return (
        *one,
        Setting("base_records", "files", doc="several records; the input base_record chooses one"),
        Setting(
            "base_record_by",
            "text",
            choices=("name", "number"),
            doc="number: the input base_record_number chooses from base_records, so that designs can vary it",
        ),
        Setting("base_record_unit", "text", unit, doc="unit of acceleration, for records that do not state it"),
        Setting(
            "base_record_end",
            "text",
            choices=("rest",),
            doc="rest: the base is at rest after the end of a shorter record, which is refused otherwise",
        ),
        Setting(
            "base_scaling",
            "table",
            doc="scale records to an intensity measure, which is an input instead of base_scale",
            of=SCALING,
        ),
    )


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What [model] may set beside inputs."""
    return {
        setting.name: setting
        for setting in (
            Setting("duration", "number", required=True, unit="s", low=0, doc="how long to simulate"),
            Setting("sampling", "number", 1e-3, unit="s", low=0, doc="interval of the curves"),
            Setting("masses", "list", required=True, doc="tables of a mass", of=MASS),
            Setting("springs", "list", [], doc="tables of a spring", of=SPRING),
            Setting("dampers", "list", [], doc="tables of a damper", of=DAMPER),
            Setting("contacts", "list", [], doc="tables of a contact", of=CONTACT),
            Setting("rayleigh_mass", "number", 0.0, unit="1/s", low=0, doc="damping proportional to mass"),
            Setting("rayleigh_stiffness", "number", 0.0, unit="s", low=0, doc="damping proportional to stiffness"),
            *_records(table),
            Setting("base_harmonics", "list", [], doc="sines instead of a record", of=HARMONIC),
            Setting("base_synthetic", "table", doc="synthetic motion, different in every run", of=SYNTHETIC),
            Setting(
                "base_compatible",
                "table",
                doc="synthetic motion that matches a spectrum, different in every run",
                of=COMPATIBLE,
                files=("file",),
            ),
            Setting("base_pulse", "table", doc="near-fault velocity pulse, alone or added to the others", of=PULSE),
            Setting("base_measures", "boolean", doc="intensity measures of the base motion as quantities"),
            Setting("spectra", "table", doc="response spectra of base motion and floors as curves", of=SPECTRA),
            Setting("storeys", "list", doc="tables of a storey, for drift ratios", of=STOREY),
            Setting("sensor", "table", doc="an accelerometer on every mass", of=SENSOR),
        )
    }
