"""SciPy's functions for arrays of any namespace take and return gpunumpy arrays; `conftest` sets SCIPY_ARRAY_API."""

from __future__ import annotations

import sys
from typing import Any

import numpy
import pytest
from scipy import cluster, differentiate, fft, integrate, interpolate, ndimage, signal, spatial, special, stats
from scipy.optimize import elementwise

import gpunumpy
from gpunumpy.core._native import IS_COMPILED

from .ecosystem import Case, agree

RANDOM = numpy.random.default_rng(0)
X, V, W = RANDOM.normal(size=(12, 4)), RANDOM.normal(size=64), RANDOM.normal(size=64)
P = abs(X) + 0.1
GRID = numpy.linspace(0, 1, 9)


def _root(xp: Any, a: Any) -> Any:
    """The cube roots of two numbers, by a search between brackets."""
    low, high, c = (a(numpy.array(pair)) for pair in ((-2.0, -2.0), (5.0, 5.0), (1.0, 2.0)))
    return elementwise.find_root(lambda x, c: x**3 - c, (low, high), args=(c,)).x


def _quadrature(xp: Any, a: Any) -> Any:
    return integrate.tanhsinh(lambda x: xp.exp(-x * x), a(numpy.zeros(2)), a(numpy.array([1.0, 2.0]))).integral


def _jacobian(xp: Any, a: Any) -> Any:
    return differentiate.jacobian(lambda x: xp.stack([x[0] * x[1], x[0] ** 2]), a(numpy.array([1.0, 2.0]))).df


def _spline(xp: Any, a: Any) -> Any:
    return interpolate.make_interp_spline(a(GRID), a(V[:9]))(a(GRID[:-1] + 0.05))


def _grid(xp: Any, a: Any) -> Any:
    points = (a(numpy.arange(12.0)), a(numpy.arange(4.0)))
    return interpolate.RegularGridInterpolator(points, a(X))(a(P[:5, :2]))


def _test(result: Any) -> Any:
    """What the result of a test of hypotheses has."""
    return result.statistic, result.pvalue


SCIPY: dict[str, Case] = {
    "cluster.hierarchy.linkage": lambda xp, a: cluster.hierarchy.linkage(a(X), "ward"),
    "cluster.vq.kmeans": lambda xp, a: cluster.vq.kmeans(a(X), a(X[:3])),
    "cluster.vq.vq": lambda xp, a: cluster.vq.vq(a(X), a(X[:3])),
    "cluster.vq.whiten": lambda xp, a: cluster.vq.whiten(a(X)),
    "differentiate.derivative": lambda xp, a: differentiate.derivative(xp.exp, a(W[:3])).df,
    "differentiate.jacobian": _jacobian,
    "fft.dct": lambda xp, a: fft.dct(a(V)),
    "fft.fft": lambda xp, a: fft.fft(a(V)),
    "fft.fftfreq": lambda xp, a: fft.fftfreq(8, 0.1, xp=xp),
    "fft.rfft2": lambda xp, a: fft.rfft2(a(X)),
    "integrate.cubature": lambda xp, a: (
        integrate.cubature(lambda x: xp.sum(x * x, axis=-1), a(numpy.zeros(2)), a(numpy.ones(2))).estimate
    ),
    "integrate.cumulative_trapezoid": lambda xp, a: integrate.cumulative_trapezoid(a(X), axis=0),
    "integrate.tanhsinh": _quadrature,
    "integrate.trapezoid": lambda xp, a: integrate.trapezoid(a(V)),
    "interpolate.RegularGridInterpolator": _grid,
    "interpolate.make_interp_spline": _spline,
    "ndimage.binary_dilation": lambda xp, a: ndimage.binary_dilation(a(X > 0)),
    "ndimage.gaussian_filter": lambda xp, a: ndimage.gaussian_filter(a(X), 1.0),
    "ndimage.label": lambda xp, a: ndimage.label(a((X > 0).astype(int))),
    "ndimage.map_coordinates": lambda xp, a: ndimage.map_coordinates(a(X), a(P[:2])),
    "optimize.elementwise.find_root": _root,
    "signal.convolve": lambda xp, a: signal.convolve(a(V), a(W), method="direct"),
    "signal.detrend": lambda xp, a: signal.detrend(a(V)),
    "signal.fftconvolve": lambda xp, a: signal.fftconvolve(a(V), a(W)),
    "signal.freqz": lambda xp, a: signal.freqz(a(V[:3]), a(V[3:6]), worN=16),
    "signal.hilbert": lambda xp, a: signal.hilbert(a(V)),
    "signal.lfilter": lambda xp, a: signal.lfilter(a(V[:3]), a(numpy.array([1.0, 0.2])), a(V)),
    "signal.resample": lambda xp, a: signal.resample(a(V), 32),
    "signal.windows.hann": lambda xp, a: signal.windows.hann(16, xp=xp),
    "spatial.transform.Rotation": lambda xp, a: (
        spatial.transform.Rotation.from_rotvec(a(X[:, :3])).apply(a(X[:, 1:])),
        spatial.transform.Rotation.from_quat(a(X)).as_matrix(),
    ),
    "special.betainc": lambda xp, a: special.betainc(a(P), a(P + 1), a(P / 5)),
    "special.erf": lambda xp, a: special.erf(a(X)),
    "special.gammaln": lambda xp, a: special.gammaln(a(P)),
    "special.log_softmax": lambda xp, a: special.log_softmax(a(X), axis=1),
    "special.logsumexp": lambda xp, a: special.logsumexp(a(X), axis=1, b=a(P)),
    "special.rel_entr": lambda xp, a: special.rel_entr(a(P), a(P + 1)),
    "special.softmax": lambda xp, a: special.softmax(a(X), axis=0),
    "special.xlogy": lambda xp, a: special.xlogy(a(P), a(P)),
    "stats.directional_stats": lambda xp, a: stats.directional_stats(a(X)).mean_direction,
    "stats.entropy": lambda xp, a: stats.entropy(a(P), axis=1),
    "stats.f_oneway": lambda xp, a: _test(stats.f_oneway(a(V), a(W))),
    "stats.gmean": lambda xp, a: stats.gmean(a(P)),
    "stats.kurtosis": lambda xp, a: stats.kurtosis(a(X), axis=None),
    "stats.mannwhitneyu": lambda xp, a: _test(stats.mannwhitneyu(a(V), a(W))),
    "stats.pearsonr": lambda xp, a: _test(stats.pearsonr(a(V), a(W))),
    "stats.quantile": lambda xp, a: stats.quantile(a(V), a(numpy.array([0.1, 0.5]))),
    "stats.rankdata": lambda xp, a: stats.rankdata(a(numpy.round(V))),
    "stats.skew": lambda xp, a: stats.skew(a(X), axis=0),
    "stats.trim_mean": lambda xp, a: stats.trim_mean(a(X), 0.1),
    "stats.ttest_ind": lambda xp, a: _test(stats.ttest_ind(a(X), a(X + 0.2), equal_var=False)),
    "stats.zscore": lambda xp, a: stats.zscore(a(X)),
}


@pytest.mark.parametrize("name", SCIPY)
def test_scipy(at_home: str, name: str) -> None:
    agree(SCIPY[name], at_home)


def test_a_result_goes_on_lazily(at_home: str) -> None:
    """What SciPy gives back takes part in expressions, and what SciPy is given may be pending."""
    a = numpy.linspace(0.1, 1, 20)
    pending = gpunumpy.asarray(a) * 2 + 1
    found = special.logsumexp(pending) - special.softmax(pending)[3:5].sum()
    reference = special.logsumexp(a * 2 + 1) - special.softmax(a * 2 + 1)[3:5].sum()
    assert float(found) == pytest.approx(float(reference))


@pytest.mark.skipif(
    not IS_COMPILED and sys.version_info < (3, 12), reason="without the core arrays lend no memory before Python 3.12"
)
def test_what_scipy_computes_by_numpy_alone(at_home: str) -> None:
    """It takes arrays of the device, and its results are NumPy's numbers, or a newer SciPy's arrays of the device."""
    found = _test(stats.shapiro(gpunumpy.asarray(V, device=at_home)))
    assert list(map(float, found)) == pytest.approx(_test(stats.shapiro(V)), rel=1e-9)
