"""`python -m tests.bench [NAME ...]`: run the benchmarks and print one table."""

from __future__ import annotations

import importlib
import sys

# A new benchmark is one module with `bench() -> list[Line]` and one word here.
BENCHES = (
    "startup",
    "ledger",
    "oscillators",
    "yielding",
    "surrogates",
    "moment_independent",
    "samplers",
    "modes",
    "kalman",
    "filtering",
    "engines",
    "scale",
    "commits",
    "scenes",
    "connectors",
    "grains",
    "multibody",
    "bodies",
    "peers",
    "stacks",
)


def main(names: list[str]) -> int:
    """Print a table; exit code 1 if a ratio is beyond its limit."""
    good = True
    for name in names or BENCHES:
        for line in importlib.import_module(f"tests.bench.{name}").bench():
            verdict = "" if line.holds else "  BEYOND"
            print(f"{line.what:48} {line.figure:24} ratio {line.ratio:8.3f}  limit {line.limit:g}{verdict}", flush=True)
            good &= line.holds
    return 0 if good else 1


sys.exit(main(sys.argv[1:]))
