"""Arrays that a program accesses by small parts, on a device with memory of its own: where they go, and how often.

The CPU device, told that its memory is its own, computes the values; a pretended GPU counts launches and copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED, tell
from gpunumpy.core.recording import array as arrays
from gpunumpy.core.recording import residence
from gpunumpy.core.runtime import evaluate
from gpunumpy.kernels.cuda import compile as compile_module

from ..support import fake_driver

pytestmark = [
    pytest.mark.skipif(not IS_COMPILED, reason="the compiled core alone counts accesses"),
    pytest.mark.filterwarnings("ignore::gpunumpy.PerformanceWarning"),  # these are loops over elements
]

SIZE = 60  # of matrices, the inner parts of which are large too
HOST_BYTES = 1 << 12


class Moves:
    """The moves that arrays have made."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.to_host = self.to_device = 0
        move = arrays._move

        def move_to_host(array: Any, value: Any, part: Any) -> Any:
            written = residence.move_to_host(array, value, part)
            self.to_host += written is not None
            return written

        def move_to_device(owner: Any) -> None:
            self.to_device += 1
            move(owner)

        tell(move_to_host=move_to_host)
        patch.setattr(arrays, "_move", move_to_device)


@pytest.fixture(autouse=True)
def auto() -> Iterator[None]:
    before = np.set_residence("auto")
    yield
    np.set_residence(before)
    tell(move_to_host=residence.move_to_host)


@pytest.fixture
def moves(monkeypatch: pytest.MonkeyPatch) -> Iterator[Moves]:
    """Have the CPU device be one whose memory is not the host's."""
    with np.Device("cpu") as device:
        queue = evaluate.queue_of(device)
        monkeypatch.setattr(queue, "shares_memory", False)
        monkeypatch.setattr(queue, "host_bytes", HOST_BYTES)
        yield Moves(monkeypatch)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[fake_driver.FakeDriver]:
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_module, "_compile", lambda text, *target: text.encode())
    driver = fake_driver.install(monkeypatch)
    with np.Device("cuda:0") as device:
        monkeypatch.setattr(evaluate.queue_of(device), "host_bytes", HOST_BYTES)
        yield driver


# Programs, each of which returns what it has made: of two matrices and a vector


def triangular_product(xp: Any, a: Any, b: Any, v: Any) -> Any:
    for i in range(SIZE):
        for j in range(SIZE):
            b[i, j] += xp.dot(a[i + 1 :, i], b[i + 1 :, j])
    return a, b


def triangular_solve(xp: Any, a: Any, b: Any, v: Any) -> Any:
    x = xp.zeros(SIZE)
    for i in range(SIZE):
        x[i] = (v[i] - a[i, :i] @ x[:i]) / (a[i, i] + 9)
    return a, x


def orthogonal_columns(xp: Any, a: Any, b: Any, v: Any) -> Any:
    q, r = xp.zeros_like(a), xp.zeros((SIZE, SIZE))
    for k in range(SIZE):
        r[k, k] = xp.sqrt(xp.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, SIZE):
            r[k, j] = xp.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return a, q, r


def kept_rows(xp: Any, a: Any, b: Any, v: Any) -> Any:
    made = xp.zeros(SIZE)
    for i in range(SIZE):
        row = a[i]
        other = b[SIZE - 1 - i]
        made[i] = row @ other + v[i]
        row += v
    return a, b, made


def iterated_rows(xp: Any, a: Any, b: Any, v: Any) -> Any:
    return [float(row @ v) for row in a], a


def looked_at_elements(xp: Any, a: Any, b: Any, v: Any) -> Any:
    total = 0.0
    for i in range(SIZE):
        total += float(a[i, i]) * float(b[0, i])
    return total, a, b


def elements_of_a_kept_view(xp: Any, a: Any, b: Any, v: Any) -> Any:
    inner = a[1:-1, 2:]
    for i in range(SIZE - 2):
        inner[i, i] += b[i, 0]
        inner[i, 0] = 3.0
    return inner, a


def elements_of_ever_smaller_views(xp: Any, a: Any, b: Any, v: Any) -> Any:
    whole = x = b.reshape(-1)
    while len(x) > 3:
        x[len(x) // 2], x[-2] = float(x[-2]), float(x[len(x) // 2])
        x = x[:-2]
    return x, whole, b


def sorted_by_parts(xp: Any, a: Any, b: Any, v: Any) -> Any:
    def sort(x: Any) -> None:
        if len(x) < 2:
            return
        pivot, less = float(x[-1]), 0
        for k in range(len(x) - 1):
            if x[k] < pivot:
                x[k], x[less] = float(x[less]), float(x[k])
                less += 1
        x[less], x[-1] = pivot, float(x[less])
        sort(x[:less])
        sort(x[less + 1 :])

    vector = a[:20].reshape(-1)
    sort(vector)
    return vector, a


def elements_beside_a_mean(xp: Any, a: Any, b: Any, v: Any) -> Any:
    mean, total, count = a.mean(), xp.sum(b[:2]), 0
    for i in range(SIZE):
        for j in range(SIZE):
            count += int(a[i, j] > mean)
            total += (a[i, j] - mean) ** 2
            total = total - mean * a[j, i]
            count += bool(mean != a[i, j])
    return total, count, a


def elements_in_fortran_order(xp: Any, a: Any, b: Any, v: Any) -> Any:
    f = xp.asfortranarray(a)
    for i in range(SIZE):
        for j in range(i):
            f[i, j] = f[j, i] + 1
    assert f.base is None
    assert f.flags.f_contiguous
    return (f,)


OF_VIEWS = (
    elements_of_a_kept_view,
    elements_of_ever_smaller_views,
    elements_beside_a_mean,
    elements_in_fortran_order,
)
ROWS = (
    triangular_product,
    triangular_solve,
    orthogonal_columns,
    kept_rows,
    iterated_rows,
    looked_at_elements,
    sorted_by_parts,
    *OF_VIEWS,
)


def swept_columns(xp: Any, a: Any, b: Any, v: Any) -> Any:
    for _ in range(3):
        for j in range(1, SIZE):
            a[:, j] = 0.5 * a[:, j - 1] + b[:, j]
        for j in range(SIZE - 2, -1, -1):
            b[:, j] = a[:, j] - 0.5 * b[:, j + 1]
    return a, b


def boundaries(xp: Any, a: Any, b: Any, v: Any) -> Any:
    for _ in range(40):
        a[1:-1, 1:-1] += 0.1 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] - 3 * a[1:-1, 1:-1] - b[1:-1, 1:-1])
        a[0], a[-1] = 0.0, a[1]
        a[:, 0] = a[:, 1]
        a[3, 4] = 1.0
        float(a[5, 5])
    return a, b


def eliminated(xp: Any, a: Any, b: Any, v: Any) -> Any:
    a += SIZE * xp.eye(SIZE)
    for k in range(12):  # then the rest is small
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, None, k + 1 :]
    return a, b


def shortest_paths(xp: Any, a: Any, b: Any, v: Any) -> Any:
    for k in range(SIZE):
        xp.minimum(a, a[:, k, None] + a[None, k], out=a)
        float(a[0, k])
    return a, b


def views_as_a_whole(xp: Any, a: Any, b: Any, v: Any) -> Any:
    inner, rest = a[1:-1, 1:], b[2:, :-1]
    for k in range(60):
        inner += 0.1
        rest[k % 7, 0] = 2.0
        rest *= inner
        inner[0, k % 5] = float(inner[1, 1]) + 1
    return a, b, inner, rest


WHOLE = (
    boundaries,
    eliminated,
    shortest_paths,
    views_as_a_whole,
)  # whose arrays are computed with as a whole in every step


def outer_updates(xp: Any, a: Any, b: Any, v: Any) -> Any:
    c = a * 0
    for k in range(20 * SIZE):
        c += xp.outer(a[k % SIZE], b[k % SIZE])
    return a, b, c


def alternated(xp: Any, a: Any, b: Any, v: Any) -> Any:
    made = []
    for _ in range(40):
        made += [float(a[i] @ v) for i in range(SIZE)]
        a *= 0.5
    return made, a, b


def _data() -> list[Any]:
    rng = numpy.random.default_rng(0)
    return [rng.random((SIZE, SIZE)) * 0.1, rng.random((SIZE, SIZE)) * 0.1, rng.random(SIZE)]


def run(program: Callable[..., Any]) -> Any:
    # The first arrays are on the device as results of it are.
    a, b, v = _data()
    return program(np, np.asarray(a) + 0.0, np.asarray(b) + 0.0, np.asarray(v))


def check(program: Callable[..., Any], found: Any) -> None:
    for one, expected in zip(found, program(numpy, *_data()), strict=True):
        numpy.testing.assert_allclose(
            np.asnumpy(one) if hasattr(one, "dtype") else one, expected, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("program", [*ROWS, swept_columns], ids=lambda program: program.__name__)
def test_arrays_come_to_the_host_once(program: Callable[..., Any], moves: Moves) -> None:
    found = run(program)
    large = [x for x in found if hasattr(x, "residence") and x.nbytes > HOST_BYTES]
    assert [x.residence for x in large] == ["host"] * len(large)
    assert moves.to_device <= 2
    check(program, found)


@pytest.mark.parametrize("program", WHOLE, ids=lambda program: program.__name__)
def test_arrays_that_are_computed_with_as_a_whole_stay(program: Callable[..., Any], moves: Moves) -> None:
    found = run(program)
    assert (moves.to_host, moves.to_device) == (0, 0)
    check(program, found)


@pytest.mark.parametrize("program", [alternated, outer_updates], ids=lambda program: program.__name__)
def test_arrays_move_ever_less_often(program: Callable[..., Any], moves: Moves) -> None:
    found = run(program)
    assert 0 < moves.to_device <= moves.to_host <= 8
    check(program, found)


def test_other_views_keep_an_array_on_the_device(moves: Moves) -> None:
    a, _, v = (np.asarray(x) + 0.0 for x in _data())
    held = a[2]
    for i in range(SIZE):
        float(a[i] @ v)
    assert (a.residence, moves.to_host) == ("device", 0)
    del held
    float(a[0] @ v)
    assert a.residence == "host"


def test_a_view_that_moves_along_shows_the_memory(moves: Moves) -> None:
    a, expected = np.asarray(_data()[0]) + 0.0, _data()[0]
    for i in range(SIZE):
        row = a[i, ::2]
        float(row @ row)
    assert a.residence == row.residence == "host"
    row[1], expected[-1, 2] = 7, 7
    a[-1, 4], expected[-1, 4] = 8, 8
    numpy.testing.assert_array_equal(row.get(), expected[-1, ::2])
    numpy.testing.assert_array_equal((a * 1).get(), expected)
    row[0], expected[-1, 0] = 9, 9
    numpy.testing.assert_array_equal(a.get(), expected)


@pytest.mark.parametrize("program", [*ROWS[:4], *OF_VIEWS], ids=lambda program: program.__name__)
def test_a_gpu_is_left_alone_once_arrays_are_on_the_host(
    program: Callable[..., Any], gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        moves = Moves(patch)
        run(program)
    copies = sum(gpu.calls.count(f"cuMemcpy{way}Async") for way in ("HtoD", "DtoH"))
    assert len(gpu.launched) <= 100
    assert copies <= 100
    assert moves.to_device <= 2


@pytest.mark.parametrize("program", WHOLE, ids=lambda program: program.__name__)
def test_a_gpu_computes_with_whole_arrays(
    program: Callable[..., Any], gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        moves = Moves(patch)
        run(program)
    assert (moves.to_host, moves.to_device) == (0, 0)


def test_all_views_that_were_accessed_move_along(moves: Moves) -> None:
    a, expected = np.asarray(_data()[0]) + 0.0, _data()[0]
    views: list[Any] = [a[1:], a[:, ::2], a.T, a[2, 3:], a[::-1, None]]
    others = [expected[1:], expected[:, ::2], expected.T, expected[2, 3:], expected[::-1, None]]
    views[1].flags.writeable = False
    for k in range(20):
        for view, other in zip(views, others, strict=True):
            assert float(view[(k,) + (0,) * (view.ndim - 1)]) == other[(k,) + (0,) * (view.ndim - 1)]
    assert [x.residence for x in (a, *views)] == ["host"] * 6
    assert [x.base is a for x in views] == [True] * 5
    assert [x.flags.writeable for x in views] == [True, False, True, True, True]
    for k, (view, other) in enumerate(zip(views, others, strict=True)):
        if view.flags.writeable:
            view[1:3], other[1:3] = k, k
    for view, other in zip(views, others, strict=True):
        numpy.testing.assert_array_equal(view.get(), other)
    numpy.testing.assert_array_equal((a * 1).get(), expected)
    arrays.require_device(a)
    assert [x.residence for x in views] == ["device"] * 5  # they follow
    views[2][5] = others[2][5] = 9
    for view, other in zip(views, others, strict=True):
        numpy.testing.assert_array_equal(view.get(), other)
    with pytest.raises(ValueError, match="read-only"):
        views[1][0] = 1


def test_views_without_elements_move_along(moves: Moves) -> None:
    a = np.asarray(_data()[0]) + 0.0
    views = [a[:0], a[5:5, ::2], a[SIZE:, None]]
    for k in range(20):
        assert [len(view[:, :1]) for view in views] == [0] * 3
        a[k, 0] = 1.0
    assert [x.residence for x in (a, *views)] == ["host"] * 4
    assert [x.shape for x in views] == [(0, SIZE), (0, SIZE // 2), (0, 1, SIZE)]


def test_more_views_than_are_known_keep_an_array_on_the_device(moves: Moves) -> None:
    a = np.asarray(_data()[0]) + 0.0
    rows = [a[k] for k in range(SIZE)]
    for _ in range(3):
        assert sum(float(row[1]) for row in rows) == pytest.approx(float(numpy.sum(_data()[0][:, 1])))
    assert (a.residence, moves.to_host) == ("device", 0)
    del rows[8:]
    for row in 3 * rows:
        row[0] = 1.0
    assert a.residence == "host"
    assert [row.residence for row in rows] == ["host"] * 8


def test_a_view_as_another_dtype_keeps_an_array_on_the_device(moves: Moves) -> None:
    a = np.asarray(_data()[0]) + 0.0
    integers = a.view("i8")
    for k in range(40):
        a[k, 0] = float(integers[k, 0] * 0) + 1.0
    assert (a.residence, moves.to_host) == ("device", 0)
    assert integers[:40, 0].tolist() == [numpy.float64(1).view("i8")] * 40


def test_scalars_meet_nobody_where_small_arrays_are_on_the_device(moves: Moves) -> None:
    np.set_residence("device")
    days, one = np.array(["2020-01-01"], "M8[D]"), np.asarray(3) - 2
    for _ in range(40):
        days = days + one
    assert (days.residence, one.residence) == ("host", "device")
    assert days.get() == numpy.array(["2020-02-10"], "M8[D]")
