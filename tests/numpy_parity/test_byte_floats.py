"""float8 and float4: what NumPy makes of them with ml_dtypes, on the CPU device, by emulated kernels, and on a GPU."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import BYTE_FLOATS, C_TYPE, DTYPES, KIND, ML_DTYPES, bfloat16, float4_e2m1fn
from gpunumpy.core.ops import table
from gpunumpy.kernels.codegen import interpreter, op_code

from ..emulator import available
from ..emulator.emulated import emulated
from ..support.arrays import from_host, to_host
from ..support.table_reference import every_value, same_bits

FORMATS = sorted(BYTE_FLOATS, key=str)


@pytest.fixture(params=["cpu", "emulated", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """The device to compute on; the CPU device through generated kernels too."""
    np.set_residence("device")
    if request.param != "emulated":
        yield request.param
        return
    if not available():
        pytest.skip("the emulator needs g++")
    with emulated():
        yield "cpu"


def near_ties(dtype: numpy.dtype[Any], wide: numpy.dtype[Any]) -> numpy.ndarray[Any, Any]:
    """All finite numbers of a dtype and the middles between them, their neighbours in a wider one, and its limits."""
    finite = every_value(dtype).astype("f8")
    finite = numpy.unique(finite[numpy.isfinite(finite)])
    points = numpy.concatenate([finite, (finite[1:] + finite[:-1]) / 2, finite * 1.0625]).astype(wide)
    inf = wide.type(numpy.inf)
    info: Any = ml_dtypes.finfo(wide)
    limits = [0.0, -0.0, info.max, info.min, info.smallest_subnormal, inf, -inf, numpy.nan, -numpy.nan]
    beyond = numpy.array([*limits, *(finite[-1] * k / 32 for k in range(32, 80))]).astype(wide)
    return numpy.concatenate([points, numpy.nextafter(points, inf), numpy.nextafter(points, -inf), beyond, -beyond])


def sources(dtype: numpy.dtype[Any]) -> Iterator[numpy.ndarray[Any, Any]]:
    """Arrays of every dtype to cast to a dtype: every value of those of at most 16 bits."""
    rng = numpy.random.default_rng(0)
    for source in DTYPES:
        if KIND[source] == "b":
            yield numpy.array([False, True])
        elif KIND[source] in "iu":
            yield numpy.arange(-600, 600).astype(source)
            yield rng.integers(0, 2**63, 500).astype(source)
        elif KIND[source] == "c":
            yield (near_ties(dtype, source.type(0).real.dtype) + 1j).astype(source)
        elif source.itemsize <= 2:
            yield every_value(source)
        else:
            yield near_ties(dtype, source)
            yield rng.normal(0, 1, 5000).astype(source) * rng.choice([1e-3, 1, 100, 1e4], 5000).astype(source)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_casts_from_every_dtype_have_the_bits_of_ml_dtypes(place: str, dtype: numpy.dtype[Any]) -> None:
    for given in sources(dtype):
        with numpy.errstate(all="ignore"):
            want = given.astype(dtype)
        got = to_host(from_host(given, np.Device(place)).astype(dtype))
        bad = numpy.flatnonzero(got.view("u1") != want.view("u1"))
        assert not bad.size, (given.dtype, [(given[i], got[i], want[i]) for i in bad[:5]])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_casts_of_every_value_to_every_dtype(place: str, dtype: numpy.dtype[Any]) -> None:
    given = every_value(dtype)
    for target in DTYPES:
        with numpy.errstate(all="ignore"):
            want = given.astype(target)
        got = to_host(from_host(given, np.Device(place)).astype(target))
        bad = numpy.flatnonzero(~same_bits(got, want))
        assert not bad.size, (target, [(given[i], got[i], want[i]) for i in bad[:5]])


# What programs do with an array: `np` is this package or NumPy.
STATEMENTS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda np, x: x + x,
    "a Python integer": lambda np, x: x * 2,
    "a Python float": lambda np, x: x + 1.5,
    "a Python complex": lambda np, x: x + 1j,
    "float32": lambda np, x: x + np.ones(3, "f4"),
    "int8": lambda np, x: x + np.ones(3, "i1"),
    "compare": lambda np, x: x < 2,
    "exp": lambda np, x: np.exp(x),
    "isnan": lambda np, x: np.isnan(x),
    "divmod": lambda np, x: np.divmod(x, 2)[1],
    "where": lambda np, x: np.where(x > 1, x, 0),
    "sum": lambda np, x: x.sum(1),
    "prod": lambda np, x: x.prod(0),
    "max": lambda np, x: x.max(0),
    "argmin": lambda np, x: x.argmin(1),
    "any": lambda np, x: x.any(),
    "cumsum": lambda np, x: x.cumsum(1),
    "maximum.accumulate": lambda np, x: np.maximum.accumulate(x, 1),
    "add.reduceat": lambda np, x: np.add.reduceat(x, [0, 2], 1),
    "subtract.reduce": lambda np, x: np.subtract.reduce(x, 1),
    "dot": lambda np, x: np.dot(x, x.T),
    "outer": lambda np, x: np.outer(x, x),
    "sort": lambda np, x: np.sort(x, axis=None),
    "argsort": lambda np, x: np.argsort(x, axis=None),
    "unique": lambda np, x: np.unique(x),
    "searchsorted": lambda np, x: np.searchsorted(np.sort(x[0]), x[1]),
    "an index array": lambda np, x: x[:, [0, 2, 0]],
    "a mask": lambda np, x: x[x > 1],
    "transposed": lambda np, x: x.T.copy(),
    "full": lambda np, x: np.full(3, 2.5, x.dtype),
    "arange": lambda np, x: np.arange(4, dtype=x.dtype),
    "linspace": lambda np, x: np.linspace(0, 1, 3, dtype=x.dtype),
    "concatenate": lambda np, x: np.concatenate([x, x]),
    "bytes": lambda np, x: x.view("u1"),
    "of bytes": lambda np, x: np.frombuffer(b"\x01\x02", x.dtype),
    "pad": lambda np, x: np.pad(x, 1),
    "histogram": lambda np, x: np.histogram(x, 3)[0],
    "pickle": lambda np, x: pickle.loads(pickle.dumps(x)),
    "deepcopy": lambda np, x: copy.deepcopy(x),
}
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "an element": lambda np, x: x.__setitem__((0, 0), 3.1),
    "a slice": lambda np, x: x.__setitem__((slice(None), slice(1, None)), x[:, :-1].copy()),
    "an index array": lambda np, x: x.__setitem__((slice(None), [2, 0]), x[:, :2].copy()),
    "in place": lambda np, x: x.__iadd__(x[0].copy()),
    "add.at": lambda np, x: np.add.at(x, ([0, 0], [1, 1]), x[0, :2].copy()),
    "maximum.at": lambda np, x: np.maximum.at(x, ([0, 0], [1, 1]), x[1, 1:].copy()),
}


def data(dtype: numpy.dtype[Any]) -> numpy.ndarray[Any, Any]:
    return numpy.array([[1, 2, 0.5], [3, -1, 4]]).astype(dtype)


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(place: str, name: str) -> None:
    for dtype in FORMATS:
        if name == "histogram" and dtype != numpy.dtype(ml_dtypes.float8_e4m3fn):
            continue  # in the others NumPy rounds the edges to equal numbers, and refuses
        statement, x = STATEMENTS[name], data(dtype)
        want = numpy.asarray(statement(numpy, x))
        with np.Device(place):
            got = to_host(np.asarray(statement(np, from_host(x, np.Device(place)))))
        assert (got.dtype, got.shape) == (want.dtype, want.shape), dtype
        assert got.tobytes() == want.tobytes(), (dtype, got, want)


@pytest.mark.parametrize("name", WRITES)
def test_writes(place: str, name: str) -> None:
    for dtype in FORMATS:
        want, x = data(dtype), from_host(data(dtype), np.Device(place))
        WRITES[name](numpy, want)
        WRITES[name](np, x)
        assert to_host(x).tobytes() == want.tobytes(), (dtype, x, want)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("decimals", [-1, 0, 1, 2])
@pytest.mark.parametrize("dtype", sorted(ML_DTYPES, key=str), ids=str)
def test_roundings_have_the_dtype(place: str, dtype: numpy.dtype[Any], decimals: int) -> None:
    x = every_value(dtype)[:: 97 if dtype.itemsize > 1 else 1]
    with numpy.errstate(all="ignore"):
        wanted = numpy.round(x, decimals)
        result = to_host(np.round(from_host(x, np.Device(place)), decimals))
    assert result.dtype == wanted.dtype == dtype
    assert same_bits(result, wanted).all()


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_means_are_of_float32(place: str, dtype: numpy.dtype[Any]) -> None:
    x, wide = from_host(data(dtype), np.Device(place)), data(dtype).astype("f4")
    for name in ("mean", "var"):
        want = numpy.asarray(getattr(wide, name)(1)).astype(dtype)
        assert to_host(getattr(x, name)(1)).tobytes() == want.tobytes(), name
    assert to_host(x.std(1)).tobytes() == numpy.sqrt(want).tobytes()


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_greatest_where_there_is_no_infinity(place: str, dtype: numpy.dtype[Any]) -> None:
    low = from_host(numpy.full((40, 50), -3).astype(dtype), np.Device(place))
    assert float(low.max()) == -3.0
    assert float((-low).min(1)[7]) == 3.0
    assert to_host(np.maximum.accumulate(low, 1)).tobytes() == to_host(low).tobytes()


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_texts(dtype: numpy.dtype[Any]) -> None:
    x = data(dtype)
    ours = from_host(x)
    assert (repr(ours), str(ours), str(ours.dtype)) == (repr(x), str(x), str(x.dtype))
    assert (str(ours[0, 2]), float(ours[0, 2]), ours.tolist()) == ("0.5", 0.5, x.tolist())


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_names(dtype: numpy.dtype[Any]) -> None:
    kind = getattr(np, dtype.name)
    assert kind is getattr(ml_dtypes, dtype.name)
    for given in (kind, dtype, dtype.name, np.ones(2, dtype.name)):
        assert np.finfo(given).max == float(ml_dtypes.finfo(kind).max)
        assert type(np.finfo(given).eps) is float
        assert np.finfo(given) != np.finfo(np.bfloat16)
    assert np.isdtype(dtype, "real floating")
    assert np.isdtype(kind, ("bool", kind))
    assert not np.isdtype(dtype, np.bfloat16)
    assert not np.isdtype(np.float32, kind)
    assert np.ones(2, dtype.name).dtype == np.array(numpy.ones(2, kind)).dtype == dtype


@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_files_have_the_bytes(dtype: numpy.dtype[Any]) -> None:
    """NumPy's format has no name for these dtypes: the bytes are read as what NumPy reads them as, or by name."""
    files = [io.BytesIO(), io.BytesIO()]
    np.save(files[0], from_host(data(dtype)))
    numpy.save(files[1], data(dtype))
    assert files[0].getvalue() == files[1].getvalue()
    raw = io.BytesIO()
    np.save(raw, from_host(data(dtype)).view("u1"))
    raw.seek(0)
    assert to_host(np.load(raw).view(dtype)).tobytes() == data(dtype).tobytes()


def test_kernels_without_them_have_their_text() -> None:
    """The text of floats of one byte is in kernels that use them alone, and in the interpreter never."""
    others = [dtype for dtype in DTYPES if dtype not in BYTE_FLOATS]
    cases = [(name, loop) for name in table.ELEMENTWISE for loop in table.loops(name) if {*loop} <= {*others}]
    reductions = [(name, loop) for name in table.REDUCTIONS for loop in table.reduction_loops(name)]
    cases += [(name, loop) for name, loop in reductions if {*loop} <= {*others}]
    for text in (op_code.helpers(cases, others), interpreter.text()):
        assert not any(C_TYPE[dtype] in text for dtype in BYTE_FLOATS)
    assert "byte_float" in op_code.helpers((), [float4_e2m1fn])


def test_own_kernels_refuse_them() -> None:
    kernel = np.ElementwiseKernel("T x", "T y", "y = x + x", "twice")
    with pytest.raises(TypeError, match="no type for float8_e5m2"):
        kernel(np.ones(3, np.float8_e5m2))


def test_dtypes_of_ml_dtypes() -> None:
    assert BYTE_FLOATS | {bfloat16} == ML_DTYPES
