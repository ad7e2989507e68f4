"""Words that are kept beside an event, so that they can be redacted: a file with random salt.

The digest, which stays, so tells nothing of words that could be guessed.
"""

from __future__ import annotations

import json
import secrets

from percuss.ledger.event import FILE_ROLE

WORDS = "words"
ROLE = FILE_ROLE + WORDS


def salted(text: str) -> bytes:
    """Words as they are kept beside an event."""
    return json.dumps({"salt": secrets.token_hex(32), "text": text}, ensure_ascii=False).encode()
