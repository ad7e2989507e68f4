"""By how much errors of surrogates grew is part of a posterior: it is not asked again, and older ones have none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from percuss.calibration import surrogate_errors
from percuss.calibration.problem import load_problem
from percuss.errors import LedgerError


def test_growths_are_taken_from_the_event(ledger, monkeypatch) -> None:
    campaign = ledger.run(ledger.design("pounding-twin", n=32, skip=1))
    surrogate = ledger.surrogate(campaign, family="chaos", degree="1..2", bootstrap=0)
    posterior = ledger.calibrate(surrogate, block="all")
    (growth,) = posterior.body.growths
    assert growth >= 1.0 and any(verdict.gate == "twins" for verdict in posterior.trust)

    asked = []
    monkeypatch.setattr(surrogate_errors, "_left_out", asked.append)
    event, session = posterior.event, ledger.session
    read = load_problem(session, event)
    assert read.growths == (growth,) and not asked

    body = json.loads(event.body)
    other = replace(event, body=json.dumps(body | {"growths": [2 * growth]}))
    doubled = load_problem(session, other)
    (scales,), (wider,) = ([e.scales for e in p.likelihood.errors.values()] for p in (read, doubled))
    assert (wider == 2 * scales).all()

    before = {key: value for key, value in body.items() if key != "growths"}
    older = load_problem(session, replace(event, body=json.dumps(before)))
    assert older.growths is None and older.left_out == () and not asked

    for growths in ([1.0, 1.0], [-1.0], [0.0]):
        with pytest.raises(LedgerError, match="are not one for each surrogate, above 0"):
            load_problem(session, replace(event, body=json.dumps(body | {"growths": growths})))
