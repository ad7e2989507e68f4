"""What events say of the call that made them, by commands and from Python, and the script that is written from it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def _event(percuss, reference: str) -> dict:  # type: ignore[no-untyped-def]
    return json.loads(percuss("show", reference, "--json").out)


def test_arguments_are_resolved_with_defaults(percuss, folder) -> None:
    design = percuss("design", "ishigami", "--n", 16, "--skip", 1).id
    campaign = percuss("run", "-", stdin=design[:20]).id
    percuss("surrogate", "@last", "--degree", "1..2", "--bootstrap", 3, "--accept", "skill")
    runs, closing, fit = (_event(percuss, f"@last:{kind}") for kind in ("runs", "campaign", "surrogate"))
    assert runs["call"]["id"] == closing["call"]["id"] != fit["call"]["id"]
    assert dict(json.loads(runs["call"]["arguments"]))["design"] == design
    told = dict(json.loads(fit["call"]["arguments"]))
    assert (told["event"], told["--degree"], told["--folds"], told["--accept"]) == (campaign, "1..2", 5, ["skill"])
    assert fit["call"]["operation"] == "surrogate"
    assert not {"--ledger", "--json", "--jobs"} & told.keys()


def test_who_can_be_set(percuss, folder, monkeypatch) -> None:
    monkeypatch.setenv("PERCUSS_IDENTITY", "https://orcid.org/0000-0002-1825-0097")
    percuss("design", "ishigami", "--n", 4)
    assert _event(percuss, "@last")["actor"] == "https://orcid.org/0000-0002-1825-0097"
    assert "identity" in percuss("config", "show").out


def _script(page: str) -> str:
    from html import unescape

    (code,) = re.findall(r"<pre[^>]*>(?:<code>)?(set -euo pipefail.*?)</", page, re.S)
    return unescape(code)


# Twelve points tell nothing of this function: what was accepted here is not accepted by who reads it there.
@pytest.mark.filterwarnings("ignore::percuss.NotTrusted")
def test_the_script_of_the_report_runs_and_gives_the_same_digests(percuss, folder, tmp_path) -> None:
    """Prefixes, @last, stdin and a method from Python: the words alone would not tell what was meant."""
    import percuss as api

    first = percuss("design", "ishigami", "--n", 12, "--skip", 1).id
    percuss("design", "ishigami", "--n", 5)
    campaign = percuss("run", first[:18]).id
    ledger = api.open_ledger(folder / "ledger", progress=False, accept=["skill"])
    fit = ledger.surrogate(campaign, degree="1..2", bootstrap=3)
    percuss("sensitivity", fit.id, "--n", 64, "--accept", "skill")
    percuss("report", "@last", "--to", "page.html")
    script = _script(Path("page.html").read_text())
    assert "@last" not in script
    assert '"$campaign"' in script
    assert first not in script.replace(f"# design.created {first}", "")
    script = script.replace('percuss audit && percuss report "$indices"', 'echo "$indices"')
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PERCUSS_LEDGER": str(tmp_path / "again"), "PATH": path}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    again = api.open_ledger(tmp_path / "again", progress=False)
    for kind in ("design.created", "surrogate.fitted", "indices.computed"):
        old = [e for e in ledger.refresh().lineage("@last") if e.event.kind == kind]
        new = [e for e in again.lineage("@last") if e.event.kind == kind]
        digests = [
            # Residuals name the design by its id, which is another one.
            {blob.role: blob.digest for result in results for blob in result.event.blobs if blob.role != "residuals"}
            for results in (old, new)
        ]
        assert digests[0]
        assert digests[0] == digests[1], kind
