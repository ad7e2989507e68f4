"""Twins of the frames that pound, for benchmarks: a surrogate of the study, and data of the simulator itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from percuss.ledger.ledger import Ledger
from percuss.session import Session
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.surrogates.surrogate import Surrogate, load_surrogate

STUDY = Path(__file__).parents[2] / "studies" / "pounding-twin"


def _percuss(*words: str) -> str:
    """The id that a command appended."""
    call = [sys.executable, "-m", "percuss", *words]
    return subprocess.run(call, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()


def pounding(points: int, *options: str) -> tuple[Study, Surrogate]:
    """The study, and a surrogate of it fitted to so many points."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = ("--ledger", f"{folder}/ledger")
        design = _percuss("design", str(STUDY), "--n", str(points), "--skip", "1", *ledger)
        campaign = _percuss("run", design, *ledger)
        event = _percuss("surrogate", campaign, *options, *ledger)
        session = Session(Ledger.open(Path(folder) / "ledger"))
        found = load_surrogate(session, session.event(event))
        return load_study(STUDY), found


def changed(change: Mapping[str, str]) -> Study:
    """The study with other text in its file: a simulator that is not the one calibrated."""
    text = (STUDY / "study.toml").read_text()
    for old, new in change.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pounding-twin"
        shutil.copytree(STUDY / "observations", path / "observations")
        (path / "study.toml").write_text(text)
        return load_study(path)


def simulate(study: Study, outputs: Sequence[tuple[str, str]], quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """The simulator's (case, output) at these quantiles of the priors."""
    truth = {
        name: float(item.prior.ppf(u)) for (name, item), u in zip(study.parameters.items(), quantiles, strict=True)
    }
    found = {}
    for case in study.cases:
        (run,) = study.model().run([study.point(case, truth)], [0])
        found |= {(case, output): value for output, value in study.evaluate(run.values, run.curves).items()}
    return np.array([found[pair] for pair in outputs])
