"""What tests of calibrations start from: surrogates with their data, and posteriors read back."""

from __future__ import annotations

import pytest
from tests.cli.calibrations import IMPACT, known

from percuss.calibration.records import load_posterior
from percuss.ledger.ledger import Ledger
from percuss.session import Session


@pytest.fixture
def linear(percuss, folder, once) -> str:
    """A surrogate of the linear-Gaussian study; `@last:surrogate` is the same."""
    known(folder, "linear-gaussian")

    def make() -> None:
        campaign = percuss("run", percuss("design", "linear-gaussian", "--n", 16, "--skip", 1).id).id
        assert percuss("surrogate", campaign, "--degree", "1..2", "--bootstrap", 0).id

    once("linear-gaussian", make)
    return "@last:surrogate"


@pytest.fixture
def kinked(percuss, folder, once) -> str:
    """A poor surrogate (low degrees) of the kinked impact function, and data at speed 2 m/s, gap 300 mm."""
    path = folder / "studies" / "kinked"
    path.mkdir(parents=True)
    (path / "measured.csv").write_text("rest_position [mm],rest_time [ms]\n180.2,522.7\n")
    (path / "study.toml").write_text(IMPACT)

    def make() -> None:
        campaign = percuss("run", percuss("design", "kinked", "--n", 24, "--skip", 1, "--curves").id).id
        poor = ("--family", "chaos", "--degree", "1..3", "--accept", "skill")
        (folder / "surrogate").write_text(percuss("surrogate", campaign, *poor, "--bootstrap", 10).id)

    once("kinked", make)
    return (folder / "surrogate").read_text()


@pytest.fixture
def posterior(folder):
    """A posterior of the ledger."""

    def load(id: str, ledger: str = "ledger"):  # type: ignore[no-untyped-def]
        session = Session(Ledger.open(folder / ledger))
        return load_posterior(session, session.event(id))

    return load
