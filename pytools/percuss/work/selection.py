"""Which events: by kind, study, time, actor, what they carry, and words in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.errors import InputError, LedgerError
from percuss.kinds.table import KINDS
from percuss.ledger.files import file_sha256
from percuss.spelling import did_you_mean

if TYPE_CHECKING:
    import polars as pl

AGO = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(s|min|h|d|w)")
SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
# Fewer digits of a digest name too many payloads.
LEAST_DIGITS = 8
DIGEST = re.compile(rf"[0-9a-f]{{{LEAST_DIGITS},64}}")


@dataclass(frozen=True)
class Selection:
    """What is asked of events; None asks nothing.

    `kind`: as `runs` or `runs.failed`. `since`, `until`: a time, see `read_time`; both ends count. `actor`: the whole
    name. `file`: a file on disk, or at least eight digits of a digest: events that carry these bytes, or this content.
    `text`: words in the call, the body, the reason or the name of the study, whether large or small letters.
    """

    kind: str | None = None
    study: str | None = None
    since: str | None = None
    until: str | None = None
    actor: str | None = None
    file: str | None = None
    text: str | None = None

    @property
    def columns(self) -> list[str]:
        """What it looks at."""
        names = [name for name, asked in (("study", self.study), ("actor", self.actor), ("blobs", self.file)) if asked]
        names += ["at"] if self.since or self.until else []
        return ["kind", *names, *(("body", "argv", "outcome", "study") if self.text else ())]

    def of(self, events: pl.DataFrame) -> pl.DataFrame:
        """Those of some events that fit."""
        import polars as pl

        chosen = events
        if self.kind:
            chosen = chosen.filter(_kind(self.kind, events))
        if self.study:
            chosen = chosen.filter(pl.col("study").struct.field("name") == self.study)
        if self.since:
            chosen = chosen.filter(pl.col("at") >= read_time(self.since, "--since"))
        if self.until:
            # What was written to the second, or to the day, means all of it.
            chosen = chosen.filter(pl.col("at") < read_time(self.until, "--until", end=True))
        if self.actor:
            chosen = chosen.filter(pl.col("actor") == self.actor)
        if self.file:
            chosen = chosen.filter(_carries(file_digest(self.file)))
        return chosen.filter(_says(self.text)) if self.text else chosen


def _kind(kind: str, events: pl.DataFrame) -> pl.Expr:
    import polars as pl

    there = {*KINDS, *events["kind"].unique().to_list()}
    known = sorted({*there, *(name.split(".")[0] for name in there)})
    if kind not in known:
        raise InputError(f"--kind {kind}: is no kind of event: {did_you_mean(kind, known)}")
    return (pl.col("kind") == kind) | pl.col("kind").str.starts_with(f"{kind}.")


def _carries(digits: str) -> pl.Expr:
    """Whether a payload has bytes or content of this digest."""
    import polars as pl

    payload = pl.element().struct
    fits = [payload.field(name).str.starts_with(digits) for name in ("sha256", "digest")]
    return pl.col("blobs").list.eval(fits[0] | fits[1]).list.any()


def _says(text: str) -> pl.Expr:
    import polars as pl

    # The body is JSON: a word with quotes or other letters than ASCII stands there as JSON writes it.
    needle = text.lower()
    columns = [
        pl.col("body"),
        pl.col("argv").list.join(" "),
        pl.col("outcome").struct.field("reason"),
        pl.col("study").struct.field("name"),
    ]
    return pl.any_horizontal(
        *(column.str.to_lowercase().str.contains(needle, literal=True).fill_null(False) for column in columns)
    )


def file_digest(text: str) -> str:
    """The SHA-256 of a file on disk, or the digits of a digest."""
    if Path(text).is_file():
        try:
            return file_sha256(Path(text))[0]
        except LedgerError as fault:
            raise InputError(f"--file {fault}") from None
    if not DIGEST.fullmatch(text.lower()):
        raise InputError(f"--file {text[:80]}: is neither a file nor at least {LEAST_DIGITS} digits of a SHA-256")
    return text.lower()


def read_time(text: str, option: str, *, end: bool = False, now: datetime | None = None) -> datetime:
    """A time in UTC, as 2026-11-17, 2026-11-17T16:30, or how long ago: 90 min, 2 h, 3 d, 1 w.

    `end`: the first instant after the day, minute or second that was written.

    >>> read_time("2026-11-17", "--since").isoformat(), read_time("2026-11-17", "--until", end=True).isoformat()
    ('2026-11-17T00:00:00+00:00', '2026-11-18T00:00:00+00:00')
    """
    if ago := AGO.fullmatch(text.strip()):
        return (now or datetime.now(UTC)) - timedelta(seconds=float(ago[1]) * SECONDS[ago[2]])
    try:
        time = datetime.fromisoformat(text.strip())
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        return time + _written_step(text) if end else time
    except (ValueError, OverflowError):
        raise InputError(
            f"{option} {text[:60]}: is no time; write 2026-11-17, 2026-11-17T16:30 (UTC) or how long ago, as 2h or 3d"
        ) from None


def _written_step(text: str) -> timedelta:
    """What a time is written to: a day, a minute, a second, or less."""
    clock = re.search(r"[T ](\d\d(?::?\d\d)?)(:?\d\d)?([.,]\d+)?", text.strip())
    if clock is None:
        return timedelta(days=1)
    if clock[3]:
        return timedelta(microseconds=1)
    return timedelta(seconds=1) if clock[2] else timedelta(minutes=1) if len(clock[1]) > 2 else timedelta(hours=1)
