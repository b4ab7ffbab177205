"""Arrays as text, exactly as NumPy prints them. Of a large array only the elements that are shown go to the host."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy

from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout
from ..core.late_imports import import_late
from ..core.recording.array import (
    host_only_memory,
    is_scalar,
    memory_on_host,
    ndarray,
    require_device,
    to_host,
    wrap,
)
from ..core.recording.record import leave_function_to_class
from ..core.runtime.byte_sizes import bytes_text
from ..core.runtime.host_copies import COPIED_BYTES
from ..functions.manipulation.shape import sliced_view

__all__ = ["array2string", "array_repr", "array_str"]

# The releases of NumPy whose summaries do not show the shape, as `printoptions` names them in `legacy`.
_WITHOUT_SHAPE = ("1.13", "1.21", "1.25", "2.1")


def _shorten(x: ndarray, axis: int, edge: int) -> ndarray:
    """Return the first and last `edge` elements along an axis, with one more in between to become the ellipsis."""
    n = x.shape[axis]
    shape = (*x.shape[:axis], 2 * edge + 1, *x.shape[axis + 1 :])
    strides = layout.c_strides(shape)
    node = graph.uninitialized(shape, x.dtype, x.queue)
    for target, start, stop in ((0, 0, edge + 1), (edge + 1, n - edge, n)):
        kept = sliced_view(x, axis, start, stop)
        node = graph.update(node, Layout(kept.shape, strides, target * strides[axis]), kept.value())
    return wrap(node)


def _string_of_corners(x: ndarray, options: dict[str, Any]) -> str:
    """Return `numpy.array2string` of an array. Where NumPy summarizes a large one, only the corners are copied.

    A small array is copied whole, as at every other look: the host keeps that copy, and its corners would take kernels.
    """
    current: Any = numpy.get_printoptions()
    threshold, edge = (
        current[name] if options.get(name) is None else options[name] for name in ("threshold", "edgeitems")
    )
    if x.size > threshold and x.nbytes > COPIED_BYTES:
        for axis, n in enumerate(x.shape):
            if n > 2 * edge + 1 and edge > 0:
                x = _shorten(x, axis, edge)
        options = {**options, "threshold": 0}
    return numpy.array2string(to_host(x), **options)


def array2string(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: Any = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sign: Any = None,
    floatmode: Any = None,
    suffix: str = "",
    legacy: Any = None,
) -> str:
    """Return an array as text. See `numpy.array2string`."""
    options = {name: value for name, value in locals().items() if name != "a"}
    leave_function_to_class(a)
    return _string_of_corners(a, options) if isinstance(a, ndarray) else numpy.array2string(a, **options)


def array_str(
    a: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """Return the elements of an array as text. See `numpy.array_str`."""
    leave_function_to_class(a)
    if not isinstance(a, ndarray):
        return numpy.array_str(a, max_line_width, precision, suppress_small)
    require_device(a)
    if not a.shape:
        return str(to_host(a)[()])
    return _string_of_corners(
        a, {"max_line_width": max_line_width, "precision": precision, "suppress_small": suppress_small, "prefix": ""}
    )


# The views of arrays of subclasses that are being printed.
_BEING_PRINTED: WeakValueDictionary[tuple[int, type], Any] = WeakValueDictionary()


def _printed(x: ndarray) -> Any:
    """Return what NumPy prints for an array: the same while it does so, as arrays of objects may hold themselves."""
    memory = host_only_memory(x)
    host = to_host(x) if memory is None else memory
    if type(x) is ndarray:
        return host
    key = id(host), type(x)
    view = _BEING_PRINTED.get(key)
    if view is None:  # NumPy prints the name of the class
        _BEING_PRINTED[key] = view = host.view(type(type(x).__name__, (numpy.ndarray,), {}))
    return view


def array_repr(
    arr: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """Return an array as the text of an expression that makes it. See `numpy.array_repr`."""
    leave_function_to_class(arr)
    if not isinstance(arr, ndarray):
        return numpy.array_repr(arr, max_line_width, precision, suppress_small)
    current = numpy.get_printoptions()
    if arr.size <= current["threshold"] or arr.size == 0:
        return numpy.array_repr(_printed(arr), max_line_width, precision, suppress_small)
    width = current["linewidth"] if max_line_width is None else max_line_width
    options = {"max_line_width": width, "precision": precision, "suppress_small": suppress_small}
    prefix = ("array" if type(arr) is ndarray else type(arr).__name__) + "("
    text = prefix + _string_of_corners(arr, {**options, "separator": ", ", "prefix": prefix, "suffix": ","})
    # NumPy adds the shape to a summary, and a dtype that the elements do not show.
    sample = numpy.array_repr(numpy.ones(1, arr.dtype), 10_000)
    extras = [] if current["legacy"] in _WITHOUT_SHAPE else [f"shape={arr.shape}"]
    if "dtype=" in sample:
        extras.append(sample[sample.index("dtype=") : -1])
    if not extras:
        return text + ")"
    extra = ", ".join(extras) + ")"
    last_line_length = len(text) - (text.rfind("\n") + 1)
    fits_on_line = current["legacy"] == "1.13" or last_line_length + 1 + len(extra) + 1 <= width
    return text + "," + (" " if fits_on_line else "\n" + " " * len(prefix)) + extra


def representation(x: ndarray) -> str:
    """Return ``repr(x)``."""
    return repr(to_host(x)[()]) if is_scalar(x) else array_repr(x)


def rich_representation(x: ndarray) -> str | None:
    """Return an array as HTML for notebooks, where ``repr(x)`` leaves elements out; else None, so that they show that.

    The shape, the bytes and the place of the array come before the elements at the corners. Subclasses have a `repr` of
    their own.
    """
    if type(x) is not ndarray or x.size <= numpy.get_printoptions()["threshold"]:
        return None
    memory = memory_on_host(x)
    corners = (
        _string_of_corners(x, {"separator": ", "}) if memory is None else numpy.array2string(memory, separator=", ")
    )
    shape = " × ".join(f"{n:,}" for n in x.shape)
    where = f"on {x.device}" if memory is None else "on the host"
    escape = import_late("html").escape  # few programs need its table of entities
    head = f"<b>ndarray</b> {shape} {escape(str(x.dtype))}, {bytes_text(x.nbytes)} {where}"
    return f"<div>{head}</div><pre style='font-family: monospace'>{escape(corners)}</pre>"


def formatted(x: ndarray, spec: str) -> str:
    """Return ``format(x, spec)``."""
    if is_scalar(x):
        return format(to_host(x)[()], spec)
    if not x.shape:
        require_device(x)
        return format(to_host(x).item(), spec)
    if spec:
        raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
    return str(x)  # of a subclass its own
