"""Dask with arrays of this package, one task after the other; how many values each run of a plan computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gpunumpy.core.runtime import evaluate


@pytest.fixture(autouse=True)
def backend() -> Iterator[None]:
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    with dask.config.set({"array.backend": "gpunumpy", "scheduler": "synchronous"}):
        yield


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of roots of every run of a plan."""
    counted: list[int] = []
    compute_roots = evaluate._compute_roots

    def count(queue: Any, roots: Any, *arguments: Any, **options: Any) -> None:
        counted.append(len(roots))
        compute_roots(queue, roots, *arguments, **options)

    monkeypatch.setattr(evaluate, "_compute_roots", count)
    return counted
