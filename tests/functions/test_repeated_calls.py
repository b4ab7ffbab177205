"""Functions that keep what they record: repeated calls, with other numbers, give NumPy's results every time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.dtypes import KIND
from gpunumpy.core.numpy_release import RELEASE
from gpunumpy.core.recording.residence import DTYPES
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.functions import repeated_calls

from ..core.fusion.counting import kernels
from ..support.arrays import to_host

TIMES = 5
CALLS: dict[str, Callable[..., Any]] = {
    "joined rows": lambda np, a, b, k: np.concatenate([a, b]),
    "joined columns": lambda np, a, b, k: np.concatenate((a, b, a[:, ::2]), axis=1),
    "joined in memory order": lambda np, a, b, k: np.concatenate([a.T, b.T], -1),
    "joined in two orders": lambda np, a, b, k: np.concatenate([a.T, b], 0),
    "joined flat": lambda np, a, b, k: np.concatenate([a, b[0]], None),
    "joined dtypes": lambda np, a, b, k: np.concatenate([a, b.astype("c8"), (b > 0.5)]),
    "joined expressions": lambda np, a, b, k: np.concatenate([a + k, (b * 2)[1:]]),
    "joined with itself": lambda np, a, b, k: np.concatenate([a, a]),
    "joined parts of joined": lambda np, a, b, k: np.concatenate([np.concatenate([a, b]), np.concatenate([b, a])], 1),
    "as a dtype": lambda np, a, b, k: np.concatenate([a, b], dtype="f4", casting="unsafe"),
    "stacked": lambda np, a, b, k: np.stack([a, b, a + b], k % 3),
    "appended": lambda np, a, b, k: np.append(a[k], b[0]),
    "a gradient": lambda np, a, b, k: np.gradient(a, axis=k % 2),
    "a gradient of integers": lambda np, a, b, k: np.gradient((a * 99).astype("i2"), 2, axis=1, edge_order=2),
    "a gradient in memory order": lambda np, a, b, k: np.gradient(a.T, axis=0),
    "a gradient of a step": lambda np, a, b, k: np.gradient(a[0], (1, 1.0, numpy.float64(1), 2, 2.0)[k]),
    "a gradient of distances": lambda np, a, b, k: np.gradient(a[0], np.cumsum(b[0] + 1)),
    "a gradient of even distances": lambda np, a, b, k: np.gradient(b[0], np.arange(5.0) if k % 2 else np.cumsum(b[1])),
    "a gradient of an expression": lambda np, a, b, k: np.gradient(a[1] * k + b[2]),
}


@pytest.mark.parametrize("name", CALLS)
def test_repeated_calls(name: str) -> None:
    for k in range(TIMES):
        host = numpy.random.default_rng(k).random((2, 5, 5)) + 0.01
        found = CALLS[name](gpunumpy, *map(gpunumpy.asarray, host), k)
        expected = CALLS[name](numpy, *host, k)
        assert (found.dtype, found.shape, found.strides) == (expected.dtype, expected.shape, expected.strides)
        numpy.testing.assert_allclose(to_host(found), expected, rtol=1e-13)


def test_every_call_warns_of_lost_parts() -> None:
    array = gpunumpy.asarray(numpy.ones((3, 4), "c16"))
    for _ in range(TIMES):
        with pytest.warns(numpy.exceptions.ComplexWarning):
            gpunumpy.concatenate([array, array + 1], dtype="f8", casting="unsafe")


def test_every_call_refuses_what_does_not_fit() -> None:
    one, other = (gpunumpy.asarray(numpy.ones(shape)) for shape in ((3, 4), (3, 5)))
    for _ in range(TIMES):
        with pytest.raises(ValueError, match="must match exactly"):
            gpunumpy.concatenate([one, other])
        with pytest.raises(TypeError, match="Cannot cast"):
            gpunumpy.concatenate([one, one > 0], casting="no")


def test_an_array_that_grows() -> None:
    array, expected = gpunumpy.asarray(numpy.zeros(1)), numpy.zeros(1)
    for k in range(40):
        array = gpunumpy.concatenate([array, gpunumpy.asarray(numpy.full(2, k))])
        expected = numpy.concatenate([expected, numpy.full(2, k)])
    numpy.testing.assert_array_equal(to_host(array), expected)


def test_what_is_written_later_is_not_joined() -> None:
    for k in range(TIMES):
        one, other = gpunumpy.asarray(numpy.arange(4.0)), gpunumpy.asarray(numpy.arange(3.0))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            joined = gpunumpy.concatenate([one, other])
        one[:] = k
        joined[0] = -1
        assert to_host(joined).tolist() == [-1, 1, 2, 3, 0, 1, 2]
        assert to_host(one).tolist() == [k] * 4


# Calls of every function that repeats its calls, with a matrix, another one, and a vector: beside equal arrays each has
# static arguments that are others, or that are equal and mean something else.
STATIC = {
    "T": "x.T; x[1:].T; v.T",
    "all": "np.all(x); np.all(x, 0); x.all(keepdims=True)",
    "any": "np.any(x); np.any(x, 1); x.any((0, 1))",
    "append": "np.append(x, v); np.append(v, v); np.append(x, y, 0)",
    "arange": "np.arange(7); np.arange(7.0); np.arange(7, 0, -1); np.arange(7, dtype='i2'); np.arange(-0.0, 3)",
    "argmax": "np.argmax(x); x.argmax(0); x.argmax(1)",
    "argmin": "np.argmin(x); x.argmin(0); v.argmin()",
    "argsort": "v.argsort(kind='stable'); np.argsort(x, 0, kind='stable')",
    "around": "np.around(x); np.around(x, 1); np.around(v)",
    "array": "np.array(x); np.array(x, 'f8'); np.array([v, v]); np.array(x, ndmin=3); np.array(x.T, order='C')",
    "astype": "x.astype('f4'); x.astype(bool); x.astype(float)",
    "atleast_1d": "np.atleast_1d(v); np.atleast_1d(v[1:])",
    "atleast_2d": "np.atleast_2d(v); np.atleast_2d(x)",
    "atleast_3d": "np.atleast_3d(v); np.atleast_3d(x)",
    "average": "np.average(x); np.average(x, 0); np.average(x, 0, v); np.average(x, keepdims=True)",
    "broadcast_to": "np.broadcast_to(v, (2, 4)); np.broadcast_to(v, (3, 2, 4))",
    "column_stack": "np.column_stack((v, v)); np.column_stack((x, y))",
    "concat": "np.concat([x, y]); np.concat((x, y), axis=1)",
    "concatenate": "np.concatenate([x, y]); np.concatenate([x, y], 1); "
    "np.concatenate([y, x]); np.concatenate([x, x], None)",
    "copy": "np.copy(x.T); x.T.copy(); x.copy('F')",
    "count_nonzero": "np.count_nonzero(x, 0); np.count_nonzero(x, 1)",
    "cross": "np.cross(x[:, :3], y[:, :3]); np.cross(x[:, 1:], y[:, :3])",
    "cumprod": "np.cumprod(v); x.cumprod(0); x.cumprod(1)",
    "cumsum": "np.cumsum(x); x.cumsum(0); x.cumsum(1, 'f8')",
    "diag": "np.diag(x); np.diag(x, 1); np.diag(v)",
    "diagonal": "np.diagonal(x); x.diagonal(-1)",
    "diff": "np.diff(x); np.diff(x, 2); np.diff(x, axis=0)",
    "dot": "np.dot(x, v); x.dot(y); np.dot(y, x)",
    "dstack": "np.dstack((x, y)); np.dstack([v, v])",
    "einsum": "np.einsum('ij,j', x, v); np.einsum('ji,j', x, v)",
    "empty": "np.empty((2, 3)).astype(bool) & False; np.empty((3, 2), 'i4') * 0",
    "empty_like": "np.empty_like(x).astype(bool) & False; np.empty_like(x.T, 'i2') * 0",
    "expand_dims": "np.expand_dims(v, 0); np.expand_dims(v, 1)",
    "eye": "np.eye(3); np.eye(3, 4, 1); np.eye(3, dtype='i4')",
    "flatten": "x.flatten(); x.flatten('F'); x.T.flatten()",
    "flip": "np.flip(x); np.flip(x, 0); np.flip(x[1:], 1)",
    "fliplr": "np.fliplr(x); np.fliplr(x[:, 1:])",
    "flipud": "np.flipud(x); np.flipud(x[1:])",
    "full": "np.full(3, 1); np.full(3, 1.0); np.full(3, True); "
    "np.signbit(np.full(3, 0.0)); np.signbit(np.full(3, -0.0)); np.full((2, 4), v); np.full(3, np.nan)",
    "gradient": "np.gradient(v); np.gradient(x, axis=0); np.gradient(x, 2.0, axis=1); np.gradient(v, np.cumsum(v))",
    "hstack": "np.hstack((x, y)); np.hstack([v, v])",
    "identity": "np.identity(3); np.identity(3, 'i4')",
    "inner": "np.inner(x, v); np.inner(x, y)",
    "isclose": "np.isclose(x, y); np.isclose(x, y, 10.0)",
    "kron": "np.kron(x, v); np.kron(v, x)",
    "linspace": "np.linspace(0, 1, 5); np.linspace(0, 1, 5, False)",
    "mT": "x.mT; x[None].mT",
    "matrix_transpose": "np.matrix_transpose(x); np.matrix_transpose(x[None])",
    "max": "x.max(); x.max(0); x.max(0, initial=1)",
    "mean": "x.mean(); x.mean(0); x.mean(1, 'f8')",
    "median": "np.median(x); np.median(x, 0); np.median(v)",
    "min": "x.min(); x.min(1); x.min(keepdims=True)",
    "moveaxis": "np.moveaxis(x, 0, 1); np.moveaxis(x[None], 0, -1)",
    "norm": "np.linalg.norm(v); np.linalg.norm(x, 1, 0)",
    "ones": "np.ones(3); np.ones(3, int); np.ones((3, 1))",
    "ones_like": "np.ones_like(x); np.ones_like(x.T, shape=(2, 3))",
    "pad": "np.pad(x, 1); np.pad(x, 1, 'edge'); np.pad(v, 2)",
    "permute_dims": "np.permute_dims(x, (1, 0)); np.permute_dims(x, (0, 1))",
    "prod": "x.prod(); x.prod(0); x.prod(1, initial=2)",
    "ptp": "np.ptp(x); np.ptp(x, 0); np.ptp(x, 1)",
    "ravel": "x.ravel(); x.ravel('F'); x.T.ravel()",
    "repeat": "np.repeat(x, 2); np.repeat(x, 2, 0); v.repeat(3); np.repeat(v, (v * v < v).astype(int) + np.arange(4))",
    "reshape": "x.reshape(-1); x.reshape(2, -1); x.T.reshape(8, 2)",
    "rollaxis": "np.rollaxis(x, 1); np.rollaxis(x, 0, 2)",
    "rot90": "np.rot90(x); np.rot90(x, 2); np.rot90(x, 3)",
    "round": "x.round(); x.round(1); np.round(x, True)",
    "searchsorted": "np.searchsorted(v, x); np.searchsorted(v, x, 'right')",
    "sort": "np.sort(x); np.sort(x, 0); np.sort(x, None)",
    "squeeze": "np.squeeze(x[:1]); x[:1].squeeze(0); x.squeeze()",
    "stack": "np.stack([x, y]); np.stack([x, y], 1); np.stack([x, x])",
    "std": "x.std(); x.std(0); x.std(ddof=1)",
    "sum": "x.sum(); x.sum(0); x.sum(-1, initial=1.5)",
    "swapaxes": "np.swapaxes(x, 0, 1); x.swapaxes(0, 0)",
    "tensordot": "np.tensordot(x, y, 1); np.tensordot(x, y, 2)",
    "tile": "np.tile(x, 2); np.tile(x, (2, 1)); np.tile(v, 3)",
    "trace": "np.trace(x); x.trace(1); x.trace(-1)",
    "transpose": "x.transpose(); np.transpose(x, (0, 1))",
    "trapezoid": "np.trapezoid(x); np.trapezoid(x, dx=2.0, axis=0)",
    "tri": "np.tri(3); np.tri(3, 4, 1); np.tri(3, dtype=bool)",
    "tril": "np.tril(x); np.tril(x, 1); np.tril(x, -1)",
    "triu": "np.triu(x); np.triu(x, 1); np.triu(x, True)",
    "var": "x.var(); x.var(0); x.var(ddof=1)",
    "vdot": "np.vdot(x, y); np.vdot(v, v)",
    "vstack": "np.vstack((x, y)); np.vstack([v, v])",
    "zeros": "np.zeros(3); np.zeros(3, 'c8'); np.zeros((3,), 'i1')",
    "zeros_like": "np.zeros_like(x); np.zeros_like(x.T); np.zeros_like(v)",
    # which repeat operations on nodes
    "clip": "np.clip(x, 0, 1); np.clip(x, 0.0, 1.0); x.clip(0, v); "
    "np.clip(x, 1, 300); np.clip(x, -129, 1); x.clip(y, y)",
    "matmul": "x @ y; v @ v; np.matmul(x[1:], y.T)",
    "where": "np.where(x, x, y); np.where(v, 1, x); np.where(x, 1.0, v)",
}


def test_all_that_repeat_their_calls_have_cases() -> None:
    assert not repeated_calls._MEMOS.keys() - STATIC.keys()


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the class of what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except Exception as error:
        return type(error)


def operands(dtype: Any, k: int) -> tuple[Any, ...]:
    """Return two matrices and a sorted vector without zeros."""
    random = numpy.random.default_rng(k)
    x, y, v = (random.integers(1, 6, shape).astype(dtype) for shape in ((4, 4), (4, 4), (4,)))
    return x, y, numpy.sort(v)


@pytest.mark.on_device
@pytest.mark.parametrize("name", STATIC)
@pytest.mark.parametrize("dtype", sorted(DTYPES, key=str), ids=str)
def test_static_arguments(name: str, dtype: Any) -> None:
    """In turns, so that what was kept of one call would be taken for another."""
    for k in range(TIMES):
        host = operands(dtype, k)
        arrays = [gpunumpy.asarray(x) for x in host]
        if k % 2:
            arrays = [gpunumpy.positive(x) if KIND[dtype] != "b" else x | x for x in arrays]  # pending
        for call in STATIC[name].split("; "):
            expected, found = (outcome(partial(run, call, *given)) for given in ((numpy, *host), (gpunumpy, *arrays)))
            if isinstance(expected, type) or isinstance(found, type):
                assert found is expected, call
                continue
            assert (found.dtype, found.shape) == (expected.dtype, numpy.shape(expected)), call
            is_rough = KIND[found.dtype] in "efdFD"
            tolerance = (5e-3 if found.dtype.itemsize < 4 else 1e-5) if is_rough else 0
            numpy.testing.assert_allclose(to_host(found), expected, rtol=tolerance, atol=tolerance, err_msg=call)
            assert steps(found) == steps(expected), call
            if isinstance(expected, numpy.ndarray):
                assert found.flags.writeable == expected.flags.writeable, call
                shown = [gpunumpy.shares_memory(found, x) for x in arrays]
                assert shown == [numpy.shares_memory(expected, x) for x in host], call


def run(call: str, np: Any, x: Any, y: Any, v: Any) -> Any:
    return eval(call, {"np": np, "x": x, "y": y, "v": v})


def steps(array: Any) -> list[int]:
    """The strides that a program can see: those of dimensions of several elements."""
    return [step for step, n in zip(array.strides, array.shape, strict=True) if n > 1]


# A call that is kept, and one that is not: what NumPy raises stays an error, and what looks like the kept call but is
# another has a result of its own.
BESIDE = {
    "an axis too large": ("np.sum(x, 1)", "np.sum(x, 5)"),
    "an axis of another type": ("np.cumsum(x, 1)", "np.cumsum(x, 1.0)"),
    "an axis that is a truth value": ("np.expand_dims(x, 1)", "np.expand_dims(x, 1.5)"),
    "a shape that does not fit": ("x.reshape(8, 2)", "x.reshape(8, 3)"),
    "axes that are none": ("np.swapaxes(x, 0, 1)", "np.swapaxes(x, 0, 2)"),
    "a dimension of another size": ("np.squeeze(x[:1])", "np.squeeze(x, 0)"),
    "an operand too few": ("np.dot(x, v)", "np.dot(x)"),
    "shapes that do not agree": ("np.dot(x, v)", "np.dot(x, v[1:])"),
    "parts that do not agree": ("np.stack([x, y])", "np.stack([x, v])"),
    "no parts": ("np.concatenate([x, y])", "np.concatenate([])"),
    "an unknown option": ("x.mean(axis=0)", "x.mean(axes=0)"),
    "an unknown word": ("np.pad(x, 1, mode='edge')", "np.pad(x, 1, mode='edges')"),
    "an output": ("np.sum(x, 0)", "np.sum(x, 0, out=np.zeros(4))"),
    "an output by its place": ("np.cumsum(v, None, None)", "np.cumsum(v, None, None, np.zeros(4))"),
    "an output that does not fit": ("np.argmax(x, 0)", "np.argmax(x, 0, np.zeros(3, int))"),
    "a mask": ("np.sum(x, 0)", "np.sum(x, 0, where=v > 2)"),
    "an initial value": ("np.max(x, initial=0.0)", "np.max(x, initial=9.0)"),
    "an array for a number": ("np.repeat(v, 2)", "np.repeat(v, np.arange(4))"),
    "a size that is negative": ("np.zeros(3)", "np.zeros(-3)"),
    "a list for a tuple": ("np.zeros((2, 3))", "np.zeros([2, 3])"),
    "a sign of zero": ("np.signbit(np.full(2, 0.0))", "np.signbit(np.full(2, -0.0))"),
    "one array twice": ("np.kron(v, v)", "np.kron(v, v + 1)"),
    "arrays in lists": ("np.concatenate([[v, v], [v, v]], 1)", "np.concatenate([[v, v], [v, v + 1]], 1)"),
}


@pytest.mark.on_device
@pytest.mark.parametrize("name", BESIDE)
def test_calls_beside_one_that_is_kept(name: str) -> None:
    host = operands("f8", 0)
    arrays = [gpunumpy.asarray(x) for x in host]
    for _ in range(TIMES):
        for call in BESIDE[name]:
            expected, found = (outcome(partial(run, call, *given)) for given in ((numpy, *host), (gpunumpy, *arrays)))
            if isinstance(expected, type):
                assert found is expected, call
            else:
                numpy.testing.assert_allclose(to_host(found), expected, rtol=1e-12, err_msg=call)


@pytest.mark.on_device
def test_a_view_shows_what_is_written_later() -> None:
    for k in range(TIMES):
        array, expected = gpunumpy.asarray(numpy.zeros((3, 4))), numpy.zeros((3, 4))
        for m, x in ((gpunumpy, array), (numpy, expected)):
            x[1:].T[2] = k
            m.moveaxis(x, 0, 1)[0, 0] = 5
            x.reshape(-1)[3] = 7
        assert to_host(array).tolist() == expected.tolist()


@pytest.mark.on_device
def test_what_is_kept_of_one_setting_is_not_another_s() -> None:
    x = gpunumpy.asarray(numpy.full((32, 32), 1 + 2.0**-12, "f4"))
    for _ in range(TIMES):
        signatures = []
        for name in ("highest", "high"):
            with gpunumpy.linalg.matmul_precision(name):
                signatures.append([made._node.signature for made in (x @ x, gpunumpy.dot(x, x), x.dot(x))])
        assert all(one is not other for one, other in zip(*signatures, strict=True))


@pytest.mark.on_device
def test_every_call_warns() -> None:
    empty, parts = gpunumpy.asarray(numpy.ones((0, 3))), gpunumpy.asarray(numpy.ones(3, "c16"))
    for _ in range(TIMES):
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            gpunumpy.mean(empty)
        with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
            parts[:1].real.std(ddof=1)
        with pytest.warns(numpy.exceptions.ComplexWarning):
            parts.astype("f8")


@pytest.mark.on_device
@pytest.mark.skipif(RELEASE < "2.4.0", reason="NumPy has the rule same_value from 2.4 on")
def test_every_call_looks_at_elements() -> None:
    for k in range(TIMES):
        with pytest.raises(ValueError):  # NumPy has the words
            gpunumpy.asarray(numpy.full(3, k + 0.5)).astype("i4", casting="same_value")
        assert to_host(gpunumpy.asarray(numpy.full(3, float(k))).astype("i4", casting="same_value")).tolist() == [k] * 3


@pytest.mark.on_device
def test_every_call_is_checked_for_floating_point_errors() -> None:
    x = gpunumpy.asarray(numpy.array([numpy.inf, numpy.inf]))
    for _ in range(TIMES):
        assert numpy.isnan(to_host(gpunumpy.diff(x[::-1] * x[::-1])))
    for _ in range(TIMES):
        with gpunumpy.errstate(invalid="raise"), pytest.raises(FloatingPointError):
            to_host(gpunumpy.diff(x[::-1] * x[::-1]))


@pytest.mark.on_device
def test_other_classes_decide_about_kept_calls() -> None:
    class Named(gpunumpy.ndarray):  # type: ignore[misc]
        pass

    class Other:
        def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> str:
            return "other"

    x = gpunumpy.asarray(numpy.arange(4.0))
    for _ in range(TIMES):
        assert type(gpunumpy.cumsum(x)) is gpunumpy.ndarray
        assert type(gpunumpy.cumsum(x.view(Named))) is Named
        assert type(x.view(Named).T) is Named
        assert gpunumpy.concatenate([x, Other()]) == "other"
        assert to_host(gpunumpy.concatenate([x, x])).tolist() == [*range(4)] * 2


def test_small_arrays_stay_on_the_host_beside_kept_calls() -> None:
    before = gpunumpy.set_residence("device")
    try:
        on_device = gpunumpy.asarray(numpy.arange(6.0))
        for _ in range(TIMES):
            assert {gpunumpy.cumsum(on_device).residence, gpunumpy.zeros(6).residence} == {"device"}
        gpunumpy.set_residence("auto")
        on_host = gpunumpy.asarray(numpy.arange(6.0))
        made = [gpunumpy.cumsum(on_host), gpunumpy.zeros(6), gpunumpy.eye(6), on_host.T]
        assert {x.residence for x in made} == {"host"}
        assert gpunumpy.cumsum(on_device).residence == "device"
    finally:
        gpunumpy.set_residence(before)


def test_a_limit_of_memory_is_not_that_of_calls_before() -> None:
    """Under one the CPU device repeats elements by a kernel, which can compute parts, and not by NumPy's function."""
    gpunumpy.set_residence("device")
    with gpunumpy.Device("cpu"):
        x = gpunumpy.asarray(numpy.arange(5000.0))
        gpunumpy.synchronize()

        def steps() -> list[type]:
            return [type(step) for step in kernels(lambda: gpunumpy.repeat(x, 2))]

        try:
            assert [steps() for _ in range(4)] == [[RunLibraryCall]] * 4
            gpunumpy.set_memory_limit("1GB")
            assert [steps() for _ in range(4)] == [[RunKernel]] * 4
        finally:
            gpunumpy.set_memory_limit(None)
        assert steps() == [RunLibraryCall]


@pytest.mark.parametrize("name", ["broadcast_to", "diagonal", "transpose"])
def test_a_view_is_read_only_whatever_array_came_first(name: str) -> None:
    gpunumpy.set_residence("device")
    rest = {"broadcast_to": ((6, 7, 7),)}.get(name, ())
    host = [numpy.ones((7, 7)) for _ in range(2)]
    host[0].flags.writeable = False
    arrays = [gpunumpy.asarray(x) for x in host]
    arrays[0].flags.writeable = False
    for k in (0, 0, 0, 1, 1, 1, 0):
        found, expected = (getattr(xp, name)(x[k], *rest) for xp, x in ((gpunumpy, arrays), (numpy, host)))
        assert found.flags.writeable == expected.flags.writeable
