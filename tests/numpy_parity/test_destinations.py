"""NumPy arrays as what is written to: `out` arguments, and functions that work in place."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy

Case = Callable[[Any, Any, Any], Any]

# Each with the module, a (2, 3) array of its own (0 to 5), and a (2, 3) NumPy array to write to.
OUT: dict[str, Case] = {
    "ufunc of one": lambda np, a, m: np.sin(a, out=m),
    "positional": lambda np, a, m: np.add(a, 1, m),
    "tuple": lambda np, a, m: np.add(a, 1, out=(m,)),
    "of a scalar": lambda np, a, m: np.add(1, 2, out=m),
    "broadcast": lambda np, a, m: np.add(a[0], a[:, :1], out=m),
    "masked": lambda np, a, m: np.multiply(a, 3, out=m, where=a > 2),
    "masked on the host": lambda np, a, m: np.multiply(a, 3, out=m, where=numpy.arange(3) > 1),
    "in place": lambda np, a, m: np.add(m, a, out=m),
    "a part": lambda np, a, m: np.negative(a[:, 1], out=m[:, 0]),
    "reversed": lambda np, a, m: np.exp2(a, out=m[::-1, ::-1]),
    "outer": lambda np, a, m: np.multiply.outer(a[:, 0], a[1], out=m),
    "clip": lambda np, a, m: np.clip(m, 0, 1, out=m),
    "clip by one bound": lambda np, a, m: np.clip(a, 2, None, out=m),
    "clip method": lambda np, a, m: a.clip(1, 2, out=m),
    "round": lambda np, a, m: np.round(a * 1.23, 1, out=m),
    "isposinf": lambda np, a, m: np.isposinf(a, out=m.view(bool)[:, :3]),
    "sum": lambda np, a, m: np.sum(a, axis=1, out=m[:, 0]),
    "sum method": lambda np, a, m: a.sum(axis=0, keepdims=True, out=m[:1]),
    "max of all": lambda np, a, m: np.max(a, out=m[0, 0:1].reshape(())),
    "mean": lambda np, a, m: np.mean(a, axis=0, out=m[0]),
    "mean in integers": lambda np, a, m: np.mean(a, axis=0, out=m.view("i8")[0]),
    "var": lambda np, a, m: np.var(a, axis=0, out=m[0]),
    "std": lambda np, a, m: np.std(a, axis=0, out=m[0]),
    "nanmean": lambda np, a, m: np.nanmean(a, axis=0, out=m[0]),
    "nanvar": lambda np, a, m: np.nanvar(a, axis=0, out=m[0]),
    "nanstd": lambda np, a, m: np.nanstd(a, axis=0, out=m[0]),
    "ptp": lambda np, a, m: np.ptp(a, axis=0, out=m[0]),
    "argmax": lambda np, a, m: np.argmax(a, axis=0, out=m.view("i8")[0]),
    "any": lambda np, a, m: np.any(a, axis=0, out=m.view(bool)[0, :3]),
    "cumsum": lambda np, a, m: np.cumsum(a, axis=1, out=m),
    "cumulative_sum": lambda np, a, m: np.cumulative_sum(a[:, :2], axis=1, include_initial=True, out=m),
    "accumulate": lambda np, a, m: np.subtract.accumulate(a, axis=1, out=m),
    "reduceat": lambda np, a, m: np.add.reduceat(a, [0, 1], axis=1, out=m[:, :2]),
    "reduce": lambda np, a, m: np.multiply.reduce(a, axis=1, out=m[:, 1]),
    "take": lambda np, a, m: np.take(a, [1, 0], axis=0, out=m),
    "compress": lambda np, a, m: np.compress([True, False, True], a, axis=1, out=m[:, :2]),
    "choose": lambda np, a, m: np.choose([[0, 1, 0], [1, 1, 0]], [a, -a], out=m),
    "concatenate": lambda np, a, m: np.concatenate([a[:1], a[1:]], out=m),
    "stack": lambda np, a, m: np.stack([a[0], a[1]], out=m),
    "dot": lambda np, a, m: np.dot(a[:, :2], a[:2], out=m),
    "matmul": lambda np, a, m: np.matmul(a[:, :2], a[:2], out=m),
    "outer function": lambda np, a, m: np.outer(a[:, 1], a[0], out=m),
    "trace": lambda np, a, m: np.trace(a.reshape(2, 3, 1), out=m[0, :1]),
    "two results": lambda np, a, m: np.divmod(a[0], 2, out=(m[0], m[1])),
    "one of two results": lambda np, a, m: np.modf(a, out=(None, m))[1],
    "other dtype": lambda np, a, m: np.add(a, 0.5, out=m.view("f4")[:, :3]),
    "other byte order": lambda np, a, m: np.add(a, 0.5, out=m.view(">f8")),
    "mean in the other byte order": lambda np, a, m: np.mean(a, axis=0, out=m.view(">f8")[0]),
    # refused
    "wrong shape": lambda np, a, m: np.sin(a, out=m[:, :2]),
    "wrong shape of a sum": lambda np, a, m: np.sum(a, axis=1, out=m),
    "wrong shape of a scan": lambda np, a, m: np.cumsum(a, axis=1, out=m[0]),
    "wrong dtype": lambda np, a, m: np.add(a, 0.5, out=m.view("i8")),
    "wrong dtype of a position": lambda np, a, m: np.argmax(a, axis=0, out=m[0]),
    "no tuple": lambda np, a, m: np.modf(a, out=m),
    "read-only": lambda np, a, m: np.sin(a, out=_locked(m)),
    "a sum into a read-only one": lambda np, a, m: np.sum(a, axis=1, out=_locked(m)[:, 0]),
}
IN_PLACE: dict[str, Case] = {
    "ufunc.at": lambda np, a, m: np.add.at(m, (np.array([0, 1, 0]), np.array([0, 0, 0])), a[0]),
    "ufunc.at of one": lambda np, a, m: np.negative.at(m, np.array([1])),
    "put": lambda np, a, m: np.put(m, np.array([0, 3]), a),
    "put by keywords": lambda np, a, m: np.put(a=m, ind=[0, 3], v=a[0]),
    "place": lambda np, a, m: np.place(m, a > 2, a[0, 1:]),
    "putmask": lambda np, a, m: np.putmask(m, a > 2, a[0]),
    "put_along_axis": lambda np, a, m: np.put_along_axis(m, np.array([[1], [2]]), a[:, :1], axis=1),
    "fill_diagonal": lambda np, a, m: np.fill_diagonal(m, a[0, 2]),
    "nan_to_num": lambda np, a, m: np.nan_to_num(m, copy=False, nan=a[0, 1]),
    "copyto": lambda np, a, m: np.copyto(m, a),
    "operator": lambda np, a, m: m.__iadd__(a),
    "item": lambda np, a, m: m.__setitem__(0, a[1]),
    "read-only": lambda np, a, m: np.put(_locked(m), [0], a[0, 0]),
}


def _locked(m: Any) -> Any:
    m.flags.writeable = False
    return m


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in (OUT | IN_PLACE).items()])
@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
def test_written_as_by_numpy(case: Case) -> None:
    results = []
    for np in (numpy, gpunumpy):
        target = numpy.array([[1.5, numpy.nan, -2], [numpy.inf, 0, 7]])
        try:
            made = case(np, np.arange(6.0).reshape(2, 3), target)
        except (TypeError, ValueError) as error:
            made = type(error)
        results.append((target, made))
    (reference, expected), (tested, found) = results
    numpy.testing.assert_allclose(tested, reference, rtol=1e-15)
    assert type(found) is type(expected)
    if isinstance(expected, type):
        assert issubclass(found, expected)
    elif isinstance(expected, numpy.ndarray):
        assert found is tested or found.base is tested or numpy.shares_memory(found, tested)


def test_the_array_given_is_what_comes_back() -> None:
    a = gpunumpy.arange(3.0)
    m = numpy.zeros(3)
    assert gpunumpy.sin(a, out=m) is m
    assert gpunumpy.cumsum(a, out=m) is m
    assert gpunumpy.take(a, [2, 1, 0], out=m) is m
    assert gpunumpy.nan_to_num(m, copy=False) is m
    assert numpy.sin(a, out=m) is m
    whole, rest = gpunumpy.divmod(a, 2, out=(None, m))
    assert rest is m
    assert isinstance(whole, gpunumpy.ndarray)


def test_complex_results_into_real_memory_warn() -> None:
    with pytest.warns(numpy.exceptions.ComplexWarning):
        gpunumpy.add(gpunumpy.ones(2, complex), 1j, out=numpy.zeros(2), casting="unsafe")


def test_what_cannot_be_written() -> None:
    a = gpunumpy.arange(3.0)
    with pytest.raises(TypeError, match="ufunc 'sin'"):
        gpunumpy.sin(a, out=numpy.zeros(3, "M8[s]"))
    with pytest.raises(TypeError, match="ArrayType"):
        gpunumpy.sin(a, out=[0, 0, 0])


def test_words_of_what_is_read_only() -> None:
    def calls(m: Any) -> tuple[Callable[..., Any], ...]:
        return (
            lambda x, out: m.add(x, x, out=out),
            lambda x, out: m.cumsum(x, out=out),
            lambda x, out: m.clip(x, 0, 1, out=out),
            lambda x, out: m.matmul(m.ones((4, 4)), x, out=out),
            lambda x, out: m.sum(m.ones((4, 4)), 0, out=out),
            lambda x, out: out.__iadd__(x),
            lambda x, out: m.copyto(out, x),
            lambda x, out: out.__setitem__(0, 1),
        )

    for tested, reference in zip(calls(gpunumpy), calls(numpy), strict=True):
        words = []
        for m, call in ((gpunumpy, tested), (numpy, reference)):
            out = m.zeros(4)
            out.flags.writeable = False
            with pytest.raises(ValueError) as error:
                call(m.ones(4), out)
            words.append(str(error.value))
        assert words[0] == words[1]


def test_memory_of_a_subclass_is_written() -> None:
    m = numpy.zeros(3).view(numpy.recarray)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gpunumpy.add(gpunumpy.arange(3.0), 1, out=m) is m
    assert m.tolist() == [1, 2, 3]
