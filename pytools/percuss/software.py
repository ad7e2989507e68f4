"""With what results are made: versions and build facts, part of every event."""

from __future__ import annotations

from functools import cache

from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Software


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
