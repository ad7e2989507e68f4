"""What is in a ledger, as objects: an event with its tables in the units of its study, and what it failed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from percuss.api.tables import in_study_units, units_of
from percuss.designs.design import load_design
from percuss.errors import AnswerIsNo, InputError, NotTrusted
from percuss.execution.records import runs_table
from percuss.kinds.body import Body
from percuss.kinds.design_created import DesignCreated
from percuss.kinds.trusted import Result as Judged
from percuss.ledger.event import FILE_ROLE, Event
from percuss.session import Session, standing
from percuss.spelling import did_you_mean
from percuss.study.study import Study
from percuss.trust import Trust, Verdict, failures

if TYPE_CHECKING:
    import polars as pl

Own = TypeVar("Own", bound="Result")


class Result:
    """An event of a ledger. `body` holds its facts in SI, as `percuss.kinds` describes them; tables are polars frames.

    A result that failed a gate of docs/trust.md is there all the same: a warning (`percuss.NotTrusted`) says so,
    `failed` says what, `checked()` refuses it.
    """

    def __init__(self, session: Session, event: Event) -> None:
        self._session = session
        self.event = event
        for verdict in failures(event.content.trust) if isinstance(event.content, Judged) else ():
            if verdict.stops:
                warnings.warn(verdict.line(), NotTrusted, stacklevel=4)

    @property
    def id(self) -> str:
        """The id of the event."""
        return self.event.id

    @property
    def kind(self) -> str:
        """The kind of the event, as `design.created`."""
        return self.event.kind

    @property
    def body(self) -> Body | None:
        """Its facts, as the type of its kind; None for a kind that this percuss does not know."""
        return self.event.content

    @property
    def study(self) -> Study:
        """The study it belongs to, as it was registered."""
        return self._session.study(self.event)

    @property
    def trust(self) -> Trust:
        """What was checked before it may be relied on: its own verdicts, and those of all it is made from."""
        return standing(self._session.state, self.event)

    @property
    def failed(self) -> list[Verdict]:
        """What it failed and nobody accepted, the worst first."""
        return [verdict for verdict in failures(self.trust) if verdict.stops]

    def checked(self: Own) -> Own:
        """The result itself; raise AnswerIsNo if it failed a gate that was not accepted."""
        if self.failed:
            raise AnswerIsNo(
                "; ".join(verdict.sentence for verdict in self.failed), hint="docs/trust.md explains gates"
            )
        return self

    @property
    def table_names(self) -> list[str]:
        """The tables it carries."""
        return [blob.role for blob in self.event.blobs if not blob.role.startswith(FILE_ROLE)]

    def table(self, name: str) -> pl.DataFrame:
        """A table it carries, as it is stored: in SI."""
        return self._session.table(self.event, name)

    def __repr__(self) -> str:
        from percuss.work.log import summary

        failed = f" FAILED {', '.join(dict.fromkeys(v.gate for v in self.failed))}" if self.failed else ""
        return f"<{self.kind} {self.id} ({summary(self.event)}){failed}>"


class Design(Result):
    """Sample points of a study's parameters."""

    @property
    def body(self) -> DesignCreated:
        """How the points were chosen."""
        return DesignCreated.of(self.event)

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns of `points`."""
        return units_of(self.study, self.body.names)

    def points(self) -> pl.DataFrame:
        """One row a sample: `sample` and the parameters, in the units of the study."""
        return in_study_units(self.study, self.table("design").select("sample", *self.body.names))


class Campaign(Result):
    """Every run of a design."""

    @property
    def design(self) -> Design:
        """The design that was run."""
        return Design(self._session, load_design(self._session, self.event).stored)

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns of `runs`."""
        return units_of(self.study, [*self.study.parameters, *self.study.outputs])

    def runs(self) -> pl.DataFrame:
        """One row per run: case, sample, parameters, why it failed (null: it did not) and outputs, in study units."""
        return in_study_units(self.study, runs_table(self._session, load_design(self._session, self.event)))

    def failures(self) -> pl.DataFrame:
        """The runs that failed, with the reason of each."""
        import polars as pl

        return self.runs().filter(pl.col("failed").is_not_null()).drop(list(self.study.outputs))

    def curves(self, *names: str, most: int | None = None) -> pl.DataFrame:
        """Time histories of all runs as one table: case, sample, axes and quantities, in the units of the study.

        `names` are quantities of the model (all of them, if none is named; the axis of each comes with it), `most` is
        how many samples of each case. Runs that did not keep their curves are made again, to the same bits.
        """
        from percuss.work.curves import curves_table

        table = curves_table(self._session, self.event, most)
        if names:
            quantities = self.study.model().quantities
            for name in names:
                if name not in table.columns:
                    raise InputError(
                        f"curve {name}: no such curve of the model: {did_you_mean(name, table.columns[2:])}"
                    )
            axes = [quantities[name].axis for name in names]
            table = table.select(*dict.fromkeys(["case", "sample", *(axis for axis in axes if axis), *names]))
        return in_study_units(self.study, table)


class Run(Campaign):
    """One run with given values."""

    def outputs(self) -> dict[str, float]:
        """The outputs, in the units of the study."""
        row = self.runs().row(0, named=True)
        return {name: row[name] for name in self.study.outputs}


def facts(result: Result) -> dict[str, Any]:
    """The body of a result as plain data, in SI."""
    return dict(result.event.data)
