"""Multivariate normal vectors: standard normal numbers times a factor of the covariance, which NumPy computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.graph.layout import Shape
from ..core.recording.array import from_host
from ..core.recording.record import elementwise
from ..functions.manipulation.shape import reshape
from ..functions.products.stacked import matmul
from ..functions.ufuncs.output import to_numpy_arguments
from .device_draws import Target
from .parameters import float64_row, shape_of_rows


def _with_identity_normals(numpy_class: type, seed: Any) -> Any:
    """Return a generator whose normal numbers are the identity matrix.

    NumPy's `multivariate_normal` multiplies them by the factor of the covariance, so with this generator it returns
    the factor itself.
    """
    identity_normals = type("IdentityNormals", (numpy_class,), {"standard_normal": lambda self, size: numpy.eye(*size)})
    return identity_normals(seed)


# By class, the generators that return the factor of a covariance.
_FACTORS = {
    numpy.random.Generator: _with_identity_normals(numpy.random.Generator, numpy.random.PCG64(0)),
    numpy.random.RandomState: _with_identity_normals(numpy.random.RandomState, 0),
}


def draw_normal_vectors(
    numpy_class: type,
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
    numpy_class : type
        `numpy.random.Generator` or `numpy.random.RandomState`.
    target_of : callable
        Returns the target for normal numbers of a shape, or None if the host is to draw them.
    normals : callable
        Draws the standard normal numbers of a target.
    mean, cov, size, check_valid, **options
        See `numpy.random.Generator.multivariate_normal`.
    """
    shape, mean = None if size is None else shape_of_rows(size), float64_row(to_numpy_arguments(mean))
    target = None if shape is None or mean.ndim != 1 else target_of((*shape, mean.size))
    if target is None:
        return NotImplemented
    check: Any = "raise" if check_valid == "warn" else check_valid
    try:
        factor = _FACTORS[numpy_class].multivariate_normal(
            numpy.zeros_like(mean), to_numpy_arguments(cov), mean.size, check_valid=check, **options
        )
    except (ValueError, numpy.linalg.LinAlgError):  # NumPy itself is to raise or warn, after it has drawn
        return NotImplemented
    vectors = matmul(reshape(normals(target), (-1, mean.size)), from_host(factor, target.queue.device))
    return reshape(elementwise("add", [mean, vectors]), target.shape)
