"""Keywords of generalised ufuncs: which axes are core axes, the dtype of the loop, the memory order of results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import index
from typing import Any, NamedTuple

import numpy

from ...core.arguments import memory_order
from ...core.dtypes import DType, check
from ...core.graph import layout
from ...core.numpy_ufuncs import UFUNCS

Axes = tuple[int, ...]


class Keywords(NamedTuple):
    """Keywords of one call, with NumPy's defaults."""

    axes: Any = None
    axis: Any = None
    keepdims: bool = False
    casting: Any = "same_kind"
    order: str = "K"
    dtype: Any = None
    signature: Any = None


NO_KEYWORDS = Keywords()


def keywords(name: str, options: dict[str, Any]) -> Keywords:
    """Return the keywords of a call of a generalised ufunc, after all checks that need no operands."""
    ufunc = UFUNCS[name]
    options = dict(options)
    if not isinstance(options.pop("subok", True), bool):
        raise TypeError("'subok' must be a boolean")
    if "sig" in options:
        if "signature" in options:
            raise TypeError("cannot specify both 'sig' and 'signature'")
        options["signature"] = options.pop("sig")
    if "signature" in options and "dtype" in options:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    if "axis" in options and "axes" in options:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    unknown = next((keyword for keyword in options if keyword not in Keywords._fields), None)
    if unknown is not None:
        raise TypeError(f"{name}() got an unexpected keyword argument {unknown!r}")
    if "axes" in options and not isinstance(options["axes"], list):
        raise TypeError("axes should be a list.")
    if not isinstance(options.get("keepdims", False), bool):
        raise TypeError("'keepdims' must be a boolean")
    for keyword in ("axis", "keepdims"):
        if keyword in options and ufunc.signature != "(n),(n)->()":
            raise TypeError(f"{name} does not support {keyword}: its signature is {ufunc.signature}")
    if isinstance(options.get("axis"), (bool, numpy.bool)):
        raise TypeError("an integer is required")
    if "axis" in options:
        options["axis"] = index(options["axis"])
    if options.get("signature", "") is None:
        raise TypeError("the signature object to ufunc must be a string or a tuple.")
    if "order" in options:
        options["order"] = memory_order(options["order"])
    return Keywords(**options)


def product_dtype(types: Sequence[DType]) -> DType:
    """Return the dtype of a product of operands of some dtypes.

    Where promotion has no dtype, as for bfloat16 and int32, the dtype is that of NumPy's loop for `matmul`.
    """
    try:
        return numpy.result_type(*types)
    except numpy.exceptions.DTypePromotionError:
        return reduce(lambda left, right: numpy.matmul.resolve_dtypes((left, right, None))[-1], types)


def dtype_of(name: str, types: Sequence[DType], words: Keywords) -> DType:
    """Return the dtype of the loop, which its operands and its result share."""
    if words.signature is not None:
        found = UFUNCS[name].resolve_dtypes((*types, None), signature=words.signature, casting=words.casting)
        return check(found[-1])
    return check(product_dtype(types) if words.dtype is None else words.dtype)


def axes_of(name: str, words: Keywords, ndims: Sequence[int], cores: Sequence[int]) -> list[Axes] | None:
    """Return the core axes of each operand and of the result, counted from the front; None if they are the last axes.

    Parameters
    ----------
    ndims, cores
        The numbers of dimensions, and of core dimensions, of each operand and of the result.
    """
    if words.axis is not None:
        return [(layout.normalize_axis(words.axis, n),) if core else () for n, core in zip(ndims, cores, strict=True)]
    if words.axes is None:
        return None
    entries = list(words.axes)
    if len(entries) == len(cores) - 1 and UFUNCS[name].signature.endswith("->()"):
        entries.append(tuple(range(-cores[-1], 0)))  # of the result: none, or the axes that `keepdims` keeps
    if len(entries) != len(cores):
        raise ValueError(
            f"axes should be a list with an entry for all {len(cores)} inputs and outputs; entries for outputs can "
            "only be omitted if none of them has core axes."
        )
    return [_axes_of_item(name, k, entry, ndims[k], cores[k]) for k, entry in enumerate(entries)]


def _axes_of_item(name: str, operand: int, entry: Any, ndim: int, core: int) -> Axes:
    """Return one item of `axes`, a tuple, or an integer for one core dimension, as axes counted from the front."""
    if not isinstance(entry, tuple):
        only_axis = index(entry)
        if core != 1:
            raise numpy.exceptions.AxisError(
                f"{name}: operand {operand} has {core} core dimensions, but the axes item is a single integer."
            )
        entry = (only_axis,)
    if len(entry) != core:
        raise numpy.exceptions.AxisError(
            f"{name}: operand {operand} has {core} core dimensions, but {len(entry)} dimensions are specified by axes "
            "tuple."
        )
    axes = tuple(layout.normalize_axis(d, ndim) for d in entry)
    for k, axis in enumerate(axes):
        if axis in axes[:k]:
            raise ValueError(f"axes item {operand} has value {axis} repeated")
    return axes


def axes_moved_last(ndim: int, last: Axes) -> Axes:
    """Return all dimensions in order, except that those of `last` come last."""
    return (*(d for d in range(ndim) if d not in last), *last)
