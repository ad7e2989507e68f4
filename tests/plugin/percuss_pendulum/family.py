"""The family `low-degree`: expansions that stop at degree 5, whatever is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from percuss.surrogates import chaos
from percuss.surrogates.model import Data, Model, Settings

load = chaos.load


def fit(data: Data, settings: Settings, near: Any = None) -> Model:
    """Fit all outputs."""
    low = tuple(degree for degree in settings.degrees if degree <= 5) or (5,)
    return chaos.fit(data, replace(settings, degrees=low), near)
