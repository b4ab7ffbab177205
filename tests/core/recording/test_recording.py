"""Results that are recorded again from what was remembered of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.recording import memo
from gpunumpy.core.recording.calls import memoize_recording
from gpunumpy.core.recording.memo import Met


@pytest.fixture(autouse=True)
def kept_at_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is recorded is kept as if it had been asked for before, so that calls are few."""
    recall = memo.Recordings.recall

    def recall_as_met(recordings: Any, key: Any) -> Any:
        known = recall(recordings, key)
        return Met.AGAIN if known is Met.FIRST else known

    monkeypatch.setattr(memo.Recordings, "recall", recall_as_met)


def counted(record: Callable[..., Any]) -> tuple[Callable[..., Any], list[int]]:
    """The function with a memo, and how often it was called."""
    calls = [0]

    def run(*args: Any, **options: Any) -> Any:
        calls[0] += 1
        return record(*args, **options)

    return memoize_recording(run), calls


@pytest.fixture
def arrays() -> tuple[Any, Any]:
    return np.asarray([1.0, 2.0, 4.0]), np.asarray([3.0, 5.0, 9.0])


def test_a_chain_of_operations(arrays: tuple[Any, Any]) -> None:
    a, b = arrays
    run, calls = counted(lambda x, y, k: (x * 2 + y) / (np.sqrt(y) + np.arange(3)) + k)
    expected = [run(x, y, 1).tolist() for x, y in ((a, b), (b, a))]
    assert calls == [1]
    assert run(a, a, 1).tolist() == ((a * 2 + a) / (np.sqrt(a) + np.arange(3)) + 1).tolist()
    assert expected[1] == ((b * 2 + a) / (np.sqrt(a) + np.arange(3)) + 1).tolist()
    assert calls == [2], "one array given twice is another recording"
    assert run(a, b, 1.0).tolist() == expected[0]
    assert run(a, b, True).tolist() == expected[0]
    assert calls == [4], "arguments of other types are others"
    assert run(a + 0, b, 1).tolist() == expected[0], "what is pending has another signature"


def test_what_tuples_hold(arrays: tuple[Any, Any]) -> None:
    a, _ = arrays
    run, calls = counted(lambda x, *given, **named: x + len(given) + len(named))
    for k, given in enumerate([(2, 0), (2.0, 0.0), (2, False), (2, 0.0)]):
        for _ in range(2):
            assert run(a, given).tolist() == [2, 3, 5]
            assert calls == [2 * k + 1]
        for _ in range(2):
            assert run(a, shape=given).tolist() == [2, 3, 5]
            assert calls == [2 * k + 2]
    for k, inner in enumerate([2, 2.0, True]):
        for _ in range(2):
            run(a, ((inner,), 0))
            assert calls == [9 + k], "so it is with tuples in tuples"


def test_one_array_twice(arrays: tuple[Any, Any]) -> None:
    a, b = arrays
    run, calls = counted(lambda x, y: x - 2 * y)
    assert run(a, a).tolist() == [-1, -2, -4]
    assert run(a, b).tolist() == [-5, -8, -14]
    assert calls == [2]


def test_what_depends_on_values(arrays: tuple[Any, Any]) -> None:
    a, _ = arrays
    run, calls = counted(lambda x, n: x * int(n))
    assert [run(a, np.asarray(n)).tolist() for n in (2, 3)] == [[2, 4, 8], [3, 6, 12]]
    looked, _ = counted(lambda x: x * float(x.sum()))
    assert looked(a).tolist() == [7, 14, 28]
    assert looked(a * 2).tolist() == [28, 56, 112]
    assert calls == [2]


def test_what_is_no_new_value(arrays: tuple[Any, Any]) -> None:
    a, b = arrays
    for record in (lambda x: x, lambda x: x[::-1], lambda x: x.reshape(3, 1).T):
        run, calls = counted(record)
        for x in (a, b, a):
            assert run(x).tolist() == record(x).tolist()
        assert calls == [3]

    def write(x: Any, out: Any) -> Any:
        out[...] = x + 1
        return out

    run, calls = counted(write)
    for _ in range(2):
        assert run(a, b) is b
        assert b.tolist() == [2, 3, 5]
        b[...] = 0
    assert calls == [2]


def test_windows_of_arguments() -> None:
    whole = np.asarray(numpy.arange(48.0).reshape(6, 8))
    run, calls = counted(lambda x: x.T * 2 + x[1, 2])
    for x in (whole, whole + 1, whole * 3):
        np.asnumpy(x)
        assert np.asnumpy(run(x)).tolist() == (np.asnumpy(x).T * 2 + np.asnumpy(x)[1, 2]).tolist()
        assert run(x).strides == (np.asnumpy(x).T * 2).strides
    assert calls == [1]
    for part in (whole[:, 1:7], whole[:, 2:8]):  # parts begin where they like
        assert np.asnumpy(run(part)).tolist() == (np.asnumpy(part).T * 2 + np.asnumpy(part)[1, 2]).tolist()
    both, calls = counted(lambda x, y: x[::-1] - y[1:3].sum())
    one, two = whole[0, :4], whole[0, 4:]
    for x, y in ((one, two), (two, one), (one, one + 0), (one + 0, two)):
        x, y = np.asarray(x), np.asarray(y)
        np.asnumpy(x), np.asnumpy(y)
        assert both(x, y).tolist() == (np.asnumpy(x)[::-1] - np.asnumpy(y)[1:3].sum()).tolist()


def test_views_of_pending_values() -> None:
    """A view of a view is one of what is viewed, which is found inside of the pending operand."""
    run, calls = counted(lambda x: np.roll(x.T, 1, axis=1) + 1)
    whole = np.asarray(numpy.arange(48.0).reshape(2, 4, 6))
    for k in range(3):
        host = numpy.arange(48.0).reshape(2, 4, 6) * k
        assert run((whole * k)[1]).tolist() == (numpy.roll(host[1].T, 1, axis=1) + 1).tolist()
    assert calls == [1]
    both, _ = counted(lambda x, y: x[::-1] - y)
    one, other = whole * 2, whole * 3
    for x, y in ((one[0], one[1]), (one[0], other[1]), (other[0], one[1]), (one[1], one[1]), (one[0], other[1])):
        expected = np.asnumpy(x + 0)[::-1] - np.asnumpy(y + 0)
        assert both(x, y).tolist() == expected.tolist()


def test_results_that_are_views() -> None:
    run, calls = counted(lambda x: (x * 2).T)
    x = np.asarray(numpy.arange(6.0).reshape(2, 3))
    for _ in range(2):
        found = run(x)
        assert found.base is not None
        assert found.strides == (8, 24)
        found[0, 1] = 7
        assert found.base[1, 0] == 7
        assert found.tolist() == [[0, 7], [2, 8], [4, 10]]
    assert calls == [1]


def test_errors_in_indices_name_the_line(arrays: tuple[Any, Any]) -> None:
    a, _ = arrays
    run, calls = counted(lambda x, i: np.take(x, i))
    indices = np.asarray([2, 0])
    assert [run(a, indices).tolist() for _ in range(2)] == [[4, 1], [4, 1]]
    assert calls == [2], "where it was recorded is a part of it"


def test_transforms_are_remembered() -> None:
    x = np.asarray(numpy.arange(6.0))
    for name in ("fft", "ifft", "irfft", "rfft"):
        function = getattr(np.fft, name)
        first, again = function(x), function(x)
        assert first._node.signature is again._node.signature
        assert first is not again
        assert np.asnumpy(again).tolist() == np.asnumpy(first).tolist()


@pytest.mark.parametrize("copied", [lambda x: x.copy(), lambda x: x.reshape(-1), lambda x: np.array(x, order="C")])
@pytest.mark.parametrize("write", [slice(1, None), slice(None)])
def test_a_copy_computed_with_its_source_is_apart_from_it(copied: Callable[[Any], Any], write: slice) -> None:
    """The source lies in Fortran order, so that the copy's value is the node that the source's own value was."""
    x = np.array(numpy.arange(9.0).reshape(3, 3), order="F") + 1
    copy = copied(x)
    np.synchronize()
    copy[write] = 3
    np.asnumpy(copy)
    numpy.testing.assert_array_equal(np.asnumpy(x), numpy.arange(9.0).reshape(3, 3) + 1)


@pytest.mark.parametrize("write", ["an element", "all", "through another dtype"])
@pytest.mark.parametrize("make", ["zeros", "ones", "arange"])
def test_writes_to_a_copy_leave_the_view_of_an_array_that_is_pending(make: str, write: str) -> None:
    """Such an array is computed in less time than read, so it is not computed with its views."""
    outcomes = []
    for xp in (np, numpy):
        x = getattr(xp, make)(8)
        view = x[::2]
        copied = view.copy()
        str(copied)  # the copy is computed, the array it is a part of is not
        if write == "an element":
            copied[1] = 5
        elif write == "all":
            copied += 5
        else:
            bits = copied.view("u8")
            bits[...] = bits + 1
        str(copied)
        outcomes.append(((view + 0).tolist(), view.copy().tolist(), copied.tolist(), x.tolist()))
    assert outcomes[0] == outcomes[1]
