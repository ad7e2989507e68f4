"""What runs batches."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass


@dataclass(frozen=True)
class Engine:
    """An executor, and how many batches it runs at a time just now."""

    executor: Executor
    workers: Callable[[], int]
