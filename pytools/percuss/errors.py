"""The exceptions of percuss: one root, each leaf with the exit code its kind of trouble has.

Exit codes (the shell's side of the contract): 0 done, 1 the answer is no, 2 wrong input, 3 unexpected fault,
4 ledger busy or unreadable, 130 interrupted.
"""

from __future__ import annotations


class PercussError(Exception):
    """Root of all errors percuss raises on purpose. `hint` says what to do next, where there is something to do."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class AnswerIsNo(PercussError):  # noqa: N818 (the command worked, the answer is no)
    """The command worked and what it was asked is not so: an audit failed, a regression moved."""

    exit_code = 1


class NotTrusted(UserWarning):
    """A result that Python was given failed a gate of docs/trust.md: what the program prints before anything else."""


class InputError(PercussError, ValueError):
    """What the user gave cannot be used: the message names file or key, value and what is allowed."""

    exit_code = 2


class NotHereError(InputError):
    """What is needed is known not to be here: neither a proof of anything, nor a fault of what needs it."""


class PrunedError(NotHereError):
    """A payload that was deleted under a policy, as an event of the ledger says."""


class LedgerError(PercussError, OSError):
    """The ledger cannot be read or written as it is."""

    exit_code = 4
