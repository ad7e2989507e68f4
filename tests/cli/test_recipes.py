"""The recipes of docs/recipes work: job arrays, ssh and Snakemake."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"


def _call(*words: object, **more: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path.cwd() / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, "PATH": path, **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done


def _check(percuss, design: str) -> None:
    """Closed, complete, and made of shards only."""
    done = json.loads(percuss("run", design, "--json").out)
    assert (done["done"], done["completed"]) == (0, 256)
    kinds = [event["kind"] for event in json.loads(percuss("log", "--limit", 0, "--json").out)]
    assert kinds.count("campaign.completed") == 1
    assert "stream.adopted" in kinds
    assert percuss("audit").code == 0


def test_slurm_array(percuss) -> None:
    """As SLURM would start its tasks, all at once."""
    design = percuss("design", "ishigami", "--n", 256).id
    for k in range(1, 5):
        _call("bash", RECIPES / "slurm-array.sh", design, SLURM_ARRAY_TASK_ID=str(k), SLURM_ARRAY_TASK_COUNT="4")
    _call("bash", "-c", f"percuss adopt && percuss run {design}")
    _check(percuss, design)


def test_ssh(percuss, folder) -> None:
    """ssh and rsync are stand-ins: the other machines are folders beside the ledger."""
    bin = folder / "bin"
    bin.mkdir()
    (bin / "ssh").write_text('#!/bin/bash\ncd "machine-$1"\nbash -c "$2"\n')
    (bin / "rsync").write_text(
        "#!/bin/bash\n"
        'place() { case $1 in *:*) echo "machine-${1%%:*}/${1#*:}";; *) echo "$1";; esac; }\n'
        'mkdir -p "$(place "$3")"\ncp -r "$(place "$2")." "$(place "$3")"\n'
    )
    for path in bin.iterdir():
        path.chmod(0o755)
    design = percuss("design", "ishigami", "--n", 256).id
    _call("bash", RECIPES / "ssh.sh", design, "one", "two")
    _check(percuss, design)


@pytest.mark.skipif(shutil.which("snakemake") is None, reason="snakemake is not on the PATH")
def test_snakemake(percuss) -> None:
    words = ("--cores", 2, "--config", "study=studies/ishigami", "points=256", "shards=4")
    _call("snakemake", "--snakefile", RECIPES / "Snakefile", *words)
    _check(percuss, Path("design.id").read_text().strip())
