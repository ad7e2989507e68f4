"""percuss from Python: the same operations as the commands, results as objects, in the units of the study."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import percuss
from percuss.errors import InputError
from percuss.session import Lines


def test_from_a_study_to_a_posterior_and_a_page(ledger, studies) -> None:
    design = ledger.design("linear-gaussian", n=16, skip=1)
    campaign = ledger.run(design)
    assert campaign.runs().height == 16
    assert campaign.design.id == design.id
    surrogate = ledger.surrogate(campaign, degree="1..2", bootstrap=0)
    assert not surrogate.failed
    posterior = ledger.calibrate(surrogate)
    assert posterior.converged
    summary = posterior.summary()
    draws = posterior.draws()
    assert (summary["mean_error"] < summary["std"]).all() and (summary["low_error"] > 0).all()
    np.testing.assert_allclose(summary["mean"], [draws["x1"].mean(), draws["x2"].mean()], rtol=1e-12)
    prediction = ledger.predict(posterior, draws=50)
    assert prediction.table("outputs").height == 6
    page = ledger.report(prediction)
    assert "Posterior (exact)" in page.sections
    assert page._repr_html_().startswith("<iframe")
    assert page.write("page.html") == Path("page.html")
    assert ledger.lineage(prediction)[0].kind == "study.registered"
    picture = ledger.plot(posterior)
    assert picture._repr_svg_().startswith("<?xml") and picture.write("posterior.png").stat().st_size > 10_000
    audited = ledger.audit(rerun=1)
    assert audited.holds and re.fullmatch(r"<audit of \d+ events, holds; whole: .*; repeated: .*>", repr(audited))
    again, other = ledger.reproduce(posterior), ledger.calibrate(surrogate, seed=1)
    assert repr(again).endswith("same bits>") and repr(again).count("\n") == 0
    assert repr(ledger.diff(posterior, other)).endswith("differ in settings, results>")
    assert ledger.log(kind="posterior")["id"].to_list() == [posterior.id, other.id]
    tried = ledger.trust(surrogate, twins=20, quick=True, seed=1)
    assert not tried.failed and "Tried on twins" in ledger.report(tried).sections


def test_what_python_makes_the_commands_read_and_the_other_way_round(ledger, percuss, studies) -> None:
    design = ledger.design("ishigami", n=8, skip=1)
    campaign = percuss("run", design.id).id
    with pytest.raises(Exception, match="there is none in the ledger"):
        ledger[campaign]
    assert ledger.refresh()[campaign].runs().height == 8
    assert json.loads(percuss("show", design.id, "--json").out)["argv"] == ["percuss", "python"]


def test_errors_name_arguments_and_commands_options(ledger, percuss, studies) -> None:
    campaign = ledger.run(ledger.design("ishigami", n=8, skip=1))
    with pytest.raises(InputError, match=r"^method expansion: works on a surrogate"):
        ledger.sensitivity(campaign, method="expansion")
    percuss("sensitivity", campaign.id, "--method", "expansion").refused(2, "error: --method expansion: works on")


def test_tables_are_in_the_units_of_the_study(ledger) -> None:
    run = ledger.simulate("pounding-twin", "release-50mm", gap="21 mm")
    study = run.study
    assert study.parameters["gap"].unit == "mm"
    assert run.runs()["gap"].to_list() == pytest.approx([21.0])
    outputs = run.outputs()
    stored = run.table("runs").row(0, named=True)
    for name, output in study.outputs.items():
        factor = 1000.0 if output.unit == "mm" else 1.0
        if output.unit in ("mm", "m", "1"):
            assert outputs[name] == pytest.approx(factor * stored[name])
    curves = run.curves("u2")
    assert curves.columns == ["case", "sample", "t", "u2"]


def test_curves_of_a_whole_campaign_are_one_table(ledger) -> None:
    """Whether or not the runs kept them."""
    kept = ledger.run(ledger.design("sliding-block", n=3, curves=True)).curves("block_ux")
    again = ledger.run(ledger.design("sliding-block", n=3)).curves("block_ux")
    assert kept.columns == ["case", "sample", "t", "block_ux"]
    assert kept["sample"].n_unique() == 3
    assert kept.equals(again)
    with pytest.raises(percuss_error(), match="curve block_uy2: no such curve of the model"):
        ledger["@last:campaign"].curves("block_uy2")


def percuss_error() -> type[Exception]:
    import percuss

    return percuss.InputError


def test_a_surrogate_is_called_like_its_model(ledger) -> None:
    @percuss.model(inputs={"height": {"unit": "m", "low": 0.0}}, outputs={"speed": "m/s"})
    def falling(height):
        return {"speed": (2 * 9.81 * height) ** 0.5}

    prior = {"kind": "uniform", "low": 100, "high": 200}
    study = percuss.make_study("falling", model=falling.model, parameters={"height": {"unit": "cm", "prior": prior}})
    surrogate = ledger.surrogate(ledger.run(ledger.design(study, n=24, skip=1)))
    at = np.array([120.0, 150.0])
    exact = np.sqrt(2 * 9.81 * at / 100)
    table = surrogate(height=at)
    np.testing.assert_allclose(table["base/speed"], exact, rtol=1e-9)
    np.testing.assert_array_equal(surrogate.value(pl.DataFrame({"height": at})), surrogate.value(at[:, None]))
    np.testing.assert_allclose(surrogate.gradient(height=at)[:, 0, 0], exact / (2 * at), rtol=1e-6)
    value, std = surrogate.predict(height=150.0)
    assert value.shape == std.shape == (1, 1)
    assert std[0, 0] >= 0
    assert surrogate.units == {"height": "cm", "base/speed": "m/s"}
    for wrong, words in [({}, "called with one table"), ({"heigth": 1.0}, "no value for the parameter height")]:
        with pytest.raises(percuss.InputError, match=words):
            surrogate(**wrong)
    with pytest.raises(percuss.InputError, match=r"points of shape \(2, 3\)"):
        surrogate(np.zeros((2, 3)))


def test_functions_that_fail_or_give_nonsense_are_failed_runs(ledger) -> None:
    @percuss.model(inputs={"x": "1"}, outputs={"y": "1"})
    def moody(x):
        if x < 0.25:
            raise ValueError("too small")
        if x < 0.5:
            return {"z": 1.0}
        return {"y": float("nan") if x < 0.75 else x}

    prior = {"kind": "uniform", "low": 0, "high": 1}
    study = percuss.make_study("moody", model=moody.model, parameters={"x": {"prior": prior}})
    campaign = ledger.run(ledger.design(study, n=8, skip=1))
    reasons = sorted({reason.partition(":")[0] for reason in campaign.failures()["failed"]})
    assert reasons == ["ValueError", "not finite", "wrong result"]
    with pytest.raises(percuss.AnswerIsNo, match="the run failed: ValueError: too small"):
        ledger.simulate(study, x=0.1)


def test_a_function_is_recorded_with_its_source_and_repeated_only_where_it_is(ledger) -> None:
    from percuss.models.function import FUNCTIONS

    @percuss.model(inputs={"x": "1"}, outputs={"y": "1"})
    def twice(x):
        return {"y": 2 * x}

    prior = {"kind": "uniform", "low": 0, "high": 1}
    study = percuss.make_study("twice", model=twice.model, parameters={"x": {"prior": prior}})
    run = ledger.run(ledger.design(study, n=4))
    assert 'return {"y": 2 * x}' in run.study.settings["source"]
    whole = ledger.audit(rerun=2)
    assert whole.holds
    known = FUNCTIONS.pop("twice")
    elsewhere = percuss.open_ledger("ledger", progress=False).audit(rerun=2)
    assert elsewhere.holds
    assert "cannot be repeated here" in elsewhere.proofs[-1].note
    FUNCTIONS["twice"] = known.__class__(
        known.name, known.call, known.source + "# edited\n", known.inputs, known.outputs
    )
    changed = percuss.open_ledger("ledger", progress=False)
    with pytest.raises(percuss.InputError, match="is another one here than that of the study"):
        changed.run(changed.design(study, n=2, seed=1))


def test_gates_are_data_here_too(ledger) -> None:
    campaign = ledger.run(ledger.design("ishigami", n=12, skip=1))
    with pytest.warns(percuss.NotTrusted, match="NOT TRUSTED: y, base: the surrogate misses"):
        poor = ledger.surrogate(campaign)
    with pytest.warns(percuss.NotTrusted, match="the surrogate misses"):
        assert ledger[poor.id].id == poor.id
    assert [verdict.gate for verdict in poor.failed] == ["skill"]
    with pytest.raises(percuss.AnswerIsNo, match="misses"):
        poor.checked()
    taken = percuss.open_ledger("ledger", accept=["skill"], progress=False)
    with warnings.catch_warnings(action="error"):
        assert not taken.surrogate(campaign.id).failed
    with pytest.raises(percuss.InputError, match="accept: skil is no gate"):
        percuss.open_ledger("ledger", accept=["skil"])


def test_progress_is_plain_lines() -> None:
    said: list[str] = []
    lines = Lines(said.append, every_s=0.0)
    with lines.progress("running", 4) as advance:
        advance(1, "3 runs/s")
        advance(3, "")
    assert said[0].startswith("running: 1 of 4, about ")
    assert said[0].endswith("left, 3 runs/s")
    assert not any("\x1b" in line or "\r" in line for line in said)


def test_studies_without_files_are_checked_like_others() -> None:
    with pytest.raises(percuss.InputError, match="unknown kind"):
        percuss.make_study(
            "x", model={"kind": "benchmark", "function": "ishigami"}, parameters={"x1": {"prior": {"kind": "unifrm"}}}
        )
    with pytest.raises(percuss.InputError, match="a name is text without slashes"):
        percuss.make_study("a/b", model={"kind": "benchmark", "function": "ishigami"})


def test_posteriors_for_arviz(ledger) -> None:
    surrogate = ledger.surrogate(ledger.run(ledger.design("linear-gaussian", n=16, skip=1)), degree="1..2", bootstrap=0)
    posterior = ledger.calibrate(surrogate)
    groups = posterior.groups(draws=400)
    wanted = {"posterior", "prior", "posterior_predictive", "prior_predictive", "log_likelihood", "observed_data"}
    assert wanted <= set(groups)
    chains, draws = groups["posterior"]["x1"].shape
    assert groups["log_likelihood"]["data"].shape == (chains, draws, 3)
    assert groups["posterior_predictive"]["data"].shape == (chains, draws, 3)
    # The pointwise densities add up to the likelihood that was sampled.
    every = posterior.body.chains * posterior.body.draws // max(400, posterior.body.chains**2)
    total = groups["log_likelihood"]["data"].sum(axis=2)
    stored = posterior.stored.log_likelihood[:, :: max(1, every)]
    np.testing.assert_allclose(total, stored, rtol=1e-6, atol=1e-6)
    predicted = groups["posterior_predictive"]["data"].reshape(-1, 3)
    assert (np.abs(predicted.mean(axis=0) - groups["observed_data"]["data"]) < 0.3).all()
    pytest.importorskip("arviz_base", reason="ArviZ is optional")
    tree = posterior.to_arviz(draws=200)
    assert "log_likelihood" in tree.children


def test_arviz_that_is_not_there_is_said_in_a_sentence(ledger, monkeypatch) -> None:
    surrogate = ledger.surrogate(ledger.run(ledger.design("linear-gaussian", n=16, skip=1)), degree="1..2", bootstrap=0)
    posterior = ledger.calibrate(surrogate)
    monkeypatch.setattr("percuss.api.posterior._module", lambda name: None)
    with pytest.raises(percuss.InputError, match="ArviZ is not installed"):
        posterior.to_arviz()
