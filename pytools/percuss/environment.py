"""In what environment results are made: all that their bits may hang on beside percuss itself.

The record is stored once for all events that have the same (docs/ledger-format.md). `numerics` is the part by which
results are compared: with another CPU level numpy adds in another order, and the last bits of a sum differ.
"""

from __future__ import annotations

import ctypes
import importlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from percuss.ledger.canonical import canonical_json

PACKAGES = ("numpy", "scipy", "polars", "emcee")


@cache
def environment() -> dict[str, Any]:
    """This process's environment."""
    return {
        "python": {"implementation": platform.python_implementation(), "version": platform.python_version()},
        "packages": {name: _version(name) for name in PACKAGES},
        "blas": _blas(),
        "cpu": {"machine": platform.machine(), "model": _cpu_model(), "numpy": _cpu_level()},
        "os": {
            "name": platform.system(),
            "release": platform.release(),
            "libc": " ".join(platform.libc_ver()).strip(),
        },
    }


@cache
def environment_record() -> bytes:
    """The record as it is stored."""
    return canonical_json(environment()).encode()


def numerics(record: Mapping[str, Any]) -> dict[str, str]:
    """What the bits of a result may hang on, in words, from a record that may be a stranger's."""

    def of(table: str, key: str) -> str:
        part = record.get(table)
        value = part.get(key) if isinstance(part, Mapping) else None
        return " ".join(map(str, value)) if isinstance(value, list) else str(value or "unknown")

    return {
        **{name: of("packages", name) for name in PACKAGES},
        "BLAS": " ".join(of("blas", key) for key in ("name", "version", "core")),
        "CPU level of numpy": of("cpu", "numpy"),
        "machine": of("cpu", "machine"),
        "C library": of("os", "libc"),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_level() -> list[str]:
    """The instruction sets that numpy uses: those it was built for, and those it found and was not told to leave."""
    core = importlib.import_module("numpy._core._multiarray_umath")
    features: dict[str, bool] = core.__cpu_features__
    return [*core.__cpu_baseline__, *(name for name in core.__cpu_dispatch__ if features.get(name))]


def _blas() -> dict[str, str]:
    """Name and version of the BLAS that numpy was built with, and the kind of core it took this one for."""
    import numpy as np
    from numpy.linalg import _umath_linalg

    built: Any = np.show_config(mode="dicts")
    facts = (built or {}).get("Build Dependencies", {}).get("blas", {})
    library = ctypes.CDLL(_umath_linalg.__file__)
    core = "unknown"
    for prefix in ("scipy_openblas", "openblas"):
        for suffix in ("64_", ""):
            if function := getattr(library, f"{prefix}_get_corename{suffix}", None):
                function.restype = ctypes.c_char_p
                core = function().decode(errors="replace")
    return {"name": str(facts.get("name")), "version": str(facts.get("version")), "core": core}


def _cpu_model() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
