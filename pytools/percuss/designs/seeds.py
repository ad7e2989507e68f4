"""Seeds of single runs, keyed by what the run is and never by who does it or when."""

from __future__ import annotations

import hashlib


def run_seed(seed: int, design_digest: str, sample: int) -> int:
    """Derive the 64-bit seed of one run: the first eight bytes of SHA-256 over seed, design and sample index.

    >>> run_seed(0, "ab12", 0) == run_seed(0, "ab12", 0) != run_seed(0, "ab12", 1)
    True
    """
    text = f"percuss run seed\n{seed}\n{design_digest}\n{sample}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
