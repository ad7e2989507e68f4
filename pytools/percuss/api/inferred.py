"""Methods of a ledger: what is inferred from observations, and predicted after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from percuss.api.book import Book, ResultLike
from percuss.api.calls import operation
from percuss.api.posterior import Posterior
from percuss.api.results import Result
from percuss.api.studies import StudyLike, load_study
from percuss.errors import InputError
from percuss.ledger.event import Event


class Inferred(Book):
    """Posteriors and all that is made from them, estimates of reliability, filters."""

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
        roughness: bool = False,
    ) -> Posterior:
        """Infer the parameters of a study from its observations, with surrogates or, with `direct`, its simulator.

        With `roughness`, that of the simulator's outputs counts as an error of them, whatever the block says.
        A posterior that has not converged is returned too, but its `summary()` raises AnswerIsNo.
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
            roughness,
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
        """Predict from prior and posterior. `verify`: number of draws at which the simulator checks the surrogate."""
        from percuss.work.predict import Request, predict

        of_curves = self._event(curves) if curves is not None else None
        request = Request(self._event(posterior), draws, verify, curves=of_curves, seed=seed)
        return self._result(predict(self.session, request).event)

    @operation
    def advise(
        self,
        posterior: ResultLike,
        *,
        about: Iterable[str] = (),
        measure: Iterable[str] = (),
        repeats: int = 1,
        study: StudyLike | None = None,
        surrogates: Iterable[ResultLike] = (),
        twins: int = 0,
        outer: int = 2000,
        inner: int = 4000,
        seed: int = 0,
    ) -> Result:
        """Predict which of several tests gives most information `about` parameters or outputs, for its cost.

        Candidates are `CASE/OUTPUT` of `measure`; without it [candidates] of the study, or each output of each case.
        """
        from percuss.work.advise import Request, advise

        request = Request(
            self._event(posterior),
            tuple(about),
            tuple(measure),
            repeats,
            load_study(study) if study is not None else None,
            tuple(self._event(item) for item in surrogates),
            twins,
            outer,
            inner,
            seed,
        )
        return self._result(advise(self.session, request).event)

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
        """Estimate the probability that a limit is exceeded, with a study's simulator, a surrogate or a posterior.

        With `design` and `target`: the smallest value of a parameter that meets a target probability.
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
        """Compare calibrations or validations."""
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
        """Calibrate on twins with truths drawn from the prior: do posteriors contain them as often as they claim?

        Without surrogates the newest of the study are used. `noise`: give the twins errors this many times as large, to
        see whether this number of twins would detect it. `quick`: shorter chains, 20 ranks instead of 100.
        `evaluations`: maximum number of likelihood evaluations for each twin.
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
        """Let parameters that should be constant drift, starting from a study or a posterior.

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
        """Weight the runs of a campaign by observations, step by step: from a file, or recorded by `observe`.

        Options that are not given are taken from the section [filter] of the study. `noise`: standard deviation of each
        variable, for the covariance `constant`. `share`: find the scale of the error at which the effective sample is
        this share of the samples.
        """
        from percuss.execution.campaign import closed_campaign
        from percuss.filtering.observations import observed, read_observations
        from percuss.filtering.section import filter_settings, observation_error, study_observations
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
