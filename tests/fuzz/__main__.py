"""`python -m tests.fuzz SECONDS [READER ...]`: so many seconds for each reader, each in a process of its own.

Needs atheris, a fuzzer that sees which lines of percuss an input reaches and changes those that reach new ones. An
input that ends in anything but a PercussError is printed with its traceback, and the exit code is 1; with
`PERCUSS_FUZZ=FOLDER` what was found worth keeping stays there for the next time.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main(seconds: int, names: list[str]) -> int:
    """Fuzz some readers; how many of them failed."""
    from tests.fuzz.readers import READERS

    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        kept = Path(os.environ.get("PERCUSS_FUZZ", scratch))
        for name in names or READERS:
            corpus = kept / name
            corpus.mkdir(parents=True, exist_ok=True)
            for number, data in enumerate(READERS[name][1]()):
                (corpus / f"good-{number}").write_bytes(data)
            limits = [
                f"-max_total_time={seconds}",
                "-timeout=60",
                "-rss_limit_mb=4096",
                "-max_len=8000",
                "-verbosity=0",
            ]
            options = [*limits, "-print_final_stats=1", f"-artifact_prefix={kept / name}-", str(corpus)]
            done = subprocess.run([sys.executable, "-m", "tests.fuzz", "--one", name, *options], check=False)
            print(
                f"{name}: {'FAILED' if done.returncode else 'nothing found'}, {len(list(corpus.iterdir()))} inputs kept"
            )
            failed += [name] if done.returncode else []
            for path in sorted(kept.glob(f"{name}-*")):
                print(f"  {path.name}: {path.read_bytes()!r}")
    return len(failed)


def one(name: str, options: list[str]) -> None:
    """Fuzz one reader in this process, which does not come back."""
    import atheris

    with atheris.instrument_imports(include=["percuss"]):
        from tests.fuzz.readers import READERS

        reader, good = READERS[name]
        for data in good():  # loads what the reader needs, so that it is watched
            reader(data)
    atheris.Setup([sys.argv[0], *options], reader)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], sys.argv[3:])
    elif importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: readers are not fuzzed by coverage (pip install atheris)")
    else:
        sys.exit(1 if main(int(sys.argv[1]), sys.argv[2:]) else 0)
