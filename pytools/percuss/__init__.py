"""percuss: simulate contact and impact, calibrate, and keep every step as an auditable event.

The Python side of the program, over the same operations as its commands:

    import percuss

    ledger = percuss.open_ledger("ledger")
    campaign = ledger.run(ledger.design("studies/ishigami", n=64, skip=1))
    surrogate = ledger.surrogate(campaign)
    surrogate(x1=1.0, x2=0.5, x3=-1.0)

`docs/python.md` has the whole of it. Scenes of rigid bodies are in `percuss.scene`, contact problems in
`percuss.contact`, checks for models and other parts of your own in `percuss.testing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from percuss.api import (
        Campaign,
        Design,
        Ledger,
        Picture,
        Posterior,
        Report,
        Result,
        Run,
        Surrogate,
        load_study,
        make_study,
        model,
        open_ledger,
    )
    from percuss.errors import AnswerIsNo, InputError, LedgerError, NotTrusted, PercussError

__all__ = [
    "AnswerIsNo",
    "Campaign",
    "Design",
    "InputError",
    "Ledger",
    "LedgerError",
    "NotTrusted",
    "PercussError",
    "Picture",
    "Posterior",
    "Report",
    "Result",
    "Run",
    "Surrogate",
    "__version__",
    "load_study",
    "make_study",
    "model",
    "open_ledger",
]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the program starts without numpy and polars.
    if name == "__version__":
        from percuss.maker import version

        return version()
    if name in ("AnswerIsNo", "InputError", "LedgerError", "NotTrusted", "PercussError"):
        from percuss import errors

        return getattr(errors, name)
    if name in __all__:
        from percuss import api

        return getattr(api, name)
    raise AttributeError(f"module 'percuss' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
