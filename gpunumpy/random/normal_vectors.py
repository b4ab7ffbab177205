"""Normal vectors: normal numbers times the factor of their covariance, which NumPy computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.graph.layout import Shape
from ..core.recording.array import from_host
from ..core.recording.record import elementwise
from ..functions.manipulation.shape import reshape
from ..functions.products.stacked import matmul
from ..functions.ufuncs.output import hosted
from .device_draws import Target
from .parameters import float64_row, shape_of_rows


def _with_identity_normals(numpys: type, seed: Any) -> Any:
    """Return a generator whose normal numbers are the identity, so that NumPy returns what it multiplies them by."""
    made = type("IdentityNormals", (numpys,), {"standard_normal": lambda self, size: numpy.eye(*size)})
    return made(seed)


_FACTORS = {
    numpy.random.Generator: _with_identity_normals(numpy.random.Generator, numpy.random.PCG64(0)),
    numpy.random.RandomState: _with_identity_normals(numpy.random.RandomState, 0),
}


def draw_normal_vectors(
    numpys: type,
    target_of: Callable[[Shape], Target | None],
    normals: Callable[[Target], Any],
    mean: Any,
    cov: Any,
    size: Any,
    check_valid: Any,
    **options: Any,
) -> Any:
    """Draw normal vectors as NumPy's class does; `NotImplemented` where NumPy is to draw them.

    Parameters
    ----------
    numpys : type
        `numpy.random.Generator` or `numpy.random.RandomState`.
    target_of : callable
        Returns the target of so many normal numbers, or None if the host is to draw them.
    normals : callable
        Draws the standard normal numbers of a target.
    mean, cov, size, check_valid, **options
        As of the class's method `multivariate_normal`.
    """
    shape, mean = None if size is None else shape_of_rows(size), float64_row(hosted(mean))
    target = None if shape is None or mean.ndim != 1 else target_of((*shape, mean.size))
    if target is None:
        return NotImplemented
    check: Any = "raise" if check_valid == "warn" else check_valid
    try:
        factor = _FACTORS[numpys].multivariate_normal(
            numpy.zeros_like(mean), hosted(cov), mean.size, check_valid=check, **options
        )
    except (ValueError, numpy.linalg.LinAlgError):  # NumPy draws before it raises, or warns
        return NotImplemented
    vectors = matmul(reshape(normals(target), (-1, mean.size)), from_host(factor, target.queue.device))
    return reshape(elementwise("add", [mean, vectors]), target.shape)
