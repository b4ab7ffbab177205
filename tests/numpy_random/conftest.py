"""On the CPU device NumPy draws; on a GPU, or with ``--emulated``, kernels draw whatever they can, however little."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import gpunumpy
from gpunumpy.random import device_draws
from tests.support.host_executor import run_on_host, with_traits

from ..emulator.random_library_calls import LIBRARY_CALLS
from .xfails import XFAILS

_REASONS = {name: reason for reason, names in XFAILS.items() for name in names}


def pytest_configure(config: pytest.Config) -> None:
    for marker in ("slow", "thread_unsafe"):
        config.addinivalue_line("markers", f"{marker}: of NumPy's own tests")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        reason = _REASONS.get(item.nodeid.split("numpy_random/")[-1])
        if reason and item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def drawn_on(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    if request.config.getoption("--emulated"):
        with_traits(monkeypatch, draws_faster_than_numpy=True)
        for name, function in LIBRARY_CALLS.items():
            run_on_host(monkeypatch, name, function)
    before = gpunumpy.host_fallback()
    gpunumpy.host_fallback("ignore")
    yield
    gpunumpy.host_fallback(before)
