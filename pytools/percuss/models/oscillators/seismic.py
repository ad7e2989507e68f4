"""What earthquake engineers ask of a run: drift of storeys, spectra of base and floors, measures of the motion.

A study asks for each by its table: `storeys`, `spectra`, `base_measures`. Drifts peak between samples of the curves
where the cubic through displacements and velocities does: an error of fourth order in `sampling`, and of first order
in the step of velocity at an impact between two samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.models.ground.measures import housner_m, measures_of
from percuss.models.ground.spectrum import response_spectrum
from percuss.models.model import Quantity
from percuss.settings import Setting, table_of

if TYPE_CHECKING:
    from numpy import ndarray

STOREY = table_of(
    Setting("name", "text", required=True, doc="name, at the end of the names of its quantities"),
    Setting("between", "list", required=True, doc='two masses, or "base" and one, the lower one first'),
    Setting("height", "number", required=True, unit="m", low=0, low_open=True, doc="height of the storey"),
    Setting("building", "text", doc="name of the building, for the largest drift ratio of each building"),
)
SPECTRA = table_of(
    Setting("shortest", "number", 0.05, unit="s", low=1e-3, high=10, doc="first period"),
    Setting("longest", "number", 4.0, unit="s", low=1e-2, high=100, doc="last period"),
    Setting("count", "integer", 60, low=2, high=1000, doc="number of periods, evenly spaced in the logarithm"),
    Setting("damping", "number", 0.05, low=0, high=1, doc="damping ratio"),
    Setting("floors", "texts", [], doc="masses for which floor spectra are computed"),
)
MEASURES = (
    Quantity("pga", "m/s^2", doc="largest acceleration of the base"),
    Quantity("pgv", "m/s", doc="largest velocity of the base, from rest"),
    Quantity("pgd", "m", doc="largest displacement of the base, from rest"),
    Quantity("arias", "m/s", doc="Arias intensity of the base motion"),
    Quantity("cav", "m/s", doc="cumulative absolute velocity of the base"),
    Quantity("significant_duration", "s", doc="from 5 to 95 % of the Arias intensity"),
    Quantity("housner", "m", doc="Housner intensity of the base motion, 5 % damping"),
)


@dataclass(frozen=True)
class Storey:
    """Two nodes, -1 the base, the height between them, and whose they are."""

    name: str
    nodes: tuple[int, int]
    height_m: float
    building: str = ""


@dataclass(frozen=True)
class Seismic:
    """What of all this a study asks for."""

    storeys: tuple[Storey, ...] = ()
    spectra: Mapping[str, Any] | None = None
    measures: bool = False

    def quantities(self) -> dict[str, Quantity]:
        """The quantities that runs give beside those of the core."""
        quantities: list[Quantity] = []
        if self.spectra:
            quantities.append(Quantity("period", "s", True, "periods of the spectra"))
            doc = "pseudo-acceleration spectrum of the base motion"
            quantities.append(Quantity("sa_base", "m/s^2", True, doc, axis="period"))
            doc = "pseudo-acceleration spectrum of the absolute acceleration of mass {}"
            quantities += [
                Quantity(f"sa_{name}", "m/s^2", True, doc.format(name), axis="period")
                for name in self.spectra["floors"]
            ]
        if self.measures:
            quantities += MEASURES
        for storey in self.storeys:
            doc = f"largest drift of storey {storey.name} over its height"
            quantities.append(Quantity(f"drift_ratio_{storey.name}", doc=doc))
        quantities += [
            Quantity(name, doc=f"largest drift ratio of {whose}")
            for name, whose in (("largest_drift_ratio", "all storeys"), *self._buildings().items())
            if self.storeys
        ]
        return {item.name: item for item in quantities}

    def _buildings(self) -> dict[str, str]:
        names = dict.fromkeys(storey.building for storey in self.storeys if storey.building)
        return {f"largest_drift_ratio_{name}": f"the storeys of {name}" for name in names}

    def values(self, motion: object, names: Sequence[str], curves: Mapping[str, ndarray]) -> dict[str, float]:
        """The numbers of a run, from its base motion and its curves."""
        values: dict[str, float] = {}
        if self.measures and isinstance(motion, tuple):
            strength = measures_of(*motion)
            numbers = (strength.pga_m_s2, strength.pgv_m_s, strength.pgd_m, strength.arias_m_s, strength.cav_m_s)
            tail = (strength.significant_duration_s, housner_m(*motion))
            values |= {item.name: number for item, number in zip(MEASURES, (*numbers, *tail), strict=True)}
        largest: dict[str, float] = {}
        for storey in self.storeys:
            ratio = self._drift(storey, names, curves) / storey.height_m
            values[f"drift_ratio_{storey.name}"] = ratio
            for name in ("largest_drift_ratio", *([f"largest_drift_ratio_{storey.building}"] * bool(storey.building))):
                largest[name] = max(largest.get(name, 0.0), ratio)
        return values | largest

    def curves(self, motion: object, curves: Mapping[str, ndarray]) -> dict[str, ndarray]:
        """The spectra of a run."""
        import numpy as np

        if not self.spectra:
            return {}
        periods = np.geomspace(self.spectra["shortest"], self.spectra["longest"], int(self.spectra["count"]))
        damping = self.spectra["damping"]
        spectra = {"period": periods}
        if isinstance(motion, tuple):
            spectra["sa_base"] = response_spectrum(motion[0], motion[1], periods, damping).sa_m_s2
        for name in self.spectra["floors"]:
            spectra[f"sa_{name}"] = response_spectrum(curves["t"], curves[f"a{name}"], periods, damping).sa_m_s2
        return spectra

    @staticmethod
    def _drift(storey: Storey, names: Sequence[str], curves: Mapping[str, ndarray]) -> float:
        import numpy as np

        def difference(letter: str) -> ndarray:
            low, high = (curves[f"{letter}{names[i]}"] if i >= 0 else np.zeros(1) for i in storey.nodes)
            return np.asarray(high - low)

        return hermite_peak(curves["t"], difference("u"), difference("v"))


def hermite_peak(t: ndarray, x: ndarray, rate: ndarray) -> float:
    """Largest size of a curve known with its rate: of the cubics between the samples.

    >>> import numpy as np
    >>> t = np.linspace(0, 1, 11)
    >>> bool(abs(hermite_peak(t, np.sin(5 * t), 5 * np.cos(5 * t)) - 1) < 1e-4)
    True
    """
    import numpy as np

    h = np.diff(t)
    a, b = h * rate[:-1], h * rate[1:]
    step = np.diff(x)
    # x0 + a s + (3 d - 2 a - b) s^2 + (a + b - 2 d) s^3; its rate is zero at the root that lies in the interval.
    bend, cubic = 3 * step - 2 * a - b, a + b - 2 * step
    largest = np.abs(x).max()
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(bend**2 - 3 * a * cubic)
        half = -(bend + np.where(bend < 0, -1.0, 1.0) * root)
        for s in (half / (3 * cubic), a / half):
            inside = (s > 0) & (s < 1)
            turning = x[:-1] + s * (a + s * (bend + s * cubic))
            largest = max(largest, np.abs(turning[inside]).max(initial=0.0))
    return float(largest)
