"""Every difference of docs/differences.md is one: what NumPy does, and what is done here."""

from __future__ import annotations

import json
import operator
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Hashable
from dataclasses import make_dataclass
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

import ml_dtypes
import numpy
import pytest

import gpunumpy
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.core.runtime.device import default_device

pytestmark = pytest.mark.filterwarnings(
    "ignore::gpunumpy.HostFallbackWarning",
    "ignore::DeprecationWarning",
    "ignore::PendingDeprecationWarning",
    "ignore:Warning. converting a masked element:UserWarning",
)

NAN, INF = numpy.nan, numpy.inf
HAS_BUFFERS = IS_COMPILED or sys.version_info >= (3, 12)
WITH_METADATA = numpy.dtype("f8", metadata={"unit": "m"})


class Difference(NamedTuple):
    """A program, its outcome with NumPy, and its outcome here: a value, or the class of an exception."""

    program: Callable[[Any], Any]
    numpy: Any
    gpunumpy: Any
    since: str = ""  # the first release of NumPy that has the call


@pytest.fixture(autouse=True)
def on_the_device() -> None:
    gpunumpy.set_residence("device")  # which the fixture of all tests sets back


# --- programs of more than a line -----------------------------------------------------------------------------------


def bounds_before_a_look(np: Any) -> str:
    kept = np.arange(8.0)[np.array([9])]
    return f"nothing yet of {len(kept)} element"


def bounds_at_a_look(np: Any) -> Any:
    return numpy.asarray(np.arange(8.0)[np.array([9])])


def position_out_of_bounds(np: Any) -> Any:
    return numpy.asarray(np.unravel_index(np.array([9]), (3, 3))[0])


def _unchecked(program: Callable[[], Any]) -> Any:
    with numpy.errstate(all="ignore"):
        return program()


def result_written(np: Any, data: list[float], dtype: str) -> Any:
    x = np.zeros(2, dtype)
    x[0] = np.array(data).sum()
    return x.tolist()


def text_of_a_masked_array(np: Any) -> str:
    texts = np.ma.array(["a", "b"])
    texts[0] = np.arange(3).sum()
    return str(texts[0])


def text_of_a_record(np: Any) -> str:
    record = np.zeros(2, "U4,i4")[0]
    record["f0"] = np.arange(3.0).sum()
    return str(record["f0"])


def warnings_by_default(np: Any) -> int:
    with warnings.catch_warnings(record=True) as caught, numpy.errstate(all="warn"):
        warnings.simplefilter("always")
        numpy.asarray(np.array([1.0]) / np.array([0.0])), numpy.asarray(np.nanmean(np.array([NAN])))
    return len(caught)


def warnings_of_shapes_and_masks(np: Any) -> list[int]:
    counts = []
    for call in (lambda: np.mean(np.zeros(0)), lambda: np.mean(np.ones(2), where=np.zeros(2, bool))):
        with warnings.catch_warnings(record=True) as caught, numpy.errstate(all="ignore"):
            warnings.simplefilter("always")
            numpy.asarray(call())
        counts.append(len(caught))
    return counts


def warnings_on_request(np: Any) -> int:
    with warnings.catch_warnings(record=True) as caught, np.errstate(divide="warn"):
        warnings.simplefilter("always")
        numpy.asarray(np.array([1.0]) / np.array([0.0]))
    return len(caught)


def write_to_a_result(np: Any) -> float:
    total = np.arange(3.0).sum()
    total[...] = 7
    return float(total)


class Tagged:
    """Mixed with `ndarray`, a class whose copies may be views."""


def copy_of_a_subclass(np: Any) -> bool:
    subclass = type("C", (Tagged, np.ndarray), {})
    return np.arange(3).view(subclass).copy().base is None


def base_of_a_subclass(np: Any) -> bool:
    array = np.arange(3).view(type("C", (Tagged, np.ndarray), {}))
    return array[1:].base is array


def writes_through_asarray(np: Any) -> bool:
    source = numpy.zeros(3)
    np.asarray(source)[0] = 1
    return bool(source[0])


def shares_from_dlpack(np: Any) -> bool:
    source = numpy.zeros(3)
    np.from_dlpack(source)[0] = 1
    return bool(numpy.asarray(np.from_dlpack(source))[0])


def reshape_of_columns_is_a_view(np: Any) -> bool:
    columns = np.arange(24.0).reshape(4, 6)[:, np.array([1, 2])]
    columns.reshape(8)[0] = -1
    return bool(columns[0, 0] == -1)


def resize_beside_a_name(np: Any) -> tuple[int, ...]:
    array = np.arange(2)
    other = array
    array.resize(3)
    return other.shape


def resize_beside_a_view(np: Any) -> tuple[int, ...]:
    array = np.arange(6.0)
    view = array[3:]
    array.resize(4, refcheck=False)
    return tuple(view.shape)


def new_dtype(np: Any, name: str, of_view: bool) -> str:
    array = np.arange(6)
    view = array[3:]
    (view if of_view else array).dtype = name
    return str(view.dtype if of_view else array.dtype)


def strided(np: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(np.lib.stride_tricks.as_strided(np.arange(4.0), shape, strides).shape)


def dtype_of_quantile(np: Any) -> str:
    return str(np.quantile(np.array([1, NAN], "float32"), np.array(0.3)).dtype)


def conversion_of_coefficients(np: Any) -> bool:
    with numpy.errstate(all="ignore"):
        return bool(numpy.isnan(numpy.asarray(np.polynomial.chebyshev.cheb2poly(np.array([1, INF, 1, 2])))).all())


def distinct_nans(np: Any) -> int:
    return len(np.unique(np.array([NAN, 1.0, NAN]).astype(ml_dtypes.bfloat16)))


def new_strides(np: Any) -> tuple[int, ...]:
    array = np.arange(6)
    view = array[3:]
    array.strides = 0
    return tuple(view.strides)


def asked_ufunc(np: Any, call: Callable[[Any, Any], Any]) -> str:
    """Return the name of the ufunc that a call asks a class for, or that of what it returns without asking."""

    class Asked(np.ndarray):  # type: ignore[misc, name-defined]
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> str:
            return f"asked for {ufunc.__name__}"

    found = call(np, np.arange(3.0).view(Asked))
    return found if isinstance(found, str) else "not asked"


def ufunc_of_numpy_on_the_left(np: Any) -> bool:
    """Return whether a class is asked for the ufunc of `np`."""

    class Asked(np.ndarray):  # type: ignore[misc, name-defined]
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> bool:
            return ufunc is np.add

    return bool(numpy.arange(3.0) + np.arange(3.0).view(Asked))


def products_of_masked_rows(name: str, np: Any) -> tuple[int, ...]:
    """The shape of the mask of a result of shape (2,), whose text NumPy cannot make."""
    m = np.ma.array([[1.0, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    shape: tuple[int, ...] = getattr(np, name)(*((m, [1.0, 2]) if name == "matvec" else ([1.0, 2], m))).mask.shape
    return shape


def class_of_masked_data(np: Any) -> bool:
    subclass = type("C", (Tagged, np.ndarray), {})
    return isinstance(np.ma.array(np.arange(3.0).view(subclass)).data, subclass)


def written_to_what_is_filled(np: Any) -> float:
    x = np.ma.array(np.arange(2.0), mask=[False, False])
    x.filled()[0] = 5
    return float(x[0])


def seen_while_iterating(np: Any) -> float:
    array = np.zeros(2)
    with np.nditer(array, op_flags=[["readwrite"]]) as iterator:
        next(iterator)[...] = 1
        return float(array[0])


def unaligned(np: Any) -> bool:
    x = np.zeros(2)
    x.setflags(align=False)
    return bool(x.flags.aligned)


def warnings_of_parts(np: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught, np.errstate(divide="warn"):
        warnings.simplefilter("always")
        np.divmod(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    return [str(warning.message).split()[-1] for warning in caught if "divide" in str(warning.message)]


def asked_about_a_fill_value(np: Any) -> str:
    """Return the name of the function that `full_like` asks the class of its second argument for."""
    names: list[str] = []

    class Asked(np.ndarray):  # type: ignore[misc, name-defined]
        def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> None:
            names.append(function.__name__)

    np.full_like(np.ones(3), np.arange(3.0).view(Asked))
    return names[0]


def interpolated(np: Any) -> float:
    """Return what lies between points that are not sorted."""
    return float(np.interp(np.array([2.5]), np.array([0.0, 1, 3, 2, 4, 5]), np.arange(6.0))[0])


def mapped() -> Any:
    return numpy.memmap(__file__, mode="r", shape=(4,))


# --- what the page says ---------------------------------------------------------------------------------------------

DIFFERENCES = {
    "index out of bounds, before": Difference(bounds_before_a_look, IndexError, "nothing yet of 1 element"),
    "index out of bounds, at a look": Difference(bounds_at_a_look, IndexError, IndexError),
    "unravel_index": Difference(position_out_of_bounds, ValueError, IndexError),
    "large result written": Difference(lambda np: result_written(np, [70000, 1], "i2"), OverflowError, [4465, 0]),
    "larger result written": Difference(lambda np: result_written(np, [2**40], "i4"), OverflowError, [0, 0]),
    "NaN written": Difference(lambda np: result_written(np, [NAN], "i4"), ValueError, [-(2**31), 0]),
    "warnings by default": Difference(warnings_by_default, 2, 0),
    "warnings of no elements, and of none for a mask": Difference(warnings_of_shapes_and_masks, [1, 1], [1, 0]),
    "warnings on request": Difference(warnings_on_request, 1, 1),
    "warnings of parts": Difference(warnings_of_parts, ["divmod"], ["floor_divide"]),
    "quantile of a lone row with NaN": Difference(dtype_of_quantile, "float32", "float64"),
    "isinstance float": Difference(lambda np: isinstance(np.arange(3.0).sum(), float), True, False),
    "json": Difference(lambda np: json.dumps(np.arange(3.0).sum()), "3.0", TypeError),
    "statistics": Difference(lambda np: float(statistics.mean([np.arange(3.0).sum()])), 3.0, TypeError),
    "sleep": Difference(lambda np: time.sleep(np.zeros(3).min()), None, TypeError),
    "timedelta": Difference(lambda np: timedelta(days=np.arange(3.0).mean()).days, 1, TypeError),
    "poly1d over a result": Difference(
        lambda np: type(np.poly1d([2, 4]) / np.arange(3).sum()).__name__, "poly1d", "tuple"
    ),
    "poly1d to the power of a result": Difference(
        lambda np: (np.poly1d([1, 2]) ** np.arange(3).max()).order, 2, ValueError
    ),
    "write to a result": Difference(write_to_a_result, TypeError, 7.0),
    "datetime64": Difference(lambda np: str(numpy.datetime64(np.array("2020", "M8[D]"))), "2020-01-01", ValueError),
    "datetime64 of an element": Difference(
        lambda np: str(numpy.datetime64(np.array("2020", "M8[D]")[()])), "2020-01-01", "2020-01-01"
    ),
    "text of a masked array": Difference(text_of_a_masked_array, "3", ValueError),
    "% of a chararray": Difference(lambda np: (np.char.array(["%d"]) % np.array([3])).dtype.kind, "U", "S"),
    "text of a record": Difference(text_of_a_record, "3.0", ValueError),
    "Hashable": Difference(lambda np: isinstance(np.arange(3), Hashable), False, True),
    "default of a dataclass": Difference(
        lambda np: make_dataclass("C", [("x", Any, np.zeros(2))]).__name__, ValueError, "C"
    ),
    "hash": Difference(lambda np: hash(np.arange(3)), TypeError, TypeError),
    "concat": Difference(
        lambda np: numpy.asarray(operator.concat(np.arange(2), np.arange(2))).tolist(),
        TypeError,
        TypeError if IS_COMPILED else [0, 2],
    ),
    "isinstance ndarray": Difference(lambda np: isinstance(np.arange(3), numpy.ndarray), True, False),
    "isinstance, of a masked array": Difference(lambda np: isinstance(np.ma.array([1]), np.ndarray), True, False),
    "a class of both": Difference(
        lambda np: type("Both", (type("Sub", (np.ndarray,), {}), np.ma.MaskedArray), {}).__name__, "Both", TypeError
    ),
    "isinstance, of NumPy's class": Difference(lambda np: isinstance(numpy.matrix([1]), np.ndarray), True, False),
    "masked, in lists of lists": Difference(
        lambda np: bool(np.ma.getmaskarray(np.ma.array([[1, np.ma.masked], [2, 3]])).any()), False, True
    ),
    "isinstance MaskedArray": Difference(lambda np: isinstance(np.ma.array([1]), numpy.ma.MaskedArray), True, False),
    "view of a matrix": Difference(lambda np: numpy.matrix([1]).view(np.ndarray).shape, (1, 1), TypeError),
    "view of a masked array": Difference(lambda np: np.ma.array(["a"]).view(np.ndarray).shape, (1,), TypeError),
    "type of a recarray": Difference(lambda np: type(np.rec.array([(1, 2)])) is np.recarray, True, False),
    "functions of a memmap": Difference(lambda np: type(np.sort(mapped())).__name__, "memmap", "ndarray"),
    "function of a class": Difference(lambda np: type("C", (), {"f": np.zeros})().f(3).shape, (3,), TypeError),
    "diags of SciPy": Difference(
        lambda np: pytest.importorskip("scipy.sparse").diags_array(np.ones(2)).shape, (2, 2), ValueError
    ),
    "assert_equal": Difference(
        lambda np: numpy.testing.assert_equal(np.arange(3), np.arange(3)),
        None,
        ValueError,
    ),
    "assert_equal of gpunumpy": Difference(
        lambda np: gpunumpy.testing.assert_equal(np.arange(3), np.arange(3)), None, None
    ),
    "copy of a subclass": Difference(copy_of_a_subclass, True, False),
    "base of a view of a subclass": Difference(base_of_a_subclass, True, False),
    "NumPy's operand on the left": Difference(ufunc_of_numpy_on_the_left, True, False),
    "masked data of a subclass": Difference(class_of_masked_data, True, False),
    **{
        f"{name} of masked arrays": Difference(partial(products_of_masked_rows, name), (2, 2), ValueError)
        for name in ("matvec", "vecdot", "vecmat")
    },
    "filled, of no masked element": Difference(written_to_what_is_filled, 5.0, 0.0),
    "nditer": Difference(seen_while_iterating, 1.0, 0.0),
    "parts of functions": Difference(
        lambda np: asked_ufunc(np, lambda np, x: np.diff(x)), "asked for subtract", "not asked"
    ),
    "fill value of a class": Difference(asked_about_a_fill_value, "copyto", "full_like"),
    "maximum of a class": Difference(
        lambda np: asked_ufunc(np, lambda np, x: np.max(x)), "asked for maximum", "asked for maximum"
    ),
    "product of a class": Difference(
        lambda np: asked_ufunc(np, lambda np, x: x @ x), "asked for matmul", "asked for matmul"
    ),
    "asarray": Difference(writes_through_asarray, True, False),
    "metadata": Difference(lambda np: np.zeros(2, WITH_METADATA).dtype.metadata is None, False, True),
    "longlong": Difference(lambda np: np.arange(3, dtype="q").dtype.char, "q", "l"),
    "setflags(align=False)": Difference(unaligned, False, True),
    "memoryview": Difference(
        lambda np: memoryview(np.arange(3)).shape, (3,), BufferError if HAS_BUFFERS else TypeError
    ),
    "bytearray": Difference(lambda np: len(bytearray(np.arange(3))), 24, BufferError if HAS_BUFFERS else 3),
    "bytes": Difference(lambda np: len(bytes(np.arange(3))), 24, 24),
    "data": Difference(lambda np: np.arange(3).data.shape, (3,), (3,)),
    "__array_interface__": Difference(
        lambda np: np.arange(3).__array_interface__["shape"],
        (3,),
        AttributeError,
    ),
    "order of a solution": Difference(
        lambda np: np.linalg.solve(2 * np.eye(3), np.eye(3)).flags.c_contiguous, True, False
    ),
    "order of factors": Difference(
        lambda np: [x.flags.c_contiguous for x in np.linalg.qr(np.eye(3) + 1)], [True, True], [False, False]
    ),
    "order of a stack of Fortran arrays": Difference(
        lambda np: np.stack([np.zeros((3, 2), order="F")] * 2, axis=1).strides, (16, 8, 48), (8, 48, 24)
    ),
    "order of columns": Difference(reshape_of_columns_is_a_view, False, True),
    "as_strided out of memory": Difference(lambda np: strided(np, (9,), (8,)), (9,), ValueError),
    "as_strided into an element": Difference(lambda np: strided(np, (3,), (4,)), (3,), ValueError),
    "view between elements": Difference(lambda np: np.zeros(16, "i1")[4:-4].view("f8").shape, (1,), ValueError),
    "resize beside a name": Difference(resize_beside_a_name, ValueError, (3,)),
    "resize beside a view": Difference(resize_beside_a_view, (3,), ValueError),
    "dtype beside a view": Difference(lambda np: new_dtype(np, "f8", of_view=False), "float64", ValueError),
    "strides beside a view": Difference(new_strides, (8,), ValueError),
    "clip": Difference(lambda np: numpy.asarray(np.clip(np.arange(3), 1)).tolist(), TypeError, [1, 1, 2]),
    "dtype of the host of a view": Difference(
        lambda np: new_dtype(np, "M8[D]", of_view=True), "datetime64[D]", ValueError
    ),
    "order of equal elements": Difference(
        lambda np: bool((np.argsort(np.arange(1000) % 4) == np.argsort(np.arange(1000) % 4, kind="stable")).all()),
        False,
        True,
    ),
    "unique of bfloat16": Difference(distinct_nans, 3, 2),
    "negative zeros of einsum": Difference(
        lambda np: str(numpy.asarray(np.einsum("i,i->i", np.zeros(1), -np.ones(1)))), "[0.]", "[-0.]"
    ),
    "interp of unsorted points": Difference(interpolated, 1.75, 3.25),
    "an infinite complex factor": Difference(
        lambda np: str(_unchecked(lambda: np.prod(np.array([1 + 2j, 3 - 1j]), initial=INF)).imag), "nan", "inf"
    ),
    "infinite coefficients": Difference(conversion_of_coefficients, False, True),
}


def outcome(program: Callable[[Any], Any], np: Any) -> Any:
    try:
        return program(np)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_it_is_one(name: str) -> None:
    difference = DIFFERENCES[name]
    if difference.since and tuple(map(int, numpy.__version__.split(".")[:2])) < tuple(
        map(int, difference.since.split("."))
    ):
        pytest.skip(f"NumPy {numpy.__version__} does not have the call")
    if name == "interp of unsorted points" and default_device().kind == "cuda":
        pytest.skip("a search on a GPU may end where NumPy's does")
    assert outcome(difference.program, gpunumpy) == difference.gpunumpy
    assert outcome(difference.program, numpy) == difference.numpy


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_from_dlpack_shares(residence: str) -> None:
    if default_device().kind == "cuda":
        pytest.skip("memory of the host is shared by the CPU device")
    gpunumpy.set_residence(residence)
    assert shares_from_dlpack(gpunumpy)
    assert shares_from_dlpack(numpy)
