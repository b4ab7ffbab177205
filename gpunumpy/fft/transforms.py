"""Transforms of `numpy.fft`. Along several axes they are one step after another, as NumPy defines them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

import numpy

from ..core.dtypes import COMPLEX128, FLOAT64, KIND, DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.recording.array import ndarray, wrap, wrap_ordered
from ..core.recording.calls import memoize_inside, memoize_recording
from ..core.recording.record import as_array
from ..core.runtime.evaluate import traits_of
from ..core.source_location import warn
from ..functions.ufuncs.output import checked_output, only_output, to_numpy_arguments, write_to_output
from .steps import COMPLEX64, Step, record_steps

__all__ = [
    *("fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft"),
    *("irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn"),
]

# The `norm` of a transform in one direction, by the `norm` with the same factor in the other.
_REVERSED_NORMS = {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}


# --- one axis -------------------------------------------------------------------------------------------------------


@memoize_recording
def fft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the discrete Fourier transform along one axis. See `numpy.fft.fft`."""
    return _along(as_array(a), n, axis, norm, out, "c2c", inverse=False)


@memoize_recording
def ifft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the inverse discrete Fourier transform along one axis. See `numpy.fft.ifft`."""
    return _along(as_array(a), n, axis, norm, out, "c2c", inverse=True)


@memoize_recording
def rfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the transform of real numbers along one axis, without its redundant half. See `numpy.fft.rfft`."""
    return _along(as_array(a), n, axis, norm, out, "r2c", inverse=False)


@memoize_recording
def irfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the inverse of `rfft` along one axis. See `numpy.fft.irfft`."""
    return _along(as_array(a), n, axis, norm, out, "c2r", inverse=True)


def hfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the real transform of a signal with Hermitian symmetry along one axis. See `numpy.fft.hfft`."""
    x = as_array(a)
    points = _default_points(x, n, axis, "c2r")
    return irfft(_conjugate(x), points, axis, _reverse_norm(norm), out)


@memoize_recording
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the inverse of `hfft` along one axis. See `numpy.fft.ihfft`."""
    x = as_array(a)
    points = _default_points(x, n, axis, "r2c")
    return _return_result(_conjugate(_transform(x, [("r2c", False, points, axis)], _reverse_norm(norm), out)), out)


def _along(x: ndarray, n: Any, axis: Any, norm: Any, out: Any, kind: str, inverse: bool) -> ndarray:
    """Compute a transform along one axis."""
    points = _default_points(x, n, axis, kind)
    return _return_result(_transform(x, [(kind, inverse, points, axis)], norm, out), out)


def _default_points(x: ndarray, n: Any, axis: Any, kind: str) -> Any:
    """Return `n`, or if it is None the number of points that the length of the axis implies."""
    if n is not None:
        return n
    size = x.shape[layout.normalize_axis(axis, x.ndim)]
    return (size - 1) * 2 if kind == "c2r" else size


def _reverse_norm(norm: Any) -> str:
    """Return the `norm` that has the same factor in the other direction; raise `ValueError` for an unknown one."""
    try:
        return _REVERSED_NORMS[norm]
    except KeyError:
        raise _unknown_norm(norm) from None


def _known_norm(norm: Any) -> str:
    """Return the name of a `norm`; raise `ValueError` for an unknown one."""
    return _REVERSED_NORMS[_reverse_norm(norm)]


def _unknown_norm(norm: Any) -> ValueError:
    """Return NumPy's error for a `norm` that does not exist: its words change with the version."""
    try:
        numpy.fft.fft(numpy.zeros(1), norm=norm)
    except ValueError as error:
        return error
    raise AssertionError(f"NumPy knows the norm {norm!r}")


def _conjugate(x: ndarray) -> ndarray:
    dtype = x.dtype
    return wrap(graph.map_node("conjugate", (dtype, dtype), (x.value(),))) if KIND[dtype] == "c" else x


# --- several axes ---------------------------------------------------------------------------------------------------


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the discrete Fourier transform along several axes, by default along all. See `numpy.fft.fftn`."""
    _warn_deprecated(s, axes)
    return _fftn(a, s, axes, norm, out)


@memoize_inside
def _fftn(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    x = as_array(a)
    return _complex_axes(x, *_sizes_and_axes(x, s, axes), norm, out, inverse=False)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the inverse discrete Fourier transform along several axes. See `numpy.fft.ifftn`."""
    _warn_deprecated(s, axes)
    return _ifftn(a, s, axes, norm, out)


@memoize_inside
def _ifftn(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    x = as_array(a)
    return _complex_axes(x, *_sizes_and_axes(x, s, axes), norm, out, inverse=True)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the transform of real numbers along several axes, halved along the last. See `numpy.fft.rfftn`."""
    _warn_deprecated(s, axes)
    return _rfftn(a, s, axes, norm, out)


@memoize_inside
def _rfftn(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    x = as_array(a)
    sizes, axes = _sizes_and_axes(x, s, axes)
    steps = [("r2c", False, sizes[-1], axes[-1])]
    steps += [("c2c", False, n, axis) for n, axis in zip(sizes[-2::-1], axes[-2::-1], strict=True)]
    return _return_result(_transform(x, steps, norm, out), out)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the inverse of `rfftn`. See `numpy.fft.irfftn`."""
    _warn_deprecated(s, axes)
    return _irfftn(a, s, axes, norm, out)


@memoize_inside
def _irfftn(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    x = as_array(a)
    sizes, axes = _sizes_and_axes(x, s, axes, real=True)
    steps = [("c2c", True, n, axis) for n, axis in zip(sizes[:-1], axes[:-1], strict=True)]
    return _return_result(_transform(x, [*steps, ("c2r", True, sizes[-1], axes[-1])], norm, out), out)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the discrete Fourier transform along two axes. See `numpy.fft.fft2`."""
    _warn_deprecated(s, axes)
    return _fftn(a, s, axes, norm, out)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the inverse discrete Fourier transform along two axes. See `numpy.fft.ifft2`."""
    _warn_deprecated(s, axes)
    return _ifftn(a, s, axes, norm, out)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the transform of real numbers along two axes, halved along the last. See `numpy.fft.rfft2`."""
    _warn_deprecated(s, axes)
    return _rfftn(a, s, axes, norm, out)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ndarray:
    """Compute the inverse of `rfft2`. See `numpy.fft.irfft2`."""
    _warn_deprecated(s, axes)
    return _irfftn(a, s, axes, norm, out)


def _complex_axes(x: ndarray, sizes: list[Any], axes: list[Any], norm: Any, out: Any, *, inverse: bool) -> ndarray:
    """Compute complex transforms along axes, the last first."""
    if not axes:
        return x
    steps = [("c2c", inverse, n, axis) for n, axis in zip(sizes[::-1], axes[::-1], strict=True)]
    return _return_result(_transform(x, steps, norm, out), out)


def _sizes_and_axes(x: ndarray, s: Any, axes: Any, real: bool = False) -> tuple[list[Any], list[Any]]:
    """Return the number of points along each axis, and the axes, with NumPy's defaults."""
    if s is not None:
        sizes = list(to_numpy_arguments(s))
    else:
        sizes = list(x.shape if axes is None else numpy.take(x.shape, axes).tolist())
    axes = list(range(-len(sizes), 0) if axes is None else axes)
    if len(sizes) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if real and s is None:
        sizes[-1] = _default_points(x, None, axes[-1], "c2r")
    last = len(sizes) - 1
    for k, (n, axis) in enumerate(zip(sizes, axes, strict=True)):
        if n is None:
            sizes[k] = _default_points(x, None, axis, "c2r" if real and k == last else "c2c")
        elif n == -1:
            sizes[k] = _default_points(x, None, axis, "c2c")
    return sizes, axes


def _warn_deprecated(s: Any, axes: Any) -> None:
    """Warn of arguments that NumPy has deprecated."""
    if s is None:
        return
    if axes is None:
        _deprecated(
            "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). In a future version of NumPy, "
            "this will raise an error and `s[i]` will correspond to the size along the transformed axis specified by "
            "`axes[i]`. To retain current behaviour, pass a sequence [0, ..., k-1] to `axes` for an array of "
            "dimension k."
        )
    if not isinstance(s, str) and None in s:
        _deprecated(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will raise an error in a "
            "future version of NumPy. To use the default behaviour of the corresponding 1-D transform, pass the value "
            "matching the default for its `n` parameter. To use the default behaviour for every axis, the `s` argument "
            "can be omitted."
        )


def _deprecated(text: str) -> None:
    warn(text, DeprecationWarning)


# --- shared by all transforms ---------------------------------------------------------------------------------------


def _return_result(result: ndarray, out: Any) -> ndarray:
    """Return the result, written into `out` unless that is None."""
    into = checked_output(only_output(out))
    if into is None:
        return result
    if into.shape != result.shape:
        raise ValueError("output array has wrong shape.")
    if not numpy.can_cast(result.dtype, into.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc 'fft' output from {result.dtype!r} to {into.dtype!r} with casting rule 'same_kind'"
        )
    return write_to_output(into, result.value())


def _transform(x: ndarray, transforms: Sequence[tuple[str, bool, Any, Any]], norm: Any, out: Any) -> ndarray:
    """Record transforms one after another; `transforms` has kind, direction, points and axis of each.

    Real numbers are transformed in double precision if their first transform writes to a double-precision `out`, as in
    NumPy.
    """
    into = checked_output(only_output(out))
    first_has_out = len(transforms) == 1 or transforms[-1][0] != "c2r"  # NumPy's `irfftn` passes `out` to its last step
    is_double = first_has_out and into is not None and into.dtype in (COMPLEX128, FLOAT64) and KIND[x.dtype] != "c"
    dtype, factor, steps = x.dtype, 1.0, []
    for kind, inverse, n, axis in transforms:
        points = _checked_points(n, kind)
        real = _real_dtype(dtype)
        forward_norm = _reverse_norm(norm) if inverse else _known_norm(norm)
        factor *= _factor(points, forward_norm, real)
        if kind == "r2c" and KIND[dtype] == "c":
            raise TypeError(
                f"ufunc 'rfft_n_{'odd' if points % 2 else 'even'}' not supported for the input types, and the inputs "
                "could not be safely coerced to any supported types according to the casting rule ''safe''"
            )
        steps.append(Step(kind, inverse, points, layout.normalize_axis(axis, x.ndim)))
        if is_double:
            dtype, real = COMPLEX128, FLOAT64
        dtype = real if kind == "c2r" else numpy.result_type(dtype, 1j)
        if len(steps) == 1:
            # Half precision is computed in single precision.
            work_dtype = COMPLEX128 if dtype in (COMPLEX128, numpy.float64) else COMPLEX64
    shape = x.shape
    for step in steps:
        shape = (*shape[: step.axis], step.result_length, *shape[step.axis + 1 :])
    queue = x.queue
    if not prod(shape):
        return wrap(graph.fill(graph.typed_scalar(dtype.type(0), dtype), shape, queue))
    call_norm = "backward"
    # NumPy's functions multiply with factors themselves. Real numbers of single precision they transform in double
    # precision, with a factor or without one, and so does a call without.
    has_numpys_precision = work_dtype == COMPLEX128 or KIND[x.dtype] == "c" or steps[0].kind == "r2c"
    if has_numpys_precision and _real_dtype(x.dtype) == _real_dtype(work_dtype) and traits_of(queue.device).calls_numpy:
        factor, call_norm = 1.0, forward_norm
    value = record_steps(x.value(), steps, work_dtype, factor, call_norm)
    node = graph.cast(value.node, dtype)
    return wrap_ordered(node, value.order if value.order != tuple(range(x.ndim)) else None)


def _checked_points(n: Any, kind: str) -> int:
    """Return the number of points as an int; raise `ValueError` or `TypeError` as NumPy does."""
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    if isinstance(n, (bool, numpy.bool)):
        if kind != "r2c":
            raise TypeError("an integer is required")
        n = 1
    return index(n)


def _real_dtype(dtype: DType) -> DType:
    """Return the dtype of real results."""
    return numpy.result_type(numpy.empty(0, dtype).real.dtype, 1.0)


def _factor(points: int, norm: str, dtype: DType) -> float:
    """Return the factor of a forward transform, as exact as NumPy computes it.

    Where half precision cannot hold the number of points, the factor has single precision.
    """
    if norm == "backward":
        return 1.0
    if dtype == numpy.float16 and points > float(numpy.finfo(dtype).max):
        dtype = numpy.dtype(numpy.float32)
    divisor = numpy.sqrt(points, dtype=dtype) if norm == "ortho" else points
    return float(numpy.reciprocal(divisor, dtype=dtype))
