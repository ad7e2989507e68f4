"""A ledger from Python: every operation of percuss as a method."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from percuss.api.calls import operation
from percuss.api.lines import Lines
from percuss.api.posterior import Posterior
from percuss.api.report import Report
from percuss.api.results import Campaign, Design, Result, Run
from percuss.api.studies import StudyLike, load_study
from percuss.api.surrogate import Surrogate
from percuss.config import find_settings
from percuss.errors import AnswerIsNo, InputError
from percuss.ledger.calls import OpenCall
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger as Stored
from percuss.maker import this_maker
from percuss.session import Session, Silent
from percuss.spelling import counted
from percuss.trust import GATES

if TYPE_CHECKING:
    import polars as pl

    from percuss.work.audit import Audit
    from percuss.work.diff import Diff
    from percuss.work.reproduce import Reproduction

# A result, its event, or a reference to it: an id, a unique prefix of one, `@last`, `@last:KIND`.
ResultLike = Result | Event | str

# What an event of a kind is as an object; any other is a Result.
RESULTS: dict[str, type[Result]] = {
    "design.created": Design,
    "runs.completed": Run,
    "runs.failed": Run,
    "campaign.completed": Campaign,
    "surrogate.fitted": Surrogate,
    "posterior.sampled": Posterior,
}


def open_ledger(
    path: str | Path | None = None,
    *,
    create: bool = True,
    jobs: int | None = None,
    accept: Collection[str] = (),
    allow_command: bool = False,
    progress: bool = True,
) -> Ledger:
    """Open the ledger in a folder (the setting `ledger` if none is given), and begin one if there is none.

    `jobs`: runs at a time. `accept`: gates of docs/trust.md whose failure is accepted. `allow_command`: let studies of
    the kind `command` run their programs. `progress`: tell how far long jobs have come, in plain lines on stderr.

    >>> ledger = percuss.open_ledger("ledger")
    >>> ledger
    <ledger ledger: 0 events>
    """
    for gate in accept:
        if gate not in GATES:
            raise InputError(f"accept: {gate} is no gate", hint=f"gates are {', '.join(GATES)}")
    settings = find_settings({"ledger": None if path is None else str(path), "jobs": jobs})
    maker = this_maker(["python"], OpenCall("python", "open_ledger", []), settings["identity"].value)
    stored = Stored.open(settings["ledger"].value, maker, create=create)
    voice = Lines() if progress else Silent()
    return Ledger(Session(stored, settings=settings, accept=accept, allow_command=allow_command, voice=voice))


class Ledger:
    """An open ledger. Everything a method makes is appended as an event and given back as an object.

    What others append is seen after `refresh()`. Studies are given as `Study`, folder, file or name; results as
    objects, ids, unique prefixes of ids, `@last` or `@last:KIND`.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.session.ledger.place.root

    def refresh(self) -> Ledger:
        """See what others have appended since."""
        self.session.refresh()
        return self

    def __getitem__(self, reference: ResultLike) -> Any:
        """A result by its id, a unique prefix of it, `@last` or `@last:KIND`."""
        return self._result(self._event(reference))

    def __len__(self) -> int:
        return len(self.session.state.events)

    def __repr__(self) -> str:
        return f"<ledger {self.path}: {counted(len(self), 'event')}>"

    # What happens to a study.

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
        """Run every point of a design that has not been run; runs that fail are kept with their reason."""
        from percuss.work.run import Request, run_design

        request = Request(on, Path(profile) if profile else None)
        return Campaign(self.session, run_design(self.session, self._event(design), request).event)

    @operation
    def simulate(self, study: StudyLike, case: str | None = None, *, seed: int = 0, **inputs: Any) -> Run:
        """Run a study's model once, time histories kept. Inputs are numbers in the units of the study, or text with a
        unit (`gap="23 mm"`); parameters that are not given are at their prior means. AnswerIsNo if the run fails.

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
        """Take in runs that were made elsewhere: a table with every parameter and output of the study."""
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
        """Bind measured values to the outputs of a study: of a file, or of those that the study names.

        `twin`: the values are twin data, made with these true parameters (numbers in the units of the study).
        """
        from percuss.study.files import read_regular
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
            data = read_regular(path.resolve(), str(path), limit)
            measured = file_data(loaded, path, data, case=case, columns=columns, twin=true or None)
        return self._result(observe(self.session, measured).event)

    # What is made from runs.

    @operation
    def surrogate(
        self,
        campaign: ResultLike,
        *,
        family: str | None = None,
        degree: str = "1..20",
        q: str = "0.5..1",
        folds: int = 5,
        bootstrap: int = 100,
        curves: str | None = None,
        held_out: float | ResultLike | None = None,
        seed: int = 0,
    ) -> Surrogate:
        """Fit surrogates of all outputs of a campaign, or of whole `curves` of a quantity.

        `held_out`: a fraction of the points to keep back, or another campaign of the study, to judge them by.
        """
        from percuss.surrogates.settings import Settings, parse_degrees, parse_qs
        from percuss.work.surrogate import fit_surrogates

        fraction = held_out if isinstance(held_out, float) else 0.0
        settings = Settings(
            family=family or ("auto" if folds and not curves else "chaos"),
            degrees=parse_degrees(degree),
            qs=parse_qs(q),
            folds=folds,
            held_out=fraction,
            bootstrap=bootstrap,
            seed=seed,
            curves=curves,
        )
        others = self._event(held_out) if held_out is not None and not isinstance(held_out, float) else None
        fitted = fit_surrogates(self.session, self._event(campaign), settings, others)
        return Surrogate(self.session, fitted.event)

    @operation
    def sensitivity(
        self, of: ResultLike, *, method: str = "auto", n: int = 8192, level: float = 0.95, seed: int = 0
    ) -> Result:
        """Indices of a surrogate, or of the runs of a campaign: table `indices`."""
        from percuss.sensitivity.compute import Request
        from percuss.work.sensitivity import compute_indices

        return self._result(compute_indices(self.session, self._event(of), Request(method, n, level, seed)).event)

    @operation
    def region(self, campaign: ResultLike, curves: Sequence[str], *, level: float = 0.9) -> Result:
        """Confidence regions of time histories over the runs of a campaign: table `region`."""
        from percuss.work.region import compute_regions

        return self._result(compute_regions(self.session, self._event(campaign), curves, level).event)

    def fragility(
        self,
        campaign: ResultLike,
        *,
        intensity: str,
        output: str,
        states: Mapping[str, str | float],
        method: str = "counts",
        motion: str = "run",
        dispersion: str = "common",
        cases: Sequence[str] = (),
        hazard: str | None = None,
        failed_collapse: bool = False,
        level: float = 0.9,
        draws: int = 400,
        seed: int = 0,
    ) -> Result:
        """Fragility curves of damage states, mildest first: tables `curves` and `points`."""
        from percuss.work.fragility import Asked, fit_fragility
        from percuss.work.fragility_words import fit_request, hazard_of

        event = self._event(campaign)
        study = self.session.study(event)
        request = fit_request(study, output, states, method, dispersion, level, draws, seed)
        curve = hazard_of(study, intensity, hazard) if hazard else []
        asked = Asked(intensity, output, request, cases, motion, curve, failed_collapse)
        return self._result(fit_fragility(self.session, event, asked).event)

    # Inference.

    @operation
    def calibrate(
        self,
        surrogates: ResultLike | Iterable[ResultLike] = (),
        *,
        direct: StudyLike | None = None,
        observations: ResultLike | None = None,
        study: StudyLike | None = None,
        block: str | None = None,
        sampler: str | None = None,
        settings: Mapping[str, float] | None = None,
        evaluations: int | None = None,
        seed: int = 0,
    ) -> Posterior:
        """Infer the parameters of a study from its observations, by surrogates or with `direct` by its simulator.

        A posterior that has not converged is given back as well; its `summary()` refuses.
        """
        from percuss.work.calibrate import Request, calibrate

        listed = [surrogates] if isinstance(surrogates, Result | Event | str) else list(surrogates)
        request = Request(
            tuple(self._event(item) for item in listed),
            load_study(direct) if direct is not None else None,
            self._event(observations) if observations is not None else None,
            load_study(study) if study is not None else None,
            block,
            sampler,
            dict(settings or {}),
            evaluations,
            seed,
        )
        return Posterior(self.session, calibrate(self.session, request).event)

    @operation
    def predict(
        self,
        posterior: ResultLike,
        *,
        draws: int | None = None,
        verify: int = 0,
        curves: ResultLike | None = None,
        seed: int = 0,
    ) -> Result:
        """Predict before and after the data; with `verify` let the simulator check the surrogate at so many draws."""
        from percuss.work.predict import Request, predict

        of_curves = self._event(curves) if curves is not None else None
        request = Request(self._event(posterior), draws, verify, curves=of_curves, seed=seed)
        return self._result(predict(self.session, request).event)

    @operation
    def reliability(
        self,
        of: StudyLike | ResultLike,
        limit: str | None = None,
        *,
        method: str = "monte-carlo",
        n: int | None = None,
        cv: float = 0.1,
        level: float = 0.95,
        options: Mapping[str, float] | None = None,
        verify: int = 0,
        draws: int | None = None,
        design: str | None = None,
        target: float | None = None,
        study: StudyLike | None = None,
        seed: int = 0,
    ) -> Result:
        """Estimate the probability that a limit is exceeded: of a study by its simulator, of a surrogate, or after a
        posterior. With `design` and `target` the least value of a parameter that meets a probability.
        """
        from percuss.work.limit_estimate import Request
        from percuss.work.reliability import estimate_reliability
        from percuss.work.subject import subject

        named = subject(of, Path(self.session.setting("studies"))) if isinstance(of, str) else of
        result = named if isinstance(named, str | Result | Event) else None
        limits = named if not isinstance(named, str | Result | Event) else study
        request = Request(
            load_study(limits) if limits is not None else None,
            self._event(result) if result is not None else None,
            limit,
            method,
            n,
            cv,
            level,
            dict(options or {}),
            verify,
            draws,
            design,
            target,
            seed,
        )
        return self._result(estimate_reliability(self.session, request).event)

    @operation
    def compare(self, *results: ResultLike) -> Result:
        """Hold calibrations, or validations, against each other."""
        from percuss.work.compare import compare

        return self._result(compare(self.session, [self._event(item) for item in results]).event)

    @operation
    def trust(
        self,
        *surrogates: ResultLike,
        study: StudyLike | None = None,
        observations: ResultLike | None = None,
        block: str | None = None,
        twins: int = 100,
        made_by: Literal["surrogate", "simulator"] = "surrogate",
        noise: float = 1.0,
        quick: bool = False,
        evaluations: int | None = None,
        seed: int = 0,
    ) -> Result:
        """Calibrate on twins, whose truths are drawn from the prior: do posteriors hold them as often as they claim?

        Without surrogates the newest of the study are taken. `noise`: make twins with errors that many times as large,
        to see whether so many twins would show it. `quick`: shorter chains, 20 ranks instead of 100. `evaluations`: of
        the likelihood, most for each twin.
        """
        from percuss.work.calibrate import Request as Calibration
        from percuss.work.trust import Request, newest_surrogates, try_twins

        loaded = load_study(study) if study is not None else None
        if not surrogates and loaded is None:
            raise InputError("trust: needs a surrogate, or a study that has one")
        chosen = [self._event(item) for item in surrogates]
        calibration = Calibration(
            surrogates=tuple(chosen or newest_surrogates(self.session, loaded)),  # type: ignore[arg-type]
            observations=self._event(observations) if observations is not None else None,
            study=loaded,
            block=block,
            evaluations=evaluations,
            seed=seed,
        )
        return self._result(try_twins(self.session, Request(calibration, twins, made_by, noise, quick)).event)

    @operation
    def validate(
        self, study: StudyLike | Posterior, model: str | None = None, *, seed: int = 0, **asked: Any
    ) -> Result:
        """Let parameters of a study, or of a posterior, drift that should be constant.

        `asked` are keys of `[validation]`: `track`, `drift`, `gaps`, `settle`, `training`, `substeps`, `traditional`.
        """
        from percuss.work.validate import Request, Subject, of_posterior, validate

        if isinstance(study, Posterior):
            subject = of_posterior(self.session, study.event)
        else:
            subject = Subject(load_study(study))
        return self._result(validate(self.session, subject, Request(model, asked, seed=seed)).event)

    @operation
    def filter(
        self,
        campaign: ResultLike,
        observations: str | Path | Result | None = None,
        *,
        case: str | None = None,
        covariance: str | None = None,
        noise: Mapping[str, str | float] | None = None,
        scale: float | None = None,
        share: float | None = None,
        seed: int = 0,
    ) -> Result:
        """Weight the runs of a campaign by observations, step by step: of a file, or of what `observe` took in.

        What is not given is taken from the section [filter] of the study. `noise`: standard deviation of each variable,
        for the covariance `constant`. `share`: search the scale of the error for this effective share of the samples.
        """
        from percuss.filtering.observations import observed, read_observations
        from percuss.filtering.section import filter_settings, observation_error, study_observations
        from percuss.work.campaigns import closed_campaign
        from percuss.work.filter import filter_ensemble

        runs = closed_campaign(self.session, self._event(campaign))
        written = {"case": case, "covariance": covariance, "noise": dict(noise or {}), "scale": scale, "ess": share}
        asked = filter_settings(runs.study, written)
        if isinstance(observations, Result):
            measured = observed(self.session, observations.event, runs.study, asked.get("case"))
        elif observations is not None:
            limit = self.session.setting("import_mb") * 1_000_000
            measured = read_observations(Path(observations), runs.study, asked.get("case"), limit)
        elif "file" in asked:
            measured = study_observations(runs.study, asked)
        else:
            raise InputError("observations: give a file or a result, or a file in [filter] of the study")
        error = observation_error(runs.study, measured, asked)
        filtered = filter_ensemble(self.session, runs, measured, error, share=asked.get("ess"), seed=seed)
        return self._result(filtered.event)

    # What the ledger holds.

    def log(self, kind: str | None = None, study: str | None = None, **more: str) -> pl.DataFrame:
        """The events, oldest first: id, time, kind, study, how it stands, and what it is in a few words.

        Also by `since`, `until`, `actor`, `file` and `text`, as `percuss log` takes them.
        """
        import polars as pl

        from percuss.work.log import log_lines, when
        from percuss.work.selection import Selection

        rows = [
            (e.id, when(e), e.kind, e.study.name if e.study else None, line.mark, line.summary)
            for line in log_lines(self.session.ledger.frame(), Selection(kind, study, **more))
            for e in [line.event]
        ]
        names = ("id", "at", "kind", "study", "mark", "summary")
        return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")

    def lineage(self, result: ResultLike, *, onwards: bool = False) -> list[Any]:
        """All that a result comes from and itself, in ledger order; with `onwards` what was made from it."""
        from percuss.ledger.projections import descendants, lineage

        find = descendants if onwards else lineage
        return [self[event] for event in find(self.session.state, self._event(result).id)]

    def diff(self, a: ResultLike, b: ResultLike, rows: int = 10) -> Diff:
        """What differs between two results of a kind; `same` says whether nothing does."""
        from percuss.work.diff import diff

        return diff(self.session, self._event(a), self._event(b), rows)

    def restore(self, result: ResultLike, to: str | Path) -> Path:
        """Write the study that a result stands on, as it was, into a new folder in the folder `to`; where it is."""
        from percuss.work.restore import restore

        return restore(self.session, self._event(result), Path(to)).path

    def reproduce(self, result: ResultLike, runs: int | None = None) -> Reproduction:
        """Compute a result, and all it stands on, again; `holds` says whether it came out. Nothing is appended."""
        from percuss.work.reproduce import reproduce

        return reproduce(self.session, self._event(result), runs)

    def export_crate(self, result: ResultLike, to: str | Path, licence: str = "") -> str:
        """Write a result and all it stands on as an RO-Crate, a folder or .zip; the hash that covers it."""
        from percuss.work.crate import write_crate

        return write_crate(self.session, self._event(result), Path(to), licence).root.hash

    def import_crate(self, path: str | Path, hash: str | None = None) -> Result:
        """Take in a crate of another ledger as one event, after every hash in it was checked."""
        from percuss.work.crate import import_crate

        return self._result(import_crate(self.session, Path(path), hash)[0])

    def anchor(
        self,
        to: str | Path,
        *,
        events: Sequence[ResultLike] = (),
        since: str | Path | None = None,
        sign: str | Path | None = None,
        stamp: str | None = None,
    ) -> str:
        """Write a checkpoint of all streams to a file outside of the ledger, and give its root.

        With proofs for `events` and `since` an older anchor; signed with an SSH key, stamped by an authority's address.
        """
        from percuss.work.anchor import Request, make_anchor

        ids = [self._event(item).id for item in events]
        request = Request(ids, Path(since) if since else None, str(sign) if sign else None, stamp)
        return make_anchor(self.session, Path(to), request).checkpoint.root

    def audit(
        self,
        rerun: int = 3,
        anchor: str | Path | None = None,
        beacon: str | None = None,
        *,
        signers: str | Path | None = None,
        authorities: str | Path | None = None,
    ) -> Audit:
        """Prove that the ledger is whole, computing so many results of each sort again; `holds` says whether it is.

        `anchor`: a file of `anchor`, or the hash of an event, that was kept elsewhere. `beacon`: a text by which
        results are drawn; without one nobody can know which they are. `signers`, `authorities`: files of whom to trust.
        """
        from percuss.anchors.witnesses import Trusted
        from percuss.work.audit import audit

        trusted = Trusted(Path(signers) if signers else None, Path(authorities) if authorities else None)
        return audit(self.session, rerun, anchor, beacon, trusted)

    def report(self, *results: ResultLike) -> Report:
        """A page on results and all they come from; a notebook shows it inline."""
        from percuss.work.report import make_report

        return Report(make_report(self.session, [self._event(item) for item in results]))

    def plot(
        self,
        *results: ResultLike,
        to: str | Path,
        curves: Sequence[str] = (),
        samples: int | None = None,
        title: str = "",
        style: Literal["screen", "paper"] = "screen",
    ) -> Path:
        """Draw results into a file (.svg, .png, .pdf): curves of runs, and of every other kind its own picture."""
        from percuss.plots.subject import Request
        from percuss.work.plot import plot

        events = [self._event(item) for item in results]
        plot(self.session, events, Path(to), Request(curves, title, samples), style=style)
        return Path(to)

    def site(self, to: str | Path) -> Path:
        """Write the whole ledger as a static site, or bring it up to date; returns its first page."""
        from percuss.work.site import make_site

        return make_site(self.session, Path(to)).index

    @operation
    def note(self, result: ResultLike, text: str) -> Result:
        """Add words to a result."""
        from percuss.work.note import add_note

        return self._result(add_note(self.session, self._event(result), text))

    @operation
    def supersede(self, result: ResultLike, reason: str, by: ResultLike | None = None) -> Result:
        """Say that a result is not to be used any more, and why."""
        from percuss.work.supersede import supersede

        other = self._event(by) if by is not None else None
        return self._result(supersede(self.session, self._event(result), reason, other).event)

    def _result(self, event: Event) -> Result:
        return RESULTS.get(event.kind, Result)(self.session, event)

    def _event(self, reference: ResultLike) -> Event:
        return reference.event if isinstance(reference, Result) else self.session.event(reference)


def _text(value: Any) -> Any:
    """A number as it is written, so that it is read in the unit of the study, as the program reads it."""
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _texts(options: Mapping[str, Any] | None) -> dict[str, str]:
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in (options or {}).items()
    }
