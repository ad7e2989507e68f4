"""An installed package adds models, priors, samplers, families, sections, kinds and commands; without it we say so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[1] / "plugin"
STUDY = """
[model]
kind = "pendulum"

[parameters.length]
unit = "cm"
prior = { kind = "raised-cosine", low = 80, high = 120 }

[timing]
tolerance = "50 ms"

[observations]
file = "timed.csv"
std = { period = "10 ms" }

[calibration.clock]
sampler = "patient-metropolis"
"""
Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the plugin is installed, by pip as anybody would."""
    where = tmp_path_factory.mktemp("site")
    call = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    source = tmp_path_factory.mktemp("source") / "plugin"
    subprocess.run(["cp", "-r", str(PLUGIN), str(source)], check=True)
    subprocess.run([*call, "--target", str(where), str(source)], check=True, capture_output=True)
    return where


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the study of a pendulum clock."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "studies" / "clock"
    path.mkdir(parents=True)
    (path / "study.toml").write_text(STUDY)
    (path / "timed.csv").write_text("period [s]\n2.01\n")
    return tmp_path


@pytest.fixture
def with_plugin(site: Path) -> Call:
    """percuss where the plugin is installed."""
    return lambda *words: _percuss(site, *words)


@pytest.fixture
def without() -> Call:
    """percuss where it is not."""
    return lambda *words: _percuss(None, *words)


def _percuss(site: Path | None, *words: object) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(site) if site else ""]))
    call = [sys.executable, "-m", "percuss", *map(str, words)]
    return subprocess.run(call, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


def test_a_plugin_adds_one_of_everything(with_plugin: Call, without: Call, clock: Path) -> None:
    said = with_plugin("--help")
    assert "time-pendulum" in said.stdout
    assert with_plugin("study", "check", "clock").returncode == 0
    assert "percuss-pendulum 0.3.0" in with_plugin("models").stdout
    assert "amplitude of the swing" in with_plugin("study", "show", "clock").stdout
    design = with_plugin("design", "clock", "--n", 24, "--skip", 1).stdout.strip()
    campaign = with_plugin("run", design).stdout.strip()
    fitted = with_plugin("surrogate", campaign, "--family", "low-degree", "--bootstrap", 0)
    assert fitted.returncode == 0, fitted.stderr
    posterior = with_plugin("calibrate", fitted.stdout.strip())
    assert posterior.returncode == 0, posterior.stderr
    event = json.loads(with_plugin("show", posterior.stdout.strip(), "--json").stdout)
    assert event["body"]["sampler"] == "patient-metropolis"
    assert "percuss-pendulum 0.3.0" in event["software"]["version"]
    timed = with_plugin("time-pendulum", "clock").stdout.strip()
    assert json.loads(with_plugin("show", timed, "--json").stdout)["kind"] == "period.timed"
    assert " s" in with_plugin("log", "--kind", "period").stdout
    whole = with_plugin("audit", "--rerun", 1)
    assert whole.returncode == 0, whole.stdout
    facts = json.loads(with_plugin("doctor", "--json").stdout)
    assert facts["plugin.percuss-pendulum 0.3.0"].startswith("commands time-pendulum, families low-degree")

    # On a machine without it: kept, told, and not called broken.
    elsewhere = without("audit", "--rerun", 2)
    assert elsewhere.returncode == 0, elsewhere.stdout
    assert (
        "cannot be repeated here: prior field `kind`: unknown kind 'raised-cosine' (made with percuss-pendulum 0.3.0)"
        in (elsewhere.stdout)
    )
    assert "BROKEN" not in elsewhere.stdout
    assert "re-execution  - " in elsewhere.stdout
    assert "events of kind period.timed (version 1) are unknown to this percuss" in without("log").stderr
    refused = without("design", "clock", "--n", 4)
    assert refused.returncode == 2
    assert "unknown model kind" in refused.stderr
    assert without("time-pendulum", "clock").returncode == 2


def test_the_plugin_keeps_the_contracts(site: Path, tmp_path: Path) -> None:
    script = """
from percuss.study.priors.registry import read_prior
from percuss.testing import check_family, check_model, check_prior, check_sampler

check_model("pendulum", {}, [{"length": 1.0, "angle": 0.5}, {"length": 2.0, "angle": 3.19}])
check_prior(read_prior({"kind": "raised-cosine", "low": 1, "high": 3}, "1"))
check_family("low-degree")
check_sampler("patient-metropolis")
"""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(site)]))
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_plugin_that_cannot_be_loaded_is_told(site: Path, tmp_path: Path, clock: Path) -> None:
    broken = tmp_path / "broken"
    subprocess.run(["cp", "-r", str(site), str(broken)], check=True)
    (broken / "percuss_pendulum" / "prior.py").write_text("import no_such_module\n")
    said = _percuss(broken, "study", "check", "clock")
    assert said.returncode == 2
    assert "plugin percuss-pendulum 0.3.0: percuss_pendulum.prior:RaisedCosine cannot be loaded" in said.stderr
    # What does not need it goes on.
    assert _percuss(broken, "--help").returncode == 0


def test_a_plugin_cannot_take_a_name_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from percuss import plugins
    from percuss.models.model import MODELS, all_models

    other = plugins.Plugin("percuss.models", "scene", "elsewhere.scene", "elsewhere", "1")
    monkeypatch.setattr(plugins, "installed", lambda: (other,))
    assert all_models()["scene"] is MODELS["scene"]
    assert MODELS["scene"].module == "percuss.models.scene"
