"""Launches by the compiled core, of a function of the host that stands in for the driver's."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any

import numpy
import pytest

from gpunumpy.core import _native
from gpunumpy.core.runtime import memory
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.cuda.launch import packer

pytestmark = pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")

_POINTER, _UINT = ctypes.c_void_p, ctypes.c_uint


class _Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_int), ("is_allowed", ctypes.c_int), ("rest", _UINT * 15)]


class Config(ctypes.Structure):
    """CUlaunchConfig, as cuda.h has it."""

    _fields_ = [
        *(("dimensions", _UINT * 7), ("stream", _POINTER)),
        *(("attributes", ctypes.POINTER(_Attribute)), ("attribute_count", _UINT)),
    ]


# What `attributes_of` returns of a kernel that is started early: CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION.
STARTS_EARLY = [(6, 1)]
LAUNCH_KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(Config), _POINTER, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)), _POINTER
)
DIMENSIONS = (5, 4, 3, 128, 2, 1, 4096)


def attributes_of(config: Any) -> list[tuple[int, int]]:
    """The number and the value of each attribute of a launch."""
    return [(x.id, x.is_allowed) for x in config.attributes[: config.attribute_count]]


class Refused(Exception):
    """What a launch raises for what the driver says."""


def refuse(error: int, failures: int) -> None:
    raise Refused(error)


def _address(function: Any) -> int:
    address = ctypes.cast(function, _POINTER).value
    assert address is not None
    return address


class Driver:
    """Takes launches, and what their parameters' addresses lead to."""

    def __init__(self, parameters: int, error: int = 0) -> None:
        self.launches: list[tuple[Any, ...]] = []
        self.attributes: list[Any] = []
        self.threads: list[int] = []
        self.error = error

        def launch_kernel(config: Any, function: Any, addresses: Any, extra: Any) -> int:
            words = [addresses[k][0] for k in range(parameters)]
            self.launches.append((function, tuple(config[0].dimensions), config[0].stream, words, extra))
            self.attributes.append(attributes_of(config[0]))
            self.threads.append(threading.get_ident())
            return self.error

        self._function = LAUNCH_KERNEL(launch_kernel)
        self.address = _address(self._function)


def test_arguments_and_parameters_are_packed() -> None:
    driver, noted = Driver(7), list[Any]()
    launch = _native.launch(driver.address, 17, DIMENSIONS, 99, False, "Qqdqd", (-3, 2**40), False, refuse)
    assert launch is not None
    launch([2**64 - 1, -5, 0.5, True, numpy.float32(3)], noted)
    words = [-1, -5, *(struct.unpack("=q", struct.pack("=d", x))[0] for x in (0.5,)), 1]
    words += [struct.unpack("=q", struct.pack("=d", 3.0))[0], -3, 2**40]
    assert driver.launches == [(17, DIMENSIONS, 99, words, None)]
    assert len(noted) == 1


@pytest.mark.parametrize("value", [3, 0.1, 1e300, -1e-320, 16777217, float("inf"), -float("nan"), numpy.float32(0.1)])
def test_float32_is_rounded_before_the_launch(value: Any) -> None:
    """As NumPy rounds, in the lower half of a word; the launcher in Python does the same."""
    driver = Driver(1)
    _native.launch(driver.address, 17, DIMENSIONS, 99, False, "f", (), False, refuse)([value], [])
    with numpy.errstate(over="ignore"):
        wanted = int(numpy.float32(value).view(numpy.uint32))
    assert driver.launches[0][3] == [wanted]
    words = bytearray(8)
    packer("f")(words, 0, value)
    assert int.from_bytes(words, "little") == wanted


def test_a_kernel_is_launched_at_other_sizes() -> None:
    driver, noted = Driver(3), list[Any]()
    launch = _native.launch(driver.address, 17, DIMENSIONS, 99, False, "Q", (-3, 2**40), False, refuse)
    assert launch is not None
    at: Any = launch.at  # type: ignore[attr-defined]
    other = at((7, 1, 2), (4, 5))
    del launch, at
    other([6], noted)
    assert driver.launches == [(17, (7, 1, 2, *DIMENSIONS[3:]), 99, [6, 4, 5], None)]
    for wrong in ((7, 1), "abc", (1, 1, -1), (1, 1, 2.5)):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            other.at(wrong, ())
    with pytest.raises(TypeError):
        other.at((1, 1, 1))
    with pytest.raises(TypeError):
        other.at((1, 1, 1), (0.5,))


@pytest.mark.parametrize("starts_early", [False, True])
def test_a_kernel_is_started_early_at_all_sizes(starts_early: bool) -> None:
    driver, noted, cpu = Driver(2), list[Any](), Device("cpu")
    launch: Any = _native.launch(driver.address, 17, DIMENSIONS, 99, starts_early, "QQ", (), False, refuse, cpu)
    launch([6, 7], noted)
    launch.at((7, 1, 2), ())([6, 7], noted)
    launch.with_scratch(((False, 8),), None)([6], noted)
    assert driver.attributes == 3 * [STARTS_EARLY if starts_early else []]


def test_fixed_parameters_stay_at_other_sizes() -> None:
    driver, noted = Driver(4), list[Any]()
    launch = _native.launch(driver.address, 17, DIMENSIONS, 99, False, "Q", (2**41, -3), False, refuse, fixed=1)
    assert launch is not None
    other: Any = launch.at((7, 1, 2), (4, 5))  # type: ignore[attr-defined]
    other([6], noted)
    other.at((7, 1, 2), (8, 9))([6], noted)
    assert [words for _, _, _, words, _ in driver.launches] == [[6, 2**41, 4, 5], [6, 2**41, 8, 9]]
    with pytest.raises(ValueError, match="fixed"):
        _native.launch(driver.address, 17, DIMENSIONS, 99, False, "Q", (1, 2), False, refuse, fixed=3)


def test_scratch_memory_is_the_last_arguments_and_given_back() -> None:
    driver, noted, cpu = Driver(4), list[Any](), Device("cpu")
    counters = memory.allocate(cpu, 64)
    launch = _native.launch(driver.address, 17, DIMENSIONS, 99, False, "QQQ", (-3,), False, refuse, cpu)
    assert launch is not None
    with_scratch: Any = launch.with_scratch  # type: ignore[attr-defined]
    other = with_scratch(((True, 32), (False, 4321)), counters)
    for _ in range(2):
        other([6], noted)
    (_, _, _, first, _), (_, _, _, second, _) = driver.launches
    block = memory.allocate(cpu, 4321)
    assert first == second == [6, counters.ptr + 32, block.ptr, -3]
    for parts, buffer in (((True, 0),), None), (((False, 8),) * 4, None), (((False,),), None), ([], None):
        with pytest.raises((TypeError, ValueError)):
            with_scratch(parts, buffer)
    with pytest.raises(TypeError):
        other([6, 7, 8], noted)
    with pytest.raises(TypeError):
        launch([6], noted)


def test_scratch_memory_of_other_sizes() -> None:
    driver, noted, cpu = Driver(5), list[Any](), Device("cpu")
    counters = memory.allocate(cpu, 64)
    launch: Any = _native.launch(driver.address, 17, DIMENSIONS, 99, False, "QQQQ", (-3,), False, refuse, cpu)
    launch = launch.with_scratch(((True, 0), (False, 4321), (True, 16)), counters)
    other = launch.at((7, 1, 2), (20, 5432, 32, 8))
    other([6], noted)
    block = memory.allocate(cpu, 5432)
    assert driver.launches == [
        (17, (7, 1, 2, *DIMENSIONS[3:]), 99, [6, counters.ptr, block.ptr, counters.ptr + 32, 8], None)
    ]
    assert other.at((7, 1, 2), (40, 5432, 32, 8)) is None, "there are not enough counters"
    with pytest.raises(ValueError, match="scratch"):
        other.at((7, 1, 2), (40, 5432))


def test_packed_parameters_are_one_struct() -> None:
    seen: list[list[int]] = []

    def launch_kernel(config: Any, function: Any, addresses: Any, extra: Any) -> int:
        seen.append([addresses[0][k] for k in range(3)])
        return 0

    function = LAUNCH_KERNEL(launch_kernel)
    launch = _native.launch(_address(function), 1, DIMENSIONS, 0, False, "qq", (7,), True, refuse)
    assert launch is not None
    launch((5, 6), [])
    assert seen == [[5, 6, 7]]


def test_errors_are_raised_and_not_noted() -> None:
    driver, noted = Driver(1, error=2), list[Any]()
    launch = _native.launch(driver.address, 1, DIMENSIONS, 0, False, "", (), False, refuse)
    assert launch is not None
    with pytest.raises(Refused, match="2"):
        launch((), noted)
    assert not noted


def test_a_launch_is_attempted_again_unless_its_error_is_raised() -> None:
    """With the same arguments, and noted once."""
    driver, noted, calls = Driver(3, error=2), list[Any](), []

    def make_room(error: int, failures: int) -> None:
        calls.append((error, failures, len(noted)))
        if failures == 2:
            driver.error = 0

    launch = _native.launch(driver.address, 1, DIMENSIONS, 0, False, "qq", (7,), False, make_room)
    assert launch is not None
    launch((5, 6), noted)
    assert calls == [(2, 0, 0), (2, 1, 0), (2, 2, 0)]
    assert [words for _, _, _, words, _ in driver.launches] == 4 * [[5, 6, 7]]
    assert len(noted) == 1


@pytest.mark.parametrize("values", [(1,), (1, 2, 3), (2**64, 0.5), ("x", 0.5), (1, "x"), (1.5, 0.5)])
def test_wrong_arguments_launch_nothing(values: tuple[Any, ...]) -> None:
    driver, noted = Driver(2), list[Any]()
    launch = _native.launch(driver.address, 1, DIMENSIONS, 0, False, "Qd", (), False, refuse)
    assert launch is not None
    with pytest.raises((TypeError, OverflowError)):
        launch(values, noted)
    assert not noted
    assert not driver.launches


def test_threads_launch_side_by_side() -> None:
    """Each with its own arguments."""
    driver = Driver(2)
    launch = _native.launch(driver.address, 1, DIMENSIONS, 0, False, "qq", (), False, refuse)
    assert launch is not None

    def work(k: int) -> None:
        for n in range(200):
            launch((k, n), [])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(words for _, _, _, words, _ in driver.launches) == [[k, n] for k in range(4) for n in range(200)]
