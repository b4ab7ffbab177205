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
TABLES: dict[str, dict[str, Case]] = {"ndimage": NDIMAGE}
