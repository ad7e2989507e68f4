"""Data groups of a block: which observations belong together, and the discrepancy they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.calibration.channels import Histories, check_dense
from percuss.errors import InputError
from percuss.inference.discrepancies.discrepancy import Discrepancy, Unknown, hold
from percuss.inference.discrepancies.model_error import INSTANT
from percuss.inference.discrepancies.registry import discrepancy_class
from percuss.inference.likelihood import Group
from percuss.inference.specimens import NEW, Specimen, of_specimen
from percuss.settings import KeyPath, Note, check_table, in_units
from percuss.study.calibration import Block, DataGroup, Specimens
from percuss.study.faults import dotted
from percuss.study.output import Output
from percuss.study.priors.inferred import read_inferred
from percuss.study.priors.prior import Prior, PriorError
from percuss.study.priors.registry import read_prior
from percuss.study.study import Study
from percuss.units import same_dimension

if TYPE_CHECKING:
    import polars as pl

DEFAULT_KIND = "gaussian"
# Of spreads, in standard deviations of the parameter's prior: few populations are wider than what is held possible.
HALF_NORMAL = {"kind": "truncated-normal", "mean": 0.0, "std": 1.0, "low": 0.0}
# Least error of a datum, as a part of its size. Nothing about a structure is measured to nine digits, and no simulator
# is solved to more.
LEAST_ERROR = 1e-9
# Of (case, output): the name of the forward model that has it, and its column there.
Find = Callable[[str, str], tuple[str, int]]
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Grouped:
    """Groups of the likelihood, their data as a table in the same order, and units of what is to be inferred."""

    groups: tuple[Group, ...]
    data: pl.DataFrame
    units: Mapping[str, str]


def make_groups(
    study: Study, block: Block, observations: pl.DataFrame, find: Find, histories: Histories | None = None
) -> Grouped:
    """Put every observation a block takes into its group; samples of curves are read as `histories` have them."""
    import polars as pl

    groups: list[Group] = []
    rows: list[dict[str, Any]] = []
    units: dict[str, str] = {}
    taken: dict[int, str] = {}
    entries = observations.to_dicts()
    for data_group in block.groups:
        chosen = [entry for entry in entries if data_group.takes(entry["output"], entry["case"], entry["point"])]
        if not chosen:
            raise InputError(f"calibration {block.name}: no observation belongs to the group {data_group.name}")
        for entry in chosen:
            if (other := taken.setdefault(entry["entry"], data_group.name)) != data_group.name:
                raise InputError(
                    f"calibration {block.name}: output {entry['output']} of case {entry['case']} is in the groups "
                    f"{other} and {data_group.name}: a datum counts once"
                )
        by = [entry[data_group.by] if data_group.by else None for entry in chosen]
        for name, shared in _split(chosen, by, data_group.name):
            made = _Maker(study, data_group, name, shared, units, block.specimens.by if block.specimens else None)
            for inner, series in _split(shared, [made.series(entry, find) for entry in shared], name):
                reading = None
                if histories and series[0]["output"] not in study.outputs:
                    series, reading, forward, outputs = histories.see(series, made.discrepancy(series))
                    units.update(dict.fromkeys((u.name for u in reading.unknowns()), "1"))
                    units.update({u.name: made.axis_unit() for u in reading.unknowns() if u is reading.delay})
                else:
                    places = [find(entry["case"], entry["output"]) for entry in series]
                    forward, outputs = places[0][0], [column for _, column in places]
                discrepancy = made.discrepancy(series)
                check_dense(discrepancy, len(series), inner)
                related = made.related(series[0], find) if discrepancy.systematic else {}
                groups.append(
                    Group(
                        inner,
                        np.array([entry["value"] for entry in series]),
                        np.array(outputs),
                        discrepancy,
                        of_specimen(forward, str(series[0].get(made.apart))) if made.apart else forward,
                        np.array([entry["std"] or 0.0 for entry in series]) if block.measurement_error else 0.0,
                        reading,
                        tuple(related.values()),
                    )
                )
                rows += [{**entry, "group": inner} for entry in series]
    return Grouped(tuple(groups), pl.DataFrame(rows, {**observations.schema, "group": pl.String()}), units)


def spread_prior(specimens: Specimens) -> Prior:
    """The prior of the spread of a population: positive."""
    try:
        prior = read_prior(specimens.spread or HALF_NORMAL, "1")
    except PriorError as fault:
        raise InputError(str(fault)) from None
    if prior.support()[0] < 0:
        raise InputError(
            f"a spread cannot be below 0, but its {prior.kind} prior reaches down to {prior.support()[0]!r}"
        )
    return prior


def name_specimens(study: Study, block: Block, data: Sequence[Entry]) -> dict[str, Specimen]:
    """The specimens of the data of a block, and one that was not measured; none where parameters do not differ."""
    plan = block.specimens
    if plan is None:
        return {}
    names = list(dict.fromkeys(entry.get(plan.by) for entry in data))
    if None in names or len(names) < 2:
        raise InputError(
            f"calibration {block.name}: specimens are distinguished by {plan.by}, and "
            + ("some data have none" if None in names else f"all data are of {names[0]}"),
            hint='a column specimen in the observations, or specimens = { by = "case" }',
        )
    priors = {name: item.prior for name, item in study.parameters.items()}
    spreads = dict.fromkeys(plan.population, spread_prior(plan))
    return {str(name): Specimen(str(name), priors, plan.free, spreads) for name in (*names, NEW)}


def taken_by(block: Block, observations: pl.DataFrame) -> pl.DataFrame:
    """The observations that a block takes."""
    taken = [
        any(group.takes(output, case, point) for group in block.groups)
        for output, case, point in observations.select("output", "case", "point").rows()
    ]
    return observations.filter(taken)


def exact_data(block: Block, groups: Sequence[Group], data: pl.DataFrame, where: str) -> pl.DataFrame:
    """The entries that neither a measurement nor a discrepancy gives an error: none, unless the block asks for such.
    An error that is next to nothing beside the datum counts as none.

    Raises InputError where it does not ask: the surrogate's error alone would stand for that of the measurement, and a
    posterior far too narrow would look like knowledge.
    """
    masks = [
        np.zeros(len(group.observed), bool)
        if isinstance(group.discrepancy.std, Unknown)
        else np.hypot(group.discrepancy.std, group.measurement_std) <= LEAST_ERROR * np.abs(group.observed)
        for group in groups
    ]
    exact = data.filter(np.concatenate(masks))
    if exact.height and not block.noise_free:
        pairs = list(dict.fromkeys(f"{case}/{output}" for case, output in exact.select("case", "output").rows()))
        named = ", ".join(pairs[:3]) + (", ..." if len(pairs) > 3 else "")
        why = "have no std above 0" if block.measurement_error else "lose their std by measurement_error = false"
        if block.measurement_error and (exact["std"].fill_null(0.0) > 0).all():
            why = f"have a std of at most {LEAST_ERROR:g} of their own size, which no measurement has"
        raise InputError(
            f"calibration {block.name}, group {exact['group'][0]}: {exact.height} data of {where} ({named}) {why}, and "
            "their discrepancy has none: give the data a std, infer one with discrepancy = { std = { prior = ... } }, "
            "or ask for data without error with noise_free = true"
        )
    return exact


def _split(entries: Sequence[Entry], keys: Sequence[object], name: str) -> list[tuple[str, list[Entry]]]:
    """Entries by key, in order of appearance; named after the key where there are several."""
    entries_by_key: dict[object, list[Entry]] = {}
    for entry, key in zip(entries, keys, strict=True):
        entries_by_key.setdefault(key, []).append(entry)
    if len(entries_by_key) == 1:
        return [(name, list(entries))]
    return [(f"{name}/{_word(value)}", members) for value, members in entries_by_key.items()]


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return "/".join(str(part) for part in value if part is not None)
    return "-" if value is None else str(value)


def read_fields(
    kind: type[Discrepancy], table: Mapping[str, Any], units: Mapping[str, str], group: str, path: KeyPath, note: Note
) -> dict[str, Any]:
    """What a study says of a discrepancy: numbers in SI, or unknowns, which are the group's where they have no name of
    their own. `units` are those of the group's outputs and of the axis; what has faults, which are noted, is left out.
    """
    schema = in_units(kind.settings, units)
    written = {key: value for key, value in table.items() if key != "kind"}
    known = check_table(schema, written, path, note)
    made: dict[str, Any] = {}
    for key, value in known.items():
        if not isinstance(value, Mapping):
            made[key] = value
        elif prior := read_inferred(value, schema[key].unit, (*path, key), note):
            made[key] = Unknown(value.get("name", f"{key}_{group}"), prior)
            try:
                hold(schema[key], made[key])
            except InputError as fault:
                note((*path, key), str(fault))
    return made


def _refuse(path: KeyPath, message: str) -> None:
    raise InputError(f"`{dotted(path)}`: {message}")


@dataclass(frozen=True)
class _Maker:
    """Makes the discrepancy of a group; what it leaves to be inferred is named after `name`."""

    study: Study
    data_group: DataGroup
    name: str
    entries: list[Entry]
    units: dict[str, str]
    apart: str | None = None

    @property
    def kind(self) -> type[Discrepancy]:
        return discrepancy_class(self.data_group.discrepancy.get("kind", DEFAULT_KIND))

    def series(self, entry: Entry, find: Find) -> object:
        """What must not stand in one group; data of two specimens do not either."""
        own = self._series(entry, find)
        return (own, entry.get(self.apart)) if self.apart else own

    def _series(self, entry: Entry, find: Find) -> object:
        """What must not stand in one group: data of two forward models; if correlated, or samples of a curve, of two
        time histories.
        """
        history = entry["case"], self._output(entry).quantity, entry["point"]
        if entry["output"] not in self.study.outputs:
            return history
        forward = find(entry["case"], entry["output"])[0]
        if self.over != INSTANT:
            return forward, entry["output"], entry["point"]
        return forward if self.kind.independent else (forward, *history)

    @property
    def over(self) -> str:
        """The control variable that errors are correlated along: instants, or an input that the cases set."""
        return str(self.data_group.discrepancy.get("over", INSTANT))

    def related(self, entry: Entry, find: Find) -> dict[tuple[str, str], tuple[int, float]]:
        """Outputs that have the error of the model in common with an entry: column and place by case and output."""
        pairs = [
            (case, name)
            for case in (self.study.cases if self.over != INSTANT else [entry["case"]])
            for name, output in self.study.outputs.items()
            if (name == entry["output"] if self.over != INSTANT else output.at is not None)
            and output.quantity == self._output(entry).quantity
        ]
        forward = find(entry["case"], entry["output"])[0]
        related = {}
        for case, name in pairs:
            try:
                own, column = find(case, name)
            except InputError:
                continue  # no surrogate has it
            if own == forward:
                place = self.study.outputs[name].at if self.over == INSTANT else self._control(case)
                related[case, name] = (column, float(place or 0.0))
        return related

    def _control(self, case: str) -> float:
        """The value of the control variable in a case."""
        value = {**self.study.fixed, **self.study.cases[case]}.get(self.over)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"over = {self.over!r}: case {case} sets no number of that name")
        return float(value)

    def discrepancy(self, series: list[Entry]) -> Discrepancy:
        """The discrepancy of the entries of one series."""
        try:
            made = self._fields(series)
            if not self.kind.independent:
                made["places"] = self._places(series)
            return self.kind(**made)
        except InputError as fault:
            raise InputError(f"group {self.name}: {fault}", hint=fault.hint) from None

    def _fields(self, series: list[Entry]) -> dict[str, Any]:
        """What the study says, in the units of the series; a std that is not inferred is one for each entry where
        outputs are read in several units.
        """
        table = self.data_group.discrepancy
        inferred = isinstance(table.get("std"), Mapping)
        own = [self._one_unit()] if inferred else [self._output(entry).unit for entry in series]
        made = {}
        for unit in dict.fromkeys(own):
            units = {"output": unit, "axis": self.axis_unit()}
            made[unit] = read_fields(self.kind, table, units, self.name, (), _refuse)
        fields = made[own[0]]
        for key, value in fields.items():
            if isinstance(value, Unknown):
                self.units[value.name] = in_units(self.kind.settings, units)[key].unit
        if not inferred:
            stds = np.array([made[unit]["std"] for unit in own])
            fields["std"] = float(stds[0]) if (stds == stds[0]).all() else stds
        return fields

    def _one_unit(self) -> str:
        """The unit of the group's outputs, which must have one dimension."""
        units = [self._output(entry).unit for entry in self.entries]
        for other in units:
            if not same_dimension(other, units[0]):
                raise InputError(
                    f"one std is inferred for outputs in {units[0]} and in {other}",
                    hint='split the group: by = "output", or groups of their own',
                )
        return units[0]

    def axis_unit(self) -> str:
        """The unit of the axis along which the data were taken."""
        if self.over != INSTANT:
            return self.study.model().inputs[self.over].unit or "1"
        quantities = self.study.model().quantities
        axis = quantities[self._output(self.entries[0]).quantity].axis
        return quantities[axis].unit if axis else "s"

    def _places(self, series: list[Entry]) -> np.ndarray:
        if self.over != INSTANT:
            return np.array([self._control(entry["case"]) for entry in series])
        for entry in series:
            if entry["instant"] is None:
                raise InputError(
                    f"output {entry['output']} has no instant, which correlated errors need",
                    hint="give the observations a column instant, or take an output with `at`",
                )
        return np.array([entry["instant"] for entry in series])

    def _output(self, entry: Entry) -> Output:
        return self.study.observable(entry["output"])
