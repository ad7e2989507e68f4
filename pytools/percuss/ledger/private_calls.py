"""Who made events, where and by which words, kept apart from them so that it can be redacted (the setting `private`).

What an event says is what its hash is over, and stays. So events of a private call carry a pseudonym of that call, and
its first commit begins with a private note that says, with salt, who and what it stands for. `percuss redact` deletes
these words like those of any private note.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from percuss.kinds.note_added import NoteAdded
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import REPEATED, Call, Draft, Maker, arguments_of
from percuss.ledger.words import salted

PREFIX = "private-"
HIDDEN = "(private)"
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def private_words(maker: Maker) -> bytes:
    """All that is kept apart, with salt: a line with who and where, one with the words of the call, its arguments."""
    assert maker.call
    return salted(f"{maker.actor} on {maker.host}\n{shlex.join(maker.argv)}\n{maker.call.closed().arguments}")


def veiled(maker: Maker, words: bytes, drafts: Sequence[Draft]) -> Maker:
    """The maker under a pseudonym, which is the beginning of the digest of the words."""
    assert maker.call
    call = maker.call.closed()
    pseudonym = f"{PREFIX}{sha256_hex(words)[:16]}"
    # What events say in any case is no secret.
    names = {draft.study.name for draft in drafts if draft.study}
    texts = [draft.text for draft in drafts]

    def open_value(name: str, value: object) -> object:
        match value:
            case str() if not (
                name.strip("-").replace("-", "_") in REPEATED
                or _ID.fullmatch(value)
                or value in names
                or any(json.dumps(value, ensure_ascii=False) in text for text in texts)
            ):
                return HIDDEN
            case list():
                return [open_value(name, item) for item in value]
            case dict():
                return {key: open_value(name, item) for key, item in value.items()}
        return value

    listed = [(name, open_value(name, value)) for name, value in arguments_of(call)]
    kept = replace(call, arguments=json.dumps(listed, separators=(",", ":"), ensure_ascii=False))
    return replace(maker, actor=pseudonym, host=HIDDEN, argv=("percuss", *call.operation.split()), call=_Closed(kept))


def note_of(maker: Maker) -> NoteAdded:
    """The body of the note that says who is behind a pseudonym."""
    return NoteAdded(text="", private=True, names=maker.actor)


class _Closed:
    """A call as it is."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def note(self, reference: str, id: str) -> None:
        """Nothing is looked up any more."""

    def closed(self) -> Call:
        """The call as events carry it."""
        return self._call
