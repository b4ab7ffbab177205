"""What the tests of the emulator share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import machine


@pytest.fixture
def host_functions() -> Iterator[None]:
    """For random numbers: they are NumPy's to the last bit where logarithms and powers are."""
    with machine.host_functions():
        yield
