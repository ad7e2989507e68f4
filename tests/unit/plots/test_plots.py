"""The plotting layer: one table for all kinds, true peaks, marks where there is one point, styles, same bytes."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

pytest.importorskip("matplotlib", reason="plots need the extra `report`")

import percuss.plots as package
from percuss.errors import InputError
from percuss.kinds.kind import resolved
from percuss.kinds.table import KINDS
from percuss.plots.drawing import COLOURS, DASHES, INK, MARKERS, PAPER, SERIES, canvas, drawing, picture
from percuss.plots.fan import FEW, Line, draw_fan
from percuss.plots.files import save
from percuss.plots.filtering import draw_densities, draw_runs
from percuss.plots.labels import instant_label, scale
from percuss.plots.peaks import missed_peak
from percuss.plots.registry import PLOTS, WITHOUT_PICTURE, picture_of
from percuss.plots.subject import Request, Subject
from percuss.study.load import load_study


def test_every_kind_has_its_picture() -> None:
    assert PLOTS.keys() | set(WITHOUT_PICTURE) >= KINDS.keys()
    assert not PLOTS.keys() & set(WITHOUT_PICTURE)
    for place in PLOTS.values():
        assert callable(resolved(f"percuss.plots.{place}"))


def test_no_colour_is_made_up_elsewhere() -> None:
    """Every colour of a picture is one of the table: those of a page follow its style sheet."""
    for path in Path(next(iter(package.__path__))).glob("*.py"):
        if path.name != "drawing.py":
            assert not re.findall(r"#[0-9a-f]{6}\b", path.read_text()), path


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_series_are_told_apart_without_colour() -> None:
    assert len(SERIES) == len(set(SERIES)) == len(DASHES) == len({str(d) for d in DASHES}) == len(set(MARKERS))
    for colour in set(COLOURS) - {PAPER}:  # WCAG: 3 for lines on white
        assert 1.05 / (_luminance(colour) + 0.05) >= 3, colour
    assert len(set(SERIES) & {INK}) == 0


def _spike(step: float) -> tuple[np.ndarray, np.ndarray]:
    """A force pulse of 0.3 ms at 1.00035 s, sampled."""
    t = np.arange(0, 2, step)
    return t, 265.0 * np.maximum(0, 1 - ((t - 1.00035) / 1.5e-4) ** 2)


def test_the_true_peak_of_an_impact_between_samples() -> None:
    impacts = pl.DataFrame({"t_s": [0.5, 1.0002], "peak_force_n": [3.0, 900.0], "impulse_n_s": [0.1, 0.2]})
    t, a = _spike(1e-3)
    assert a.max() < 1
    peak = missed_peak("a", t, a, {"peak_a": 265.0}, {"a": "peak_a"}, impacts)
    assert peak is not None
    assert peak.value == 265.0
    assert peak.place == pytest.approx(1.00035, abs=1e-3)
    # Where the samples show it, or nobody knows it, nothing is put in.
    t, a = _spike(1e-6)
    assert missed_peak("a", t, a, {"peak_a": 265.0}, {"a": "peak_a"}, impacts) is None
    assert missed_peak("a", t, a, {}, {}, impacts) is None


def test_the_peak_is_signed_as_the_curve() -> None:
    t, a = _spike(1e-3)
    a[1000] = -20.0
    impacts = pl.DataFrame({"t_s": [1.0], "peak_force_n": [900.0], "impulse_n_s": [0.2]})
    peak = missed_peak("a", t, a, {"peak_a": 265.0}, {"a": "peak_a"}, impacts)
    assert peak is not None and peak.value == -265.0


def test_one_point_is_seen_and_many_runs_are_a_band() -> None:
    with drawing(style="screen"):
        _, axes = canvas(1, 1, 3, 2)
        draw_fan(axes[0, 0], [Line("one", np.array([1.0]), np.array([2.0]))])
        assert axes[0, 0].lines[0].get_marker() != "None"
        _, axes = canvas(1, 1, 3, 2)
        x = np.linspace(0, 1, 50)
        lines = [Line(str(i), x, np.full(50, float(i))) for i in range(101)]
        draw_fan(axes[0, 0], lines)
        assert len(axes[0, 0].lines) == 1 and len(lines) > FEW
        assert axes[0, 0].lines[0].get_ydata() == pytest.approx(np.full(50, 50.0))
        outer = axes[0, 0].collections[0].get_paths()[0].vertices[:, 1]
        assert (outer.min(), outer.max()) == pytest.approx((5.0, 95.0))


def test_paper_is_narrower_and_bytes_are_the_same(tmp_path: Path) -> None:
    widths = {}
    for style in ("screen", "paper"):
        for name in ("a.svg", "b.svg", "a.pdf", "b.pdf"):
            with drawing(style=style):
                figure, axes = canvas(1, 1, 9.4, 3)
                axes[0, 0].plot([0, 1], [0, 1])
                drawn = picture(figure, "a line")
                save(drawn.canvas, tmp_path / name, style)
        assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
        assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
        widths[style] = drawn.width
    assert widths["paper"] == pytest.approx(6.9 * 72) and widths["screen"] == pytest.approx(9.4 * 72)


def test_directions_of_effects() -> None:
    from percuss.plots.effects import class_means, direction, rank_correlation

    x = np.linspace(0, 1, 200)
    assert rank_correlation(x, x**3) == pytest.approx(1) and rank_correlation(x, -np.exp(x)) == pytest.approx(-1)
    assert rank_correlation(x, np.ones(200)) == 0
    assert direction(rank_correlation(x, (x - 0.5) ** 2)) == "no clear direction"
    places, means = class_means(x, 2 * x)
    assert means == pytest.approx(2 * places)


def test_systems_have_a_picture() -> None:
    """Storeys stand above each other; what is not a system of bodies has none."""
    from percuss.plots.system import _storeys, system_picture
    from percuss.study.load import load_study

    studies = Path(__file__).parent.parent.parent.parent / "studies"
    row = load_study(studies / "pounding-row")
    model = row.model()
    places = dict(zip(model.names, _storeys(model), strict=True))
    assert len(set(places.values())) == len(places)
    assert places["A1"][0] == places["A4"][0] != places["B1"][0] and places["A4"][1] == 3
    with drawing(style="screen"):
        assert system_picture(load_study(studies / "ishigami")) is None
        scene = system_picture(load_study(studies / "uncertain-projectile"))
    assert scene is not None and "11 bodies that move" in scene.alt


def test_energies_are_drawn_from_their_datum() -> None:
    from percuss.report.sections.energy import from_datum

    values, datum = from_datum(np.array([1000.0, 999.0, 1001.0]))
    assert datum == 1000 and values == pytest.approx([0, -1, 1])
    values, datum = from_datum(np.array([3.0, 0.0, 1.0]))
    assert datum == 0 and values == pytest.approx([3, 0, 1])


def test_a_choice_that_a_picture_does_not_leave_is_refused() -> None:
    """Passed over in silence, `--curve u9` of a posterior would look like a picture of u9."""

    def subject(kind: str, **chosen: object) -> Subject:
        return Subject(None, (SimpleNamespace(kind=kind, id="e"),), Request(**chosen))  # type: ignore[arg-type]

    for kind in ("surrogate.fitted", "posterior.sampled"):
        with pytest.raises(InputError, match="--curve: the picture of"):
            picture_of(subject(kind, curves=("u9",)))
    with pytest.raises(InputError, match="--window"):
        picture_of(subject("campaign.completed", curves=("u1",), window=(0.0, 1.0)))
    assert picture_of(subject("validation.computed", curves=("u1",), ladder=True))
    assert picture_of(subject("posterior.sampled", title="a line"))


def test_densities_reach_as_far_as_there_is_any() -> None:
    """Of a wide prior little may be left: a spike at the edge of an empty panel shows nothing."""
    value = np.linspace(0, 100, 201)
    tables = [pl.DataFrame({"parameter": ["k"] * 201, "value": value, "density": np.exp(-0.5 * (value - 5) ** 2)})]
    tables.append(pl.DataFrame({"parameter": ["e"] * 201, "value": value / 100, "density": np.ones(201)}))
    with drawing(style="screen"):
        figure = draw_densities([scale("k", "1"), scale("e", "1")], pl.concat(tables), None).canvas
    low, high = figure.axes[0].get_xlim()
    assert 0 <= low < 2 and 8 < high < 12
    assert figure.axes[3].get_xlim() == (0, 1)


def test_parameters_over_decades_have_a_logarithmic_axis() -> None:
    table = pl.DataFrame({"at k": [0.1, 1.0, 10.0], "y": [1.0, 2.0, 3.0], "weight": [0.1, 0.8, 0.1]})
    with drawing(style="screen"):
        figure = draw_runs([scale("y", "1")], [scale("k", "1", logarithmic=True)], table, "base").canvas
    assert figure.axes[0].get_xscale() == "log"


@pytest.mark.parametrize(
    ("study", "output", "label"),
    [
        ("toyoura-specimens", "stress_ratio_2", "axial_strain"),
        ("logged-oscillator", "u1", "instant [s]"),
        ("rockfall-wall", "top_init", "instant [s]"),
    ],
)
def test_places_of_data_are_called_what_the_axis_of_the_curve_is(study: str, output: str, label: str) -> None:
    assert instant_label(load_study(Path(__file__).parents[3] / "studies" / study), output) == label
