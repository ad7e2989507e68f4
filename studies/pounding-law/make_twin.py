"""A twin of two frames with a pad between them that follows Hertz with damping (law `hertz-damp`).

    python make_twin.py [SEED]          # 5 by default; writes observations/pad.csv

The event-located integrator of percuss gives the motion of the study with another law; displacements get noise of
0.1 mm. Needs percuss installed.
"""

import sys
from pathlib import Path

import numpy as np

STIFFNESS, RESTITUTION, NOISE_M = "4e5 N/m^1.5", 0.6, 1e-4
HERE = Path(__file__).parent


def motion(law: str, stiffness: str, restitution: float, **values: object) -> dict[str, np.ndarray]:
    """Curves of the study's frames with this law."""
    from percuss.study.load import load_study

    study = load_study(HERE)
    point = study.point(None, {"law": law, "stiffness": stiffness, "restitution": restitution, **values})
    return study.model().run([point], [0])[0].curves


def main(seed: int, folder: Path) -> None:
    """Displacements of both frames."""
    random = np.random.default_rng(seed)
    curves = motion("hertz-damp", STIFFNESS, RESTITUTION)
    noisy = np.stack([curves["u1"], curves["u2"]], axis=1)
    noisy = noisy + NOISE_M * random.standard_normal(noisy.shape)
    rows = (f"{t:.3f},{x:.6g},{y:.6g}" for t, (x, y) in zip(curves["t"], noisy, strict=True))
    (folder / "pad.csv").write_text("\n".join(["t_s,u1_m,u2_m", *rows, ""]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, HERE / "observations")
