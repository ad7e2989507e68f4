"""Uncertain bodies: exact draws of tensors, and the realisations of the five-body linkage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.bench.measure import Line, best

from percuss._core import KummerBeta
from percuss.designs.registry import make_design
from percuss.study.load import load_study

STUDY = Path(__file__).parents[2] / "studies" / "uncertain-linkage"
DRAWS = 50_000
REALISATIONS = 500


def bench() -> list[Line]:
    """Draws against two microseconds each, realisations against two seconds for 500, one thread."""
    keys = np.random.default_rng(1).random((DRAWS, 6))
    lines = []
    for ratios in ((3.0, 3.0, 3.0), (9.0, 9.0, 9.0), (2.0, 3.0, 5.0)):
        law = KummerBeta((0.0,) * 6, (*ratios, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 0.0, 0.0, 0.0), -5.0, -5.0)
        (time,) = best(5, lambda law=law: law.draw(1, keys))  # type: ignore[misc]
        name = ", ".join(f"{ratio:g}" for ratio in ratios)
        each = time / DRAWS
        lines.append(Line(f"exact draws below {name} times the mean", f"{each * 1e6:.2f} us a draw", each / 2e-6, 1.0))
    study = load_study(STUDY)
    design = make_design(study, "monte-carlo", REALISATIONS, 1)
    points = [study.point("all", dict(zip(design.names, row, strict=True))) for row in design.values.tolist()]
    model = study.model()
    (time,) = best(3, lambda: model.run(points, [0] * REALISATIONS))
    lines.append(Line(f"{REALISATIONS} realisations of the five bodies", f"{time:.2f} s", time / 2.0, 1.0))
    return lines
