"""What a run gives: curves, peaks, impacts and the energy account."""

from __future__ import annotations

from collections.abc import Sequence

from percuss.models.model import Quantity
from percuss.models.oscillators.inputs import Element

SEPARATION_RULES = ("abs", "srss", "cqc")


def of_contact(quantity: str, contact: Element) -> str:
    """Name of a contact's quantity; a system with a single unnamed contact needs no name for it."""
    return f"{quantity}_{contact.name}" if contact.name else quantity


def quantities_of(names: Sequence[str], contacts: Sequence[Element], sensor: bool) -> dict[str, Quantity]:
    def curve(name: str, unit: str, doc: str) -> Quantity:
        return Quantity(name, unit, True, doc, axis="t")

    quantities = [Quantity("t", "s", True, "time")]
    quantities += [curve(f"u{name}", "m", f"displacement of mass {name} relative to the base") for name in names]
    quantities += [curve(f"a{name}", "m/s^2", f"absolute acceleration of mass {name}") for name in names]
    quantities += [curve(of_contact("force", c), "N", "contact force, positive when it pushes") for c in contacts]
    quantities += [curve(f"v{name}", "m/s", f"velocity of mass {name} relative to the base") for name in names]
    quantities += [curve(of_contact("gap", c), "m", "gap, negative where the masses overlap") for c in contacts]
    if sensor:
        quantities += [
            curve(f"read_a{name}", "m/s^2", f"what the accelerometer on mass {name} reads") for name in names
        ]
    for name in names:
        quantities.append(
            Quantity(f"peak_u{name}", "m", doc=f"largest displacement of mass {name}", peak_of=f"u{name}")
        )
        quantities.append(Quantity(f"peak_v{name}", "m/s", doc=f"largest velocity of mass {name}", peak_of=f"v{name}"))
        quantities.append(
            Quantity(f"peak_a{name}", "m/s^2", doc=f"largest acceleration of mass {name}", peak_of=f"a{name}")
        )
    quantities.append(Quantity("impacts", doc="number of impacts"))
    quantities.append(Quantity("grazing_impacts", doc="impacts that a slightly different motion might have missed"))
    for contact in contacts:
        force = of_contact("force", contact)
        quantities.append(Quantity(of_contact("peak_force", contact), "N", doc="largest contact force", peak_of=force))
        quantities.append(Quantity(of_contact("smallest_gap", contact), "m", doc="smallest gap"))
        quantities.append(Quantity(of_contact("contact_loss", contact), "J", doc="energy lost in the contact"))
        quantities.append(
            Quantity(of_contact("closing", contact), "m", doc="largest closing of the gap: what it had to be")
        )
        if -1 not in contact.nodes:
            for rule in SEPARATION_RULES:
                doc = f"separation by the {rule.upper()} rule from the peaks of this run (keep the masses apart)"
                quantities.append(Quantity(of_contact(f"separation_{rule}", contact), "m", doc=doc))
    account = {
        "initial": "kinetic and elastic energy at the start",
        "base": "energy put in by the base",
        "kinetic": "kinetic energy at the end",
        "elastic": "elastic energy at the end",
        "damped": "energy lost in dampers",
        "contact": "energy lost in all contacts",
    }
    quantities += [Quantity(f"energy_{name}", "J", doc=doc) for name, doc in account.items()]
    doc = "what the account is off by, over its largest entry"
    quantities.append(Quantity("energy_closing_error", doc=doc, diagnostic=True))
    return {item.name: item for item in quantities}
