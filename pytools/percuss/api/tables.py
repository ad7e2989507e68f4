"""Tables for people: parameters, outputs and quantities in the units of the study, which are told beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from percuss.study.study import Study
from percuss.units import from_si

if TYPE_CHECKING:
    import polars as pl


def units_of(study: Study, names: Iterable[str]) -> dict[str, str]:
    """The unit that a study has for each of these names that it knows.

    A quantity of the model is in the unit in which an output asks for it, otherwise in SI.
    """
    units = {name: item.unit for name, item in study.model().quantities.items()}
    units |= {output.quantity: output.unit for output in reversed(study.outputs.values())}
    units |= {name: output.unit for name, output in study.outputs.items()}
    units |= {name: parameter.unit for name, parameter in study.parameters.items()}
    return {name: units[name] for name in names if name in units}


def in_study_units(study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """A table of SI numbers with every column the study knows in the unit of the study."""
    import polars as pl

    factors = {name: from_si(1.0, unit) for name, unit in units_of(study, table.columns).items()}
    return table.with_columns(pl.col(name) * factor for name, factor in factors.items() if factor != 1.0)
