"""NumPy data that is not plain: masked arrays, matrices, the other byte order."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.functions import fallback

OTHER = ">" if sys.byteorder == "little" else "<"
MASKED = numpy.ma.masked_greater(numpy.arange(5.0), 3)
MATRIX: Any = numpy.arange(1.0, 5.0).reshape(2, 2).view(numpy.matrix)  # the class itself warns

# Calls with a matrix, which is of NumPy's own class, and an array `g` of this package.
WITH_A_MATRIX = (
    *("g * m", "m * g", "g + m", "m + g", "g - m", "g < m", "g == m", "m @ g", "g @ m", "m.T * g", "g.dot(m)"),
    *("m ** 2", "np.sum(m)", "np.sqrt(m)", "np.add(1, m)", "np.add(g, m)", "np.dot(g, m)", "np.asarray(m)"),
    *("np.asanyarray(m)", "np.array(m, subok=True)", "np.cumsum(m)", "np.mean(m)", "np.where(g > 0, m, g)"),
    *("np.concatenate([g, m])", "np.reshape(m, -1)", "operator.iadd(g, m)", "operator.imul(g, m)", "g[m > 2]"),
    *("operator.setitem(g, ..., m)", "numpy.add(g, m)", "np.linalg.inv(m)"),
)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("call", WITH_A_MATRIX)
def test_matrices_are_numpys_own(call: str) -> None:
    outcomes = []
    for np in (gpunumpy, numpy):
        g = np.array([[1.0, 2.0], [3.0, 4.0]])
        names = {"np": np, "numpy": numpy, "operator": operator, "g": g, "m": MATRIX.copy()}
        result = eval(call, names)
        outcomes.append((type(result).__name__, None if result is None else result.tolist(), g.tolist()))
    assert outcomes[0] == outcomes[1]


WITH_SPARSE = (
    *("g + c", "c + g", "g - c", "c - g", "g * c", "c * g", "g @ c", "c @ g", "g / c", "c / g", "g == c", "g < c"),
    *("c > g", "operator.iadd(c, g)", "operator.iadd(g, c)", "operator.isub(g, c)", "g.sum() * c", "2.0 * g + c"),
)


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "coo_array"])
@pytest.mark.parametrize("call", WITH_SPARSE)
def test_sparse_arrays_of_scipy_beside_dense_ones(call: str, kind: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    outcomes = []
    for np in (gpunumpy, numpy):
        data = [[4.0, 1.0], [1.0, 3.0]]
        names = {"operator": operator, "g": np.array(data), "c": getattr(sparse, kind)(data)}
        try:
            result = eval(call, names)
        except (TypeError, ValueError, NotImplementedError) as error:
            outcomes.append(type(error))
        else:
            dense = result.toarray() if sparse.issparse(result) else result
            outcomes.append((type(result).__name__, dense.tolist(), names["g"].tolist()))
    assert outcomes[0] == outcomes[1]


def test_a_masked_array_keeps_its_mask_where_it_computes() -> None:
    made = MASKED * gpunumpy.arange(5.0)
    assert type(made) is numpy.ma.MaskedArray
    assert made.tolist() == [0, 1, 4, 9, None]
    assert numpy.ma.add(gpunumpy.arange(5.0), MASKED).tolist() == [0, 2, 4, 6, None]


@pytest.mark.parametrize("make", ["array", "asarray", "ascontiguousarray", "asfortranarray", "copy"])
def test_conversions_drop_the_class(make: str) -> None:
    for x in (MASKED, MATRIX):
        tested = getattr(gpunumpy, make)(x)
        assert type(tested) is gpunumpy.ndarray
        numpy.testing.assert_array_equal(gpunumpy.asnumpy(tested), numpy.asarray(x))


def test_what_only_looks_takes_them() -> None:
    for x in (MASKED, MATRIX):
        assert gpunumpy.shape(x) == x.shape
        assert gpunumpy.ndim(x) == x.ndim
        assert gpunumpy.size(x) == x.size
        assert not gpunumpy.iscomplexobj(x)
        assert gpunumpy.result_type(x, 1) == x.dtype


# --- byte order -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["i2", "i4", "i8", "u2", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_data_in_the_other_byte_order(code: str) -> None:
    swapped = numpy.arange(-6, 6).reshape(3, 4).astype(code).astype(OTHER + code)
    for data in (swapped, swapped.T, swapped[::2, 1:]):
        for tested in (gpunumpy.array(data), gpunumpy.asarray(data), gpunumpy.asarray(data, code), gpunumpy.copy(data)):
            assert tested.dtype in (numpy.dtype(code), data.dtype)
            numpy.testing.assert_array_equal(gpunumpy.asnumpy(tested), data)
        with numpy.errstate(over="ignore"):
            numpy.testing.assert_array_equal(gpunumpy.asnumpy(gpunumpy.add(gpunumpy.asarray(data), data)), data + data)
            numpy.testing.assert_array_equal(gpunumpy.asnumpy(gpunumpy.add(data, data[0, 0])), data + data[0, 0])
        assert gpunumpy.zeros_like(data).dtype == data.dtype
    target = gpunumpy.zeros((3, 4), code)
    target[...] = swapped
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(target), swapped)
    assert gpunumpy.full(2, swapped[0, 0]).tolist() == [swapped[0, 0].item()] * 2


def test_indices_in_the_other_byte_order() -> None:
    a, index = gpunumpy.arange(10), numpy.array([3, 1], OTHER + "i8")
    assert a[index].tolist() == [3, 1]
    assert gpunumpy.take(a, index).tolist() == [3, 1]
    assert gpunumpy.arange(numpy.array(3, OTHER + "i4")).tolist() == [0, 1, 2]
    assert gpunumpy.linspace(0, numpy.array([2.0], OTHER + "f8"), 3).tolist() == [[0.0], [1.0], [2.0]]


MADE_WITH_A_DTYPE: dict[str, Callable[[Any, Any], Any]] = {
    "array": lambda np, d: np.array([1], d),
    "an array": lambda np, d: np.asarray(np.ones(2), d),
    "zeros": lambda np, d: np.zeros(2, d),
    "full": lambda np, d: np.full(2, 1, d),
    "zeros_like": lambda np, d: np.zeros_like(np.ones(2), d),
    "arange": lambda np, d: np.arange(3, dtype=d),
    "frombuffer": lambda np, d: np.frombuffer(bytes(8), dtype=d),
    "fromiter": lambda np, d: np.fromiter([1], dtype=d),
    "astype": lambda np, d: np.ones(2).astype(d),
    "view": lambda np, d: np.ones(2).view(d),
}


@pytest.mark.parametrize("make", [pytest.param(f, id=name) for name, f in MADE_WITH_A_DTYPE.items()])
def test_a_dtype_of_the_other_byte_order(make: Callable[[Any, Any], Any]) -> None:
    swapped = numpy.dtype(OTHER + "i4")
    for dtype in (OTHER + "i4", swapped):
        expected, tested = make(numpy, dtype), make(gpunumpy, dtype)
        assert tested.dtype == expected.dtype
        numpy.testing.assert_array_equal(gpunumpy.asnumpy(tested), expected)


@pytest.mark.parametrize("dtype", ["U8", "S5", "V32", "O", "M8[s]", OTHER + "i4"])
def test_host_fallback_as_an_error_refuses_what_no_kernel_computes(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = gpunumpy.zeros(2, dtype)
    monkeypatch.setattr(fallback, "_action", "error")
    text = re.escape(str(numpy.dtype(dtype)))
    for make in (
        lambda: gpunumpy.zeros(2, dtype),
        lambda: gpunumpy.asarray(numpy.zeros(2, dtype)),
        lambda: gpunumpy.ones(2).astype(dtype),
        lambda: gpunumpy.concatenate([x, x]),
    ):
        with pytest.raises(TypeError, match=text):
            make()


CALLS: list[dict[str, Any]] = [
    {"shape": (2, 3), "dtype": "f4"},
    {"shape": ()},
    {"shape": -1},
    {"shape": (2,), "buffer": 0, "strides": (16,)},
    {"shape": (2,), "buffer": 0, "strides": (8, 8)},
    {"shape": (2,), "strides": (16,)},
    {"shape": (2, 2), "buffer": 0, "order": "F"},
    {"shape": 3, "dtype": "i4", "buffer": 0, "offset": 4},
    {"shape": 7, "buffer": 0},
    {"shape": 2, "buffer": 2},
    {"shape": 2, "buffer": b"0123456789abcdef"},
    {"shape": 0, "buffer": 0, "offset": 49},
    {"shape": (2, 3), "buffer": b"0123456789abcdef", "strides": (0, 0)},
    {"shape": (2, 2), "dtype": "i2", "buffer": b"0123", "strides": (0, 2)},
    {"shape": 2, "buffer": 0, "offset": 8, "strides": (-8,)},
    {"shape": 2, "strides": (-8,)},
    {"shape": 2, "order": "Q"},
]


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_calling_the_class(call: dict[str, Any]) -> None:
    """An array that is not set, or a view of a buffer: the number stands for the step of a gpunumpy array."""

    def made(xp: Any) -> Any:
        base = xp.arange(6.0)
        buffer = call.get("buffer")
        options = {**call, "buffer": base[:: buffer or 1] if isinstance(buffer, int) else buffer}
        try:
            x = xp.ndarray(**options)
        except (TypeError, ValueError) as error:
            return type(error)
        if isinstance(buffer, int):
            assert x.base is base
            x += 1
        return x.shape, x.strides, x.dtype, x.flags.writeable, base.tolist(), None if buffer is None else x.tolist()

    assert made(gpunumpy) == made(numpy)


def test_a_view_of_a_buffer_between_elements() -> None:
    with pytest.raises(ValueError, match="between two elements"):
        gpunumpy.ndarray(2, "i4", gpunumpy.arange(6.0), 3)


def test_a_buffer_that_is_a_part_of_an_array() -> None:
    """What lies beside the part is no memory of the buffer; the order of its axes does not matter."""

    def made(xp: Any) -> list[Any]:
        results: list[Any] = []
        part, turned = xp.arange(20.0)[4:8], xp.arange(6.0).reshape(2, 3).T
        for buffer, options in ((part, {"strides": (24,)}), (part, {"strides": (32,)}), (part, {"strides": (-8,)})):
            try:
                results.append(xp.ndarray(2, buffer=buffer, **options).tolist())
            except ValueError as error:
                results.append(str(error))
        return [*results, xp.ndarray(6, buffer=turned).tolist()]

    assert made(gpunumpy) == made(numpy)
    with pytest.raises(TypeError, match="too small"):
        gpunumpy.ndarray(2, buffer=gpunumpy.arange(20.0)[4:8], offset=-8)


class Holder:
    """An object of a program whose `numpy` is this library."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.held is None:
            raise ValueError("nothing is held")
        return self.held


def test_objects_that_give_arrays_of_ours() -> None:
    x = gpunumpy.arange(3.0)
    made = gpunumpy.array(Holder(x), "i4")
    assert made.dtype == numpy.int32
    assert made.tolist() == [0, 1, 2]
    assert not gpunumpy.shares_memory(gpunumpy.array(Holder(x)), x)
    assert gpunumpy.asarray(Holder(x)) is x
    assert not gpunumpy.shares_memory(gpunumpy.asarray(Holder(x), "f4"), x)
    assert gpunumpy.sum(Holder(x)) == 3
    assert gpunumpy.add(Holder(x), [1, 2, 3]).tolist() == [1, 3, 5]
    assert gpunumpy.asarray(Holder(numpy.arange(2))).tolist() == [0, 1]
    for function in (gpunumpy.array, gpunumpy.sum):
        with pytest.raises(ValueError, match="nothing is held"):
            function(Holder(None))


TEXTS, DATES = numpy.array(["b", "a", "b"]), numpy.array(["2020-02-29", "2020-01-01", "2021-01-01"], "M8[D]")


@pytest.mark.parametrize("held", [TEXTS, DATES], ids=["texts", "dates"])
@pytest.mark.parametrize("make", [lambda np, x: x, lambda np, x: np.asarray(x)], ids=["NumPy's", "ours"])
def test_objects_that_give_arrays_on_the_host(held: Any, make: Callable[..., Any]) -> None:
    def results(np: Any) -> list[Any]:
        x = Holder(make(np, held))
        made = [np.unique(x), np.argsort(x), np.isin(x, held[:1]), np.concatenate([x, x]), np.array(x, object)]
        return [array.tolist() for array in made] + [np.array_equal(x, x), np.array_equal(x, held[:2])]

    assert results(gpunumpy) == results(numpy)


def _deciding(xp: Any) -> Any:
    """The class of the example of NumPy's `NDArrayOperatorsMixin`, in a program whose `numpy` is this library."""

    class ArrayLike(xp.lib.mixins.NDArrayOperatorsMixin):
        def __init__(self, value: Any) -> None:
            self.value = xp.asarray(value)

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            def plain(x: Any) -> Any:
                return x.value if isinstance(x, ArrayLike) else x

            out = options.get("out", ())
            if not all(isinstance(x, (xp.ndarray, int, float, ArrayLike)) for x in inputs + out):
                return NotImplemented
            if out:
                options["out"] = tuple(map(plain, out))
            result = getattr(ufunc, method)(*map(plain, inputs), **options)
            if isinstance(result, tuple):
                return tuple(map(ArrayLike, result))
            return None if method == "at" else ArrayLike(result)

    return ArrayLike


DECIDED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "operator": lambda np, a, g: a + g,
    "reflected operator": lambda np, a, g: g - a,
    "matrix product": lambda np, a, g: [a @ g, g @ a, np.matmul(g, a)],
    "ufunc": lambda np, a, g: [np.sqrt(a), np.add(a, g), np.add(g, a)],
    "two results": lambda np, a, g: np.divmod(g, a),
    "output": lambda np, a, g: [np.add(g, 1, out=a), np.add(g, g, a)],
    "reduce": lambda np, a, g: [np.add.reduce(a), np.add.accumulate(a), np.add.reduceat(a, np.array([0, 1]))],
    "outer": lambda np, a, g: [np.add.outer(a, g), np.add.outer(g, a)],
    "at": lambda np, a, g: np.add.at(a, np.array([0]), 1),
    "clip": lambda np, a, g: np.clip(a, 0, 1.5),
}


@pytest.mark.parametrize("run", DECIDED.values(), ids=DECIDED)
def test_classes_that_decide_what_ufuncs_do(run: Callable[..., Any]) -> None:
    outcomes = []
    for np in (numpy, gpunumpy):
        a, g = _deciding(np)([1.0, 2.0]), np.array([3.0, 4.0])
        result = run(np, a, g)
        results = result if isinstance(result, (list, tuple)) else [result]
        kept = [x and (type(x).__name__, isinstance(x.value, np.ndarray), x.value.tolist()) for x in results]
        outcomes.append((kept, a.value.tolist(), g.tolist()))
    assert outcomes[0] == outcomes[1]


HELD: tuple[Any, ...] = (
    numpy.arange(3, dtype="i2"),
    gpunumpy.arange(3, dtype="i2"),
    gpunumpy.ones(3, dtype="f4"),
    gpunumpy.zeros((2, 3), dtype="i1"),
    gpunumpy.array(2, dtype="u1"),
    gpunumpy.arange(3.0).sum(),
)
LISTS: dict[str, Callable[[Any], Any]] = {
    "two": lambda x: [x, x],
    "deep": lambda x: [[x], (x,)],
    "beside numbers": lambda x: ([1, 2, 3], x),
    "beside a number": lambda x: [x, 1.5],
    "beside NumPy's": lambda x: [numpy.ones(3, "f4"), x],
    "beside another object": lambda x: [Holder(numpy.ones(3, "f8")), x],
}


@pytest.mark.parametrize("wrap", [lambda x: x, Holder], ids=["arrays", "objects"])
@pytest.mark.parametrize("nested", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("held", HELD, ids=repr)
@pytest.mark.parametrize("options", [{}, {"dtype": "f4"}], ids=repr)
def test_lists_of_what_gives_arrays(held: Any, nested: Any, wrap: Any, options: Any) -> None:
    """NumPy itself asks for the number that an object holds, where these objects have an array of no dimension."""
    reference = nested((wrap if numpy.ndim(held) else lambda x: x)(numpy.asarray(held)))
    tested = nested(wrap(held))
    try:
        expected = numpy.array(reference, **options)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:40]):
            gpunumpy.array(tested, **options)
        return
    for made in (gpunumpy.array(tested, **options), gpunumpy.asarray(tested, **options)):
        assert type(made) is gpunumpy.ndarray
        assert made.dtype == expected.dtype
        assert made.tolist() == expected.tolist()
