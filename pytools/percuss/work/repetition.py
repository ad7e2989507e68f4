"""What comes of computing an event again, for `audit` and `reproduce`.

A kind of event names in `Kind.repeat` a function `repeat(session, event, part) -> Repetition`, which computes what the
event holds once more, from its inputs, and appends nothing. Of an event with several results (`Kind.parts`) it is the
one with the number `part`, from 0; an event that is one computation, as a posterior, takes no notice of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from percuss.errors import LedgerError, PercussError
from percuss.maker import environment, numerics, software

if TYPE_CHECKING:
    from collections.abc import Callable

    from percuss.ledger.event import Event
    from percuss.session import Session

    Repeat = Callable[[Session, Event, int], "Repetition"]

# What a stranger's events can make of a computation.
STRANGE = (PercussError, KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)
# So much is said of what an event claims to have been made with: a stranger's claim does not drown what is found.
LONGEST_CLAIM = 80


@dataclass(frozen=True)
class Repetition:
    """What came of it.

    - `same`: every number to the bit.
    - `within`: made by another build, in another environment or by another program, and within the bound that is said.
    - `cannot`: cannot be compared here: a program that is not there, a plugin that is not installed; or made in another
      environment, in which rounding may take another way, and not within the bound. Neither proof nor fault.
    - `differs`: a fault.

    `checked` is how many results were compared (runs, posteriors); zero where it `cannot`. `sentence` is empty where it
    is the same; says what was recorded and what came out where it differs, after the id of the event; and goes on from
    a number where it is within or cannot, so that it can be counted: `made by another build, compared within 1e-09`.
    `by_claim`: it was computed here, differed, and `cannot` only because of the environment it claims.
    """

    verdict: Literal["same", "within", "cannot", "differs"]
    checked: int
    sentence: str = ""
    by_claim: bool = False


@dataclass(frozen=True)
class Elsewhere:
    """In what the making of an event differed from what is here: the build of the core, and parts of the environment.

    An environment that was not recorded (events of format 1) may have been any. `code`: it is of another version,
    commit or build.
    """

    build: bool
    environment: tuple[str, ...]
    code: bool

    def __bool__(self) -> bool:
        return self.build or bool(self.environment)

    @property
    def generators(self) -> bool:
        """Whether seeds may give other numbers: numpy and scipy are of another version, or it is not known of which."""
        same = ("another polars", "another emcee", "another BLAS", "another CPU", "another machine", "another C ")
        return not all(part.startswith(same) for part in self.environment)

    @property
    def words(self) -> str:
        """How it was made, as what follows `made`."""
        parts = ["by another build"] if self.build else []
        parts += [f"with {', '.join(self.environment)}"] if self.environment else []
        return " and ".join(parts)


def elsewhere(session: Session, event: Event) -> Elsewhere:
    """In what the making of an event differed from what is here."""
    build = event.software.core != (session.ledger.core or software().core)
    code = build or (event.software.version, event.software.commit) != (software().version, software().commit)
    try:
        record = session.ledger.environment(event)
    except LedgerError as fault:
        return Elsewhere(build, (f"an environment that cannot be read ({fault})",), code)
    if record is None:
        return Elsewhere(build, ("an environment that was not recorded",), code)
    here = numerics(environment())
    other = {name: value for name, value in numerics(record).items() if value != here[name]}
    words = tuple(f"another {name} ({value[:LONGEST_CLAIM]}, here {here[name]})" for name, value in other.items())
    return Elsewhere(build, words, code)


def judged(
    session: Session,
    event: Event,
    what: str,
    *,
    same: bool,
    near: Callable[[], tuple[str | None, str]],
    far: Callable[[Elsewhere], str | None] = lambda makings: None,
) -> Repetition:
    """The verdict on a result that was computed again.

    `same`: to the bit. `near` is asked where it is not, and was made elsewhere: what lies outside the bound, None if
    nothing does, and the bound in words. With the same build in the same environment nothing but the same bits will do.
    Of another build what lies outside is a fault. Of another environment it is none: rounding may have led another way,
    through a sampler, a search or an impact, and an intact ledger is not called broken for it. But an environment is
    only a claim: `far` is asked what lies beyond all that rounding can do there, None if nothing does, and that is a
    fault wherever it is said to have been made.
    """
    if same:
        return Repetition("same", 1)
    makings = elsewhere(session, event)
    if not makings:
        return Repetition("differs", 1, what)
    outside, bound = near()
    if outside is None:
        return Repetition("within", 1, f"made {makings.words}, compared within {bound}")
    if makings.environment:
        if beyond := far(makings):
            return Repetition("differs", 1, f"{what}: {beyond}, which no rounding explains (made {makings.words})")
        return Repetition("cannot", 0, f"made {makings.words}, and not within {bound}", by_claim=True)
    return Repetition("differs", 1, f"{what}: {outside}")
