"""Files of streams renamed, copied and exchanged at random: a name is only a claim.

Whatever readers, `audit` and `doctor --clean` make of it, no event that is on the disk before is gone afterwards; and
if an audit holds, all of them are in the chain.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from tests.drafts import study_draft
from tests.machines import Quick

from percuss.errors import InputError, LedgerError
from percuss.ledger import files
from percuss.ledger.audit import prove_chain
from percuss.ledger.event import Draft
from percuss.ledger.files import files_below
from percuss.ledger.ledger import Ledger
from percuss.ledger.seal import remove_covered, seal_stream
from percuss.work import doctor

SEEDS = range(int(os.environ.get("PERCUSS_SEEDS", "60")))


def _on_disk(root: Path) -> set[str]:
    """Hashes of the events in any file of the streams, whatever it is called."""
    hashes: set[str] = set()
    for top in ("streams", "sealed"):
        for path, _ in files_below(root / top):
            if path.name != ".lock":
                hashes |= set(files.read_frame(path, ["hash"])["hash"].to_list())
    return hashes


def _book(root: Path, maker) -> Ledger:  # type: ignore[no-untyped-def]
    """Two segments, a few loose commits, and a shard."""
    book = Ledger.open(root, maker, create=True)
    for sealed in (True, True, False):
        for number in range(4):
            book.append([study_draft(notes=str(number))])
        if sealed:
            seal_stream(book, "main")
    for number in range(3):
        book.append([Draft("note.added", {"text": str(number)})], "shard")
    return book


def _changed(root: Path, draw: random.Random) -> None:
    paths = [path for top in ("streams", "sealed") for path, _ in files_below(root / top) if path.suffix == ".parquet"]
    path = draw.choice(paths)
    first, last = sorted(draw.choices(range(16), k=2))
    names = [f"{first:010d}.parquet", f"{first:010d}-{last + draw.choice([0, 0, 90]):010d}.parquet", f".tmp-{first}"]
    name = draw.choices(names, [4, 5, 1])[0]
    folder = draw.choice(sorted({path.parent for path in paths}))
    target = folder / name
    match draw.randrange(3):
        case 0 if not target.exists():
            path.rename(target)
        case 1 if not target.exists():
            shutil.copyfile(path, target)
        case 2:
            other = draw.choice(paths)
            kept = other.read_bytes()
            other.write_bytes(path.read_bytes())
            path.write_bytes(kept)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_event_is_lost(tmp_path, maker, monkeypatch, seed) -> None:
    monkeypatch.setattr(files, "system", Quick())
    monkeypatch.setattr(doctor, "STRAY_AGE_S", -1)
    book = _book(tmp_path / "ledger", maker)
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 3)):
        _changed(book.place.root, draw)
    before = _on_disk(book.place.root)
    again = Ledger.open(book.place.root, maker)
    acts = [
        lambda: doctor.clean(doctor.examine(book.place.root)),
        lambda: remove_covered(again, "main"),
        lambda: again.append([study_draft(notes="more")]),
        lambda: seal_stream(again, "main"),
    ]
    draw.shuffle(acts)
    walk = prove_chain(book.place)
    if walk.proof.holds:
        assert before <= {hash for hashes in walk.chains.values() for hash in hashes}
    for act in acts:
        try:
            act()
        except (LedgerError, InputError):
            continue
        assert before <= _on_disk(book.place.root)
