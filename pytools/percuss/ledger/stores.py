"""Where the files of a ledger can lie: a folder, or an object store (extra `cloud`).

Three operations are all that a copy needs. Writing is put-if-absent: a name is given once and keeps its bytes. In a
folder a hard link decides, in an object store the condition `If-None-Match: *`.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any, Protocol

from percuss.errors import InputError, LedgerError
from percuss.ledger.files import TEMPORARY, exists, files_below, make_last, read_regular, real_folder, write_linked

UNDONE = "what was copied before stays; give the command again"


class Store(Protocol):
    """Files by name, as `blobs/ab/ab12.parquet`."""

    @property
    def place(self) -> str: ...
    def sizes(self, folder: str) -> dict[str, int]:
        """Size of every file below a folder, by name."""
        ...

    def get(self, name: str) -> bytes | None:
        """The bytes of a file; None if there is none."""
        ...

    def put_if_absent(self, name: str, data: bytes) -> bool:
        """Write a file under a name that nobody has; False if somebody has."""
        ...


class Folder:
    """A folder of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = str(root)

    def sizes(self, folder: str) -> dict[str, int]:
        """Regular files below a folder; links are refused, temporary files and locks passed over."""
        size_of: dict[str, int] = {}
        for path, facts in files_below(real_folder(self.root, folder)):
            if stat.S_ISLNK(facts.st_mode):
                raise LedgerError(f"{path}: should be a folder or file of the ledger and is a symbolic link")
            if not path.name.startswith((TEMPORARY, ".lock")):
                size_of[path.relative_to(self.root).as_posix()] = facts.st_size
        return size_of

    def get(self, name: str) -> bytes | None:
        """The bytes of a regular file."""
        path = self.root / name
        real_folder(self.root, *Path(name).parts[:-1])
        return read_regular(path) if exists(path) else None

    def put_if_absent(self, name: str, data: bytes) -> bool:
        """Write by way of a temporary file and a hard link."""
        real_folder(self.root, *Path(name).parts[:-1], create=True, undone=UNDONE)
        path = self.root / name
        if write_linked(path, data, undone=UNDONE):
            return True
        make_last(path)  # by one that was killed, perhaps before it did so
        return False


class Bucket:
    """A prefix of an object store, by its URL. Credentials and endpoint come from the environment, as AWS_*."""

    def __init__(self, url: str) -> None:
        try:
            import obstore
            from obstore.exceptions import BaseError
            from obstore.store import from_url
        except ImportError:
            raise InputError("obstore: is not installed", hint="pip install 'percuss[cloud]'") from None
        self._obstore: Any = obstore
        self._fault = BaseError
        self.place = url
        try:
            self._store = from_url(url)
        except (BaseError, ValueError) as fault:
            raise InputError(f"{url}: is no object store that can be used ({_first(fault)})") from fault

    def sizes(self, folder: str) -> dict[str, int]:
        """Objects below a folder."""
        try:
            return {item["path"]: item["size"] for part in self._obstore.list(self._store, folder) for item in part}
        except self._fault as fault:
            raise self._trouble("listed", fault) from fault

    def get(self, name: str) -> bytes | None:
        """The bytes of an object."""
        try:
            return bytes(self._obstore.get(self._store, name).bytes())
        except FileNotFoundError:
            return None
        except self._fault as fault:
            raise self._trouble("read", fault) from fault

    def put_if_absent(self, name: str, data: bytes) -> bool:
        """Put in one piece: parts of an upload cannot be conditional."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            self._obstore.put(self._store, name, data, mode="create", use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        except self._fault as fault:
            raise self._trouble("written", fault) from fault
        return True

    def _trouble(self, action: str, fault: Exception) -> LedgerError:
        return LedgerError(
            f"{self.place}: cannot be {action} ({_first(fault)})", hint="AWS_* variables say how to reach it"
        )


def _first(fault: Exception) -> str:
    return str(fault).splitlines()[0][:300] if str(fault) else type(fault).__name__


def open_store(text: str) -> Store:
    """A folder, or what a URL such as s3://bucket/prefix names."""
    return Bucket(text) if "://" in text else Folder(Path(text))
