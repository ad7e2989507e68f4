"""Signatures by SSH keys, through `ssh-keygen -Y` of OpenSSH: a key of a file or an agent signs, anybody can check."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from percuss.anchors.witnesses import Trusted
from percuss.errors import InputError

# Keeps a signature of something else from passing for one of an anchor.
NAMESPACE = "percuss-anchor"
LONGEST_S = 60


def testify(text: bytes, where: str) -> str:
    """Sign a text by the key in a file (a private key, or the public one of a key that an agent holds)."""
    if not Path(where).is_file():
        raise InputError(f"--sign {where}: there is no such key")
    done = _ssh_keygen(["-Y", "sign", "-n", NAMESPACE, "-f", where, "-q"], text)
    if done.returncode or not done.stdout:
        raise InputError(f"--sign {where}: ssh-keygen did not sign ({_words(done)})")
    return done.stdout.decode()


def check(text: bytes, data: str, trusted: Trusted) -> tuple[bool, bool, str]:
    """Check a signature; trusted is who is among the allowed signers."""
    with tempfile.TemporaryDirectory() as folder:
        signature = Path(folder) / "signature"
        signature.write_text(data)
        done = _ssh_keygen(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)], text)
        if done.returncode:
            return False, False, f"the signature is not of this text ({_words(done)})"
        key = _words(done).rpartition("key ")[2]
        if trusted.signers is None:
            return True, False, f"signed with the key {key}; nobody said whose it is (--signers)"
        signers = str(trusted.signers)
        names = _ssh_keygen(["-Y", "find-principals", "-s", str(signature), "-f", signers], b"")
        for name in names.stdout.decode(errors="replace").splitlines() if not names.returncode else ():
            arguments = ["-Y", "verify", "-n", NAMESPACE, "-s", str(signature), "-f", signers, "-I", name]
            if not _ssh_keygen(arguments, text).returncode:
                return True, True, f"signed by {name} with the key {key}"
    return False, False, f"signed with the key {key}, which is none of {trusted.signers}"


def _ssh_keygen(arguments: list[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise InputError("ssh-keygen: is not installed; it signs anchors and checks signatures (OpenSSH 8.1 or newer)")
    try:
        return subprocess.run([program, *arguments], input=text, capture_output=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"ssh-keygen: did not answer within {LONGEST_S} s") from None


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else f"exit code {done.returncode}"
