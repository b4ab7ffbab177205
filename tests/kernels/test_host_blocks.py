"""How the CPU executor cuts loop nests into blocks, and adds up short rows."""

from __future__ import annotations

import numpy
import pytest

from gpunumpy.core.schedule.kernel import Affine, Arg, LoadIndexed
from gpunumpy.core.schedule.sizes import Trace
from gpunumpy.kernels.host import loop_nest, op_functions, reduce
from gpunumpy.kernels.host import loops as host
from gpunumpy.kernels.host.reduce import reducer

from .test_host import F8, Builder, values


def test_blocks_are_cut_between_rows() -> None:
    def spread(array: numpy.ndarray, terms: int) -> int:
        """Over how many dimensions blocks are spread for the sums along axis 1 of a product."""
        k = Builder(array.shape, 1)
        product = k.load(values(array.shape[1]))
        for _ in range(terms):
            product = k.apply("multiply", product, k.load(array.copy("K"), numpy.ravel(array, "K")))
        k.result(k.reduce("add", product))
        nest = loop_nest.ordered(*loop_nest.nests(k.kernel()))
        return host._choose_blocks(nest, len(nest.shape), Trace())[1]

    rows, columns = values((64, 1024)), values((8, 8192)).T
    assert spread(rows, 2) == 1
    # Sums of parts of columns would have to be merged, which only large ones are worth.
    assert spread(columns, 2) == 0
    assert spread(numpy.tile(columns, (9, 1)), 2) == 1


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_blocks_have_many_bytes_of_each_operand(dtype: str) -> None:
    """A NumPy call over few bytes takes as long to begin as to compute, however many items they are."""
    arrays = [numpy.ones(1_000_000, dtype) for _ in range(10)]
    k = Builder((1_000_000,))
    total = k.load(arrays[0])
    for array in arrays[1:]:
        total = k.apply("add", total, k.load(array), loop=dtype)
    k.full(total, dtype)
    nest = loop_nest.ordered(*loop_nest.nests(k.kernel()))
    (length,), blocked = host._choose_blocks(nest, 1, Trace())
    assert blocked == 1
    assert length * numpy.dtype(dtype).itemsize >= 0.8 * host.MIN_OPERAND_BYTES  # pieces are even


def picked_rows(index: numpy.ndarray, applied: bool) -> loop_nest.Nest:
    """The nest of rows that indices of another dtype pick, as they are or negated."""
    source = values((512, 1024))
    k = Builder((len(index), 1000))
    rows = k.apply("cast", k.load(index[:, None], index), loop=(index.dtype, "i8"))
    number = k.argument(source.reshape(-1), Arg("in", F8))
    picked = k.put(LoadIndexed(number, Affine(12, (0, 1)), (rows,), (512,), (1024,), 0))
    k.full(k.apply("negative", picked) if applied else picked)
    return loop_nest.ordered(*loop_nest.nests(k.kernel()))


@pytest.mark.parametrize("applied", [False, True])
def test_rows_that_are_picked_alone_are_many_in_a_block(applied: bool) -> None:
    """NumPy copies rows that are not side by side before it picks of them, in each block anew."""
    nest = picked_rows(numpy.arange(4096, dtype="i4") % 512, applied)
    (length, _), blocked = host._choose_blocks(nest, 2, Trace())
    assert blocked == 1
    assert (length * 1000 * 8 > host.BLOCK_BYTES) != applied


def test_work_for_each_row_is_no_reason_for_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "workers", lambda: 2)
    monkeypatch.setattr(host, "PARALLEL_WORK", 64 * 1024 * 10)
    for of_rows in (True, False):
        k = Builder((64, 1024), 1)
        x = k.load(values((64, 1024)))
        value = k.reduce("add", x) if of_rows else x
        for _ in range(12):
            value = k.apply("negative", value)
        k.result(value if of_rows else k.reduce("add", value))
        assert host._is_parallel(loop_nest.ordered(*loop_nest.nests(k.kernel()))) != of_rows


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"])
def test_sums_of_short_rows_are_numpys_to_the_bit(dtype: str, length: int) -> None:
    x = values((300, length), dtype)
    x[:9] = -numpy.zeros(length, x.dtype) if x.dtype.kind in "fc" else 0
    for result in (x.sum(axis=1).dtype, numpy.dtype("float64")) if x.dtype.kind != "c" else (x.dtype,):
        loop = (result, result)
        found = reducer("add", loop, (1,), length).whole(x)
        assert found.tobytes() == numpy.add.reduce(x, 1, result, None, True).tobytes()


def test_short_rows_are_added_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy takes longer to begin each of them than to add it up."""
    calls: list[int] = []

    def counted(x: numpy.ndarray, dtype: numpy.dtype) -> numpy.ndarray:
        calls.append(len(x))
        return sums(x, dtype)

    sums = reduce._sums_of_columns
    monkeypatch.setattr(reduce, "_sums_of_columns", counted)
    for shape in ((1000, 3), (1000, 9), (3, 1000), (10, 3)):
        reducer("add", (F8, F8), (1,), shape[1]).whole(values(shape))
    assert calls == [1000]


@pytest.mark.parametrize("length", [1, 2, 3, 32, 33])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("op", ["add", "multiply", "maximum"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_scans_of_short_rows_are_numpys_to_the_bit(op: str, dtype: str, length: int) -> None:
    x = values((700, length), dtype)
    ufunc = getattr(numpy, op)
    for rows in (x, numpy.broadcast_to(x[:, :1], x.shape), x[::-1, ::-1]):
        for result in (x.dtype, ufunc.accumulate(x, 1).dtype):
            found = op_functions.accumulator(op, result)(rows, 1)
            assert found.tobytes() == ufunc.accumulate(rows, 1, result).tobytes()
    assert x.tobytes() == values((700, length), dtype).tobytes()


def test_short_rows_are_scanned_by_columns() -> None:
    rows = numpy.ones((700, 5))
    found = op_functions.accumulator("multiply", rows.dtype)(rows, 1)
    assert isinstance(found, numpy.ndarray)
    assert op_functions._scanned_by_columns(numpy.add, found) is found
    numpy.testing.assert_array_equal(found, numpy.add.accumulate(rows, 1))
