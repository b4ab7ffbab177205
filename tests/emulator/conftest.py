"""What the tests of the emulator share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpunumpy.kernels.codegen import unit

from . import machine


@pytest.fixture(autouse=True)
def few_small_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have most kernels be as those of large arrays, though these are small."""
    monkeypatch.setattr(unit, "_SMALL_POINTS_PER_PROCESSOR", 32)


@pytest.fixture
def host_functions() -> Iterator[None]:
    """For random numbers: they are NumPy's to the last bit where logarithms and powers are."""
    with machine.host_functions():
        yield
