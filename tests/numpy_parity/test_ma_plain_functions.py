"""Functions for plain arrays of masked arrays: those that the device computes, and what is said of the others."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.functions import fallback

# Functions that the device computes, of a masked matrix, vectors, integers and conditions.
ON_DEVICE = (
    *(
        "vander(v)",
        "where(b, m, 0)",
        "where(b, m, m)",
        "where(b)",
        "interp(v, [1, 2, 3], w[:3])",
        "interp(2.5, [1, 2, 3], w[:3])",
    ),
    *("polyfit(v, w, 1)", "polyfit(v.data, w, 1)", "einsum('ij,jk', m, m)", "einsum('ij->i', m)", "vdot(m, m)"),
    *("histogram(m)", "histogram(v, weights=w)", "histogram_bin_edges(m)", "bincount(i)", "bincount(i, v)"),
    *("digitize(v, [1, 2])", "convolve(v, w)", "tril(m)", "triu(m, 1)", "pad(m, 1)", "pad(m, 1, mode='edge')"),
    *("unwrap(m)", "cov(m)", "cov(v, w)", "corrcoef(m)", "outer(v, w)", "tensordot(m, m, 1)", "sort_complex(v)"),
    *("lexsort(m)", "lexsort((v, w))", "iscomplex(m)", "cross(v[:3], w[:3])", "unravel_index(i, (3,))"),
    *("fft.fft(m)", "fft.ifft(v)", "fft.rfft(m)", "fft.irfft(m)", "fft.fft2(m)", "fft.ifftn(m)", "fft.hfft(v)"),
    *("fft.fftshift(m)", "linalg.norm(m)", "linalg.norm(m, axis=0)", "linalg.det(m)", "linalg.slogdet(m)"),
    *("linalg.matrix_rank(m)", "linalg.cond(m)", "linalg.eigvals(m)", "linalg.vector_norm(m)", "linalg.outer(v, w)"),
    *("concatenate([m, m])", "concatenate([m, m.data], axis=1)", "concatenate((v, w), None)"),
    *("vstack([m, m])", "hstack([v, w])", "dstack([m, m])", "stack([m, m], 1)", "column_stack([v, w])"),
    *(
        "append(m, m)",
        "append(m, m, 0)",
        "concatenate([m])",
        "vstack([m])",
        "stack([m])",
        "hstack([v])",
        "append(v, [])",
    ),
    *("diff(m)", "diff(m, 2, 0)", "diff(b)", "roll(m, 1)", "roll(m, (1, 2), axis=(0, 1))", "roll(v, -2)"),
    *("matmul(m, m)", "ma.polyfit(v, w, 1)", "ma.vander(v)"),
    *("dot(m, m)", "dot(m, m[:2].T)", "dot(m, v)", "dot(v, w)", "dot(m, 2)", "dot(m.data, m)", "inner(m, v)"),
    *("zeros_like(m)", "ones_like(m, dtype='f4')", "full_like(m, 3)", "zeros_like(m, shape=(2,))"),
    *(
        "zeros_like(m, subok=False)",
        "broadcast_to(v, (2, 4))",
        "broadcast_arrays(v, m)",
        "packbits(b)",
        "packbits(b, 1)",
    ),
    *(
        "unpackbits(i.astype('u1'))",
        "ravel_multi_index((i, i), (3, 3))",
        "ptp(m)",
        "ptp(m, 0)",
        "ptp(i)",
        "ptp(m, 1, keepdims=True)",
    ),
    *(
        "broadcast_to(v, (2, 4), subok=True)",
        "broadcast_arrays(v, m, subok=True)",
        "broadcast_arrays(v, m.data, subok=True)",
    ),
    *(
        "linalg.inv(m)",
        "linalg.pinv(m)",
        "linalg.cholesky(m.data @ m.T)",
        "linalg.solve(m, v)",
        "linalg.solve(m.data, v)",
    ),
    *(
        "linalg.solve(m, v.data)",
        "linalg.lstsq(m, v)",
        "linalg.eigvalsh(m)",
        "linalg.svdvals(m)",
        "linalg.tensorinv(m, 1)",
    ),
    *("linalg.solve(m.data, b=v)", "linalg.solve(b=v.data, a=m)", "linalg.lstsq(a=m, b=v)", "linalg.inv(a=m)"),
    *(
        "linalg.eigh(a=m.data @ m.T)[1].__abs__()",
        "correlate(a=v.data, v=v)",
        "broadcast_to(array=m, shape=m.shape, subok=True)",
    ),
    "broadcast_to(m, (2, *m.shape), subok=True)",
    *(
        "linalg.svd(m, compute_uv=False)",
        "linalg.qr(m, mode='r')",
        "linalg.cross(v[:3], w[:3])",
        "linalg.tensordot(m, m)",
    ),
    *("emath.sqrt(v - 4)", "emath.log(m)", "emath.power(m, 2)", "emath.arccos(m)", "emath.logn(2, m)"),
    *(
        "add.reduce(m)",
        "add.reduce(m, axis=None)",
        "maximum.reduce(m, 1, keepdims=True)",
        "add.reduce(m, where=b.data)",
    ),
    *(
        "add.accumulate(m, 1)",
        "add.reduceat(v, [0, 2])",
        "add.outer(v, w)",
        "multiply.outer(v.data, w)",
        "greater.outer(v, w)",
    ),
)
# Those that run NumPy's code over masked arrays.
OF_NUMPYS_CODE = (
    *("flip(m)", "flip(m, 0)", "fliplr(m)", "flipud(m)", "rot90(m)", "diag(m)", "diag(v, -1)", "diagflat(v)"),
    *("moveaxis(m, 0, 1)", "rollaxis(m, 1)", "tile(v, (2, 2))", "kron(v, w)", "resize(m, (5, 5))", "delete(m, 1, 0)"),
    *("insert(v, 1, 9)", "insert(m, 1, w, axis=1)", "split(m, 2)", "array_split(v, 3)", "hsplit(m, 2)", "vsplit(m, 2)"),
    *("atleast_1d(v)", "take_along_axis(m, np.array([[0], [1], [0], [2]]), 1)", "compress([1, 0, 1], v)"),
    *("extract(b, m)", "choose(i, [v, w, v])", "select([m > 3], [m], 0)", "partition(v, 1)", "trim_zeros(v)"),
    *("average(m)", "average(m, axis=0, weights=[1, 2, 3, 4])", "unique(m)", "unique(v, return_counts=True)"),
    *("gradient(v)", "trapezoid(m)", "ediff1d(v)", "nansum(m, axis=0)", "nanmax(m)", "nanprod(v)", "nancumsum(m)"),
    *("argwhere(m)", "flatnonzero(m)", "count_nonzero(m)", "union1d(v, w)", "intersect1d(v, w)", "setdiff1d(v, w)"),
    *("isclose(m, 2)", "allclose(m, m)", "nan_to_num(m)", "real(m)", "imag(m)", "angle(m)", "sinc(m)", "block([m, m])"),
    *(
        "median(m, 0)",
        "median(v)",
        "median(b)",
        "percentile(v, 50)",
        "percentile(m, [10, 50], axis=0)",
        "quantile(m, 0.3)",
    ),
    *(
        "nanmean(m)",
        "nanmean(m, 0)",
        "nanmean(b)",
        "nanstd(m, 1)",
        "nanvar(m, 0, ddof=1)",
        "nanmedian(m, 0)",
        "nanmedian(i)",
    ),
    *(
        "nanmean(n)",
        "nanmean(n, 0, keepdims=True)",
        "nanstd(n, 1)",
        "nanvar(n)",
        "nanmedian(n)",
        "nanquantile(n[2], 0.5)",
    ),
    *(
        "argpartition(v, 1)",
        "meshgrid(v, w)",
        "meshgrid(v, w, sparse=True)",
        "meshgrid(v, w, indexing='ij')",
        "ix_(v, w)",
    ),
    *(
        "ix_(b[0], i)",
        "piecewise(m, [m > 3], [1, 2])",
        "piecewise(v, [b[0]], [lambda x: x * 2])",
        "i0(m)",
        "poly(v.data)",
    ),
    *(
        "polyadd(v, w)",
        "polymul(v, w)",
        "polydiv(v, w)",
        "polyder(v)",
        "polyint(v)",
        "real_if_close(m)",
        "linspace(v, w, 3)",
    ),
    *("cumulative_sum(v)", "cumulative_sum(v, include_initial=True)", "cumulative_prod(m, axis=0)", "unique_values(v)"),
    *(
        "unique_counts(v)",
        "tril_indices_from(m)",
        "diag_indices_from(m)",
        "linalg.diagonal(m)",
        "linalg.matrix_power(m, 2)",
    ),
    *("linalg.multi_dot([m, m])", "linalg.matmul(m, m)", "linalg.matrix_transpose(m)", "logspace(v, w, 3)"),
    *("linalg.trace(m)", "iscomplex(m * 1j)", "iscomplex(m)", "reshape(m, -1, 'F')", "reshape(m, (8, 2), copy=True)"),
    *("apply_along_axis(lambda row: row[::-1], 1, m)", "correlate(v, w)", "polyval([1, 2], m)", "isneginf(v)"),
)
# Those that a program which forbids the host can call too, of integers as of floats.
WITHOUT_HOST = (
    *("roots(v) + 0j", "roots(p=i) + 0j", "choose(i.data, [v, w, v])", "choose(a=i.data, choices=[v, w, v])"),
    *("choose(i, choices=[v, w, v])", "i.data.choose([v, w, v], mode='clip')", "einsum_path('ij,jk', m, m)"),
    *(
        "ediff1d(v, to_begin=w[:2])",
        "ediff1d(ary=i, to_end=i, to_begin=0)",
        "linspace(v, w, 3)",
        "linspace(start=v, stop=w, num=4)",
    ),
    *(
        "quantile(m, 0.3)",
        "quantile(a=i, q=[0.25, 0.5])",
        "percentile(m, q=30, axis=0)",
        "percentile(m.astype('i8'), 30)",
    ),
    *(
        "nanquantile(m.astype('u1'), 0.3)",
        "nanpercentile(a=m, q=[30, 60], axis=1)",
        "quantile(a=v, q=0.5, method='lower')",
    ),
    *("histogramdd(m, 3)[0]", "histogramdd(m, 3)[1][1]", "histogramdd(sample=m, bins=[2, 3, 2, 2], weights=v)[0]"),
    *("histogramdd(m.astype('f4'), range=[(0, 4), None, (1, 9), None], bins=2)[1][1]", "histogramdd(m.data, 2)[1][0]"),
    *("linalg.tensorsolve(m, v)", "linalg.tensorsolve(a=m.data, b=v)", "linalg.vecdot(v.data, w.data)"),
)
# The same, of NumPy's masked array beside an array of this package.
OPERATORS = ("x < m", "x * m", "m * x", "x >= m", "x - m")
WRITERS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, m: x.__setitem__(Ellipsis, m),
    lambda x, m: x.__setitem__(0, m[1]),
    lambda x, m: x.__iadd__(m),
    lambda x, m: x.__imul__(m),
    lambda x, m: x.fill(m[0, 0]),
    lambda x, m: x.flat.__setitem__(slice(0, 4), m[1]),
)
# Functions of `numpy.polynomial` of one basis and another, and functions of the program for all elements.
_POWERS, _CHEBYSHEV = "polynomial.polynomial.poly", "polynomial.chebyshev.cheb"
OF_POLYNOMIALS = (
    *(f"{_POWERS}{call}" for call in ("val(v, w)", "val(v.data, w)", "val(m, w)", "val(v, m)", "val(i, [1, 2.0, 3])")),
    *(f"{_POWERS}{call}" for call in ("val(x=v * (1 + 2j), c=w)", "val2d(v, w, m)", "grid2d(v, v.data, m.data)")),
    *(f"{_POWERS}{call}" for call in ("valfromroots(v, w)", "valfromroots(v, [1, 2.0, 3])", "val3d(v, v, v, m)")),
    *(f"{_POWERS}{call}" for call in ("fit(v, w, 1)", "fit(v.data, m, 1, w=i)", "vander(m, 2)", "add(v, w)", "der(m)")),
    *(
        f"{_POWERS}{call}"
        for call in ("int(v)", "mul(v, i)", "pow(i, 2)", "trim(v, 2)", "fromroots(v)", "companion(v)")
    ),
    *(f"{_CHEBYSHEV}{call}" for call in ("val(v, w)", "val(w, i)", "grid2d(v, w, m)", "weight(v / 8)", "fit(v, w, 2)")),
    *(f"{_CHEBYSHEV}{call}" for call in ("vander2d(v, w, (1, 2))", "roots(v)", "2poly(v)", "div(v, w)", "mulx(v)")),
    *(
        "polynomial.chebyshev.poly2cheb(i)",
        "polynomial.hermite.hermweight(v)",
        "polynomial.legendre.legval3d(v, w, w, m)",
    ),
    *("polynomial.polyutils.as_series([v, w])", "polynomial.polyutils.getdomain(w)", "polynomial.polyutils.trimseq(v)"),
    *("polynomial.polyutils.mapdomain(v, [1, 2], [4, 5.0])", "polynomial.Polynomial([1, 2, 3])(m)"),
    "polynomial.Chebyshev([1, 2, 3], [0, 9])(i)",
)
# Before NumPy 2.4 a vectorized function of masked arrays is an AttributeError there.
VECTORIZED: tuple[str, ...] = (
    *("vectorize(lambda x: x * 2 + 1)(m)", "vectorize(lambda x: x * 2 + 1)(i)", "vectorize(lambda x: x * 2 + 1)(b)"),
    *("vectorize(larger)(v, w)", "vectorize(larger)(v.data, w)", "vectorize(larger)(m, w)", "vectorize(larger)(v, 2)"),
    *(
        "vectorize(larger)(v, y=[1, 2, 3, 9])",
        "vectorize(larger, excluded={'y'})(i, y=1)",
        "vectorize(larger)(x=v, y=w)",
    ),
    *("vectorize(lambda x, y: (x + y, x - y))(v, w)", "vectorize(lambda x, y: (x + y, x - y), otypes='df')(v, i)"),
    *("vectorize(lambda x: x + 1, otypes='f')(v[:0])", "vectorize(lambda x: x + 1)(v * 1j)"),
    "vectorize(lambda x: x + 1)(np.ma.array([1.0, 2]))",
    *("vectorize(lambda x: x.sum(), signature='(n)->()')(m)", "vectorize(lambda x: x * 2, signature='(n)->(n)')(m)"),
    *("vectorize(lambda x, y: x * y.sum(), signature='(n),(k)->(n)')(m, v)",),
)
if numpy.lib.NumpyVersion(numpy.__version__) < "2.4.0":
    VECTORIZED = ()
# Functions of `numpy.ma` of lists of masked arrays, with masked limits, and what their fill values come from.
OF_MASKED_ARRAYS = (
    *("ma.clip([v, w], 1, 2)", "ma.clip((v, v.data), 1, 2)", "ma.clip(v.data, w, 3)", "ma.clip(v, 1, w)"),
    *("ma.clip(v, 1, 2, v.data.copy())", "ma.clip(v, min=2)", "ma.clip(v, max=2, fill_value=3)", "ma.clip(v)"),
    *("clip(v.data, w, 3)", "clip(v, w, 3)", "clip([v, w], 1, 2)", "clip(v, a_min=1, a_max=2)"),
    *("ma.compressed([v, w])", "ma.compressed((m, m))", "ma.compressed([v, [1, 2, 3, 4]])", "ma.compressed(x=[1, 2])"),
    *("ma.stack([v, w], 0, np.zeros((2, 4)))", "ma.stack((v, w), axis=1, dtype='f4', casting='unsafe')"),
    *("ma.array([1.0, 2], mask=[0, 1]).get_real()", "ma.array([1j, 2], mask=[0, 1]).get_imag()"),
    *("linspace(i, v, 3)", "linspace(v, i, 3)", "linspace(b[0], v, 3)", "linspace(i, v, 3, retstep=True)[0]"),
    *("linspace(i, v, 3, dtype='i8')", "geomspace(i + 1, v, 3)", "logspace(v, i, 3)"),
    *("transpose(m, axes=(1, 0))", "transpose(a=m)", "diff(v, prepend=1)", "diff(m, append=v.reshape(4, 1))"),
    *("histogram2d(v, w, 3)[0]", "histogramdd(v, 3)[0]", "histogramdd(v, 3)[1][0]", "histogramdd([v, w], 3)[0]"),
    *("ma.median(m, keepdims=True)", "ma.median(m, 0, keepdims=True)", "ma.median([1, 2, 3], keepdims=True)"),
    *("ma.median(np.ma.masked_all(3), keepdims=True)", "ma.asarray(v).astype('f4')"),
    *("ma.ones_like(v, subok=False)", "ma.ones_like(v, None, 'K', False)", "ma.zeros_like(v, shape=(2, 2))"),
    *("zeros_like(v, shape=(2, 2))", "full_like(v, 3, shape=(3, 2))"),
    *("ma.asarray(v).astype('f4', subok=False)", "clip(np.ma.array([1.0, 2]))", "ma.clip(np.ma.array([1, 2]), 1, 2)"),
    *("ma.ones_like(a=v)", "ma.zeros_like(a=[1, 2], dtype='f4')", "unique(m, axis=0)"),
    *("unique(np.ma.stack([w, v, w]), False, True, True, 0)", "unique(m, axis=1, return_counts=True)"),
    *("ravel_multi_index((b[0], i), (3, 3))", "unravel_index(b[0], (3, 3))"),
)
# What NumPy's code of functions of masked arrays refuses.
REFUSED = (
    *("cumulative_sum(m)", "fliplr(v)", "rot90(v)", "delete(v, 9)", "linalg.trace(v)", "quantile(v, 2)", "roots(m)"),
    *("compress([True], m.T, axis=5)", "split(v, 3)", "dsplit(m, 2)", "linalg.matrix_power(m[:2], 2)", "poly(m[0:3])"),
)
ON_HOST = ("concatenate([m, m], out=np.concatenate([m, m]))",)


@pytest.fixture(params=["auto", "device"])
def place(request: pytest.FixtureRequest, residence: None, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(fallback, "_warned", set())
    gpunumpy.set_residence(request.param)
    return request.param


def operands(np: Any) -> dict[str, Any]:
    data = numpy.array([[1.0, 5, 2, 7], [4, 3, 9, 8], [6, 2, 1, 3], [2, 2, 8, 5]])
    m = np.ma.array(data, mask=data > 6, fill_value=7.0)
    integers = np.ma.array([0, 1, 2, 1], mask=[0, 1, 0, 0])
    holed = numpy.where(data == 2, numpy.nan, data)
    named = {"np": np, "m": m, "v": m[0], "w": m[1], "i": integers, "b": np.ma.array(data > 3, mask=data > 6)}
    named["larger"] = lambda x, y: x if x > y else y * 1.5
    return named | {"n": np.ma.array(holed, mask=data > 6)}


def run(np: Any, call: str) -> Any:
    return eval(f"np.{call}", operands(np))


def check(found: Any, expected: Any) -> None:
    if isinstance(expected, bool):
        assert found is expected
        return
    if isinstance(expected, (int, str)):
        assert found == expected
        return
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            check(*pair)
        return
    is_masked = isinstance(expected, numpy.ma.MaskedArray)
    assert isinstance(found, gpunumpy.ma.MaskedArray) is is_masked
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if is_masked:
        assert (found.mask is numpy.ma.nomask) is (expected.mask is numpy.ma.nomask)
        numpy.testing.assert_array_equal(numpy.asarray(found.mask), expected.mask)
        assert found.fill_value == expected.fill_value
        found, expected = found.filled(0), expected.filled(0)
    numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Warning. '(arg)?partition' will ignore:UserWarning")
@pytest.mark.parametrize("call", [*ON_DEVICE, *OF_NUMPYS_CODE])
def test_the_device_computes(call: str, place: str) -> None:
    """Warnings are errors here: none of these functions says that it runs on the host, or does so in silence."""
    found = run(gpunumpy, call)
    check(found, run(numpy, call))
    assert not any(
        isinstance(x, numpy.ma.MaskedArray) for x in (found if isinstance(found, (tuple, list)) else [found])
    )


@pytest.mark.filterwarnings("ignore:Warning. '(arg)?partition' will ignore:UserWarning")
@pytest.mark.parametrize("call", [*WITHOUT_HOST, *OF_POLYNOMIALS, *VECTORIZED, *OF_MASKED_ARRAYS])
def test_the_host_may_be_forbidden(call: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = call if call.startswith("i.") else f"np.{call}"
    expected = eval(call, operands(numpy))
    monkeypatch.setattr(fallback, "_action", "error")
    check(eval(call, operands(gpunumpy)), expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "tan", "arcsin", "arccos", "arccosh", "arctanh"])
def test_masked_elements_are_outside_of_domains(name: str, place: str) -> None:
    """A ufunc writes the same number to them as to elements outside of its domain."""
    found, expected = (getattr(np, name)(operands(np)["m"] / 16).data for np in (gpunumpy, numpy))
    numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-9)


def test_classes_of_dtypes(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quantiles of masked arrays ask for a loop by the class of a dtype."""
    monkeypatch.setattr(fallback, "_action", "error")
    for np in (gpunumpy, numpy):
        x, single = np.asarray(numpy.arange(4)), numpy.dtypes.Float32DType
        assert type(np.add(x, x, dtype=single)) is np.ndarray
        assert np.add(x, x, dtype=single).dtype == np.add(x, x, signature=(None, None, single)).dtype == "f4"
        assert np.add.reduce(x, dtype=single).dtype == np.zeros(3, dtype=single).dtype == x.astype(single).dtype == "f4"


def test_base_is_the_data(place: str) -> None:
    for np in (gpunumpy, numpy):
        x = np.arange(6.0)
        m = np.ma.array(x, mask=[0, 1, 0, 0, 1, 0])
        assert m.base is x
        assert m[1:].base is not None


@pytest.mark.parametrize("name", ["fill_diagonal", "put_along_axis", "putmask", "place"])
def test_the_device_writes(name: str, place: str) -> None:
    where = numpy.eye(4, dtype=bool)
    of_masks = {"putmask": (where, 5), "place": (where, [5, 6])}
    of_indices = {"fill_diagonal": (5,), "put_along_axis": (numpy.array([[0], [1], [0], [2]]), 5, 1)}
    arguments = (of_masks | of_indices)[name]
    written = [operands(np)["m"] for np in (gpunumpy, numpy)]
    for np, x in zip((gpunumpy, numpy), written, strict=True):
        getattr(np, name)(x, *arguments)
    check(*written)


@pytest.mark.parametrize("values", ["True", "i > 0", "[True, True, False, False]"])
@pytest.mark.parametrize("where", ["b[1]", "v > 1", "[True, False, True, False]"])
@pytest.mark.parametrize("name", ["v", "i", "b[2]"])
def test_putmask_of_masked_arrays(
    name: str, where: str, values: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for np, action in ((numpy, "warn"), (gpunumpy, "error")):
        monkeypatch.setattr(fallback, "_action", action)
        names = operands(np)
        written.append(eval(name, names).copy())
        np.ma.putmask(written[-1], eval(where, names), eval(values, names))
        written.append(names["v"].copy())
        np.ma.putmask(written[-1], eval(where, names), np.ma.masked)
    check(written[2:], written[:2])


@pytest.mark.parametrize("call", ["v, 2", "v, a_min=2", "v, a_max=2", "v, 1, 2, min=1", "v, 1, 2, 3, 4", "v, 1, min=2"])
def test_limits_that_clip_refuses(call: str) -> None:
    errors = []
    for np in (numpy, gpunumpy):
        with pytest.raises((TypeError, ValueError)) as error:
            run(np, f"ma.clip({call})")
        errors.append(error.type)
    assert errors[0] is errors[1]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_where_the_host_is_forbidden(call: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is that of NumPy's code, not one of the host."""
    monkeypatch.setattr(fallback, "_action", "error")
    errors = []
    for np in (numpy, gpunumpy):
        try:
            run(np, call)
        except Exception as error:
            errors.append(type(error))
    assert len(errors) == 2
    assert errors[0] is errors[1]


@pytest.mark.parametrize("call", ["squeeze(x, fill_value=3)", "clip(x, 1, 2, fill_value=3)"])
def test_the_fill_value_of_a_result_is_its_own(call: str, place: str) -> None:
    for np in (numpy, gpunumpy):
        x = np.ma.array([1.0, 2], mask=[0, 1], fill_value=7)
        assert eval(f"np.ma.{call}", {"np": np, "x": x}).fill_value == 3
        assert x.fill_value == 7


def test_put_by_names(place: str) -> None:
    written = [operands(np)["m"] for np in (gpunumpy, numpy)]
    for np, x in zip((gpunumpy, numpy), written, strict=True):
        np.put(a=x, ind=[0, 3], v=np.ma.array([5, 6], mask=[0, 1]))
    check(*written)


@pytest.mark.parametrize("name", ["clip", "column_stack", "dstack", "hstack", "stack", "vstack"])
def test_names_of_parameters(name: str) -> None:
    of_plain_arrays, found = (inspect.signature(getattr(np, name)) for np in (numpy, gpunumpy.ma))
    added = {"clip": {"fill_value", "hardmask"}}.get(name, set())
    assert list(of_plain_arrays.parameters) == [name for name in found.parameters if name not in added]


@pytest.mark.parametrize("name", ["add", "multiply", "maximum"])
def test_ufuncs_write_to_the_data(name: str, place: str) -> None:
    written = [operands(np)["m"] for np in (gpunumpy, numpy)]
    for np, x in zip((gpunumpy, numpy), written, strict=True):
        getattr(np, name).at(x, ([0, 1, 0], [1, 2, 1]), np.ma.array([2.0, 3, 4], mask=[0, 0, 1]))
    check(*written)
    numpy.testing.assert_array_equal(numpy.asarray(written[0].data), written[1].data)


@pytest.mark.parametrize("np", [numpy, gpunumpy])
def test_none_is_a_value(np: Any) -> None:
    chosen = np.ma.where([True, False], None, 1)
    assert chosen.dtype == object
    assert chosen.tolist() == [None, 1]
    with pytest.raises(ValueError, match="both"):
        np.ma.where([True], 1)


@pytest.mark.parametrize("np", [numpy, gpunumpy])
def test_reversed_views_write_through(np: Any) -> None:
    x = np.ma.array([1.0, 2, 3], mask=[0, 1, 0])
    np.flip(x)[0] = 9
    assert x.filled(0).tolist() == [1, 0, 9]


def test_a_function_of_the_program_that_raises_is_called_once() -> None:
    calls = []

    def refuse(vector: Any) -> Any:
        calls.append(vector)
        raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        gpunumpy.apply_along_axis(refuse, 0, gpunumpy.ma.ones((2, 3)))
    assert len(calls) == 1


@pytest.mark.parametrize("call", OPERATORS)
def test_numpys_masked_arrays_are_operands(call: str, place: str) -> None:
    m = operands(numpy)["m"]
    check(eval(call, {"x": gpunumpy.asarray(m.data), "m": m}), eval(call, {"x": m.data, "m": m}))


@pytest.mark.parametrize("write", WRITERS)
def test_plain_arrays_take_the_elements(write: Callable[[Any, Any], Any], place: str) -> None:
    written = [np.ones((4, 4)) for np in (gpunumpy, numpy)]
    for np, x in zip((gpunumpy, numpy), written, strict=True):
        write(x, operands(np)["m"])
    numpy.testing.assert_array_equal(numpy.asarray(written[0]), written[1])


@pytest.mark.parametrize("call", ON_HOST)
def test_what_runs_on_the_host_says_so(call: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small arrays that are on the host anyway stay there in silence."""
    monkeypatch.setattr(fallback, "_action", "warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(run(gpunumpy, call), run(numpy, call))
    told = [warning for warning in caught if warning.category is gpunumpy.HostFallbackWarning]
    if place == "auto":
        assert not told
        return
    (warning,) = told
    assert str(warning.message).startswith(f"gpunumpy.{call.partition('(')[0]} runs through NumPy on the host")
    assert "masked arrays" in str(warning.message)
    monkeypatch.setattr(fallback, "_action", "error")
    with pytest.raises(gpunumpy.HostFallbackWarning, match="masked arrays"):
        run(gpunumpy, call)


def test_objects_say_nothing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ufunc of a Python function makes objects, which never are on a device."""
    for np in (numpy, gpunumpy):
        m, larger = (operands(np)[name] for name in ("m", "larger"))
        made = [np.frompyfunc(larger, 2, 1)(x, m) for x in (m, m.data)]
        assert [x.dtype for x in made] == [object, object]
        assert [type(x) for x in made] == [numpy.ma.MaskedArray] * 2
        numpy.testing.assert_array_equal(made[0].mask, operands(numpy)["m"].mask)
    monkeypatch.setattr(fallback, "_action", "error")
    with pytest.raises(TypeError, match="object"):
        gpunumpy.frompyfunc(larger, 2, 1)(m, m)


def test_texts_and_files_say_nothing(place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(fallback, "_action", "error")
    m = operands(gpunumpy)["m"]
    assert gpunumpy.array_str(m) == numpy.array_str(operands(numpy)["m"])
    assert gpunumpy.array2string(m) == numpy.array2string(operands(numpy)["m"])
    gpunumpy.savetxt(tmp_path / "m.txt", m)
