"""What all tests share: the two suites, the skip of `gpu` tests without a GPU, and the fixture `device`."""

from __future__ import annotations

import gc
import os
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# On a GPU, tests are of compiled kernels, but for those that are of both tiers.
os.environ.setdefault("GPUNUMPY_TIER", "compiled")
os.environ["GPUNUMPY_HINTS"] = "1"  # as the package is imported, so that tests of hints can have them

import gpunumpy
from gpunumpy.core.runtime import device as devices
from gpunumpy.core.runtime import evaluate, hints
from gpunumpy.core.runtime.device import why_no_gpu

from .emulator.emulated import emulated
from .emulator.machine import host_functions
from .support import suites
from .support.symbols import with_symbols_at_once

evaluate.CHECK = True
# A thread that reads ahead would outlive the GPU that a test pretends, and find what other tests have kept.
devices.behind_context = None

# How many cases a property-based test tries in a suite: in continuous integration the same ones for the same commit, at
# a desk new ones at every run. A first call compiles, so its time says nothing about the next one's: no deadline.
for _suite, _examples in (("short", 30), ("full", 200)):
    settings.register_profile(
        _suite,
        max_examples=_examples,
        derandomize=bool(os.environ.get("CI")),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )

# The workers of pytest-xdist have the environment that this file leaves: they are told what it was before.
_RESIDENCE = os.environ.setdefault("GPUNUMPY_TESTED_RESIDENCE", os.environ.get("GPUNUMPY_RESIDENCE") or "auto")
# What the tests have other processes do, and fixtures of modules, is of the device.
gpunumpy.set_residence("device")
os.environ["GPUNUMPY_RESIDENCE"] = "device"
# Other tests, and their processes, look at many values one by one.
hints.IS_ON = False
os.environ["GPUNUMPY_HINTS"] = "0"
# Of tests that look at graphs, kernels and memory of the device.
_ENGINE_FOLDERS = ("core", "emulator", "gpu", "kernels", "nvlib")

_left_out = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--suite",
        choices=("short", "full"),
        default="short",
        help="short (the default): a sample of the cases of tests that have many; full: all of them",
    )
    parser.addoption("--shard", default="1/1", metavar="K/N", help="the K-th of N nearly equal parts of the suite")
    parser.addoption(
        "--emulated", action="store_true", help="run what the CPU device computes through generated kernels, emulated"
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile(config.getoption("--suite"))
    config.stash[_left_out] = 0


@pytest.fixture(autouse=True)
def generated_kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """With ``--emulated``, every test sees what a GPU would compute, as far as kernels go."""
    if not request.config.getoption("--emulated"):
        yield
        return
    # Random numbers are NumPy's to the last bit where logarithms and powers are.
    of_random_numbers = "random" in request.path.relative_to(request.config.rootpath).as_posix()
    with emulated(), host_functions() if of_random_numbers else nullcontext():
        yield


@pytest.fixture(autouse=True)
def residence(request: pytest.FixtureRequest) -> Iterator[None]:
    """Small arrays are where GPUNUMPY_RESIDENCE says in tests of what programs see, and on the device in all others."""
    folder = request.path.relative_to(request.config.rootpath).parts[1]
    is_of_engine = folder in _ENGINE_FOLDERS or request.node.get_closest_marker("on_device") is not None
    before = gpunumpy.set_residence("device" if is_of_engine else _RESIDENCE)
    yield
    gpunumpy.set_residence(before)


@pytest.fixture
def limited() -> Iterator[None]:
    """There is a limit of memory on the CPU device, which then computes with kernels alone, as GPUs do."""
    gpunumpy.set_memory_limit("1GB", "cpu")
    yield
    gpunumpy.set_memory_limit(None, "cpu")


@pytest.fixture(autouse=True)
def same_warnings() -> Iterator[None]:
    """A test that says what becomes of functions on the host says so for itself alone."""
    before = gpunumpy.host_fallback()
    yield
    gpunumpy.host_fallback(before)


@pytest.fixture(autouse=True)
def symbols_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every second test plans have symbols from the first sizes on: most tests meet no others."""
    if "core" not in request.path.parts and zlib.crc32(request.node.nodeid.encode()) % 2:
        with_symbols_at_once(monkeypatch)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nearly all that is made here stays: to look at it again and again would be a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)  # after `-k` and `-m`: where these leave a test few cases, all of them run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the short suite or a shard does not run; skip the tests marked `gpu` where no GPU is usable."""
    suite = suites.shorten(items) if config.getoption("--suite") == "short" else items
    config.stash[_left_out] = len(items) - len(suite)
    kept = set(suites.shard(suite, config.getoption("--shard")))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := why_no_gpu()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"no usable GPU: {reason}"))


def pytest_collection_finish() -> None:
    """The tests and what they import stay: the collector, which many tests have run, need not look at them."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left out"] = session.config.stash[_left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """All of pytest-xdist's workers collect the same tests; their count of those left out is any worker's."""
    node.config.stash[_left_out] = getattr(node, "workeroutput", {}).get("left out", 0)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # below the reasons of all that was skipped
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> Iterator[None]:
    yield
    if left_out := config.stash[_left_out]:
        terminalreporter.write_line(f"short suite: {left_out} cases left out; --suite=full runs them too")


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """The name of each device in turn that a test is to run on."""
    return str(request.param)


@pytest.fixture
def on_device(device: str) -> Iterator[None]:
    """Have a test run on each device in turn."""
    with gpunumpy.Device(device):
        yield
        gpunumpy.synchronize()


@pytest.fixture
def nothing_runs_on_the_host() -> Iterator[None]:
    """Have a call fail that NumPy would compute, with arrays that are copied to the host."""
    before = gpunumpy.host_fallback()
    gpunumpy.host_fallback("error")
    yield
    gpunumpy.host_fallback(before)
