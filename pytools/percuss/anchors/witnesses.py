"""Who testifies to an anchor: the table of kinds, one module each.

A witness is anybody outside of the ledger who says something of a text that can be checked later: that a person had it
(a signature), that it was there at a time (a time stamp). A transparency log is one more module and one more line here.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from percuss.anchors.anchor import Anchor

WITNESSES = {
    "ssh": "percuss.anchors.ssh_signature",
    "rfc3161": "percuss.anchors.time_stamp",
}


@dataclass(frozen=True)
class Trusted:
    """Whom the reader trusts: a file of `allowed_signers` of SSH, and one of certificates of time stamp authorities."""

    signers: Path | None = None
    authorities: Path | None = None


@dataclass(frozen=True)
class Finding:
    """What a testimony is worth: whether it is of this text at all, and whether the reader trusts who gave it."""

    kind: str
    holds: bool
    trusted: bool
    sentence: str


class Witness(Protocol):
    """What a module in WITNESSES offers."""

    def testify(self, text: bytes, where: str) -> str:
        """Have a text testified to, by a key or an address; what is kept of it."""
        ...

    def check(self, text: bytes, data: str, trusted: Trusted) -> tuple[bool, bool, str]:
        """Whether what was kept is of this text, whether it is trusted, and a sentence about it."""
        ...


def witness(kind: str) -> Witness:
    """The module of a kind."""
    return cast(Witness, importlib.import_module(WITNESSES[kind]))


def findings(anchor: Anchor, trusted: Trusted) -> Sequence[Finding]:
    """What each testimony of an anchor is worth. One of an unknown kind says nothing."""
    text = anchor.checkpoint.text.encode()
    listed = []
    for item in anchor.testimonies:
        if item.kind in WITNESSES:
            listed.append(Finding(item.kind, *witness(item.kind).check(text, item.data, trusted)))
        else:
            sentence = f"testimonies of the kind {item.kind[:40]} are not known here"
            listed.append(Finding(item.kind, True, False, sentence))
    for kind, asked in (("ssh", trusted.signers), ("rfc3161", trusted.authorities)):
        # Who rewrites a ledger and its anchor leaves out what he cannot make.
        if asked and not any(item.kind == kind for item in anchor.testimonies):
            listed.append(Finding(kind, False, False, f"has no testimony of the kind {kind}, which was asked for"))
    return listed
