"""A Python function as a model: one decorator in a notebook."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from percuss.errors import InputError
from percuss.models.function import FUNCTIONS, Function

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])


def model(
    *, inputs: Mapping[str, str | Mapping[str, Any]], outputs: Mapping[str, str | Mapping[str, Any]]
) -> Callable[[Wrapped], Wrapped]:
    """Make a function a model that studies can name: `model = {kind = "function", name = ...}`.

    The function is called with every input by name, a float in SI, and returns its outputs by name, floats in SI.
    `inputs` and `outputs` give the SI unit of each, or a table with `unit`, `doc`, and for inputs `low`, `high` and
    `default`. It must return the same for the same inputs. An exception makes a failed run with that reason.

    Events made with it store its name, its source and the digest of the source. Runs can be repeated only where the
    function is defined; elsewhere `audit` says that they cannot be repeated.

    >>> @percuss.model(inputs={"height": "m"}, outputs={"speed": "m/s"})
    ... def falling(height):
    ...     return {"speed": (2 * 9.81 * height) ** 0.5}
    >>> prior = {"kind": "uniform", "low": 1, "high": 2}
    >>> study = percuss.make_study(
    ...     "falling", model=falling.model, parameters={"height": {"unit": "m", "prior": prior}}
    ... )
    >>> percuss.open_ledger("ledger").simulate(study, height=2.0).outputs()
    {'speed': 6.26418390534633}
    """
    if not inputs or not outputs:
        raise InputError("model: a function needs at least one input and one output")

    def register(function: Wrapped) -> Wrapped:
        name = function.__name__
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            raise InputError(f"model {name}: its source cannot be read, so that events could not hold it") from None
        described = Function(name, function, source, _tables(inputs), _tables(outputs))
        FUNCTIONS[name] = described
        function.model = described.settings()  # type: ignore[attr-defined]
        return function

    return register


def _tables(described: Mapping[str, str | Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: {"unit": item} if isinstance(item, str) else dict(item) for name, item in described.items()}
