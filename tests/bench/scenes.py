"""The block wall: what everything around the core costs, and what a kept state of rest saves."""

from __future__ import annotations

from pathlib import Path

from tests.bench.measure import Line, best

from percuss.scene import Record
from percuss.study.load import load_study

STUDY = Path(__file__).parents[2] / "studies" / "block-wall"


def bench() -> list[Line]:
    """Both, on a tenth of a second of the fast case."""
    study = load_study(STUDY)
    model = study.model()
    point = study.point("fast", {"mu_block": 0.45, "mu_ground": 0.45, "e": 0.2})
    settings = {**study.settings, "duration": 0.1}
    model = type(model)(model.inputs, model.quantities, settings=settings)  # type: ignore[call-arg]
    experiment = model.experiment(point)  # type: ignore[attr-defined]
    state, _ = experiment.settled()

    def core() -> None:
        world = experiment.scene.world(experiment.settings)
        world.start_from(state)
        world.run(experiment.duration_s, Record(energy_every=0, steps_every=0))

    whole, bare, settling = best(
        5,
        lambda: model.run_from([point], [0], [state]),  # type: ignore[attr-defined]
        core,
        lambda: model.run([point], [0]),
    )
    steps = round(experiment.duration_s / experiment.settings.dt_s)
    return [
        Line(
            "a run of the block wall, against the core alone", f"{whole / steps * 1e6:.0f} us a step", whole / bare, 1.5
        ),
        Line(
            "a run from a kept state of rest", f"{whole * 1e3:.0f} ms / {settling * 1e3:.0f} ms", whole / settling, 1.1
        ),
    ]
