"""Streams and events under CuPy's names: on the CPU, and what the driver of a pretended GPU is asked for, in order."""

from __future__ import annotations

from types import SimpleNamespace

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.device import CPU, Device
from gpunumpy.cuda import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time
from gpunumpy.cuda import stream as module

from ..support import fake_driver
from ..support.fake_driver import FakeDriver

ONES = numpy.ones(1 << 20)
ORDER = ("cuStreamWaitEvent", "cuEventRecord", "cuLaunchKernel", "cuLaunchKernelEx", "cuStreamSynchronize")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return fake_driver.install(monkeypatch)


def test_streams_and_events_of_every_device(device: str) -> None:
    with Device(device):
        start, end = Event(), Event()
        start.record()
        with Stream(non_blocking=True) as stream:
            assert get_current_stream() is stream
            x = np.arange(1000.0) * 2
            assert stream.record().done in (True, False)
        assert get_current_stream() is Stream.null
        end.record(stream)
        Stream.null.wait_event(end)
        stream.synchronize()
        assert stream.done
        end.synchronize()
        assert end.done
        assert get_elapsed_time(start, end) >= 0
        assert (x.get() == numpy.arange(1000.0) * 2).all()


def test_streams_in_use() -> None:
    with Device("cpu"):
        first, second = Stream(), Stream()
        with first:
            with second:
                assert get_current_stream() is second
                Stream.null.use()
                assert get_current_stream() == Stream.null
            assert get_current_stream() is first
        assert (Stream().ptr, Stream.null.ptr, Stream.null.device) == (0, 0, CPU)
        assert Stream().__cuda_stream__() == (0, 0)


def test_work_in_a_block_is_between_that_before_and_that_after_on_the_stream(driver: FakeDriver) -> None:
    stream = Stream(priority=-1)
    x = np.asarray(ONES) + 1
    driver.calls.clear()
    with stream:
        assert driver.calls.count("cuStreamWaitEvent") == 1  # the device waits for the stream
        x += 1
        assert not driver.launched
    seen = [name for name in driver.calls if name in ORDER]
    assert driver.launched  # and then the stream for the device
    assert seen.index("cuStreamWaitEvent") < seen.index("cuLaunchKernel" if "cuLaunchKernel" in seen else ORDER[3])
    assert seen[-2:] == ["cuEventRecord", "cuStreamWaitEvent"]


def test_an_event_of_the_current_stream_comes_after_what_was_recorded(driver: FakeDriver) -> None:
    stream, event = Stream(), Event()
    with stream:
        x = np.asarray(ONES) + 1
        assert not driver.launched
        event.record()
        assert driver.launched
        stream.synchronize()
    assert "cuStreamSynchronize" in driver.calls
    other = Stream()
    before = driver.calls.count("cuStreamWaitEvent")
    other.wait_event(event)
    assert driver.calls.count("cuStreamWaitEvent") == before + 1
    del x


def test_other_streams_wait_for_no_operations_that_are_recorded(driver: FakeDriver) -> None:
    stream = Stream()
    x = np.asarray(ONES) + 1
    stream.record()
    assert not driver.launched
    Stream.null.record()
    assert driver.launched
    del x


def test_streams_of_other_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = fake_driver.install(monkeypatch, 2)

    class Foreign:  # as torch's and CuPy's are
        device = type("Device", (), {"index": 1})()
        cuda_stream = 99

    stream = Stream.from_external(Foreign())
    assert (stream.ptr, stream.device) == (99, "cuda:1")
    with Device("cuda:1"):
        x = np.asarray(ONES)
        with stream:
            driver.calls.clear()
            x += 1
        assert driver.calls[-2:] == ["cuStreamWaitEvent", "cuEventDestroy"]
    assert Stream.from_external(stream) == stream
    with pytest.raises(TypeError, match="a CUDA stream or its handle is needed, not 'str'"):
        Stream.from_external("the current one")


def test_handles_are_given_back(driver: FakeDriver) -> None:
    stream, event = Stream(), Event()
    external = ExternalStream(stream)
    assert external.ptr == stream.ptr
    assert external == stream
    assert hash(external) == hash(stream)
    del external
    assert "cuStreamDestroy" not in driver.calls
    del stream, event
    assert driver.calls.count("cuStreamDestroy") == driver.calls.count("cuEventDestroy") == 1


def test_an_event_of_a_busy_gpu_has_not_happened(driver: FakeDriver) -> None:
    event = Stream.null.record()
    driver.busy = True
    assert not event.done
    assert not Stream().done
    driver.refuse = lambda name: "CUDA_ERROR_INVALID_HANDLE" if name == "cuEventQuery" else None
    with pytest.raises(np.DeviceError, match="INVALID_HANDLE"):
        assert event.done


def test_streams_of_two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.install(monkeypatch, 2)
    event = Event()
    with Device("cuda:1"), pytest.raises(ValueError, match="event of cuda:0 is recorded on a stream of cuda:1"):
        event.record(Stream())
    with Device("cuda:1"):
        assert get_current_stream().device == "cuda:1"
        other = Stream.null.record()
    event.record()
    with pytest.raises(ValueError, match="two devices"):
        get_elapsed_time(event, other)


def test_streams_of_another_gpu_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.install(monkeypatch, 2)
    other = Stream.from_external(SimpleNamespace(ptr=77, device_id=1))
    with pytest.raises(ValueError, match="a stream of cuda:1 is given for work of cuda:0"):
        ExternalStream(other, 0)
    with pytest.raises(np.DeviceError, match="no device 7 here"):
        ExternalStream(77, 7)


@pytest.mark.parametrize("name", module._MISSING)
def test_what_is_not_here_says_why(name: str) -> None:
    assert not hasattr(Stream.null, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}': "):
        getattr(Stream.null, name)


def test_bad_streams_and_events() -> None:
    with Device("cpu"):
        with pytest.raises(ValueError, match="per-thread"):
            Stream(ptds=True)
        with pytest.raises(ValueError, match="several processes"):
            Event(interprocess=True)
        with pytest.raises(np.DeviceError, match="no CUDA streams on the CPU"):
            ExternalStream(5)
        with pytest.raises(ValueError, match="was not recorded"):
            get_elapsed_time(Event(), Event())
        event = Event(disable_timing=True)
        event.record()
        with pytest.raises(ValueError, match="disable_timing"):
            get_elapsed_time(event, event)
