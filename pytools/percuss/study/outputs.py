"""[outputs.NAME] of a study file: which quantity of the model, reduced to a number how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from percuss.errors import InputError
from percuss.models.model import Model, Quantity
from percuss.settings import KeyPath, Note, Setting, check_table, table_of
from percuss.spelling import did_you_mean, shown
from percuss.study.output import EXTREMES, REDUCTIONS, Output
from percuss.study.tables import display_unit, named_tables
from percuss.units import parse_quantity

OUTPUT = table_of(
    Setting("quantity", "any", doc="of the model; default: the name of the output"),
    Setting("reduce", "any", doc="how a curve becomes a number: " + ", ".join(REDUCTIONS)),
    Setting("at", "any", doc='place on the axis of the curve, with reduce = "at"'),
    Setting("from", "any", doc="only the part of the curve from here on"),
    Setting("to", "any", doc="only the part of the curve up to here"),
    Setting("window", "any", doc="length of a moving mean, with " + ", ".join(EXTREMES)),
    Setting("unit", "any", doc="for reading; default: that of the model"),
    Setting("doc", "text", "", doc="what it is, in a line"),
)


def scalar_outputs(model: Model) -> dict[str, Output]:
    """Every number the model gives, where a study asks for none by name."""
    return {q.name: Output(q.name, q.name, q.unit, doc=q.doc) for q in model.quantities.values() if not q.curve}


def read_outputs(tables: Mapping[str, Any], model: Model, note: Note) -> dict[str, Output]:
    """Read [outputs.NAME], noting what is wrong."""
    outputs = {}
    for name, table in named_tables(tables, "outputs", note):
        path: KeyPath = ("outputs", name)
        doc = check_table(OUTPUT, table, path, note)["doc"]
        quantity_name = table.get("quantity", name)
        quantity = model.quantities.get(quantity_name) if isinstance(quantity_name, str) else None
        if quantity is None:
            near = did_you_mean(str(quantity_name), model.quantities)
            blamed = (*path, "quantity") if "quantity" in table else path
            note(blamed, f"model {model.kind} has no quantity {shown(quantity_name)}; {near}")
            continue
        unit = display_unit(table, quantity.unit, path, note) or quantity.unit
        reduce = _reduce(table, quantity, path, note)
        places = _places(table, quantity, model, path, note)
        start, stop = places.get("from"), places.get("to")
        if reduce == "at" and "at" not in table:
            note(path, 'reduce = "at" needs the place: at = ...')
        if reduce != "at" and "at" in table:
            note((*path, "at"), 'goes with reduce = "at"')
        if reduce == "at" and ("from" in table or "to" in table):
            note(path, 'reduce = "at" takes no window from/to')
        if start is not None and stop is not None and not start < stop:
            note((*path, "to"), "must lie beyond from")
        window = places.get("window")
        if window is not None and window <= 0:
            note((*path, "window"), "must be above 0")
        if window is not None and reduce not in EXTREMES:
            note((*path, "window"), f"goes with reduce = {', '.join(EXTREMES)}")
        outputs[name] = Output(name, quantity.name, unit, reduce, places.get("at"), start, stop, doc, window)
    return outputs


def _reduce(table: Mapping[str, Any], quantity: Quantity, path: KeyPath, note: Note) -> str | None:
    reduce = table.get("reduce")
    if not quantity.curve:
        for key in ("reduce", "at", "from", "to", "window"):
            if key in table:
                note((*path, key), f"`{quantity.name}` is one number already")
        return None
    if reduce not in REDUCTIONS:
        complaint = "missing" if reduce is None else f"{shown(reduce)} is not known"
        blamed = path if reduce is None else (*path, "reduce")
        note(blamed, f"reduce: {complaint}: the curve `{quantity.name}` takes one of {', '.join(REDUCTIONS)}")
        return None
    return str(reduce)


def _places(table: Mapping[str, Any], quantity: Quantity, model: Model, path: KeyPath, note: Note) -> dict[str, float]:
    """Read the places on the curve's axis and the length of a window there, in SI."""
    places: dict[str, float] = {}
    for key in ("at", "from", "to", "window"):
        if key not in table or not quantity.curve:
            continue
        if quantity.axis is None:
            note((*path, key), f"`{quantity.name}` is an axis and has no places")
            continue
        try:
            places[key] = parse_quantity(table[key], model.quantities[quantity.axis].unit)
        except InputError as fault:
            note((*path, key), str(fault))
    return places
