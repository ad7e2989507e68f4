"""Who makes events, with what, in which environment and at what cost: what every event records beside its result.

The record of the environment is stored once for all events that have the same (docs/ledger-format.md). `numerics` is
the part by which results are compared: with another CPU level numpy adds in another order, and the last bits of a sum
differ.
"""

from __future__ import annotations

import getpass
import importlib
import resource
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from percuss.ledger.canonical import canonical_json, sha256_hex
from percuss.ledger.event import Cost, Maker, OpenCall, Software


def version() -> str:
    """Version of the package, which is that of the core it is built with."""
    from percuss import _core

    return dict(_core.build_facts())["version"]


@cache
def software() -> Software:
    """What this percuss is: the core's build id ends with the digest of the very extension file in use."""
    from pathlib import Path

    from percuss import _core

    facts = dict(_core.build_facts())
    binary = sha256_hex(Path(str(_core.__file__)).read_bytes())
    core = f"{facts['rustc']}; {facts['target']}; {facts['profile']}; {binary[:16]}"
    return Software(facts["version"], facts["commit"], core, sha256_hex(_core.cargo_lock().encode()))


def this_maker(
    arguments: Sequence[str], call: OpenCall | None = None, identity: str = "", host: str = "", private: bool = False
) -> Maker:
    """Who makes events by this call, and where: `identity` and `host` if set, else the user and the machine."""
    try:
        actor = identity or getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for this user
        actor = "unknown"
    call = call or OpenCall("python", "", [])
    # A file name may hold bytes that are no text; events are text throughout.
    argv = (text.encode(errors="surrogateescape").decode(errors="replace") for text in arguments)
    return Maker(("percuss", *argv), actor, host or socket.gethostname(), software(), call, environment_record, private)


PACKAGES = ("numpy", "scipy", "polars", "emcee")


@cache
def environment() -> dict[str, Any]:
    """This process's environment."""
    import platform

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
    """The record as it is stored: looked up when something is appended, for that loads numpy."""
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
    from importlib.metadata import PackageNotFoundError, version

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
    import ctypes

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
    import platform

    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


@dataclass(frozen=True)
class Spent:
    """Work that began when this was made."""

    wall_s: float = field(default_factory=time.perf_counter)
    cpu_s: float = field(default_factory=time.process_time)

    def cost(self) -> Cost:
        """What it has cost so far, all threads together."""
        wall, cpu = time.perf_counter() - self.wall_s, time.process_time() - self.cpu_s
        return Cost(round(1e6 * wall), round(1e6 * cpu), peak_bytes())


def peak_bytes() -> int:
    """The most memory this process has had; macOS tells bytes, others kibibytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
