"""Numbers that may be inferred with the parameters: a quantity, or `{ prior = { kind = ... } }` in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from percuss.settings import KeyPath, Note, Setting, table_of
from percuss.study.priors.prior import Prior, PriorError
from percuss.study.priors.registry import prior_in_si, read_prior
from percuss.units import si_quantity

PRIOR = table_of(Setting("prior", "table", required=True, doc="prior, as for a parameter"))
# Numbers of several groups that have one name are one number.
INFERRED = PRIOR | table_of(Setting("name", "text", doc="name, to share it between groups"))


def read_inferred(table: Mapping[str, Any], unit: str, path: KeyPath, note: Note) -> Prior | None:
    """The prior in a table that was checked; None after a fault, which is noted at its field."""
    if "prior" not in table:
        return None
    try:
        return read_prior(table["prior"], unit)
    except PriorError as faults:
        for field, message in faults.faults:
            note((*path, "prior", field) if field else (*path, "prior"), message)
        return None


def inferred_in_si(value: Any, unit: str | None) -> Any:
    """A quantity, or the table of its prior, that has no faults, in SI; as written where no unit is known."""
    if isinstance(value, Mapping):
        return {**value, "prior": prior_in_si(value["prior"], unit)}
    return si_quantity(value, unit)
