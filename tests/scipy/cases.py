"""Calls of SciPy's functions, a table for each submodule."""

from __future__ import annotations

from typing import Any

import numpy

from .beside import Case

RANDOM = numpy.random.default_rng(0)
X, V, W = RANDOM.normal(size=(12, 8)), RANDOM.normal(size=64), RANDOM.normal(size=64)
M = RANDOM.normal(size=(6, 6)) + 6 * numpy.eye(6)
S = M @ M.T
P = abs(X) + 0.1
GRID = numpy.linspace(0, 1, 9)
LABELS = (X > 0).astype(numpy.int32)
INTS = RANDOM.integers(0, 9, 30)
SPARSE = numpy.where(abs(M) > 0.7, M, 0.0)


def written(call: Any, shape: Any, dtype: Any = float) -> Case:
    """A call that writes to an array, which is the result, and what it returns."""

    def case(sp: Any, xp: Any, a: Any) -> Any:
        out = a(numpy.zeros(shape, dtype))
        return call(sp, xp, a, out), out

    return case


NDIMAGE: dict[str, Case] = {
    "affine_transform": lambda sp, xp, a: sp.ndimage.affine_transform(a(X), a([[0.9, 0.1], [0.0, 1.1]])),
    "binary_closing": lambda sp, xp, a: sp.ndimage.binary_closing(a(X > 0)),
    "binary_dilation": lambda sp, xp, a: sp.ndimage.binary_dilation(a(X > 0), iterations=2),
    "binary_erosion": lambda sp, xp, a: sp.ndimage.binary_erosion(a(X > 0), a(numpy.ones((2, 2)))),
    "binary_fill_holes": lambda sp, xp, a: sp.ndimage.binary_fill_holes(a(X > 0)),
    "center_of_mass": lambda sp, xp, a: sp.ndimage.center_of_mass(a(P)),
    "convolve": lambda sp, xp, a: sp.ndimage.convolve(a(X), a(P[:3, :3])),
    "convolve, list": lambda sp, xp, a: sp.ndimage.convolve(a(V), [1, 2, 1], mode="wrap"),
    "correlate1d": lambda sp, xp, a: sp.ndimage.correlate1d(a(X), a(V[:5]), axis=0),
    "distance_transform_edt": lambda sp, xp, a: sp.ndimage.distance_transform_edt(a(X > 0), return_indices=True),
    "extrema": lambda sp, xp, a: sp.ndimage.extrema(a(X), a(LABELS), 1),
    "find_objects": lambda sp, xp, a: sp.ndimage.find_objects(a(LABELS)),
    "fourier_gaussian": lambda sp, xp, a: sp.ndimage.fourier_gaussian(a(X), 1.0),
    "gaussian_filter": lambda sp, xp, a: sp.ndimage.gaussian_filter(a(X), 1.0),
    "gaussian_filter, float32": lambda sp, xp, a: sp.ndimage.gaussian_filter(a(X.astype("f4")), (1.0, 2.0)),
    "gaussian_filter, output": written(lambda sp, xp, a, o: sp.ndimage.gaussian_filter(a(X), 1.0, output=o), X.shape),
    "gaussian_filter, dtype": lambda sp, xp, a: sp.ndimage.gaussian_filter(a(X), 1.0, output=xp.float32),
    "gaussian_laplace": lambda sp, xp, a: sp.ndimage.gaussian_laplace(a(X), 1.0),
    "generic_filter": lambda sp, xp, a: sp.ndimage.generic_filter(a(X), lambda x: xp.max(x) - x[0], 3),
    "generic_filter, ours": lambda sp, xp, a: sp.ndimage.generic_filter(a(X), xp.median, 3),
    "geometric_transform": lambda sp, xp, a: sp.ndimage.geometric_transform(a(X), lambda at: (at[0], at[1] / 2)),
    "grey_dilation": lambda sp, xp, a: sp.ndimage.grey_dilation(a(X), size=(3, 3)),
    "histogram": lambda sp, xp, a: sp.ndimage.histogram(a(X), -2, 2, 5),
    "label": lambda sp, xp, a: sp.ndimage.label(a(LABELS)),
    "label, output": written(lambda sp, xp, a, o: sp.ndimage.label(a(LABELS), output=o), LABELS.shape, "i4"),
    "labeled_comprehension": lambda sp, xp, a: sp.ndimage.labeled_comprehension(
        a(X), a(LABELS), [0, 1], xp.mean, float, 0
    ),
    "laplace": lambda sp, xp, a: sp.ndimage.laplace(a(X)),
    "map_coordinates": lambda sp, xp, a: sp.ndimage.map_coordinates(a(X), a(P[:2]), order=1),
    "maximum_filter": lambda sp, xp, a: sp.ndimage.maximum_filter(a(X), size=3),
    "maximum_position": lambda sp, xp, a: sp.ndimage.maximum_position(a(X)),
    "mean": lambda sp, xp, a: sp.ndimage.mean(a(X), a(LABELS), index=a([0, 1])),
    "median_filter": lambda sp, xp, a: sp.ndimage.median_filter(a(X), 3),
    "percentile_filter": lambda sp, xp, a: sp.ndimage.percentile_filter(a(X), 20, size=3),
    "prewitt": lambda sp, xp, a: sp.ndimage.prewitt(a(X)),
    "rotate": lambda sp, xp, a: sp.ndimage.rotate(a(X), 30.0, reshape=False),
    "shift": lambda sp, xp, a: sp.ndimage.shift(a(X), (0.5, -1.5)),
    "sobel": lambda sp, xp, a: sp.ndimage.sobel(a(X), axis=1),
    "spline_filter": lambda sp, xp, a: sp.ndimage.spline_filter(a(X)),
    "standard_deviation": lambda sp, xp, a: sp.ndimage.standard_deviation(a(X)),
    "sum_labels": lambda sp, xp, a: sp.ndimage.sum_labels(a(X), a(LABELS), [0, 1]),
    "uniform_filter": lambda sp, xp, a: sp.ndimage.uniform_filter(a(X[::2, ::-1]), 3),
    "white_tophat": lambda sp, xp, a: sp.ndimage.white_tophat(a(X), size=3),
    "zoom": lambda sp, xp, a: sp.ndimage.zoom(a(X), (2, 0.5)),
}

SIGNAL: dict[str, Case] = {
    "argrelmax": lambda sp, xp, a: sp.signal.argrelmax(a(V)),
    "bessel": lambda sp, xp, a: sp.signal.bessel(3, 0.2),
    "butter": lambda sp, xp, a: sp.signal.butter(4, [0.2, 0.4], "bandpass", output="sos"),
    "cheby1": lambda sp, xp, a: sp.signal.cheby1(3, 1, 0.3),
    "chirp": lambda sp, xp, a: sp.signal.chirp(a(GRID), 1.0, 1.0, 6.0),
    "convolve": lambda sp, xp, a: sp.signal.convolve(a(V), a(W), mode="same"),
    "convolve2d": lambda sp, xp, a: sp.signal.convolve2d(a(X), a(P[:3, :3]), boundary="symm"),
    "correlate": lambda sp, xp, a: sp.signal.correlate(a(V), a(W), method="direct"),
    "correlation_lags": lambda sp, xp, a: sp.signal.correlation_lags(5, 3),
    "csd": lambda sp, xp, a: sp.signal.csd(a(V), a(W), nperseg=16),
    "czt": lambda sp, xp, a: sp.signal.czt(a(V), 16),
    "decimate": lambda sp, xp, a: sp.signal.decimate(a(V), 2),
    "detrend": lambda sp, xp, a: sp.signal.detrend(a(X), axis=0),
    "fftconvolve": lambda sp, xp, a: sp.signal.fftconvolve(a(X), a(P[:3])),
    "filtfilt": lambda sp, xp, a: sp.signal.filtfilt(*sp.signal.butter(2, 0.3), a(V)),
    "find_peaks": lambda sp, xp, a: sp.signal.find_peaks(a(V), height=0.1, distance=2),
    "firwin": lambda sp, xp, a: sp.signal.firwin(11, 0.3),
    "freqz": lambda sp, xp, a: sp.signal.freqz(a(V[:3]), a(V[3:6]), worN=16),
    "gausspulse": lambda sp, xp, a: sp.signal.gausspulse(a(GRID), fc=3),
    "hilbert": lambda sp, xp, a: sp.signal.hilbert(a(V)),
    "istft": lambda sp, xp, a: sp.signal.istft(sp.signal.stft(a(V), nperseg=16)[2], nperseg=16),
    "lfilter": lambda sp, xp, a: sp.signal.lfilter(a(V[:3]), a([1.0, 0.2]), a(V)),
    "lfilter, state": lambda sp, xp, a: sp.signal.lfilter(a(V[:3]), a([1.0, 0.2]), a(V), zi=a([0.1, 0.2])),
    "lsim": lambda sp, xp, a: sp.signal.lsim(([1.0], [1.0, 1.0]), a(GRID), a(GRID)),
    "max_len_seq": lambda sp, xp, a: sp.signal.max_len_seq(4),
    "medfilt": lambda sp, xp, a: sp.signal.medfilt(a(V), 5),
    "periodogram": lambda sp, xp, a: sp.signal.periodogram(a(V)),
    "resample": lambda sp, xp, a: sp.signal.resample(a(V), 32),
    "resample_poly": lambda sp, xp, a: sp.signal.resample_poly(a(V), 3, 2),
    "savgol_filter": lambda sp, xp, a: sp.signal.savgol_filter(a(V), 7, 2),
    "sawtooth": lambda sp, xp, a: sp.signal.sawtooth(a(V)),
    "sosfilt": lambda sp, xp, a: sp.signal.sosfilt(sp.signal.butter(3, 0.2, output="sos"), a(V)),
    "spectrogram": lambda sp, xp, a: sp.signal.spectrogram(a(V), nperseg=16),
    "square": lambda sp, xp, a: sp.signal.square(a(V)),
    "TransferFunction": lambda sp, xp, a: sp.signal.TransferFunction([1.0], [1.0, 2.0, 1.0]).step(T=a(GRID)),
    "StateSpace": lambda sp, xp, a: sp.signal.StateSpace(a(M[:2, :2]), a(M[:2, :1]), a(M[:1, :2]), a([[0.0]])).A,
    "ShortTimeFFT": lambda sp, xp, a: sp.signal.ShortTimeFFT(a(P[0]), hop=4, fs=1.0).stft(a(V)),
    "unit_impulse": lambda sp, xp, a: sp.signal.unit_impulse(7, 2),
    "upfirdn": lambda sp, xp, a: sp.signal.upfirdn(a([1.0, 1.0, 1.0]), a(V), 2, 3),
    "welch": lambda sp, xp, a: sp.signal.welch(a(V), nperseg=16),
    "wiener": lambda sp, xp, a: sp.signal.wiener(a(X), 3),
    "windows.hann": lambda sp, xp, a: sp.signal.windows.hann(9),
    "windows.get_window": lambda sp, xp, a: sp.signal.windows.get_window(("kaiser", 4.0), 9),
    "zpk2sos": lambda sp, xp, a: sp.signal.zpk2sos(*sp.signal.butter(4, 0.2, output="zpk")),
}


def csr(sp: Any, a: Any) -> Any:
    return sp.sparse.csr_array(a(SPARSE))


SPARSE_CALLS: dict[str, Case] = {
    "csr_array of dense": lambda sp, xp, a: csr(sp, a),
    "csr_matrix of parts": lambda sp, xp, a: sp.sparse.csr_matrix(
        (a([1.0, 2.0, 3.0]), a(numpy.array([0, 2, 1], "i4")), a(numpy.array([0, 1, 3], "i4"))), shape=(2, 3)
    ),
    "coo_array of coordinates": lambda sp, xp, a: sp.sparse.coo_array((a([1.0, 2.0]), (a([0, 2]), a([1, 1]))), (3, 3)),
    "dia_array": lambda sp, xp, a: sp.sparse.dia_array((a(X[:3]), a([0, -1, 2])), shape=(8, 8)),
    "empty": lambda sp, xp, a: sp.sparse.csr_array((3, 4)),
    "eye_array": lambda sp, xp, a: sp.sparse.eye_array(4),
    "diags_array": lambda sp, xp, a: sp.sparse.diags_array([a(V[:4]), a(V[:3])], offsets=[0, 1]),
    "random_array": lambda sp, xp, a: sp.sparse.random_array((5, 6), density=0.3, rng=xp.random.default_rng(3)),
    "data": lambda sp, xp, a: csr(sp, a).data,
    "indices": lambda sp, xp, a: csr(sp, a).indices,
    "indptr": lambda sp, xp, a: csr(sp, a).indptr,
    "coords": lambda sp, xp, a: csr(sp, a).tocoo().coords,
    "nnz": lambda sp, xp, a: csr(sp, a).nnz,
    "A @ vector": lambda sp, xp, a: csr(sp, a) @ a(V[:6]),
    "A @ matrix": lambda sp, xp, a: csr(sp, a) @ a(M),
    "A @ A": lambda sp, xp, a: csr(sp, a) @ csr(sp, a),
    "vector @ A": lambda sp, xp, a: a(V[:6]) @ csr(sp, a),
    "matrix @ A": lambda sp, xp, a: a(M) @ csr(sp, a),
    "A + A": lambda sp, xp, a: csr(sp, a) + csr(sp, a).T,
    "A - A": lambda sp, xp, a: csr(sp, a) - csr(sp, a),
    "A + dense": lambda sp, xp, a: csr(sp, a) + a(M),
    "dense + A": lambda sp, xp, a: a(M) + csr(sp, a),
    "A * 2": lambda sp, xp, a: csr(sp, a) * 2,
    "3 * A": lambda sp, xp, a: 3.0 * csr(sp, a),
    "A * A": lambda sp, xp, a: csr(sp, a) * csr(sp, a),
    "A * dense": lambda sp, xp, a: csr(sp, a) * a(M),
    "A / 2": lambda sp, xp, a: csr(sp, a) / 2,
    "-A": lambda sp, xp, a: -csr(sp, a),
    "abs(A)": lambda sp, xp, a: abs(csr(sp, a)),
    "A ** 2": lambda sp, xp, a: csr(sp, a) ** 2,
    "A > 0": lambda sp, xp, a: csr(sp, a) > 0,
    "A != A.T": lambda sp, xp, a: csr(sp, a) != csr(sp, a).T,
    "A.T": lambda sp, xp, a: csr(sp, a).T,
    "A[1]": lambda sp, xp, a: csr(sp, a)[1],
    "A[1, 2]": lambda sp, xp, a: csr(sp, a)[1, 2],
    "A[1:3, ::2]": lambda sp, xp, a: csr(sp, a)[1:3, ::2],
    "A[rows]": lambda sp, xp, a: csr(sp, a)[a([2, 0, 2])],
    "sum": lambda sp, xp, a: csr(sp, a).sum(axis=0),
    "max": lambda sp, xp, a: csr(sp, a).max(),
    "diagonal": lambda sp, xp, a: csr(sp, a).diagonal(),
    "power": lambda sp, xp, a: csr(sp, a).power(2),
    "sqrt": lambda sp, xp, a: abs(csr(sp, a)).sqrt(),
    "tocsc": lambda sp, xp, a: csr(sp, a).tocsc(),
    "tocoo": lambda sp, xp, a: csr(sp, a).tocoo(),
    "tolil": lambda sp, xp, a: csr(sp, a).tolil(),
    "toarray, out": written(lambda sp, xp, a, o: csr(sp, a).toarray(out=o), M.shape),
    "astype": lambda sp, xp, a: csr(sp, a).astype(xp.float32),
    "vstack": lambda sp, xp, a: sp.sparse.vstack([csr(sp, a), csr(sp, a)], format="csr"),
    "kron": lambda sp, xp, a: sp.sparse.kron(csr(sp, a), a([[1.0, 2.0]])),
    "find": lambda sp, xp, a: sp.sparse.find(csr(sp, a)),
    "tril": lambda sp, xp, a: sp.sparse.tril(csr(sp, a)),
    "issparse": lambda sp, xp, a: (sp.sparse.issparse(csr(sp, a)), sp.sparse.issparse(a(M))),
    "linalg.spsolve": lambda sp, xp, a: sp.sparse.linalg.spsolve(sp.sparse.csr_array(a(M)), a(V[:6])),
    "linalg.cg": lambda sp, xp, a: sp.sparse.linalg.cg(sp.sparse.csr_array(a(S)), a(V[:6]), rtol=1e-12),
    "linalg.gmres, function": lambda sp, xp, a: sp.sparse.linalg.gmres(
        sp.sparse.linalg.LinearOperator((6, 6), matvec=lambda v: a(M) @ v, dtype=float), a(V[:6]), rtol=1e-12
    ),
    "linalg.LinearOperator": lambda sp, xp, a: sp.sparse.linalg.aslinearoperator(csr(sp, a)) @ a(V[:6]),
    "linalg.splu": lambda sp, xp, a: sp.sparse.linalg.splu(sp.sparse.csc_array(a(M))).solve(a(V[:6])),
    "linalg.factorized": lambda sp, xp, a: sp.sparse.linalg.factorized(sp.sparse.csc_array(a(M)))(a(V[:6])),
    "linalg.norm": lambda sp, xp, a: sp.sparse.linalg.norm(csr(sp, a)),
    "linalg.expm_multiply": lambda sp, xp, a: sp.sparse.linalg.expm_multiply(csr(sp, a), a(V[:6])),
    "linalg.eigsh": lambda sp, xp, a: sp.sparse.linalg.eigsh(sp.sparse.csr_array(a(S)), k=1, v0=a(V[:6]))[0],
    "csgraph.connected_components": lambda sp, xp, a: sp.sparse.csgraph.connected_components(csr(sp, a)),
    "csgraph.shortest_path": lambda sp, xp, a: sp.sparse.csgraph.shortest_path(abs(csr(sp, a))),
}
SPECIAL: dict[str, Case] = {
    "airy": lambda sp, xp, a: sp.special.airy(a(V)),
    "bernoulli": lambda sp, xp, a: sp.special.bernoulli(6),
    "betainc": lambda sp, xp, a: sp.special.betainc(a(P), a(P + 1), a(P / 5)),
    "comb": lambda sp, xp, a: sp.special.comb(a([5, 6]), 2),
    "ellipk": lambda sp, xp, a: sp.special.ellipk(a(GRID[:-1])),
    "exp1": lambda sp, xp, a: sp.special.exp1(a(P)),
    "expn": lambda sp, xp, a: sp.special.expn(2, a(P)),
    "factorial": lambda sp, xp, a: sp.special.factorial(a(INTS)),
    "fresnel": lambda sp, xp, a: sp.special.fresnel(a(V)),
    "gammainc": lambda sp, xp, a: sp.special.gammainc(a(P), a(P)),
    "hyp2f1": lambda sp, xp, a: sp.special.hyp2f1(0.5, 1.0, 1.5, a(GRID[:-1])),
    "iv": lambda sp, xp, a: sp.special.iv(1.5, a(P)),
    "jv, out": written(lambda sp, xp, a, o: sp.special.jv(2, a(P), out=o), P.shape),
    "lambertw": lambda sp, xp, a: sp.special.lambertw(a(P)),
    "legendre": lambda sp, xp, a: sp.special.legendre_p(3, a(GRID)),
    "multigammaln": lambda sp, xp, a: sp.special.multigammaln(a(P + 2), 2),
    "ndtri": lambda sp, xp, a: sp.special.ndtri(a(GRID[1:-1])),
    "polygamma": lambda sp, xp, a: sp.special.polygamma(2, a(P)),
    "roots_legendre": lambda sp, xp, a: sp.special.roots_legendre(5),
    "sici": lambda sp, xp, a: sp.special.sici(a(P)),
    "softmax": lambda sp, xp, a: sp.special.softmax(a(X), axis=1),
    "sph_harm_y": lambda sp, xp, a: sp.special.sph_harm_y(2, 1, a(P), a(P)),
    "spherical_jn": lambda sp, xp, a: sp.special.spherical_jn(2, a(P)),
    "zeta": lambda sp, xp, a: sp.special.zeta(a(P + 1.5)),
}
INTERPOLATE: dict[str, Case] = {
    "Akima1DInterpolator": lambda sp, xp, a: sp.interpolate.Akima1DInterpolator(a(GRID), a(V[:9]))(a(GRID[:-1] + 0.05)),
    "BSpline": lambda sp, xp, a: sp.interpolate.BSpline(a(numpy.arange(11.0)), a(V[:7]), 3)(a([4.5, 5.0])),
    "BSpline, coefficients": lambda sp, xp, a: sp.interpolate.make_interp_spline(a(GRID), a(V[:9])).c,
    "BSpline, derivative": lambda sp, xp, a: sp.interpolate.make_interp_spline(a(GRID), a(V[:9])).derivative()(a(GRID)),
    "CubicSpline": lambda sp, xp, a: sp.interpolate.CubicSpline(a(GRID), a(X[:9]))(a(GRID), 1),
    "CubicSpline, integral": lambda sp, xp, a: sp.interpolate.CubicSpline(a(GRID), a(V[:9])).integrate(0, 0.5),
    "CubicHermiteSpline": lambda sp, xp, a: sp.interpolate.CubicHermiteSpline(a(GRID), a(V[:9]), a(W[:9]))(a([0.3])),
    "PchipInterpolator": lambda sp, xp, a: sp.interpolate.PchipInterpolator(a(GRID), a(V[:9]))(a([0.3, 0.4])),
    "PPoly": lambda sp, xp, a: sp.interpolate.PPoly(a(X[:3, :2]), a([0.0, 1.0, 2.0]))(a([0.5, 1.5])),
    "PPoly.from_spline": lambda sp, xp, a: sp.interpolate.PPoly.from_spline(
        sp.interpolate.make_interp_spline(a(GRID), a(V[:9]))
    )(a([0.3])),
    "RBFInterpolator": lambda sp, xp, a: sp.interpolate.RBFInterpolator(a(X[:, :2]), a(X[:, 2]))(a(P[:3, :2])),
    "RegularGridInterpolator": lambda sp, xp, a: sp.interpolate.RegularGridInterpolator(
        (a(numpy.arange(12.0)), a(numpy.arange(8.0))), a(X)
    )(a(P[:5, :2])),
    "RegularGridInterpolator, values": lambda sp, xp, a: (
        sp.interpolate.RegularGridInterpolator((numpy.arange(12.0), numpy.arange(8.0)), a(X)).values
    ),
    "barycentric_interpolate": lambda sp, xp, a: sp.interpolate.barycentric_interpolate(a(GRID), a(V[:9]), a([0.3])),
    "griddata": lambda sp, xp, a: sp.interpolate.griddata(a(X[:, :2]), a(X[:, 2]), a(X[:3, :2] * 0.3)),
    "interp1d": lambda sp, xp, a: sp.interpolate.interp1d(a(GRID), a(V[:9]))(a([0.3, 0.4])),
    "interpn": lambda sp, xp, a: sp.interpolate.interpn((a(numpy.arange(12.0)),), a(V[:12]), a([[0.5], [1.5]])),
    "make_lsq_spline": lambda sp, xp, a: (
        sp.interpolate.make_lsq_spline(a(GRID), a(V[:9]), a([0.0, 0, 0, 0, 0.5, 1, 1, 1, 1])).c
    ),
    "splrep": lambda sp, xp, a: sp.interpolate.splrep(a(GRID), a(V[:9])),
    "splev": lambda sp, xp, a: sp.interpolate.splev(a([0.1, 0.2]), sp.interpolate.splrep(a(GRID), a(V[:9]))),
    "UnivariateSpline": lambda sp, xp, a: sp.interpolate.UnivariateSpline(a(GRID), a(V[:9]), s=0)(a([0.3])),
    "RectBivariateSpline": lambda sp, xp, a: sp.interpolate.RectBivariateSpline(
        a(numpy.arange(12.0)), a(numpy.arange(8.0)), a(X)
    ).ev(a([1.5]), a([2.5])),
}
STATS: dict[str, Case] = {
    "beta.rvs": lambda sp, xp, a: sp.stats.beta.rvs(2.0, 3.0, size=5, random_state=xp.random.default_rng(1)),
    "bootstrap": lambda sp, xp, a: (
        sp.stats.bootstrap(
            (a(V),), xp.mean, n_resamples=9, rng=xp.random.default_rng(0), vectorized=True
        ).standard_error
    ),
    "boxcox": lambda sp, xp, a: sp.stats.boxcox(a(P.ravel())),
    "chi2_contingency": lambda sp, xp, a: sp.stats.chi2_contingency(a([[10, 20], [30, 25]])),
    "describe": lambda sp, xp, a: sp.stats.describe(a(X)),
    "entropy": lambda sp, xp, a: sp.stats.entropy(a(P), axis=1),
    "f_oneway": lambda sp, xp, a: sp.stats.f_oneway(a(V), a(W)),
    "gaussian_kde": lambda sp, xp, a: sp.stats.gaussian_kde(a(V))(a(GRID)),
    "gmean": lambda sp, xp, a: sp.stats.gmean(a(P)),
    "iqr": lambda sp, xp, a: sp.stats.iqr(a(V)),
    "kendalltau": lambda sp, xp, a: sp.stats.kendalltau(a(V), a(W)),
    "kstest": lambda sp, xp, a: sp.stats.kstest(a(V), "norm"),
    "kstest, function": lambda sp, xp, a: sp.stats.kstest(a(V), sp.stats.norm.cdf).pvalue,
    "kurtosis": lambda sp, xp, a: sp.stats.kurtosis(a(X), axis=None),
    "linregress": lambda sp, xp, a: sp.stats.linregress(a(V), a(W)),
    "mannwhitneyu": lambda sp, xp, a: sp.stats.mannwhitneyu(a(V), a(W)),
    "mode": lambda sp, xp, a: sp.stats.mode(a(INTS)),
    "moment": lambda sp, xp, a: sp.stats.moment(a(V), order=3),
    "multivariate_normal": lambda sp, xp, a: sp.stats.multivariate_normal(a(V[:2]), a(S[:2, :2])).logpdf(a(X[:, :2])),
    "norm, frozen": lambda sp, xp, a: sp.stats.norm(a(V[:3]), 2.0).cdf(a([0.0, 1.0, 2.0])),
    "norm.fit": lambda sp, xp, a: sp.stats.norm.fit(a(V)),
    "norm.pdf": lambda sp, xp, a: sp.stats.norm.pdf(a(X), scale=a(P)),
    "Normal": lambda sp, xp, a: sp.stats.Normal(mu=a(V[:3]), sigma=1.0).pdf(a(W[:3])),
    "pearsonr": lambda sp, xp, a: sp.stats.pearsonr(a(V), a(W)),
    "pearsonr, interval": lambda sp, xp, a: sp.stats.pearsonr(a(V), a(W)).confidence_interval(0.9),
    "percentileofscore": lambda sp, xp, a: sp.stats.percentileofscore(a(V), a([0.0, 0.5])),
    "permutation_test": lambda sp, xp, a: (
        sp.stats.permutation_test(
            (a(V[:6]), a(W[:6])), lambda x, y: xp.mean(x) - xp.mean(y), n_resamples=20, rng=xp.random.default_rng(0)
        ).pvalue
    ),
    "poisson.pmf": lambda sp, xp, a: sp.stats.poisson.pmf(a(INTS), 3.5),
    "qmc.Sobol": lambda sp, xp, a: sp.stats.qmc.Sobol(2, scramble=False).random(4),
    "rankdata": lambda sp, xp, a: sp.stats.rankdata(a(INTS)),
    "sem": lambda sp, xp, a: sp.stats.sem(a(X)),
    "sigmaclip": lambda sp, xp, a: sp.stats.sigmaclip(a(V), 2.0, 2.0),
    "skew": lambda sp, xp, a: sp.stats.skew(a(X), axis=0),
    "spearmanr": lambda sp, xp, a: sp.stats.spearmanr(a(V), a(W)),
    "trim_mean": lambda sp, xp, a: sp.stats.trim_mean(a(X), 0.1),
    "ttest_ind": lambda sp, xp, a: sp.stats.ttest_ind(a(X), a(X + 0.2), equal_var=False),
    "ttest_ind, interval": lambda sp, xp, a: sp.stats.ttest_ind(a(V), a(W)).confidence_interval(),
    "ttest_rel": lambda sp, xp, a: sp.stats.ttest_rel(a(V), a(W)),
    "wilcoxon": lambda sp, xp, a: sp.stats.wilcoxon(a(V), a(W)),
    "zscore": lambda sp, xp, a: sp.stats.zscore(a(X)),
}
SPATIAL: dict[str, Case] = {
    "ConvexHull": lambda sp, xp, a: (
        sp.spatial.ConvexHull(a(X[:, :2])).vertices,
        sp.spatial.ConvexHull(a(X[:, :2])).area,
    ),
    "Delaunay": lambda sp, xp, a: sp.spatial.Delaunay(a(X[:, :2])).find_simplex(a(X[:2, :2] * 0.2)),
    "KDTree": lambda sp, xp, a: sp.spatial.KDTree(a(X[:, :3])).query(a(P[:4, :3]), k=2),
    "KDTree, data": lambda sp, xp, a: sp.spatial.KDTree(a(X[:, :3])).data,
    "KDTree, pairs": lambda sp, xp, a: sp.spatial.KDTree(a(X[:, :3])).query_pairs(1.0),
    "KDTree, two": lambda sp, xp, a: sp.spatial.KDTree(a(X[:, :3])).count_neighbors(
        sp.spatial.KDTree(a(P[:, :3])), 1.0
    ),
    "KDTree, sparse": lambda sp, xp, a: sp.spatial.KDTree(a(X[:, :3])).sparse_distance_matrix(
        sp.spatial.KDTree(a(P[:, :3])), 1.0, output_type="coo_matrix"
    ),
    "Rotation": lambda sp, xp, a: sp.spatial.transform.Rotation.from_rotvec(a(X[:, :3])).apply(a(X[:, 1:4])),
    "Rotation, product": lambda sp, xp, a: (
        sp.spatial.transform.Rotation.from_quat(a(X[:, :4])) * sp.spatial.transform.Rotation.from_euler("z", 0.3)
    ).as_matrix(),
    "Rotation, one": lambda sp, xp, a: sp.spatial.transform.Rotation.from_quat(a(X[:, :4]))[1].as_quat(),
    "Slerp": lambda sp, xp, a: sp.spatial.transform.Slerp(
        a([0.0, 1.0]), sp.spatial.transform.Rotation.from_quat(a(X[:2, :4]))
    )(a([0.5])).as_quat(),
    "Voronoi": lambda sp, xp, a: sp.spatial.Voronoi(a(X[:, :2])).vertices,
    "distance.cdist": lambda sp, xp, a: sp.spatial.distance.cdist(a(X), a(P)),
    "distance.cdist, metric": lambda sp, xp, a: sp.spatial.distance.cdist(a(X), a(P), "cityblock"),
    "distance.cdist, function": lambda sp, xp, a: sp.spatial.distance.cdist(
        a(X[:3]), a(P[:3]), lambda u, v: xp.max(xp.abs(u - v))
    ),
    "distance.cosine": lambda sp, xp, a: sp.spatial.distance.cosine(a(V), a(W)),
    "distance.pdist": lambda sp, xp, a: sp.spatial.distance.pdist(a(X)),
    "distance.squareform": lambda sp, xp, a: sp.spatial.distance.squareform(sp.spatial.distance.pdist(a(X))),
    "procrustes": lambda sp, xp, a: sp.spatial.procrustes(a(X), a(P)),
}


def rosen(x: Any) -> Any:
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


OPTIMIZE: dict[str, Case] = {
    "Bounds": lambda sp, xp, a: (
        sp.optimize.minimize(
            rosen, a([0.5, 0.5]), bounds=sp.optimize.Bounds(a([0.0, 0.0]), a([0.8, 2.0])), method="L-BFGS-B"
        ).x
    ),
    "LinearConstraint": lambda sp, xp, a: (
        sp.optimize.minimize(
            rosen, a([0.5, 0.5]), constraints=sp.optimize.LinearConstraint(a([[1.0, 1.0]]), -1, 1), method="SLSQP"
        ).success
    ),
    "approx_fprime": lambda sp, xp, a: sp.optimize.approx_fprime(a(V[:3]), rosen),
    "brentq": lambda sp, xp, a: sp.optimize.brentq(lambda x: xp.cos(x) - x, 0, 1),
    "curve_fit": lambda sp, xp, a: sp.optimize.curve_fit(
        lambda t, p, q: p * xp.exp(-q * t), a(GRID), a(2 * numpy.exp(-GRID)), p0=a([1.0, 0.5])
    )[0],
    "differential_evolution": lambda sp, xp, a: (
        sp.optimize.differential_evolution(
            rosen, [(0, 2), (0, 2)], rng=xp.random.default_rng(0), maxiter=3, polish=False
        ).x
    ),
    "fixed_point": lambda sp, xp, a: sp.optimize.fixed_point(lambda x: xp.cos(x), a([0.5, 1.0])),
    "fsolve": lambda sp, xp, a: sp.optimize.fsolve(lambda x: x**2 - a([1.0, 4.0]), a([0.5, 1.0])),
    "least_squares": lambda sp, xp, a: (
        sp.optimize.least_squares(lambda x, t, y: x[0] * t + x[1] - y, a([0.0, 0.0]), args=(a(GRID), a(3 * GRID + 1))).x
    ),
    "linear_sum_assignment": lambda sp, xp, a: sp.optimize.linear_sum_assignment(a(M)),
    "linprog": lambda sp, xp, a: (
        sp.optimize.linprog(a([-1.0, 4.0]), A_ub=a([[-3.0, 1.0], [1.0, 2.0]]), b_ub=a([6.0, 4.0])).x
    ),
    "lsq_linear": lambda sp, xp, a: sp.optimize.lsq_linear(a(M), a(V[:6])).x,
    "minimize": lambda sp, xp, a: sp.optimize.minimize(lambda x: ((x - a(V[:3])) ** 2).sum(), a([0.0, 0.0, 0.0])).x,
    "minimize, gradient": lambda sp, xp, a: (
        sp.optimize.minimize(
            lambda x, c: (((x - c) ** 2).sum(), 2 * (x - c)), a([0.0, 0.0]), args=(a([1.0, 2.0]),), jac=True
        ).x
    ),
    "minimize_scalar": lambda sp, xp, a: sp.optimize.minimize_scalar(lambda x: (x - 2) ** 2).x,
    "newton": lambda sp, xp, a: sp.optimize.newton(lambda x: x**3 - a([1.0, 2.0]), a([1.0, 1.0])),
    "nnls": lambda sp, xp, a: sp.optimize.nnls(a(P[:8]), a(P[0])),
    "root": lambda sp, xp, a: sp.optimize.root(lambda x: x + xp.cos(x), a([0.3])).x,
    "root_scalar": lambda sp, xp, a: sp.optimize.root_scalar(lambda x: x**2 - 2, bracket=[0, 2]).root,
    "rosen": lambda sp, xp, a: sp.optimize.rosen(a(V[:3])),
}
INTEGRATE: dict[str, Case] = {
    "cumulative_simpson": lambda sp, xp, a: sp.integrate.cumulative_simpson(a(X)),
    "cumulative_trapezoid": lambda sp, xp, a: sp.integrate.cumulative_trapezoid(a(X), axis=0),
    "dblquad": lambda sp, xp, a: sp.integrate.dblquad(lambda y, x: x * y, 0, 1, 0, 2),
    "fixed_quad": lambda sp, xp, a: sp.integrate.fixed_quad(lambda x: xp.exp(x), 0, 1),
    "odeint": lambda sp, xp, a: sp.integrate.odeint(lambda y, t: -y, a([1.0, 2.0]), a(GRID)),
    "quad": lambda sp, xp, a: sp.integrate.quad(lambda x: xp.sin(x), 0, 1),
    "quad_vec": lambda sp, xp, a: sp.integrate.quad_vec(lambda x: x * a(V[:3]), 0, 1),
    "romb": lambda sp, xp, a: sp.integrate.romb(a(GRID)),
    "simpson": lambda sp, xp, a: sp.integrate.simpson(a(V), dx=0.1),
    "solve_bvp": lambda sp, xp, a: (
        sp.integrate.solve_bvp(
            lambda x, y: xp.vstack([y[1], -y[0]]),
            lambda u, v: xp.array([u[0], v[0] - 1]),
            a(GRID),
            a(numpy.zeros((2, 9))),
        ).success
    ),
    "solve_ivp": lambda sp, xp, a: sp.integrate.solve_ivp(lambda t, y: -y, (0, 1), a([1.0, 2.0])),
    "solve_ivp, dense": lambda sp, xp, a: sp.integrate.solve_ivp(
        lambda t, y, m: m @ y, (0, 0.1), a(V[:6]), args=(a(M),), dense_output=True, method="Radau"
    ).sol(a([0.05, 0.1])),
    "solve_ivp, event": lambda sp, xp, a: (
        sp.integrate.solve_ivp(lambda t, y: -y, (0, 1), a([1.0]), events=lambda t, y: y[0] - 0.5).t_events
    ),
    "trapezoid": lambda sp, xp, a: sp.integrate.trapezoid(a(V)),
    "RK45": lambda sp, xp, a: sp.integrate.RK45(lambda t, y: -y, 0, a([1.0, 2.0]), 1).y,
}
LINALG: dict[str, Case] = {
    "block_diag": lambda sp, xp, a: sp.linalg.block_diag(a(M[:2]), a(M[:1])),
    "cho_factor": lambda sp, xp, a: sp.linalg.cho_factor(a(S)),
    "cho_solve": lambda sp, xp, a: sp.linalg.cho_solve(sp.linalg.cho_factor(a(S)), a(V[:6])),
    "cholesky": lambda sp, xp, a: sp.linalg.cholesky(a(S), lower=True),
    "circulant": lambda sp, xp, a: sp.linalg.circulant(a(V[:4])),
    "det": lambda sp, xp, a: sp.linalg.det(a(M)),
    "eig": lambda sp, xp, a: sp.linalg.eig(a(M)),
    "eigh": lambda sp, xp, a: sp.linalg.eigh(a(S)),
    "eigh, some": lambda sp, xp, a: sp.linalg.eigh(a(S), subset_by_index=[0, 1]),
    "expm": lambda sp, xp, a: sp.linalg.expm(a(M / 10)),
    "get_blas_funcs": lambda sp, xp, a: sp.linalg.get_blas_funcs("axpy", (a(V),))(a(V), a(W)),
    "hilbert": lambda sp, xp, a: sp.linalg.hilbert(4),
    "inv": lambda sp, xp, a: sp.linalg.inv(a(M)),
    "inv, float32": lambda sp, xp, a: sp.linalg.inv(a(M.astype("f4"))).dtype,
    "logm": lambda sp, xp, a: sp.linalg.logm(a(S)),
    "lstsq": lambda sp, xp, a: sp.linalg.lstsq(a(X), a(V[:12])),
    "lu": lambda sp, xp, a: sp.linalg.lu(a(M)),
    "lu_factor": lambda sp, xp, a: sp.linalg.lu_factor(a(M)),
    "lu_solve": lambda sp, xp, a: sp.linalg.lu_solve(sp.linalg.lu_factor(a(M)), a(V[:6])),
    "norm": lambda sp, xp, a: sp.linalg.norm(a(M), 1),
    "null_space": lambda sp, xp, a: sp.linalg.null_space(a(M[:4])).shape,
    "pinv": lambda sp, xp, a: sp.linalg.pinv(a(X)),
    "polar": lambda sp, xp, a: sp.linalg.polar(a(M)),
    "qr": lambda sp, xp, a: sp.linalg.qr(a(X), mode="economic"),
    "schur": lambda sp, xp, a: sp.linalg.schur(a(S)),
    "solve": lambda sp, xp, a: sp.linalg.solve(a(M), a(V[:6]), assume_a="gen"),
    "solve_banded": lambda sp, xp, a: sp.linalg.solve_banded((1, 1), a(P[:3]), a(V[:8])),
    "solve_triangular": lambda sp, xp, a: sp.linalg.solve_triangular(a(M), a(V[:6])),
    "solve_toeplitz": lambda sp, xp, a: sp.linalg.solve_toeplitz(a([3.0, 1.0, 0.5]), a(V[:3])),
    "sqrtm": lambda sp, xp, a: sp.linalg.sqrtm(a(S)),
    "svd": lambda sp, xp, a: sp.linalg.svd(a(X), full_matrices=False),
    "toeplitz": lambda sp, xp, a: sp.linalg.toeplitz(a(V[:4]), a(W[:3])),
}
FFT: dict[str, Case] = {
    **{
        name: lambda sp, xp, a, name=name: getattr(sp.fft, name)(a(V if "2" not in name else X))
        for name in (
            "fft",
            "ifft",
            "rfft",
            "irfft",
            "hfft",
            "ihfft",
            "fft2",
            "ifft2",
            "rfft2",
            "fftn",
            "dct",
            "idct",
            "dst",
        )
    },
    "dctn": lambda sp, xp, a: sp.fft.dctn(a(X), norm="ortho"),
    "fft, float32": lambda sp, xp, a: sp.fft.fft(a(V.astype("f4"))),
    "fft, options": lambda sp, xp, a: sp.fft.fft(a(X), 16, axis=0, norm="forward", overwrite_x=True, workers=1),
    "fftfreq": lambda sp, xp, a: sp.fft.fftfreq(8, 0.1),
    "fftshift": lambda sp, xp, a: sp.fft.fftshift(a(X), axes=1),
    "fht": lambda sp, xp, a: sp.fft.fht(a(P[0]), 0.1, 0.5),
    "irfftn": lambda sp, xp, a: sp.fft.irfftn(a(X + 1j), s=(12, 14)),
    "next_fast_len": lambda sp, xp, a: sp.fft.next_fast_len(97),
    "rfftfreq": lambda sp, xp, a: sp.fft.rfftfreq(9),
}
CLUSTER: dict[str, Case] = {
    "hierarchy.linkage": lambda sp, xp, a: sp.cluster.hierarchy.linkage(a(X), "ward"),
    "vq.kmeans2": lambda sp, xp, a: sp.cluster.vq.kmeans2(a(X), a(X[:3]), minit="matrix"),
    "vq.whiten": lambda sp, xp, a: sp.cluster.vq.whiten(a(X)),
}
OTHERS: dict[str, Case] = {
    "constants.pi": lambda sp, xp, a: sp.constants.pi,
    "constants.convert_temperature": lambda sp, xp, a: sp.constants.convert_temperature(a([0.0, 1.0]), "C", "K"),
    "differentiate.derivative": lambda sp, xp, a: sp.differentiate.derivative(xp.exp, a(W[:3])).df,
    "differentiate.jacobian": lambda sp, xp, a: (
        sp.differentiate.jacobian(lambda x: xp.stack([x[0] * x[1], x[0] ** 2]), a([1.0, 2.0])).df
    ),
}
TABLES: dict[str, dict[str, Case]] = {
    "ndimage": NDIMAGE,
    "signal": SIGNAL,
    "sparse": SPARSE_CALLS,
    "special": SPECIAL,
    "interpolate": INTERPOLATE,
    "stats": STATS,
    "spatial": SPATIAL,
    "optimize": OPTIMIZE,
    "integrate": INTEGRATE,
    "linalg": LINALG,
    "fft": FFT,
    "cluster": CLUSTER,
    "others": OTHERS,
}
