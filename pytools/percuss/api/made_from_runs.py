"""Methods of a ledger: what is made from runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from percuss.api.book import Book, ResultLike
from percuss.api.calls import operation
from percuss.api.results import Result
from percuss.api.surrogate import Surrogate


class MadeFromRuns(Book):
    """Surrogates, indices, regions and fragility curves."""

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
        low: ResultLike | None = None,
        seed: int = 0,
    ) -> Surrogate:
        """Fit surrogates of all outputs of a campaign, or of whole `curves` of a quantity.

        `held_out`: a fraction of the points, or another campaign of the study, to test the surrogates with. `low`: a
        surrogate of cheaper runs to build on.
        """
        from percuss.surrogates.model import Settings, parse_degrees, parse_qs
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
        lower = self._event(low) if low is not None else None
        fitted = fit_surrogates(self.session, self._event(campaign), settings, others, lower)
        return Surrogate(self.session, fitted.event)

    @operation
    def sensitivity(
        self,
        of: ResultLike,
        *,
        method: str = "auto",
        n: int = 8192,
        level: float = 0.95,
        seed: int = 0,
        groups: Mapping[str, Sequence[str]] | None = None,
    ) -> Result:
        """Sensitivity indices of a surrogate or a campaign: table `indices`; of groups of parameters, `groups`."""
        from percuss.sensitivity.compute import Request
        from percuss.work.sensitivity import compute_indices

        named = {name: tuple(members) for name, members in (groups or {}).items()}
        request = Request(method, n, level, seed, named)
        return self._result(compute_indices(self.session, self._event(of), request).event)

    @operation
    def region(self, campaign: ResultLike, curves: Sequence[str], *, level: float = 0.9) -> Result:
        """Confidence regions of time histories over the runs of a campaign: table `region`."""
        from percuss.work.region import compute_regions

        return self._result(compute_regions(self.session, self._event(campaign), curves, level).event)

    @operation
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
