"""The exceptions of percuss: one root, each leaf with the exit code its kind of trouble has.

Exit codes (the shell's side of the contract): 0 done, 1 the answer is no, 2 wrong input, 3 unexpected fault,
4 ledger busy or unreadable, 130 interrupted.
"""

from __future__ import annotations


class PercussError(Exception):
    """Base class of all errors that percuss raises on purpose. `hint` says what to do next, if anything."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class AnswerIsNo(PercussError):  # noqa: N818 (the command worked, the answer is no)
    """The command worked and the answer is no: an audit failed, a regression moved, a gate was not passed."""

    exit_code = 1


class NotTrusted(UserWarning):
    """A warning: a result failed a gate of docs/trust.md."""


class InputError(PercussError, ValueError):
    """The input cannot be used: the message names file or key, value and what is allowed."""

    exit_code = 2


class NotHereError(InputError):
    """Something that is needed is not available here: this proves nothing and is no fault of the result."""


class PrunedError(NotHereError):
    """A payload that was deleted by `percuss prune`, as an event of the ledger records."""


class LedgerError(PercussError, OSError):
    """The ledger cannot be read or written as it is."""

    exit_code = 4
