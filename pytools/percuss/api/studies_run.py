"""Methods of a ledger: what happens to a study, up to its runs and its measured values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from percuss.api.book import Book, ResultLike
from percuss.api.calls import operation
from percuss.api.results import Campaign, Design, Result, Run
from percuss.api.studies import StudyLike, load_study
from percuss.errors import AnswerIsNo, InputError


class StudiesRun(Book):
    """Points, runs and observations of a study."""

    @operation
    def design(
        self,
        study: StudyLike,
        n: int | None = None,
        *,
        sampler: str = "sobol",
        seed: int = 0,
        skip: int = 0,
        options: Mapping[str, Any] | None = None,
        cases: Sequence[str] = (),
        fixed: Mapping[str, Any] | None = None,
        curves: bool = False,
    ) -> Design:
        """Choose the sample points of a study's parameters.

        >>> design = ledger.design("studies/ishigami", n=4, skip=1)
        >>> design.points()["x1"].to_list()
        [0.0, 1.5707963267948966, -1.5707963267948966, -0.7853981633974483]
        """
        from percuss.work.design import Request, create_design, plan_design

        request = Request(sampler, n, seed, skip, _texts(options), tuple(cases), dict(fixed or {}), curves)
        design = create_design(self.session, plan_design(load_study(study), request))
        return Design(self.session, design.stored)

    @operation
    def extend(self, surrogate: ResultLike, n: int, *, posterior: ResultLike | None = None, seed: int = 0) -> Design:
        """More points where a surrogate needs them, among the draws of a posterior if one is given."""
        from percuss.work.design import extend_design

        among = self._event(posterior) if posterior is not None else None
        return Design(self.session, extend_design(self.session, self._event(surrogate), n, seed, among).stored)

    @operation
    def run(self, design: ResultLike, *, on: str = "threads", profile: str | Path | None = None) -> Campaign:
        """Run every point of a design that has not been run yet; failed runs are recorded with their reason."""
        from percuss.work.run import Request, run_design

        request = Request(on, Path(profile) if profile else None)
        return Campaign(self.session, run_design(self.session, self._event(design), request).event)

    @operation
    def simulate(self, study: StudyLike, case: str | None = None, *, seed: int = 0, **inputs: Any) -> Run:
        """Run a study's model once and record its time histories.

        Inputs are numbers in the units of the study, or text with a unit (`gap="23 mm"`). Parameters that are not given
        are at their prior means. Raises AnswerIsNo if the run fails.

        >>> ledger.simulate("studies/ishigami", x1=1.0, x2=0.5, x3=-1.0).outputs()
        {'y': 2.5345600127501973}
        """
        from percuss.execution.points import point_design
        from percuss.work.simulate import simulate

        loaded = load_study(study)
        name = loaded.case_name(case)
        point = point_design(loaded, name, {key: _text(value) for key, value in inputs.items()})
        simulated = simulate(self.session, point, name, seed)
        if simulated.failure is not None:
            raise AnswerIsNo(f"the run failed: {simulated.failure}", hint=f"it is recorded as {simulated.event.id}")
        return Run(self.session, simulated.event)

    @operation
    def import_runs(
        self,
        study: StudyLike,
        file: str | Path,
        *,
        case: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> Campaign:
        """Import runs made elsewhere: a table with every parameter and output of the study."""
        from percuss.work.import_runs import import_runs

        loaded = load_study(study)
        imported = import_runs(self.session, loaded, loaded.case_name(case), Path(file), dict(columns or {}))
        return Campaign(self.session, imported.event)

    @operation
    def observe(
        self,
        study: StudyLike,
        file: str | Path | None = None,
        *,
        case: str | None = None,
        columns: Mapping[str, str] | None = None,
        twin: Mapping[str, Any] | None = None,
    ) -> Result:
        """Assign measured values to the outputs of a study: from a file, or from those that the study names.

        `twin`: the values are twin data, made with these true parameters (numbers in the units of the study).
        """
        from percuss.ledger.files import read_file
        from percuss.units import parse_quantity
        from percuss.work.observe import file_data, observe, own_data

        loaded = load_study(study)
        if file is None:
            measured = own_data(loaded)
            if measured is None:
                raise InputError(f"study {loaded.name}: [observations] names no file, so a file is needed")
        else:
            path = Path(file)
            limit = self.session.setting("import_mb") * 1_000_000
            true = {key: parse_quantity(value, loaded.parameters[key].unit) for key, value in (twin or {}).items()}
            data = read_file(path, str(path), limit)
            measured = file_data(loaded, path, data, case=case, columns=columns, twin=true or None)
        return self._result(observe(self.session, measured).event)


def _text(value: Any) -> Any:
    """A number as it is written, so that it is read in the unit of the study, as the program reads it."""
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _texts(options: Mapping[str, Any] | None) -> dict[str, str]:
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in (options or {}).items()
    }
