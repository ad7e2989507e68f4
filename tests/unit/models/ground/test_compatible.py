"""Motions that match a spectrum: code shapes at their corners, and how well motions fit."""

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.models.ground.compatible import COMPATIBLE, compatible_motion, matched_periods
from percuss.models.ground.spectrum import response_spectrum
from percuss.models.ground.target import read_target
from percuss.settings import clean_settings


def settings(**keys: object) -> dict[str, object]:
    return clean_settings(COMPATIBLE, keys)


def test_eurocode_shapes_at_their_corners() -> None:
    """EN 1998-1, 3.2.2.2 with ag = 2 m/s^2 on ground C: S = 1.15, TB = 0.2, TC = 0.6, TD = 2 s."""
    target = read_target(settings(shape="eurocode8-1", ground="C", peak=2.0), {})
    plateau = 2.0 * 1.15 * 2.5
    np.testing.assert_allclose(
        target.sa_m_s2(np.array([1e-9, 0.1, 0.2, 0.6, 1.2, 2.0, 4.0])),
        [2.3, 2.3 * 1.75, plateau, plateau, plateau / 2, plateau * 0.3, plateau * 0.075],
        rtol=1e-6,
    )
    damped = read_target(settings(shape="eurocode8-1", ground="C", peak=2.0, damping=0.2), {})
    assert damped.sa_m_s2(np.array([0.4]))[0] == pytest.approx(plateau * np.sqrt(10 / 25))


def test_asce_shape_at_its_corners() -> None:
    """SDS = 10, SD1 = 6, TL = 4: T0 = 0.12 s, TS = 0.6 s."""
    target = read_target(settings(shape="asce7", short=10.0, one_second=6.0, long_period=4.0), {})
    found = target.sa_m_s2(np.array([1e-9, 0.06, 0.12, 0.6, 1.0, 4.0, 8.0]))
    np.testing.assert_allclose(found, [4.0, 7.0, 10.0, 10.0, 6.0, 1.5, 0.375], rtol=1e-6)


def test_a_table_is_read_with_its_unit() -> None:
    data = b"T [s],sa [g0]\n0.1,0.5\n1,0.5\n2,0.25\n"
    target = read_target(settings(shape="table", file="a.csv"), {"a.csv": data})
    np.testing.assert_allclose(target.sa_m_s2(np.array([0.5, 2.0, 9.0])), np.array([0.5, 0.25, 0.25]) * 9.80665)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"shape": "eurocode8-1"}, "`peak` is missing"),
        ({"shape": "asce7", "short": 1.0}, "`one_second` is missing"),
        ({"shape": "asce7", "short": 1.0, "one_second": 1.0, "peak": 2.0}, "`peak` goes with"),
        ({"shape": "asce7", "short": 1.0, "one_second": 1.0, "damping": 0.1}, "5 % damping"),
        ({"shape": "table", "file": "a.csv"}, "a.csv: periods and spectral accelerations must be above 0"),
    ],
)
def test_what_a_target_must_not_be(keys: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_target(settings(**keys), {"a.csv": b"T [s],sa [g0]\n0,1\n1,1\n"})


def test_motions_match_and_follow_from_their_seeds() -> None:
    """Twenty rounds bring the root mean square misfit to a few per cent; without any it is tenths."""
    table = settings(shape="eurocode8-1", ground="B", peak=2.0)
    target, periods = read_target(table, {}), matched_periods(table)
    wanted = target.sa_m_s2(periods)

    def misfit(iterations: int, seed: int) -> float:
        motion = compatible_motion(target, table | {"iterations": iterations}, 25.0, seed)
        times = 0.01 * np.arange(len(motion))
        found = response_spectrum(times, motion, periods, target.damping).sa_m_s2
        return float(np.sqrt(np.mean(np.log(found / wanted) ** 2)))

    assert max(misfit(20, seed) for seed in range(4)) < 0.06
    assert min(misfit(0, seed) for seed in range(4)) > 0.1
    first, again, other = (compatible_motion(target, table, 25.0, seed) for seed in (3, 3, 4))
    assert (first == again).all()
    assert np.abs(first - other).max() > 0.1
