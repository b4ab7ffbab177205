"""Values that do not fit a device with what they are made of are computed in slabs, from files if they are there."""

from __future__ import annotations

import asyncio
import gc
import io
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import memory, progress, slab_reads, slab_sorts, slabs, spill_store
from gpunumpy.core.runtime.device import CPU
from gpunumpy.core.runtime.memory_copy import copy_from_host
from gpunumpy.core.runtime.slab_selections import Gathered
from gpunumpy.core.runtime.slab_sorts import divided
from gpunumpy.core.runtime.spill import SpilledBuffer

ROWS, COLUMNS = 1200, 160  # 1.5 MB of float64
LIMIT = 700_000
ROW = numpy.arange(COLUMNS) * 0.5


@pytest.fixture
def limit() -> Iterator[None]:
    """A limit that is below the size of the operands here."""
    has_spilled = CPU.has_spilled
    for drop in memory.out_of_memory_hooks:  # what earlier tests have left would be room too, once it is gone
        drop(CPU)
    np.synchronize("cpu")
    gc.collect()
    memory.free_all_blocks("cpu")
    with np.Device("cpu"):
        np.set_memory_limit(memory.memory_info("cpu").used + LIMIT, "cpu")
        yield
        np.set_memory_limit(None, "cpu")
    CPU.has_spilled = has_spilled


def data(dtype: str = "float64") -> numpy.ndarray:
    """Whole numbers and halves, so that sums are exact in any order."""
    numbers = (numpy.arange(ROWS * COLUMNS) * 7919 % 257 - 100).reshape(ROWS, COLUMNS)
    return (numbers if dtype != "bool" else numbers > 20).astype(dtype)


def mapped(tmp_path: Path, values: numpy.ndarray, mode: Any = "r") -> numpy.memmap:
    numpy.save(tmp_path / "values.npy", values)
    return numpy.load(tmp_path / "values.npy", mmap_mode=mode)


def matrices(x: Any) -> Any:
    """300 positive matrices of 20 x 20."""
    part = x.reshape(-1)[:120_000].reshape(300, 20, 20) / 1000
    return part @ part.swapaxes(-1, -2) + 3 * numpy.eye(20)


def windows(m: Any, x: Any) -> Any:
    return x[2:] - 2 * x[1:-1] + x[:-2]


def updated(m: Any, x: Any) -> Any:
    y = x * 2
    y[100:1100] = 5
    y[3::7, 1:-1] += x[3::7, 1:-1]
    y[:, 4] = 0
    y[600] = ROW
    y.reshape(-1)[: 161 * 100 : 161] = 9  # a diagonal
    return y


def written(m: Any, x: Any) -> Any:
    x[m.asarray([3, -1, 700, 3])] = m.asarray([[1.0], [2], [3], [4]])
    x[m.arange(COLUMNS), m.arange(COLUMNS)] = 7
    return x


def written_at(m: Any, x: Any, row: Any) -> Any:
    x[row, 1:] = -1
    x[row + 1, 7] = 1000
    return x


def added_at(m: Any, x: Any) -> Any:
    m.add.at(x, m.asarray([3, -1, 700, 3]), 0.5)
    return x


EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda m, x: x.sum(),
    "sums of columns": lambda m, x: (x * 2 + 1).sum(axis=0),
    "sums of rows": lambda m, x: (x * 2 + 1).sum(axis=1),
    "product": lambda m, x: m.sign(x).prod(axis=0),
    "mean": lambda m, x: x.mean(axis=0),
    "variance": lambda m, x: x.var(),
    "deviation of columns": lambda m, x: x.std(axis=0, ddof=1),
    "deviation of rows": lambda m, x: x.std(axis=1),
    "greatest": lambda m, x: m.maximum(x, 3).max(axis=0),
    "least": lambda m, x: x.min(),
    "argmax": lambda m, x: x.argmax(),
    "argmin of columns": lambda m, x: (x * -1).argmin(axis=0),
    "argmax of rows": lambda m, x: x.argmax(axis=1),
    "any": lambda m, x: (x > 100).any(axis=0),
    "all": lambda m, x: (x > -200).all(),
    "count": lambda m, x: m.count_nonzero(x, axis=0),
    "elementwise": lambda m, x: m.sqrt(abs(x)) + x * ROW_OF[m],
    "broadcast column": lambda m, x: x - x[:, :1],
    "with a mean": lambda m, x: x - x.mean(axis=0),
    "normalized": lambda m, x: (x - x.mean(axis=0)) / x.std(axis=0),
    "softmax": lambda m, x: m.exp(x / 64 - (x / 64).max(axis=1, keepdims=True)) / 2,
    "stencil": windows,
    "updates": updated,
    "reversed": lambda m, x: x[::-1] + 1,
    "every other": lambda m, x: x[::2, ::3] * 3,
    "transposed": lambda m, x: x.T + 1,
    "flattened": lambda m, x: (x + 1).ravel() * 2,
    "split": lambda m, x: (x + 1).reshape(ROWS // 4, 4, COLUMNS).sum(axis=1),
    "scan of rows": lambda m, x: m.cumsum(x, axis=1),
    "indices": lambda m, x: x + m.arange(ROWS)[:, None],
    "rows by index": lambda m, x: (x * 1)[:, m.arange(0, COLUMNS, 3)],
    "product of matrices": lambda m, x: x @ (m.ones((COLUMNS, 8)) * 2),
    "product with a vector": lambda m, x: x @ m.ones(COLUMNS),
    "some rows": lambda m, x: x[700:720] * 2,
    "an element": lambda m, x: x[700, 3] + 1,
    "two sums": lambda m, x: x.sum() / (x * x).sum(),
    "sum of a sum": lambda m, x: (x - x.sum(axis=0) / ROWS).sum(axis=1),
    "sorted rows": lambda m, x: m.sort(x, axis=1),
    "sorted columns": lambda m, x: m.sort(x * 2, axis=0),
    "order of rows": lambda m, x: m.argsort(x, axis=1, kind="stable"),
    "along the order of rows": lambda m, x: m.take_along_axis(x, m.argsort(x, axis=1, kind="stable"), axis=1),
    "medians of rows": lambda m, x: m.median(x, axis=1),
    "medians of columns": lambda m, x: m.median(x, axis=0),
    "transforms of rows": lambda m, x: abs(m.fft.fft(x, axis=1)),
    "transforms of columns": lambda m, x: m.fft.rfft(x, axis=0).real,
    "filtered rows": lambda m, x: m.fft.irfft(m.fft.rfft(x) * 0.5),
    "searched": lambda m, x: m.searchsorted(m.asarray(ROW_OF[m]), x),
    "interpolated": lambda m, x: m.interp(x, ROW_OF[m], ROW_OF[m] ** 2),
    "histogram": lambda m, x: m.histogram(x, 20)[0],
    "weighted histogram": lambda m, x: m.histogram(x, m.asarray([-100.0, 0, 50, 200]), weights=abs(x))[0],
    "counts": lambda m, x: m.bincount((x.ravel() + 200).astype("int64")),
    "weighted counts": lambda m, x: m.bincount((x.ravel() + 200).astype("int64"), weights=x.ravel()),
    "product of large matrices": lambda m, x: (x * 2) @ (x.T - 1),
    "rows of a large product": lambda m, x: (x @ x.T).sum(axis=1),
    "columns of a large product": lambda m, x: (x @ (x.T + 1)).max(axis=0),
    "squares": lambda m, x: x.T @ (x * 2),
    "transposed by a vector": lambda m, x: x.T @ x[:, 3],
    "covariances": lambda m, x: m.cov(x.T),
    "stacked": lambda m, x: m.stack([x, x + 1]),
    "convolved": lambda m, x: m.convolve(x.ravel(), m.asarray([1.0, 2, 3])),
    "gradient": lambda m, x: m.gradient(x, axis=0),
    "concatenated": lambda m, x: m.concatenate([x[:10], x[-10:]]),
    "diff": lambda m, x: m.diff(x, axis=0),
    "rolled": lambda m, x: m.roll(x, 1000),
    "rolled rows": lambda m, x: m.roll(x * 2, -7, axis=0),
    "rolled both ways": lambda m, x: m.roll(x, (500, 3), axis=(0, 1)),
    "picked by a mask": lambda m, x: x[x > 20],
    "picked of a sum": lambda m, x: (x + x[::-1])[x > 20] + 1,
    "rows by a mask": lambda m, x: x[x[:, 3] > 20],
    "mean by a mask": lambda m, x: x[x > 20].mean(),
    "positions": lambda m, x: m.nonzero(x > 20)[1],
    "written by a mask": lambda m, x: m.where(x > 20, 0, x),
    "distinct": lambda m, x: m.unique(x),
    "counts of the distinct": lambda m, x: m.unique(x, return_counts=True)[1],
    "nothing picked": lambda m, x: x[x > 1e9],
    "some rows at indices": lambda m, x: x[m.asarray([3, -1, 700, 3])] * 2,
    "rows at indices": lambda m, x: x[m.asarray(numpy.arange(ROWS)[::-1].copy())],
    "sums at indices": lambda m, x: (x + 1)[m.asarray(numpy.arange(5, 1000))].sum(axis=1),
    "elements at indices": lambda m, x: m.take(x, m.asarray([[5, 100_000], [-3, 7]])),
    "diagonal at indices": lambda m, x: x[m.arange(COLUMNS) * 7, m.arange(COLUMNS)],
    "a column at indices": lambda m, x: x[m.asarray([3, -1, 700]), 5],
    "a row at an index": lambda m, x: (x * 2)[m.argmax(x[:, 3])] + 1,
    "written at an index": lambda m, x: written_at(m, x * 2, m.argmax(x[:, 3])),
    "medians of the middle": lambda m, x: m.median(x[:, 3:150], axis=0).mean(),
    "written at indices": lambda m, x: written(m, x * 2),
    "added at indices": lambda m, x: added_at(m, x * 2),
    "which of the distinct": lambda m, x: m.unique(x, return_inverse=True)[1],
    "sorted": lambda m, x: m.sort(x, axis=None),
    "order": lambda m, x: m.argsort(x.ravel(), kind="stable"),
    "long rows sorted": lambda m, x: m.sort((x * 1.5).reshape(2, -1), axis=1),
    "order of long rows": lambda m, x: m.argsort(x.reshape(2, -1), axis=1, kind="stable"),
    "median": lambda m, x: m.median(x),
    "quantiles": lambda m, x: m.percentile(x, [10, 90]),
    "scan": lambda m, x: m.cumsum(x),
    "scan of columns": lambda m, x: m.cumsum(x + 1, axis=0),
    "running greatest": lambda m, x: m.maximum.accumulate(x.astype("float32"), axis=0),
    "running product": lambda m, x: m.cumprod(m.sign(x) + (x == 0), axis=0),
    "transforms of planes": lambda m, x: m.fft.fft2(x),
    "real transforms of planes": lambda m, x: m.fft.rfft2(x),
    "filtered planes": lambda m, x: m.fft.irfft2(m.fft.rfft2(x) * 0.5),
    "transform of one line": lambda m, x: m.fft.fft(x.ravel()),
    "real transform of one line": lambda m, x: m.fft.rfft(x.ravel() * 2),
    "filtered line": lambda m, x: m.fft.irfft(m.fft.rfft(x.ravel()) * 0.5),
    "transforms of long columns": lambda m, x: m.fft.ifft((x + 1).reshape(-1, 3), axis=0),
    "transforms of stacks": lambda m, x: m.fft.ifftn(x.reshape(120, 10, COLUMNS)),
    "solutions": lambda m, x: m.linalg.solve(m.asarray(numpy.eye(COLUMNS) * 2 + 1), x.T),
    "systems": lambda m, x: m.linalg.solve(matrices(x), m.ones((300, 20, 1))),
    "inverses": lambda m, x: m.linalg.inv(matrices(x)),
    "factors": lambda m, x: m.linalg.cholesky(matrices(x)),
    "eigenvalues": lambda m, x: m.linalg.eigvalsh(matrices(x)),
    "determinants": lambda m, x: m.linalg.det(matrices(x)),
    "singular values": lambda m, x: m.linalg.svd(matrices(x))[1],
    "a stack times a matrix": lambda m, x: x.reshape(60, 20, COLUMNS) @ m.asarray(ROW)[:, None],
}  # fmt: skip
# What libraries compute, or adds up numbers that are not exact: slabs of it are rounded in other ways.
ROUNDED = frozenset(
    (
        *("filtered rows", "transforms of rows", "transforms of columns", "transforms of planes", "covariances"),
        *("real transforms of planes", "filtered planes", "transforms of stacks", "solutions", "systems", "inverses"),
        *("factors", "eigenvalues", "determinants", "singular values", "transform of one line", "filtered line"),
        *("real transform of one line", "transforms of long columns"),
    )
)
ROW_OF: dict[Any, Any] = {numpy: ROW, np: ROW}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_of_a_file(limit: None, tmp_path: Path, name: str) -> None:
    values = mapped(tmp_path, data())
    x = np.asarray(values)
    assert type(x._node.data) is SpilledBuffer
    result, expected = EXPRESSIONS[name](np, x), EXPRESSIONS[name](numpy, numpy.array(values))
    assert result.dtype == expected.dtype
    rounded = 1e-9 if name in ROUNDED else 0
    numpy.testing.assert_allclose(result.get(), expected, rtol=rounded or 1e-13, atol=rounded)
    assert type(x._node.data) is SpilledBuffer  # nobody has copied all of it


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_of_a_file_that_is_copied(limit: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    """As for a GPU: what a slab reads takes room on the device, where kernels of the CPU read the file itself."""
    monkeypatch.setattr(slab_reads, "CPU", None)
    values = mapped(tmp_path, data())
    result, expected = EXPRESSIONS[name](np, np.asarray(values)), EXPRESSIONS[name](numpy, numpy.array(values))
    rounded = 1e-9 if name in ROUNDED else 0
    numpy.testing.assert_allclose(result.get(), expected, rtol=rounded or 1e-13, atol=rounded)


class Chunked:
    """An array in chunks, as those of h5py and zarr, that tells which rows were read."""

    def __init__(self, values: numpy.ndarray) -> None:
        self._values = values
        self.shape, self.dtype, self.chunks = values.shape, values.dtype, (100, COLUMNS)
        self.most = self.rows = self.elements = 0  # the most rows at a time, and all that was read

    def __getitem__(self, key: Any) -> Any:
        part = self._values[key]
        self.most = max(self.most, len(part))
        self.rows += len(part)
        self.elements += part.size
        return part

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise AssertionError("all of it is read")


@pytest.mark.parametrize(
    "name", ["sums of columns", "stacked", "updates", "sorted rows", "product of matrices", "median", "quantiles"]
)
def test_beside_memory_that_stays(tmp_path: Path, name: str) -> None:
    """Most of what the limit allows is a library's, so that slabs for half of the limit find no room."""
    values, expression = mapped(tmp_path, data()), EXPRESSIONS[name]
    expected, has_spilled = expression(numpy, numpy.array(values)), CPU.has_spilled
    kept = memory.allocate_fixed(CPU, 30_000_000)
    gc.collect()
    memory.free_all_blocks("cpu")
    try:
        np.set_memory_limit(memory.memory_info("cpu").used + LIMIT, "cpu")
        with np.Device("cpu"):
            x = np.asarray(values)
            assert type(x._node.data) is SpilledBuffer
            numpy.testing.assert_allclose(np.asnumpy(expression(np, x)), expected, rtol=1e-12)
    finally:
        np.set_memory_limit(None, "cpu")
        CPU.has_spilled = has_spilled
        del kept


def test_of_chunks(limit: None) -> None:
    chunks = Chunked(data())
    x = np.asarray(chunks)
    numpy.testing.assert_array_equal(((x - x.mean(axis=0)) / 2).get(), (data() - data().mean(axis=0)) / 2)
    assert float(np.max(chunks)) == data().max()
    assert 0 < chunks.most < ROWS / 4


class _InLoop(Chunked):
    """An array as zarr's: reads run in an event loop that is one for all arrays, and are refused inside of it."""

    def __init__(self, values: numpy.ndarray, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(values)
        self._loop = loop
        self.async_array = self

    async def getitem(self, key: Any) -> Any:
        return super().__getitem__(key)

    def __getitem__(self, key: Any) -> Any:
        assert threading.current_thread().name != "zarr_io"
        return asyncio.run_coroutine_threadsafe(self.getitem(key), self._loop).result(60)


def test_of_chunks_that_are_written_by_the_loop_that_reads_them(limit: None) -> None:
    """As `z[:] = y` where `y` is made of a zarr array: zarr asks for values where it would read the array."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="zarr_io")
    thread.start()
    try:
        chunks = _InLoop(data(), loop)
        y = np.asarray(chunks) / 2

        async def write() -> numpy.ndarray:
            with np.Device("cpu"):
                return y.get()

        written = asyncio.run_coroutine_threadsafe(write(), loop).result(60)
        numpy.testing.assert_array_equal(written, data() / 2)
        assert 0 < chunks.most < ROWS / 4
        numpy.testing.assert_array_equal((np.asarray(chunks) * 2).get(), data() * 2)  # elsewhere in its own loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_of_zarr_to_zarr(limit: None) -> None:
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    source = zarr.create_array(store={}, data=data(), chunks=(300, COLUMNS))
    target = zarr.create_array(store={}, shape=source.shape, dtype=source.dtype, chunks=(200, COLUMNS))
    y = np.asarray(source) / 2
    assert type(np.asarray(source)._node.data) is SpilledBuffer
    target[:] = y
    numpy.testing.assert_array_equal(target[:], data() / 2)
    numpy.testing.assert_array_equal(zarr.array(np.asarray(source) + 1)[:], data() + 1)


def test_of_hdf5_to_hdf5(limit: None, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(tmp_path / "data.h5", "w") as file:
        source = file.create_dataset("source", data=data(), chunks=(300, COLUMNS))
        target = file.create_dataset("target", source.shape, source.dtype, chunks=(200, COLUMNS))
        x = np.asarray(source)
        assert type(x._node.data) is SpilledBuffer
        numpy.testing.assert_allclose(x.mean(axis=0).get(), data().mean(axis=0), rtol=1e-13)
        y = x / 2
        for first in range(0, ROWS, 500):  # part by part, as the page on memory says
            target[first : first + 500] = y[first : first + 500].get()
        numpy.testing.assert_array_equal(target[:], data() / 2)
        numpy.testing.assert_array_equal((x[::-1] + 1).get(), data()[::-1] + 1)


@pytest.mark.parametrize("name", ["sums of columns", "transposed", "some rows"])
def test_of_chunks_that_have_changed(limit: None, name: str) -> None:
    """As a file that was made shorter: what is not there is no value."""
    chunks = Chunked(data())
    x = np.asarray(chunks)
    result, other = EXPRESSIONS[name](np, x), x.sum()
    chunks._values = data()[:-500]
    with pytest.raises(ValueError, match=r"gave float64 of shape .* where it had float64 of shape .*: it must"):
        result.get()
    chunks._values = data().astype("float32")
    with pytest.raises(ValueError, match=r"gave float32 of shape .* where it had float64 of shape"):
        other.get()
    chunks._values = data()
    numpy.testing.assert_array_equal(result.get(), EXPRESSIONS[name](numpy, data()))


def test_masks_that_do_not_fit(limit: None) -> None:
    """They are counted in slabs of whole tiles."""
    for count in (900, 1100):  # of tiles: counts of more are added up
        values = numpy.resize(data(), count * 4096 - 5).astype("int8")
        x = np.asarray(values)
        numpy.testing.assert_array_equal(x[x > 20].get(), values[values > 20])
        numpy.testing.assert_array_equal(np.flatnonzero(x < -90).get(), numpy.flatnonzero(values < -90))


@pytest.mark.parametrize("dtype", ["bool", "uint64", "float16", "float64"])
def test_sorts_of_several_passes(limit: None, dtype: str) -> None:
    """Equal elements keep their order, also where they are in several slabs, and NaN comes last."""
    values = numpy.resize(data(), 1_200_000 // numpy.dtype(dtype).itemsize).astype(dtype)
    if values.dtype.kind == "f":
        values[::1000], values[5::999] = numpy.nan, -numpy.inf
    x = np.asarray(values)
    numpy.testing.assert_array_equal(np.sort(x).get(), numpy.sort(values, kind="stable"))
    numpy.testing.assert_array_equal(np.argsort(x, kind="stable").get(), numpy.argsort(values, kind="stable"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64"])
def test_sorts_in_descending_order(limit: None, dtype: str) -> None:
    """Equal elements keep their order, and NaN comes last."""
    values = numpy.resize(data(), 1_200_000 // numpy.dtype(dtype).itemsize).astype(dtype)
    if values.dtype.kind == "f":
        values[::1000], values[5::999], values[7::500] = numpy.nan, -numpy.inf, -0.0
        reverse: Callable[[Any], Any] = numpy.negative
    else:
        reverse = numpy.invert
    x = np.asarray(values)
    order = numpy.argsort(reverse(values), kind="stable")
    numpy.testing.assert_array_equal(np.argsort(x, descending=True).get(), order)
    found = np.sort(x, descending=True).get()
    numpy.testing.assert_array_equal(found, values[order])
    if values.dtype.kind == "f":
        numpy.testing.assert_array_equal(numpy.signbit(found[found == 0]), numpy.signbit(values[order][found == 0]))


def test_no_indices_of_what_does_not_fit(limit: None, tmp_path: Path) -> None:
    """What reads or writes no elements takes no room, also where all else that is pending needs slabs."""
    values = mapped(tmp_path, data())
    x, none = np.asarray(values), np.zeros(0, "int64")
    computed, total = x * 2, (x * 3).sum(axis=0)
    picked, rows = computed[none], (x + 1)[none, none]
    computed[none] = 7
    np.add.at(computed, none, 1.0)
    numpy.testing.assert_array_equal(total.get(), (data() * 3).sum(axis=0))
    assert (picked.shape, rows.shape) == ((0, COLUMNS), (0,))
    assert (picked.get().shape, rows.get().shape) == ((0, COLUMNS), (0,))
    numpy.testing.assert_array_equal(computed.get(), data() * 2)


def test_columns_that_fit_are_sorted_in_one_pass(limit: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are in slabs of columns; a merge would look for places in the runs of each."""
    monkeypatch.setattr(slab_sorts, "divided", None)
    x = np.asarray(mapped(tmp_path, data()))
    numpy.testing.assert_array_equal(np.sort(x, axis=0).get(), numpy.sort(data(), axis=0))


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_divided_by_rank(seed: int) -> None:
    rng = numpy.random.default_rng(seed)
    lengths, most = rng.integers(1, 40, rng.integers(1, 9)), rng.integers(1, 100)
    runs = [numpy.sort(rng.integers(0, most, n)) for n in lengths]
    values, numbers = numpy.concatenate(runs), numpy.repeat(numpy.arange(len(runs)), lengths)
    order = numpy.argsort(values, kind="stable")
    for rank in range(len(values) + 1):
        expected = numpy.bincount(numbers[order[:rank]], minlength=len(runs))
        assert divided(runs, rank) == expected.tolist()


def test_the_host_picks_rows_at_indices(limit: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device would need all rows for each slab."""
    taken: list[int] = []
    take = Gathered.take
    monkeypatch.setattr(Gathered, "take", lambda self, b, start, stop: (taken.append(stop), take(self, b, start, stop)))
    rows = numpy.random.default_rng(0).permutation(ROWS)
    x = np.asarray(mapped(tmp_path, data()))
    numpy.testing.assert_array_equal((x[np.asarray(rows)] + 1).get(), data()[rows] + 1)
    assert taken[-1] == ROWS


def test_an_index_out_of_bounds_of_a_file(limit: None, tmp_path: Path) -> None:
    x = np.asarray(mapped(tmp_path, data()))
    picked = x[np.asarray([3, ROWS])]
    with pytest.raises(IndexError, match=f"index {ROWS} is out of bounds for axis with size {ROWS}"):
        picked.get()
    numpy.testing.assert_array_equal(x[np.asarray([3, ROWS - 1])].get(), data()[[3, -1]])
    y = x * 2
    y[np.asarray([3, ROWS])] = 0
    with pytest.raises(IndexError, match=f"index {ROWS} is out of bounds"):
        y.get()


COLUMNS_READ: dict[str, Callable[[Any, Any], Any]] = {
    "sorted": lambda m, x: m.sort(x, axis=0),
    "transformed": lambda m, x: abs(m.fft.fft(x * 1.0, axis=0)),
    "some": lambda m, x: m.sort(x[:, 7:90:3], axis=0),
    "in reverse": lambda m, x: m.sort(x[:, ::-1], axis=0),
}


@pytest.mark.parametrize("name", COLUMNS_READ)
def test_slabs_of_columns_read_columns(limit: None, name: str) -> None:
    """Of each row what they need, and no more: a range would be nearly all of the operand for each."""
    chunks = Chunked(data())
    result = COLUMNS_READ[name](np, np.asarray(chunks)).get()
    numpy.testing.assert_allclose(result, COLUMNS_READ[name](numpy, data()), rtol=1e-13, atol=1e-9)
    assert chunks.elements < 1.2 * ROWS * COLUMNS


OUTPUTS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "a sum": lambda m, x, y, out: m.add(x, y, out=out),
    "of an expression": lambda m, x, y, out: m.multiply(x[::-1] - x.mean(axis=0), y, out=out),
    "a cast": lambda m, x, y, out: m.add(x.astype("float32"), y, out=out),
    "where": lambda m, x, y, out: m.add(x, y, out=out, where=x > 2),
    "what is read": lambda m, x, y, out: m.add(np.asarray(out)[::-1] if m is np else out[::-1] * 1, y, out=out),
    "of columns": lambda m, x, y, out: m.add(x, y, out=out.reshape(x.shape[::-1]).T),
    "a broadcast row": lambda m, x, y, out: m.add(x[0], 1, out=out),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_results_for_a_file(limit: None, tmp_path: Path, name: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "out").mkdir()
    x, out = mapped(tmp_path / "x", data()), mapped(tmp_path / "out", data() * 2, "r+")
    y = np.arange(float(COLUMNS))
    pending = np.asarray(out) + 1  # of what is there before
    expected = OUTPUTS[name](numpy, data(), y.get(), data() * 2)
    result = OUTPUTS[name](np, np.asarray(x), y, out)
    numpy.testing.assert_array_equal(pending.get(), data() * 2 + 1)
    numpy.testing.assert_allclose(result, expected, rtol=1e-13)
    assert numpy.shares_memory(result, out)


def test_an_index_error_of_a_result_for_a_file(limit: None, tmp_path: Path) -> None:
    out = mapped(tmp_path, data(), "r+")
    rows = np.asarray([*range(ROWS - 1), ROWS])
    with pytest.raises(IndexError, match="out of bounds"):
        np.add(np.asarray(data())[rows], 1, out=out)
    np.add(np.asarray(data())[rows - 1], 1, out=out)
    numpy.testing.assert_array_equal(out[1:], data()[[*range(ROWS - 2), ROWS - 1]] + 1)


def test_results_for_a_file_take_no_other_memory(limit: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "out").mkdir()
    x, out = mapped(tmp_path / "x", data()), mapped(tmp_path / "out", data(), "r+")
    monkeypatch.setattr(spill_store.SpillStore, "place", lambda self, nbytes: None)
    np.multiply(np.asarray(x), 3, out=out)
    numpy.testing.assert_array_equal(out, data() * 3)


def test_looks_read_no_more_than_they_show(limit: None, tmp_path: Path) -> None:
    """Nor do they bring back what the device has no room for."""
    chunks = Chunked(data())
    x = np.asarray(chunks)
    assert float(x[700, 3]) == data()[700, 3]
    assert chunks.rows <= 2
    numpy.testing.assert_array_equal(x[5:9].get(), data()[5:9])
    assert chunks.rows <= 6
    y = np.asarray(mapped(tmp_path, data())) + 1
    np.synchronize()
    for looked, expected in ((x, data()), (y, data() + 1)):
        assert [float(looked[k, 3]) for k in range(3)] == expected[:3, 3].tolist()
        numpy.testing.assert_array_equal(looked[::300, ::-1].get(), expected[::300, ::-1])
        assert type(looked._node.data) is SpilledBuffer
    assert chunks.most <= 4


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "var", "mean"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"])
def test_reductions_of_every_dtype(limit: None, op: str, dtype: str) -> None:
    part = numpy.sign(data()).astype(dtype) if op == "prod" else data(dtype)
    if op == "sum" and dtype == "float16":
        part[::2] *= -1  # sums of its other values would be infinite
    values = numpy.tile(part, (16 // part.itemsize, 1))
    wide = {"f": "float64", "c": "complex128"}.get(part.dtype.kind, dtype)  # NumPy adds some of these one by one
    tolerance = {"float16": 5e-4, "float32": 1e-6, "complex64": 1e-6}.get(dtype, 1e-12)
    x = np.asarray(values)
    assert type(x._node.data) is SpilledBuffer
    for axis in (None, 0, 1):
        result, expected = getattr(x, op)(axis=axis).get(), getattr(values.astype(wide), op)(axis=axis)
        assert result.dtype == getattr(numpy.zeros((1, 1), dtype), op)(axis=axis).dtype
        numpy.testing.assert_allclose(result, expected, rtol=tolerance)


def test_partial_sums_of_low_precision_are_not_rounded(limit: None) -> None:
    values = numpy.tile(numpy.abs(data()) / 32, (8, 1)).astype("float16")
    x = np.asarray(values)
    assert type(x._node.data) is SpilledBuffer
    numpy.testing.assert_array_equal(x.sum(axis=0).get(), values.sum(axis=0, dtype="float64").astype("float16"))


def test_operands_that_are_on_the_device(limit: None) -> None:
    """They move to the host, so that slabs of the result find room."""
    values = data()[:600, :100]
    x, y = np.asarray(values), np.asarray(values[::-1])
    for made in (x, y):
        made.computed()
    result = (x + y * 2, x - y)
    numpy.testing.assert_array_equal(result[0].get(), values + values[::-1] * 2)
    numpy.testing.assert_array_equal(result[1].get(), values - values[::-1])
    x += 1
    numpy.testing.assert_array_equal(x.get(), values + 1)


def test_a_result_without_a_cut(limit: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is not tried again in smaller slabs."""
    x = np.asarray(mapped(tmp_path, data()))
    rooms, within = [], slabs._compute_within
    monkeypatch.setattr(slabs, "_compute_within", lambda *args: (rooms.append(args[-1]), within(*args)))
    message = "set_memory_limit allows.*'fft' takes its operands as a whole here, and with them .* bytes: compute it of"
    with pytest.raises(MemoryError, match=message):
        np.fft.fft(x.ravel()[:191_999]).get()  # a prime
    assert len(set(rooms)) == 1
    assert float(x.sum()) == data().sum()


def test_one_matrix_has_no_slabs(limit: None, tmp_path: Path) -> None:
    """The error names the call, not one of its outputs."""
    values = numpy.eye(400) * 3 + 1
    x = np.asarray(mapped(tmp_path, values))
    for name, call in (
        ("cholesky", np.linalg.cholesky),
        ("inv", np.linalg.inv),
        ("qr", np.linalg.qr),
        ("eigh", np.linalg.eigh),
        ("svd", np.linalg.svd),
    ):
        with pytest.raises(MemoryError, match=f"'{name}' takes its operands as a whole here"):
            np.asarray(call(x)[0]).get()
    assert float(x.sum()) == values.sum()


def test_a_failed_attempt_takes_no_room(limit: None, tmp_path: Path) -> None:
    """What it had allocated is free while the value is computed in slabs, whose results take most of the limit."""
    values = numpy.resize(data(), (280, 560))
    x = np.asarray(mapped(tmp_path, values))
    numpy.testing.assert_array_equal((x @ x.T).get(), values @ values.T)  # of 627,200 bytes


def test_a_product_as_large_as_the_limit(limit: None) -> None:
    """Where slabs are of the inner side, what each adds is itself computed in slabs, and stays on the host."""
    values = numpy.resize(data(), (400, 296))
    x = np.asarray(numpy.resize(values, (2000, 296)))
    assert type(x._node.data) is SpilledBuffer
    for k in (295, 296):  # of 698,560 and 700,928 bytes
        expected = numpy.resize(values, (2000, 296))
        numpy.testing.assert_array_equal((x[:, :k].T @ x).get(), expected[:, :k].T @ expected)


def test_a_product_of_two_large_matrices_reads_them_few_times(limit: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than twice what tiles of a third of the limit would read, and in slabs that are not thin."""
    copied: list[int] = []

    def counting(buffer: Any, start: int, content: numpy.ndarray) -> None:
        copied.append(content.nbytes)
        copy_from_host(buffer, start, content)

    monkeypatch.setattr(slab_reads, "copy_from_host", counting)
    for rows, inner in ((600, 400), (400, 600)):
        a, b = numpy.resize(data(), (rows, inner)), numpy.resize(data()[::-1], (inner, rows))
        copied.clear()
        before = memory.pool_of(CPU).slabs
        numpy.testing.assert_array_equal((np.asarray(a) @ np.asarray(b)).get(), a @ b)
        assert memory.pool_of(CPU).slabs - before < 500
        assert sum(copied) < 2 * (2 * rows * rows * inner * 8 / (LIMIT / 3 / 8) ** 0.5)


def test_products_that_are_added_up_are_computed_one_after_the_other(limit: None) -> None:
    """Of each product one matrix fits as a whole; those of all together would need slabs of slabs."""
    matrices = [numpy.resize(data()[k:], (280, 280)) for k in range(6)]  # of 627,200 bytes
    a, b, c, d, e, f = map(np.asarray, matrices)
    before = memory.pool_of(CPU).slabs
    found = (a @ b + c @ d + e @ f).get()
    a, b, c, d, e, f = matrices
    numpy.testing.assert_array_equal(found, a @ b + c @ d + e @ f)
    assert memory.pool_of(CPU).slabs - before < 300


@pytest.mark.parametrize("shape", [(200, 6000), (20, 60_000)])
def test_many_rows_are_not_sorted_in_short_runs(
    limit: None, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int]
) -> None:
    """Whether one row fits, or is sorted in slabs in turn, and whether it lies in one place."""
    runs: list[int] = []
    monkeypatch.setattr(slab_sorts, "divided", lambda parts, rank: (runs.append(len(parts)), divided(parts, rank))[1])
    values = numpy.resize(data() % 1013 * 7919 % 1009, shape)
    for x, expected in ((np.asarray(values), values), (np.asarray(numpy.ascontiguousarray(values.T)).T, values)):
        numpy.testing.assert_array_equal(np.sort(x, axis=1).get(), numpy.sort(expected, axis=1))
        order = np.argsort(x, axis=1, stable=True).get()
        numpy.testing.assert_array_equal(order, numpy.argsort(expected, axis=1, stable=True))
    assert max(runs, default=0) <= 64


def test_one_pass_for_two_results(limit: None) -> None:
    chunks = Chunked(data())
    x = np.asarray(chunks)
    greatest, total = x.max(axis=0), x.sum()
    assert float(total) == data().sum()
    assert chunks.rows < 1.1 * ROWS
    numpy.testing.assert_array_equal(greatest.get(), data().max(axis=0))
    assert chunks.rows < 1.1 * ROWS


def test_one_pass_for_a_mean_and_a_variance(limit: None) -> None:
    """The mean is a quotient of a sum, which is computed before it, together with the variance."""
    chunks = Chunked(data())
    x = np.asarray(chunks)
    mean, variance = x.mean(), x.var()
    assert float(mean) == data().mean()
    assert float(variance) == pytest.approx(data().var(), rel=1e-12)
    assert chunks.rows < 1.1 * ROWS


def test_slabs_beside_what_is_read_as_a_whole(limit: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write by a mask gathers from all values for every slab: slabs have room besides, and not one element each."""
    taken: list[int] = []
    take = slabs._take
    monkeypatch.setattr(slabs, "_take", lambda *args: (taken.append(args[-1] - args[-2]), take(*args)))
    expected = numpy.arange(35_000.0) % 11
    x = np.asarray(expected) * 1
    mask, other = x > 3, expected > 3
    x[mask] -= 0.5
    expected[other] -= 0.5
    assert float(x.sum()) == expected.sum()
    assert taken
    assert sum(taken) / len(taken) > 1000


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [_Terminal, io.StringIO])
def test_a_progress_bar_on_a_terminal(
    limit: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stream: type[io.StringIO]
) -> None:
    """Of the bytes that are read; it is wiped out when they are."""
    monkeypatch.setattr(progress, "_DELAY", 0)
    terminal = stream()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert float(np.asarray(mapped(tmp_path, data())).max()) == data().max()
    shown = terminal.getvalue()
    if stream is _Terminal:
        assert re.match(r"\rgpunumpy:   0%\|.*\| 0.00/1.54M ", shown)
        assert re.search(r"\r *\r$", shown)
    else:
        assert shown == ""


def test_the_memory_of_the_cpu_device_is_that_of_the_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a limit only what a file has stays there."""
    monkeypatch.setattr(memory, "most_bytes", lambda device: 1 << 20)
    monkeypatch.setattr(CPU, "has_spilled", False)
    values = data()
    with np.Device("cpu"):
        np.set_residence("device")
        assert type(np.asarray(values)._node.data) is not SpilledBuffer
        assert type(np.asarray(mapped(tmp_path, values))._node.data) is SpilledBuffer


def test_an_explanation_tells_of_slabs(limit: None, tmp_path: Path) -> None:
    x = np.asarray(mapped(tmp_path, data()))
    text = io.StringIO()
    np.explain(x[2:] - x[:-2], file=text)
    found = re.match(
        r"a result that cpu has no room for with what it is made of: in (\d+) slabs along an axis of 1,198\n"
        r"1.54 MB in operands on the host, for lack of room on cpu\n",
        text.getvalue(),
    )
    assert found is not None, text.getvalue()
    assert 10 < int(found[1]) < 100
    text = io.StringIO()
    np.explain(np.asarray(ROW) + 1, file=text)
    assert "room" not in text.getvalue()


def test_a_profile_tells_of_slabs(limit: None, tmp_path: Path) -> None:
    x = np.asarray(mapped(tmp_path, data()))
    text = io.StringIO()
    with np.profile(file=text):
        (x + 1).computed()
    found = re.search(r"^computed for lack of room: (\d+) slabs$", text.getvalue(), re.MULTILINE)
    assert found is not None
    assert 10 < int(found[1]) < 100
    text = io.StringIO()
    with np.profile(file=text):
        (np.asarray(ROW) + 1).computed()
    assert "slabs" not in text.getvalue()
