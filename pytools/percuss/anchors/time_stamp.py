"""Time stamps by RFC 3161, from any authority by its address. `openssl ts` makes the question and checks the answer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from percuss.anchors.witnesses import Trusted
from percuss.errors import InputError

LONGEST_S = 60
LARGEST_BYTES = 1_000_000


def testify(text: bytes, where: str) -> str:
    """Have the SHA-256 of a text stamped by the authority at an address; the text itself is not sent."""
    if not where.startswith(("http://", "https://")):
        raise InputError(f"--stamp {where}: must be the http or https address of a time stamp authority")
    question = _openssl("ts", "-query", "-digest", hashlib.sha256(text).hexdigest(), "-sha256", "-cert").stdout
    request = urllib.request.Request(where, question, {"Content-Type": "application/timestamp-query"})
    try:
        with urllib.request.urlopen(request, timeout=LONGEST_S) as answer:
            reply = answer.read(LARGEST_BYTES)
    except (OSError, ValueError) as fault:
        reason = fault.reason if isinstance(fault, urllib.error.URLError) else fault
        raise InputError(f"--stamp {where}: did not answer ({reason})") from fault
    data = base64.b64encode(reply).decode()
    holds, _, sentence = check(text, data, Trusted())
    if not holds:
        raise InputError(f"--stamp {where}: {sentence}")
    return data


def check(text: bytes, data: str, trusted: Trusted) -> tuple[bool, bool, str]:
    """Check a stamp; trusted is one by an authority whose certificates the reader has."""
    digest = hashlib.sha256(text).hexdigest()
    with tempfile.TemporaryDirectory() as folder:
        reply = Path(folder) / "reply.tsr"
        try:
            reply.write_bytes(base64.b64decode(data, validate=True))
        except (ValueError, binascii.Error):
            return False, False, "the time stamp is not readable"
        shown = _openssl("ts", "-reply", "-in", str(reply), "-text")
        words = shown.stdout.decode(errors="replace")
        if shown.returncode or "Status: Granted" not in words:
            return False, False, "the time stamp was not granted, or is not readable"
        if digest not in _stamped(words):
            return False, False, "the time stamp is of another text"
        match = re.search(r"^Time stamp: (.+)$", words, re.MULTILINE)
        when = match[1].strip() if match else "an unknown time"
        if trusted.authorities is None:
            return True, False, f"stamped at {when}; nobody said whom to trust for it (--authorities)"
        certificates = str(trusted.authorities)
        done = _openssl("ts", "-verify", "-digest", digest, "-in", str(reply), "-CAfile", certificates)
        if done.returncode:
            return False, False, f"the time stamp is by no authority of {certificates}"
        return True, True, f"stamped at {when}"


def _stamped(words: str) -> str:
    """The digest in the dump of a reply: lines of bytes in hexadecimal."""
    dump = re.search(r"Message data:\n((?:\s+[0-9a-f]{4} - .*\n)+)", words)
    lines = dump[1].splitlines() if dump else []
    return "".join(re.sub(r"[^0-9a-f]", "", line.partition(" - ")[2][:48]) for line in lines)


def _openssl(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("openssl")
    if program is None:
        raise InputError("openssl: is not installed; it asks for time stamps and checks them")
    try:
        return subprocess.run([program, *arguments], capture_output=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"openssl: did not answer within {LONGEST_S} s") from None
