"""docs/calibration.md names every sampler, discrepancy and kernel there is, and what events hold."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from percuss.inference.discrepancies.correlated import KERNELS
from percuss.inference.discrepancies.registry import DISCREPANCIES, discrepancy_class
from percuss.inference.samplers.registry import SAMPLERS
from percuss.kinds.table import KINDS

TEXT = (Path(__file__).parents[3] / "docs" / "calibration.md").read_text()


def test_tables_are_complete() -> None:
    for name in (*SAMPLERS, *DISCREPANCIES, *KERNELS):
        assert f"`{name}`" in TEXT, name
    for kind in DISCREPANCIES:
        made = discrepancy_class(kind)
        of_the_class = {item.name: item.default for item in fields(made)}
        for name, setting in made.settings.items():
            assert f"`{name}`" in TEXT, name
            assert setting.default is None or name == "std" or setting.default == of_the_class[name], name
    for kind in ("observations.imported", "posterior.sampled", "prediction.made", "comparison.made"):
        assert f"### `{kind}`" in TEXT
        for item in fields(KINDS[kind].body):
            assert f"`{item.name}`" in TEXT or kind == "observations.imported", item.name
