"""Where a ledger lives: its folder, its identity, and the names of everything in it."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from percuss.errors import InputError, LedgerError
from percuss.ledger.canonical import encode, sha256_hex
from percuss.ledger.event import new_id
from percuss.ledger.files import TEMPORARY, exists, names_in, read_regular, real_folder, write_linked

# The newest format of ledgers; each keeps the one it was begun with.
FORMAT = 2
IDENTITY = "ledger.toml"
STREAM_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
HEX64 = re.compile(r"[0-9a-f]{64}")
COMMIT_NAME = re.compile(r"(\d{10})\.parquet")
SEGMENT_NAME = re.compile(r"(\d{10})-(\d{10})\.parquet")


@dataclass(frozen=True)
class Place:
    """A ledger's folder. Every path of the ledger is made here, from names that were checked here."""

    root: Path
    id: str
    format: int = FORMAT

    def real(self, folder: Path, *, create: bool = False, lasting: bool = True) -> Path:
        """A folder of this ledger, with no link on the way to it."""
        return real_folder(self.root, *folder.relative_to(self.root).parts, create=create, lasting=lasting)

    def stream(self, name: str) -> Path:
        """Folder of the loose commits of a stream."""
        return self.root / "streams" / checked_stream(name)

    def commit(self, stream: str, number: int) -> Path:
        """File of one commit."""
        return Path(*self.commits(stream, [number]))

    def commits(self, stream: str, numbers: Iterable[int]) -> list[str]:
        """Files of some commits, perhaps many, as text: a `Path` takes longer to make than its file to open."""
        folder = self.stream(stream)
        return [f"{folder}/{number:010d}.parquet" for number in numbers]

    def sealed(self, stream: str) -> Path:
        """Folder of the sealed segments of a stream."""
        return self.root / "sealed" / checked_stream(stream)

    def blob(self, sha256: str, suffix: str) -> Path:
        """File of a payload."""
        if not HEX64.fullmatch(sha256):
            raise LedgerError(f"{sha256[:80]!r} is not a SHA-256 in lower-case hexadecimal: not the name of a blob")
        return self.root / f"blobs/{sha256[:2]}/{sha256}.{suffix}"

    @property
    def cache(self) -> Path:
        """Folder of what can be deleted at any time."""
        return self.root / "cache"

    def genesis(self, stream: str) -> str:
        """What the first event of a stream has as `prev`: binds the chain to this ledger and stream."""
        return sha256_hex(encode(["percuss ledger", self.id, stream]))


def is_stream_name(name: str) -> bool:
    """Whether a stream can have this name: it becomes a folder's name."""
    return STREAM_NAME.fullmatch(name) is not None and ".." not in name


def checked_stream(name: str) -> str:
    """A stream's name, or an error."""
    if not is_stream_name(name):
        raise InputError(f"stream {name[:80]!r}: lower-case letters, digits, '.', '_', '-' only, 100 at most")
    return name


def open_place(root: Path, *, create: bool = False) -> Place:
    """Open the ledger in a folder; make it if asked for and there is none."""
    if not has_ledger(root):
        if not create:
            raise LedgerError(f"{root}: there is no ledger here", hint="percuss design or percuss simulate starts one")
        _start(root)
    return Place(root, *identity_of(read_regular(root / IDENTITY, 65536), str(root / IDENTITY)))


def check_outside(path: Path) -> None:
    """Make sure that what is to be written to a path is not written into a ledger, which only percuss appends to."""
    for folder in Path(os.path.realpath(path)).parents:
        if exists(folder / IDENTITY):
            raise InputError(f"{path}: is inside the ledger {folder}, where nothing is written but by appending to it")
    try:
        facts = path.stat()
    except OSError:  # who writes says why it cannot be
        return
    if stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
        raise InputError(
            f"{path}: has another name too (a hard link), which may be one in a ledger: it is not overwritten"
        )


def has_ledger(root: Path) -> bool:
    """Whether there is a ledger in a folder, as far as it can be seen."""
    return exists(root / IDENTITY)


def _start(root: Path) -> None:
    """Make the folder and `ledger.toml` in it. Two commands may do so at once: the link lets one of them win."""
    if root.exists() and not root.is_dir():
        raise LedgerError(f"{root}: is a file, and a ledger is a folder")
    strange = root.is_dir() and any(not name.startswith(TEMPORARY) for name in names_in(root))
    if strange and not has_ledger(root):
        raise LedgerError(f"{root}: is a folder of something else (not empty, and without a ledger.toml)")
    write_linked(real_folder(root, create=True) / IDENTITY, identity_bytes(new_id()))


def identity_bytes(id: str, format: int = FORMAT) -> bytes:
    """The contents of `ledger.toml`: format, id, and the digest of the lines before it."""
    head = f'# A percuss ledger; docs/ledger-format.md says how to read it.\nformat = {format}\nid = "{id}"\n'
    return f'{head}sha256 = "{sha256_hex(head.encode())}"\n'.encode()


def identity_of(data: bytes, path: str) -> tuple[str, int]:
    """The id and the format in the bytes of a `ledger.toml`; `path` is for messages."""
    try:
        table = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as fault:
        raise LedgerError(f"{path}: is not readable TOML ({fault})") from fault
    number = table.get("format")
    if not isinstance(number, int) or number < 1:
        raise LedgerError(f"{path}: format = {number!r} is not the number of a ledger format")
    if number > FORMAT:
        raise LedgerError(
            f"{path}: the ledger has format {number}, made by a newer percuss; this one reads up to {FORMAT}",
            hint="use the percuss that wrote it, or a newer one",
        )
    id = table.get("id")
    if not isinstance(id, str) or data != identity_bytes(id, number):
        raise LedgerError(f"{path}: its bytes do not match the digest it carries")
    return id, number
