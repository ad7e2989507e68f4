"""Suggest the word that was meant: one wording for every unknown name percuss meets."""

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
