"""Words for messages: suggest the name that was meant, show a value without flooding the screen, count things."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Say what may stand in place of `word`: the nearest known words, or all of them when few.

    >>> did_you_mean("ishigmai", ["borehole", "ishigami"])
    'did you mean `ishigami`?'
    >>> did_you_mean("zzz", ["borehole", "ishigami"])
    'known: borehole, ishigami'
    """
    import difflib

    names = list(known)
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(word[:100].casefold(), folded, n=2, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(f"`{folded[name]}`" for name in near) + "?"
    if not names:
        return "none is known here"
    return "known: " + ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")


def shown(value: object) -> str:
    """Spell a value for a message, cut to a length a line can hold.

    >>> shown("cm"), shown("x" * 1000) == "'" + "x" * 56 + "..."
    ("'cm'", True)
    """
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def counted(count: int, one: str, many: str | None = None) -> str:
    """So many of a thing.

    >>> counted(1, "run"), counted(0, "run"), counted(2, "batch", "batches")
    ('1 run', '0 runs', '2 batches')
    """
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 's'}"
