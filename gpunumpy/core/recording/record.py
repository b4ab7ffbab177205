"""Recording: operands (arrays, scalars, array-likes) become nodes, and operations on nodes become new arrays."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, MutableSequence, Sequence
from functools import partial
from typing import Any

import numpy

from .. import dtypes
from .._native import elementwise_recorder
from ..dtypes import KIND, DType
from ..errors import MaskedOperandError, OnHostError
from ..floating_errors import silent_unless_asked
from ..graph import layout
from ..graph import node as graph
from ..graph.layout import Layout, Shape
from ..graph.node import Node
from ..graph.primitives import Const
from ..graph.queue import Queue
from ..graph.signature import Signature, intern_signature
from ..ops import table
from ..runtime import evaluate
from ..runtime.device import Device, default_device
from ..source_location import warn
from .array import ON_HOST, from_host, is_scalar, mark_as_array, ndarray, to_host, value_beside, wrap, wrap_ordered
from .chunked import from_chunks
from .memo import MemoizedOperation
from .residence import resident_copy

_PYTHON_SCALARS = frozenset((bool, int, float, complex))
_WITHOUT_PROTOCOL = _PYTHON_SCALARS | {list, tuple, numpy.ndarray}  # NumPy makes arrays of them without asking


def as_array(
    x: Any, device: Device | None = None, from_numpy: Callable[[Any, Device | None], ndarray] = from_host
) -> ndarray:
    """Return anything that NumPy can make an array of as an `ndarray`; an `ndarray` is returned unchanged.

    `from_numpy` makes it of the NumPy array that it is on the host.
    """
    if type(x) is ndarray or isinstance(x, ndarray):
        return x
    leave_function_to_class(x)
    if isinstance(x, (list, tuple)) and holds_arrays(x, 1):
        return _as_part(x, None)
    chunked = from_chunks(x, device)
    if chunked is not None:
        return chunked
    try:
        data = _array_of(x)
    except ValueError:
        held = with_held_arrays(x)
        if held is not x:
            return as_array(held, device, from_numpy)
        if isinstance(x, (list, tuple)) and holds_arrays(x):  # 0-d ones, which NumPy takes beside numbers alone
            return _as_part(x, None)
        raise
    return data if isinstance(data, ndarray) else from_numpy(data, device)


def placed_array(x: Any, beside: ndarray | None = None) -> ndarray:
    """Return `as_array`: small data of the host stay there, unless what they are used with is on its device."""
    if beside is not None and not beside._flags & ON_HOST:
        return as_array(x, beside.device)
    return as_array(x, None if beside is None else beside.device, resident_copy)


def holds_arrays(x: Sequence[Any], least_dimensions: int = 0, depth: int = 1) -> bool:
    """Return whether an array of so many dimensions is somewhere in nested sequences.

    Raise NumPy's ValueError for more dimensions than an array has, as of a list that holds itself: all parts are looked
    at, so that whoever takes the sequences apart comes to an end.
    """
    types = set(map(type, x))  # quick for long lists of numbers
    if not any(issubclass(cls, (ndarray, list, tuple)) for cls in types):
        return False
    found = False
    for part in x:
        if isinstance(part, ndarray):
            _check_depth(depth + part.ndim)
            found = found or part.ndim >= least_dimensions
        elif isinstance(part, (list, tuple)):
            _check_depth(depth + 1)
            found = holds_arrays(part, least_dimensions, depth + 1) or found
    return found


def _check_depth(dimensions: int) -> None:
    if dimensions > layout.MAX_DIMENSIONS:
        raise ValueError(
            "setting an array element with a sequence. The requested array would exceed the maximum number of "
            f"dimension of {layout.MAX_DIMENSIONS}."
        )


def stacked(x: Sequence[Any], dtype: DType | None, convert: Callable[[Any, Device | None], ndarray]) -> ndarray:
    """Return an array of nested sequences that hold arrays, without waiting for their elements.

    `convert` makes an array of a part: of one without arrays on the device that it is given.
    """
    arrays = {
        k: convert(part, None)
        for k, part in enumerate(x)
        if isinstance(part, ndarray) or (isinstance(part, (list, tuple)) and holds_arrays(part))
    }
    queue = next(iter(arrays.values())).queue
    parts = [arrays[k] if k in arrays else convert(part, queue.device) for k, part in enumerate(x)]
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 "
            f"dimensions. The detected shape was ({len(parts)},) + inhomogeneous part."
        )
    target_dtype = dtype or numpy.result_type(*(part.dtype for part in parts))
    part_shape, part_size = parts[0].shape, parts[0].size
    node = graph.uninitialized((len(parts), *part_shape), target_dtype, queue)
    for k, part in enumerate(parts):
        region = Layout(part_shape, layout.c_strides(part_shape), k * part_size)
        node = graph.update(node, region, cast_with_warning(part.value(), target_dtype))
    return mark_as_array(wrap(node))


def _as_part(x: Any, device: Device | None) -> ndarray:
    """Return a part of nested sequences as an array: on a device, or where the arrays are that the part holds."""
    holds = device is None and not isinstance(x, ndarray)
    return stacked(x, None, _as_part) if holds else as_array(x, device)


def array_of_protocol(x: Any) -> Any:
    """Return what ``x.__array__()`` returns: an array of NumPy or, which NumPy rejects, of this package.

    Return None if `x` has no such method.
    """
    if not hasattr(type(x), "__array__"):
        return None
    array = x.__array__()
    if not isinstance(array, (ndarray, numpy.ndarray)):
        raise ValueError("object __array__ method not producing an array")
    return array


def with_held_arrays(x: Any) -> Any:
    """Return an array of this package that ``x.__array__()`` is, or nested sequences with such arrays; else `x`."""
    if not isinstance(x, (list, tuple)):
        held = array_of_protocol(x)
        return held if isinstance(held, ndarray) else x
    parts = [with_held_arrays(part) for part in x]
    return x if all(map(operator.is_, parts, x)) else parts


def to_numpy(x: Any) -> Any:
    """Return an array-like as a NumPy array.

    Not for an `ndarray` of this package, but nested sequences may contain 0-d ones. Raise TypeError for an unsupported
    dtype.
    """
    data = _array_of(x)
    return to_host(data) if isinstance(data, ndarray) else data


def _array_of(x: Any) -> Any:
    """Return an array-like as a NumPy array, or the array of this package that it holds; see `to_numpy`."""
    check_class(x)
    if type(x) not in _WITHOUT_PROTOCOL:
        if wraps_results(x):
            raise OnHostError(f"{type(x).__name__!r} has an __array_wrap__: NumPy decides which results it makes")
        held = array_of_protocol(x)
        if isinstance(held, ndarray):
            return held
        x = x if held is None else held
    data = numpy.asarray(x)
    dtypes.of_data(data.dtype)
    return data


def check_class(x: Any) -> None:
    """Raise TypeError for a masked array, and OnHostError for a matrix, with which NumPy computes."""
    if type(x) is numpy.ndarray:
        return
    if is_masked_array(x):
        raise MaskedOperandError(
            "a masked array would lose its mask here: the functions of gpunumpy.ma keep it; asarray(x) or "
            "x.filled(...) gives an array without one"
        )
    if isinstance(x, numpy.matrix):
        raise OnHostError("a matrix would lose its meaning of * and ** here: asarray(x) makes an array of it")


def is_masked_array(x: Any) -> bool:
    """Return whether an object is a masked array, of NumPy or of the layer `ma`."""
    return is_masked_class(type(x))


def is_masked_class(cls: type) -> bool:
    """Return whether a class is one of masked arrays, of NumPy or of the layer `ma`."""
    return hasattr(cls, "is_masked_array") or issubclass(cls, _masked_class_of_numpy())


def is_numpy_masked_array(x: Any) -> bool:
    """Return whether an object is a masked array of NumPy."""
    return isinstance(x, _masked_class_of_numpy())


def _masked_class_of_numpy() -> Any:
    """Return the class, without an import of `numpy.ma`, which takes long; () while there is none."""
    return getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())  # absent too while another thread imports it


def as_node(x: Any, queue: Queue | None = None) -> Node:
    """Return the value of an operand: an array, a scalar, or anything that NumPy can make an array of.

    Host data is copied to the device of `queue`, or to the default device if `queue` is None.
    """
    if type(x) is ndarray:
        return x.value()
    if type(x) in _PYTHON_SCALARS:
        return graph.scalar(x)
    if isinstance(x, numpy.generic):
        return graph.typed_scalar(x, dtypes.of_data(x.dtype))
    if isinstance(x, ndarray):
        return x.value()
    if isinstance(x, (bool, int, float, complex)):  # subclasses: IntEnum and the like
        kinds: tuple[Any, ...] = (bool, int, float, complex)
        return graph.scalar(next(k for k in kinds if isinstance(x, k))(x))
    return as_array(x, queue.device if queue is not None else None).value()


def as_nodes(args: Sequence[Any]) -> list[Node]:
    """Return the values of an operation's operands. Host data is copied to the device of the first array among them.

    As in NumPy, a Python scalar that is the only operand has the dtype of an array of it.
    """
    if len(args) == 1 and isinstance(args[0], (int, float, complex)):
        only = numpy.asarray(args[0])
        return [graph.typed_scalar(only[()], dtypes.of_data(only.dtype))]
    arrays = [a for a in args if isinstance(a, ndarray)]
    queue = arrays[0].queue if arrays else None
    on_device = next((a for a in arrays if not a._flags & ON_HOST), None)
    if on_device is None or len(arrays) == 1:
        return [as_node(a, queue) for a in args]
    return [value_beside(a, on_device) if isinstance(a, ndarray) else as_node(a, queue) for a in args]


def weak_types(nodes: Sequence[Node]) -> tuple[Any, ...]:
    """Return the inputs of type promotion: the dtype of each operand, or the type of a Python scalar."""
    return tuple(_promotes_as(node.signature) for node in nodes)


def _promotes_as(signature: Signature) -> Any:
    """Return the dtype, or the type ``int``, ``float`` or ``complex`` for a weak Python scalar."""
    primitive = signature.primitive
    if isinstance(primitive, Const) and primitive.weak and primitive.weak != "bool":
        return int if primitive.weak.startswith("int") else float if primitive.weak == "float" else complex
    return signature.dtype


def fit_scalars(op: str, nodes: Sequence[Node], loop: tuple[DType, ...]) -> tuple[list[Node], tuple[DType, ...]]:
    """Return the operands and the loop, adapted to Python scalars that the loop's dtypes cannot represent.

    A kernel takes a Python scalar as a number of the kind of its loop. Raise NumPy's OverflowError for an integer out
    of range, unless it is compared with an integer.
    """
    fitted = list(nodes)
    for k, (node, dtype) in enumerate(zip(nodes, loop, strict=False)):
        primitive = node.signature.primitive
        if not isinstance(primitive, Const) or not primitive.weak:
            continue
        if not primitive.weak.startswith("int"):
            if _SCALAR_RANKS[primitive.weak] > _KIND_RANKS[KIND[dtype]]:  # as the rule "unsafe" allows
                fitted[k] = cast_with_warning(node, dtype)
        elif KIND[dtype] not in "biu":
            if primitive.weak == "int:beyond":
                float(node.data)  # raises OverflowError for an integer beyond the range of float64
        elif not _is_in_range(node.data, dtype):
            if op not in table.COMPARISONS or nodes[1 - k].signature.dtype == dtypes.BOOL:
                raise OverflowError(
                    "Python int too large to convert to C long"
                    if dtype == dtypes.BOOL
                    else f"Python integer {node.data} out of bounds for {dtype.name}"
                )
            if _is_python_integer(nodes[0]) and _is_python_integer(nodes[1]):
                # Zero compares with the sign of the difference as the integers compare.
                difference = nodes[1].data - nodes[0].data
                return [graph.scalar(0), graph.scalar((difference > 0) - (difference < 0))], loop
            # A value of the dtype compares with infinity as with an integer beyond the range of the dtype.
            fitted[k] = graph.scalar(float("inf") if node.data > 0 else float("-inf"))
            loop = tuple(dtypes.FLOAT64 for _ in loop[:-1]) + loop[-1:]
    return fitted, loop


# Numbers of a higher rank are converted before they take part in a loop of a lower one.
_SCALAR_RANKS = {"bool": 0, "float": 2, "complex": 3}
_KIND_RANKS = {"b": 0, "i": 1, "u": 1, "e": 2, "f": 2, "c": 3}


def _is_python_integer(node: Node) -> bool:
    """Return whether a node is a Python integer, which is weak in type promotion."""
    primitive = node.signature.primitive
    return isinstance(primitive, Const) and primitive.weak.startswith("int")


def _is_in_range(value: int, dtype: DType) -> bool:
    """Return whether NumPy converts a Python integer to an integer dtype, or by way of int64 to bool."""
    limits = numpy.iinfo(dtypes.INT64 if dtype == dtypes.BOOL else dtype)
    return bool(limits.min <= value <= limits.max)


def elementwise(op: str, args: Sequence[Any], loop: tuple[DType, ...] | None = None) -> ndarray:
    """Record an elementwise operation. The memory order of the result is NumPy's order "K".

    Parameters
    ----------
    op
        The name of an elementwise op of the table.
    args
        Arrays, scalars, or anything that NumPy can make an array of.
    loop
        The dtypes of arguments and result. By default those of NumPy's promotion.
    """
    return wrap_ordered(*elementwise_value(op, as_nodes(args), loop))


def elementwise_value(
    op: str, nodes: Sequence[Node], loop: tuple[DType, ...] | None = None
) -> tuple[Node, tuple[int, ...] | None]:
    """Return the value of an elementwise operation with its dimensions in memory order, and that order."""
    if loop is None:
        loop = table.resolve(op, weak_types(nodes))
    nodes, loop = fit_scalars(op, nodes, loop)
    shape = layout.broadcast_shapes(*(node.signature.shape for node in nodes))
    order = None
    if len(shape) > 1:
        operands = [
            (shape, layout.broadcast_strides(node.signature.shape, node.signature.strides, shape))
            for node in nodes
            if node.signature.shape
        ]
        order = layout.memory_order(operands, len(shape))
        if order is not None:
            nodes = [
                transposed(graph.broadcast(node, shape), order) if node.signature.shape else node for node in nodes
            ]
    result = graph.map_node(op, loop, nodes)
    signature = result.signature
    if signature.queue is None:
        # Of scalars alone: the result goes to the default device.
        queue = evaluate.queue_of(default_device())
        on_device = intern_signature(signature.primitive, signature.args, signature.shape, signature.dtype, queue)
        result = Node(on_device, result.args)
    return result, order


def transposed(node: Node, order: Sequence[int]) -> Node:
    """Return the value with its axes permuted: dimension k of the result is axis ``order[k]``."""
    strides = layout.c_strides(node.signature.shape)
    shape = tuple(node.signature.shape[k] for k in order)
    return graph.view(node, Layout(shape, tuple(strides[k] for k in order), 0))


def reshaped(node: Node, shape: Shape) -> Node:
    """Return the value in another shape of the same size, with the elements in C order."""
    return graph.view(node, Layout(shape, layout.c_strides(shape), 0))


def as_dtype(node: Node, dtype: DType) -> Node:
    """Return the value in another dtype. Raise NumPy's OverflowError for a Python integer beyond its range."""
    primitive = node.signature.primitive
    if isinstance(primitive, Const) and primitive.weak:
        if dtype.kind in "biu" and primitive.weak.startswith("int"):
            fit_scalars("cast", [node], (dtype, dtype))
        value = numpy.asarray(node.data)
        if value.dtype.kind == "c" and dtype.kind not in "cb":
            value = value.real
        with silent_unless_asked():
            return graph.typed_scalar(value.astype(dtype)[()], dtype)
    return graph.cast(node, dtype)


def cast_with_warning(node: Node, dtype: DType) -> Node:
    """Return the value in another dtype, as `as_dtype` does, with NumPy's warning of imaginary parts that are lost."""
    if node.signature.dtype.kind == "c" and dtype.kind not in "cb":
        warn_of_lost_parts()
    return as_dtype(node, dtype)


def warn_of_lost_parts() -> None:
    """Issue NumPy's warning of a cast from complex to real."""
    warn("Casting complex values to real discards the imaginary part", numpy.exceptions.ComplexWarning)


def unary_operator(op: str) -> Callable[[ndarray], ndarray]:
    """Return the function of a unary operator such as ``-a``, which records an elementwise op over one array."""
    memo = MemoizedOperation(partial(elementwise_value, op))
    find = memo.find

    def record(x: ndarray) -> ndarray:
        a = x._node if x._base is None else x.value()
        signature = find((a.signature,))
        if signature is not None:
            return wrap(Node(signature, (a,)))
        return memo((a,))

    record.__name__ = op  # by which a profile counts calls on the host
    return elementwise_recorder(record, find, memo.find_at_new_sizes, is_binary=False)


def binary_operator(op: str, reflected: bool = False) -> Callable[[ndarray, Any], Any]:
    """Return the function of a binary operator, which records an elementwise op over an array and an operand.

    It computes ``a + b`` for an array ``a``, or ``b + a`` if `reflected`. It returns NotImplemented for an operand that
    the operator does not take.
    """
    memo = MemoizedOperation(partial(elementwise_value, op))
    find = memo.find
    repeats = op == "multiply"  # a scalar times a sequence repeats the sequence, which is left to Python

    def record(x: ndarray, y: Any) -> Any:
        a = x._node if x._base is None else x.value()
        kind = type(y)
        if kind is ndarray:
            b = y._node if y._base is None else value_beside(y, x)
            if x._flags & ON_HOST:
                a = value_beside(x, y)
        elif kind in _PYTHON_SCALARS:
            b = graph.scalar(y)
        else:
            if (repeats and is_scalar(x) and isinstance(y, _REPEATED)) or not is_operand(y, reflected):
                return NotImplemented
            b = as_node(y, x.queue)
        nodes = (b, a) if reflected else (a, b)
        signature = find((nodes[0].signature, nodes[1].signature))
        if signature is not None:
            return wrap(Node(signature, nodes))
        return memo(nodes)

    record.__name__ = op
    return elementwise_recorder(record, find, memo.find_at_new_sizes, is_binary=True, is_reflected=reflected)


def decides_about_ufuncs(x: Any) -> bool:
    """Return whether an operand is of another class with ``__array_ufunc__``, which then decides about a call. NEP 13.

    Of masked arrays the layer `ma` decides, and NumPy's arrays are computed with.
    """
    if type(x) in (ndarray, numpy.ndarray) or isinstance(x, numpy.generic) or is_masked_array(x):
        return False
    override = getattr(type(x), "__array_ufunc__", None)
    own = ndarray.__array_ufunc__, numpy.ndarray.__array_ufunc__  # type: ignore[attr-defined]
    return override is not None and override not in own


def refuses_ufuncs(x: Any) -> bool:
    """Return whether an operand is of a class that takes no part in ufuncs: its ``__array_ufunc__`` is None."""
    return getattr(type(x), "__array_ufunc__", False) is None


def decides_about_functions(x: Any) -> bool:
    """Return whether an operand is of another class with ``__array_function__``. NEP 18."""
    if not hasattr(type(x), "__array_function__"):
        return False
    return not (isinstance(x, (ndarray, numpy.ndarray)) or is_masked_array(x))


def leave_function_to_class(x: Any) -> None:
    """Raise `OnHostError` for an operand whose class decides about functions: NumPy's function asks the class."""
    if decides_about_functions(x):
        raise OnHostError(f"{type(x).__name__!r} has an __array_function__ of its own")


def ndim_of(x: Any) -> int:
    """Return the number of dimensions of an argument, unless its class decides about functions: see above."""
    leave_function_to_class(x)
    return numpy.ndim(x)


def wraps_results(x: Any) -> bool:
    """Return whether an operand makes objects of its class of results, and decides about no ufunc.

    Arrays of other libraries that share their memory do not: they become arrays of this package.
    """
    kind = type(x)
    if not hasattr(kind, "__array_wrap__") or isinstance(x, numpy.generic):
        return False
    return not any(hasattr(kind, name) for name in ("__array_ufunc__", *_OF_OTHER_ARRAYS))


def leave_to_class(x: Any) -> None:
    """Raise `OnHostError` for an operand whose class decides about ufuncs: NumPy's ufunc asks the class."""
    if decides_about_ufuncs(x):
        raise OnHostError(f"{type(x).__name__!r} has an __array_ufunc__ of its own")


# What tells of an operand of another library that it is to meet NumPy's arrays: in scripts, a tensor of PyTorch is.
tests_for_numpys_arrays: list[Callable[[Any], bool]] = []


def wants_numpys_array(x: Any) -> bool:
    """Return whether an operand of another library is to compute with NumPy's arrays."""
    return any(test(x) for test in tests_for_numpys_arrays)


def is_operand(y: Any, is_left: bool = False) -> bool:
    """Return whether an operator of `ndarray` takes `y`, instead of leaving the operation to the class of `y`.

    A class with a high ``__array_priority__`` decides, but not where `y` is the left operand: it has been asked then.
    Raise `OnHostError` where NumPy decides: for objects such as fractions, and for classes that ufuncs ask. NEP 13.
    """
    kind = type(y)
    if kind is numpy.ndarray or isinstance(y, (ndarray, numpy.generic, bool, int, float, complex, list, tuple)):
        return True
    if is_masked_array(y):
        return isinstance(y, numpy.ndarray)  # which is refused, so that the layer `ma` takes it
    if refuses_ufuncs(y):
        return False
    if _is_sparse(y):
        raise OnHostError("sparse arrays of SciPy compute with NumPy's arrays")
    leave_to_class(y)
    if wants_numpys_array(y):
        raise OnHostError(f"{kind.__name__!r} computes with NumPy's arrays")
    is_other_array = any(hasattr(kind, name) for name in _OF_OTHER_ARRAYS)
    comes_first = not hasattr(kind, "__array_ufunc__") and array_priority(y) > 0
    if hasattr(kind, "__array__"):  # NumPy's own subclasses too, and arrays of other libraries whatever their priority
        return is_left or is_other_array or not comes_first
    if is_other_array or comes_first:
        return False
    to_numpy(y)
    return True


def array_priority(x: Any) -> float:
    """Return the ``__array_priority__`` of an operand; 0 if it has none, or one that NumPy cannot read."""
    try:
        return float(getattr(x, "__array_priority__", 0.0))
    except Exception:  # of a property of the program too
        return 0.0


def _is_sparse(x: Any) -> bool:
    """Return whether an object is a sparse array or matrix of SciPy, without an import of SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    is_sparse = getattr(sparse, "issparse", None)  # absent while another thread imports it
    return is_sparse is not None and is_sparse(x)


_REPEATED = (tuple, str, bytes, MutableSequence)
_OF_OTHER_ARRAYS = ("__cuda_array_interface__", "__dlpack__")
