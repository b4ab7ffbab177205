"""What all tests share: the skip of `gpu` tests without a GPU, and the profiles of property-based tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, settings

from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import why_no_gpu

from .emulator.emulated import emulated

evaluate.CHECK = True

# SciPy looks at it once, when it is first imported: then its functions take arrays of any namespace.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A first call compiles, so its time says nothing about the next one's: no deadline. In continuous integration the
# same commit always runs the same cases; at a desk new ones are tried at every run.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("dev", max_examples=50, **_COMMON)
settings.register_profile("ci", max_examples=200, derandomize=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--emulated", action="store_true", help="run what the CPU device computes through generated kernels, emulated"
    )


@pytest.fixture(autouse=True)
def generated_kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """With ``--emulated``, every test sees what a GPU would compute, as far as kernels go."""
    with emulated() if request.config.getoption("--emulated") else nullcontext():
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked `gpu` where no GPU is usable, and say why there is none."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := why_no_gpu()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"no usable GPU: {reason}"))


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """The name of each device in turn that a test is to run on."""
    return str(request.param)
