"""Does a surrogate tell more about an output than the mean of its runs does?

One whose error is the whole variance knows nothing. Above half of it (WORTHLESS) more of what it says is wrong than
right: no conclusion is drawn from such an output, and it is named. Of curves the whole curve counts, not the modes:
late modes are small, hard to follow and of little consequence. An output that is the same in every run has no variance
to miss, and passes. Where no point was kept from the fit (`--folds 0`) the leave-one-out error is judged: too small as
it is, it fails only what has no skill for certain, and the outputs are warned of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from percuss.kinds.surrogate_fitted import Curves
from percuss.surrogates.curves import whole_curve_errors
from percuss.surrogates.fit import ColumnFit
from percuss.trust import Trust, Verdict, failures

if TYPE_CHECKING:
    from percuss.surrogates.surrogate import Column

# Mean square error over variance, from which on an output is worthless.
WORTHLESS = 0.5


def skill(columns: Sequence[ColumnFit | Column], curves: Curves | None = None) -> Trust:
    """A failed verdict for every worthless output or curve; a passed one where there is none."""
    if curves:
        errors = [
            (f"{curves.quantity}, {case}", error, tuple(_name(c) for c in columns if c.case == case))
            for case, error, _ in whole_curve_errors(columns, curves)
        ]
    else:
        errors = [(f"{c.output}, {c.case}", c.errors.trusted, (_name(c),)) for c in columns]
    failed = [
        Verdict(
            "skill",
            False,
            f"{label}: the surrogate misses {error:.2g} of the variance, and up to {WORTHLESS:g} is tolerated "
            "(the mean of the runs would miss 1)",
            error,
            WORTHLESS,
            about,
        )
        for label, error, about in errors
        if not error <= WORTHLESS  # NaN is no skill either
    ]
    if failed:
        return tuple(failed)
    worst = max(error for _, error, _ in errors)
    sentence = f"the surrogate misses at most {worst:.2g} of the variance of an output"
    return (Verdict("skill", True, sentence, worst, WORTHLESS),)


def left_out(trust: Iterable[Verdict]) -> frozenset[str]:
    """`case/output` of what has no skill and was not accepted."""
    return frozenset(name for v in failures(trust) if v.gate == "skill" and v.stops for name in v.about)


def _name(column: ColumnFit | Column) -> str:
    return f"{column.case}/{column.output}"
