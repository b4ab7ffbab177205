"""What tests with other libraries share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gpunumpy


@pytest.fixture
def at_home(device: str) -> Iterator[str]:
    """The device, also of what libraries make with none in mind; nothing is said of what runs on the host yet."""
    before = gpunumpy.host_fallback()
    gpunumpy.host_fallback("ignore")
    with gpunumpy.Device(device):
        yield device
    gpunumpy.host_fallback(before)
