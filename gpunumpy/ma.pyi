# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, SupportsIndex

import numpy
from _typeshed import ReadableBuffer
from numpy.ma import MAError as MAError
from numpy.ma import MaskedArray as MaskedArray
from numpy.ma import MaskError as MaskError
from numpy.ma import MaskType as MaskType
from numpy.ma import bool_ as bool_
from numpy.ma import core as core
from numpy.ma import extras as extras
from numpy.ma import masked as masked
from numpy.ma import masked_array as masked_array
from numpy.ma import masked_print_option as masked_print_option
from numpy.ma import masked_singleton as masked_singleton
from numpy.ma import mr_ as mr_
from numpy.ma import mvoid as mvoid
from numpy.ma import nomask as nomask

from . import (
    _Casting,
    _DeviceLike,
    _Mode,
    _Number,
    _Order,
    _OrderACF,
    _OrderCF,
    _Out,
    _Scalar,
    _ShapeLike,
    _SortKind,
    ndarray,
)
from .typing import ArrayLike, DTypeLike

def abs(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def absolute(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def add(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def all(a: ArrayLike, axis: _ShapeLike | None = None, out: _Out | None = None, keepdims: bool = ...) -> Any: ...
def allclose(
    a: ArrayLike, b: ArrayLike, masked_equal: bool = True, rtol: _Number = 1e-05, atol: _Number = 1e-08
) -> bool: ...
def allequal(a: ArrayLike, b: ArrayLike, fill_value: bool = True) -> bool: ...
def alltrue(target: ArrayLike, axis: SupportsIndex | None = 0, dtype: DTypeLike | None = None) -> Any: ...
def amax(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: bool = ...,
    initial: _Number = ...,
    where: ArrayLike = ...,
) -> ndarray: ...
def amin(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: bool = ...,
    initial: _Number = ...,
    where: ArrayLike = ...,
) -> ndarray: ...
def angle(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def anom(
    a: ArrayLike | numpy.ma.MaskedArray, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None
) -> numpy.ma.MaskedArray: ...
def anomalies(
    a: ArrayLike | numpy.ma.MaskedArray, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None
) -> numpy.ma.MaskedArray: ...
def any(a: ArrayLike, axis: _ShapeLike | None = None, out: _Out | None = None, keepdims: bool = ...) -> Any: ...
def append(
    a: ArrayLike | numpy.ma.MaskedArray, b: ArrayLike | numpy.ma.MaskedArray, axis: SupportsIndex | None = None
) -> numpy.ma.MaskedArray: ...
def apply_along_axis(
    func1d: Callable[..., Any], axis: SupportsIndex, arr: ArrayLike, *args: Any, **kwargs: Any
) -> numpy.ma.MaskedArray: ...
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: _ShapeLike) -> numpy.ma.MaskedArray: ...
def arange(
    start_or_stop: str | _Scalar,
    /,
    stop: str | _Scalar | None = None,
    step: _Scalar | None = 1,
    *,
    dtype: DTypeLike | None = None,
    device: _DeviceLike | None = None,
    like: Any = None,
    fill_value: _Number | None = None,
    hardmask: bool = False,
) -> numpy.ma.MaskedArray: ...
def arccos(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def arccosh(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def arcsin(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def arcsinh(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def arctan(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def arctan2(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def arctanh(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def argmax(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    fill_value: _Scalar | None = None,
    out: _Out | None = None,
    *,
    keepdims: bool = ...,
) -> ndarray: ...
def argmin(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    fill_value: _Scalar | None = None,
    out: _Out | None = None,
    *,
    keepdims: bool = ...,
) -> ndarray: ...
def argsort(
    a: ArrayLike | numpy.ma.MaskedArray,
    axis: SupportsIndex | None = ...,
    kind: _SortKind | None = None,
    order: str | Sequence[str] | None = None,
    endwith: bool | None = True,
    fill_value: _Scalar | None = None,
    *,
    stable: bool | None = None,
    descending: bool | None = None,
) -> Any: ...
def around(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def array(
    data: object,
    dtype: DTypeLike | None = None,
    copy: bool = False,
    order: _Order | None = None,
    mask: ArrayLike = ...,
    fill_value: _Scalar | None = None,
    keep_mask: bool = True,
    hard_mask: bool = False,
    shrink: bool = True,
    subok: bool = True,
    ndmin: SupportsIndex = 0,
) -> numpy.ma.MaskedArray: ...
def asanyarray(a: object, dtype: DTypeLike | None = None, order: _Order | None = None) -> numpy.ma.MaskedArray: ...
def asarray(a: object, dtype: DTypeLike | None = None, order: _Order | None = None) -> numpy.ma.MaskedArray: ...
def atleast_1d(*arys: ArrayLike) -> Any: ...
def atleast_2d(*arys: ArrayLike) -> Any: ...
def atleast_3d(*arys: ArrayLike) -> Any: ...
def average(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = ...,
) -> Any: ...
def bitwise_and(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def bitwise_or(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def bitwise_xor(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def ceil(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def choose(indices: ArrayLike, choices: ArrayLike, out: _Out | None = None, mode: _Mode = "raise") -> Any: ...
def clip(
    a: ArrayLike,
    a_min: ArrayLike | None = ...,
    a_max: ArrayLike | None = ...,
    out: numpy.ma.MaskedArray | None = None,
    *,
    min: ArrayLike | None = ...,
    max: ArrayLike | None = ...,
    fill_value: _Number | None = None,
    hardmask: bool = False,
    dtype: DTypeLike | None = None,
    **kwargs: Any,
) -> Any: ...
def clump_masked(a: ArrayLike) -> list[slice]: ...
def clump_unmasked(a: ArrayLike) -> list[slice]: ...
def column_stack(tup: Sequence[ArrayLike]) -> numpy.ma.MaskedArray: ...
def common_fill_value(a: object, b: object) -> ndarray | None: ...
def compress(condition: ArrayLike, a: ArrayLike, axis: _ShapeLike | None = None, out: _Out | None = None) -> Any: ...
def compress_cols(a: ArrayLike) -> ndarray: ...
def compress_nd(x: ArrayLike, axis: _ShapeLike | None = None) -> ndarray: ...
def compress_rowcols(x: ArrayLike, axis: SupportsIndex | None = None) -> ndarray: ...
def compress_rows(a: ArrayLike) -> ndarray: ...
def compressed(x: ArrayLike) -> ndarray: ...
def concatenate(arrays: ArrayLike, axis: SupportsIndex | None = 0) -> numpy.ma.MaskedArray: ...
def conjugate(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def convolve(
    a: ArrayLike, v: ArrayLike, mode: Literal["valid", "same", "full"] = "full", propagate_mask: bool = True
) -> numpy.ma.MaskedArray: ...
def copy(a: ArrayLike | numpy.ma.MaskedArray, *args: Any, order: _Order | None = "C") -> numpy.ma.MaskedArray: ...
def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, allow_masked: bool = True
) -> numpy.ma.MaskedArray: ...
def correlate(
    a: ArrayLike, v: ArrayLike, mode: Literal["valid", "same", "full"] = "valid", propagate_mask: bool = True
) -> numpy.ma.MaskedArray: ...
def cos(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def cosh(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def count(a: ArrayLike, axis: _ShapeLike | None = None, keepdims: bool = ...) -> Any: ...
def count_masked(arr: ArrayLike, axis: SupportsIndex | None = None) -> ndarray: ...
def cov(
    x: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    allow_masked: bool = True,
    ddof: SupportsIndex | None = None,
) -> numpy.ma.MaskedArray: ...
def cumprod(
    a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: _Out | None = None
) -> Any: ...
def cumsum(
    a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: _Out | None = None
) -> Any: ...
def default_fill_value(obj: object) -> Any: ...
def diag(v: ArrayLike, k: SupportsIndex = 0) -> numpy.ma.MaskedArray: ...
def diagflat(v: ArrayLike, k: SupportsIndex = 0) -> numpy.ma.MaskedArray: ...
def diagonal(
    a: ArrayLike, *args: Any, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
) -> ndarray: ...
def diff(
    a: ArrayLike | numpy.ma.MaskedArray,
    /,
    n: SupportsIndex = 1,
    axis: SupportsIndex = -1,
    prepend: ArrayLike = ...,
    append: ArrayLike = ...,
) -> numpy.ma.MaskedArray: ...
def divide(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def dot(a: ArrayLike, b: ArrayLike, strict: bool = False, out: _Out | None = None) -> ndarray: ...
def dstack(tup: Sequence[ArrayLike]) -> numpy.ma.MaskedArray: ...
def ediff1d(
    arr: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> numpy.ma.MaskedArray: ...
def empty(
    shape: _ShapeLike,
    dtype: DTypeLike | None = None,
    order: _OrderCF | None = "C",
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
    fill_value: _Number | None = None,
    hardmask: bool = False,
) -> numpy.ma.MaskedArray: ...
def empty_like(
    prototype: Any,
    /,
    dtype: DTypeLike | None = None,
    order: _Order | None = "K",
    subok: bool = True,
    shape: _ShapeLike | None = None,
    *,
    device: _DeviceLike | None = None,
) -> numpy.ma.MaskedArray: ...
def equal(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def exp(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def expand_dims(
    a: ArrayLike,
    axis: SupportsIndex
    | tuple[()]
    | tuple[SupportsIndex, ...]
    | tuple[SupportsIndex]
    | tuple[SupportsIndex, SupportsIndex],
) -> ndarray: ...
def fabs(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def filled(a: ArrayLike, fill_value: _Scalar | None = None) -> ndarray: ...
def fix_invalid(
    a: ArrayLike, mask: ArrayLike = ..., copy: bool = True, fill_value: _Scalar | None = None
) -> numpy.ma.MaskedArray: ...
def flatnotmasked_contiguous(a: ArrayLike) -> list[slice]: ...
def flatnotmasked_edges(a: ArrayLike) -> ndarray | None: ...
def flatten_mask(mask: ArrayLike) -> ndarray: ...
def flatten_structured_array(a: ArrayLike | numpy.ma.MaskedArray) -> Any: ...
def floor(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def floor_divide(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def fmod(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def frombuffer(
    buffer: ReadableBuffer,
    dtype: DTypeLike | None = None,
    count: SupportsIndex = -1,
    offset: SupportsIndex = 0,
    *,
    like: Any = None,
) -> numpy.ma.MaskedArray: ...
def fromflex(fxarray: ArrayLike) -> numpy.ma.MaskedArray: ...
def fromfunction(
    function: Callable[..., Any],
    shape: Sequence[SupportsIndex],
    *,
    dtype: DTypeLike | None = float,
    like: Any = None,
    **kwargs: Any,
) -> numpy.ma.MaskedArray: ...
def getdata(a: ArrayLike, subok: bool = True) -> ndarray: ...
def getmask(a: ArrayLike | numpy.ma.MaskedArray) -> ndarray: ...
def getmaskarray(arr: ArrayLike) -> ndarray: ...
def greater(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def greater_equal(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def harden_mask(a: numpy.ma.MaskedArray) -> numpy.ma.MaskedArray: ...
def hsplit(ary: ArrayLike, indices_or_sections: _ShapeLike) -> list[numpy.ma.MaskedArray]: ...
def hstack(
    tup: Sequence[ArrayLike], *, dtype: DTypeLike | None = None, casting: _Casting = "same_kind"
) -> numpy.ma.MaskedArray: ...
def hypot(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def identity(
    n: SupportsIndex,
    dtype: DTypeLike | None = None,
    *,
    like: Any = None,
    fill_value: _Number | None = None,
    hardmask: bool = False,
) -> numpy.ma.MaskedArray: ...
def ids(a: ArrayLike) -> tuple[int, int]: ...
def in1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, invert: bool = False) -> numpy.ma.MaskedArray: ...
def indices(
    dimensions: Sequence[SupportsIndex],
    dtype: DTypeLike | None = int,
    sparse: bool = False,
    *,
    fill_value: _Number | None = None,
    hardmask: bool = False,
) -> Any: ...
def inner(a: ArrayLike, b: ArrayLike) -> Any: ...
def innerproduct(a: ArrayLike, b: ArrayLike) -> Any: ...
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> numpy.ma.MaskedArray: ...
def isMA(x: object) -> bool: ...
def isMaskedArray(x: object) -> bool: ...
def is_mask(m: object) -> bool: ...
def is_masked(x: object) -> bool: ...
def isarray(x: object) -> bool: ...
def isin(
    element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False, invert: bool = False
) -> numpy.ma.MaskedArray: ...
def left_shift(a: ArrayLike, n: SupportsIndex) -> numpy.ma.MaskedArray: ...
def less(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def less_equal(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def log(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def log10(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def log2(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def logical_and(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def logical_not(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def logical_or(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def logical_xor(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def make_mask(m: ArrayLike, copy: bool = False, shrink: bool = True, dtype: DTypeLike = ...) -> ndarray: ...
def make_mask_descr(
    ndtype: ArrayLike | tuple[DTypeLike, DTypeLike] | dict[str, Any] | DTypeLike,
) -> numpy.dtype[Any]: ...
def make_mask_none(
    newshape: _ShapeLike, dtype: ArrayLike | DTypeLike | tuple[DTypeLike, DTypeLike] | dict[str, Any] | None = None
) -> ndarray: ...
def mask_cols(a: ArrayLike, axis: Any = ...) -> numpy.ma.MaskedArray: ...
def mask_or(
    m1: _Scalar | Literal[False], m2: _Scalar | Literal[False], copy: bool = False, shrink: bool = True
) -> ndarray: ...
def mask_rowcols(a: ArrayLike, axis: SupportsIndex | None = None) -> numpy.ma.MaskedArray: ...
def mask_rows(a: ArrayLike, axis: Any = ...) -> numpy.ma.MaskedArray: ...
def masked_all(shape: _ShapeLike, dtype: DTypeLike = float) -> numpy.ma.MaskedArray: ...
def masked_all_like(arr: ArrayLike) -> numpy.ma.MaskedArray: ...
def masked_equal(x: ArrayLike, value: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_greater(x: ArrayLike, value: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_greater_equal(x: ArrayLike, value: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_inside(x: ArrayLike, v1: ArrayLike, v2: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_invalid(a: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_less(x: ArrayLike, value: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_less_equal(x: ArrayLike, value: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_not_equal(x: ArrayLike, value: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_object(x: ArrayLike, value: object, copy: bool = True, shrink: bool = True) -> numpy.ma.MaskedArray: ...
def masked_outside(x: ArrayLike, v1: ArrayLike, v2: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def masked_values(
    x: ArrayLike, value: _Scalar, rtol: _Number = 1e-05, atol: _Number = 1e-08, copy: bool = True, shrink: bool = True
) -> numpy.ma.MaskedArray: ...
def masked_where(condition: ArrayLike, a: ArrayLike, copy: bool = True) -> numpy.ma.MaskedArray: ...
def max(
    obj: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    fill_value: _Scalar | None = None,
    keepdims: bool = ...,
) -> ndarray: ...
def maximum(a: ArrayLike, b: ArrayLike) -> numpy.ma.MaskedArray: ...
def maximum_fill_value(obj: object) -> Any: ...
def mean(
    a: ArrayLike,
    axis: _ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: bool = ...,
) -> ndarray: ...
def median(
    a: ArrayLike | numpy.ma.MaskedArray,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any: ...
def min(
    obj: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    fill_value: _Scalar | None = None,
    keepdims: bool = ...,
) -> ndarray: ...
def minimum(a: ArrayLike, b: ArrayLike) -> numpy.ma.MaskedArray: ...
def minimum_fill_value(obj: object) -> Any: ...
def mod(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def multiply(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def ndenumerate(a: ArrayLike, compressed: bool = True) -> Iterator[tuple[ndarray, ndarray]]: ...
def ndim(obj: ArrayLike) -> int: ...
def negative(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def nonzero(a: ArrayLike) -> tuple[ndarray, ...]: ...
def not_equal(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def notmasked_contiguous(a: ArrayLike, axis: SupportsIndex | None = None) -> Any: ...
def notmasked_edges(a: ArrayLike, axis: SupportsIndex | None = None) -> ndarray | None: ...
def ones(
    shape: _ShapeLike,
    dtype: DTypeLike | None = None,
    order: _OrderCF | None = "C",
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
    fill_value: _Number | None = None,
    hardmask: bool = False,
) -> numpy.ma.MaskedArray: ...
def ones_like(
    a: Any,
    dtype: DTypeLike | None = None,
    order: _Order | None = "K",
    subok: bool = True,
    shape: _ShapeLike | None = None,
    *,
    device: _DeviceLike | None = None,
) -> numpy.ma.MaskedArray: ...
def outer(a: ArrayLike, b: ArrayLike) -> numpy.ma.MaskedArray: ...
def outerproduct(a: ArrayLike, b: ArrayLike) -> numpy.ma.MaskedArray: ...
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex,
    rcond: bool | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool | Literal["unscaled"] = False,
) -> Any: ...
def power(a: ArrayLike, b: ArrayLike, third: None = None) -> numpy.ma.MaskedArray: ...
def prod(
    a: ArrayLike,
    axis: _ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: bool = ...,
) -> ndarray: ...
def product(
    a: ArrayLike,
    axis: _ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: bool = ...,
) -> ndarray: ...
def ptp(
    obj: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    fill_value: _Scalar | None = None,
    keepdims: bool = ...,
) -> ndarray: ...
def put(a: ArrayLike, indices: ArrayLike, values: ArrayLike, mode: _Mode = "raise") -> None: ...
def putmask(a: ArrayLike, mask: ArrayLike, values: ArrayLike) -> None: ...
def ravel(a: ArrayLike, order: _Order | None = "C") -> numpy.ma.MaskedArray: ...
def remainder(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def repeat(
    a: ArrayLike, *args: Any, repeats: ArrayLike = ..., axis: SupportsIndex | None = ...
) -> numpy.ma.MaskedArray: ...
def reshape(a: ArrayLike, new_shape: _ShapeLike, order: _OrderACF | None = "C") -> numpy.ma.MaskedArray: ...
def resize(x: ArrayLike, new_shape: _ShapeLike) -> numpy.ma.MaskedArray: ...
def right_shift(a: ArrayLike, n: SupportsIndex) -> numpy.ma.MaskedArray: ...
def round(a: ArrayLike | numpy.ma.MaskedArray, decimals: SupportsIndex = 0, out: _Out | None = None) -> Any: ...
def round_(a: ArrayLike | numpy.ma.MaskedArray, decimals: SupportsIndex = 0, out: _Out | None = None) -> Any: ...
def row_stack(
    tup: Sequence[ArrayLike], *, dtype: DTypeLike | None = None, casting: _Casting = "same_kind"
) -> numpy.ma.MaskedArray: ...
def set_fill_value(a: numpy.ma.MaskedArray, fill_value: _Scalar) -> None: ...
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> numpy.ma.MaskedArray: ...
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> numpy.ma.MaskedArray: ...
def shape(obj: ArrayLike | memoryview | bytearray) -> Any: ...
def sin(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def sinh(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def size(obj: ArrayLike, axis: SupportsIndex | None = None) -> int: ...
def soften_mask(a: numpy.ma.MaskedArray) -> numpy.ma.MaskedArray: ...
def sometrue(target: ArrayLike, axis: SupportsIndex | None = 0, dtype: DTypeLike | None = None) -> Any: ...
def sort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: _SortKind | None = None,
    order: str | Sequence[str] | None = None,
    endwith: bool | None = True,
    fill_value: _Scalar | None = None,
    *,
    stable: Literal[False] | None = None,
    descending: Literal[False] | None = None,
) -> ndarray: ...
def sqrt(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def squeeze(
    a: ArrayLike, axis: _ShapeLike | None = None, *, fill_value: _Number | None = None, hardmask: bool = False
) -> numpy.ma.MaskedArray: ...
def stack(
    arrays: Sequence[ArrayLike],
    axis: SupportsIndex = 0,
    out: numpy.ma.MaskedArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: _Casting = "same_kind",
) -> numpy.ma.MaskedArray: ...
def std(
    a: ArrayLike,
    axis: _ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    ddof: _Number = 0,
    keepdims: bool = ...,
    mean: ArrayLike = ...,
) -> ndarray: ...
def subtract(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def sum(
    a: ArrayLike,
    axis: _ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: bool = ...,
) -> ndarray: ...
def swapaxes(
    a: ArrayLike | numpy.ma.MaskedArray, *args: Any, axis1: SupportsIndex = ..., axis2: SupportsIndex = ...
) -> numpy.ma.MaskedArray: ...
def take(
    a: ArrayLike, indices: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None, mode: _Mode = "raise"
) -> Any: ...
def tan(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def tanh(a: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def trace(
    a: ArrayLike,
    offset: SupportsIndex = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def transpose(a: ArrayLike, axes: _ShapeLike | None = None) -> ndarray: ...
def true_divide(a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> Any: ...
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> numpy.ma.MaskedArray: ...
def unique(ar1: ArrayLike, return_index: bool = False, return_inverse: bool = False) -> Any: ...
def vander(x: ArrayLike, n: SupportsIndex | None = None) -> ndarray: ...
def var(
    a: ArrayLike,
    axis: _ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    ddof: _Number = 0,
    keepdims: bool = ...,
    mean: ArrayLike = ...,
) -> ndarray: ...
def vstack(
    tup: Sequence[ArrayLike], *, dtype: DTypeLike | None = None, casting: _Casting = "same_kind"
) -> numpy.ma.MaskedArray: ...
def where(condition: ArrayLike, x: ArrayLike = ..., y: ArrayLike = ...) -> Any: ...
def zeros(
    shape: _ShapeLike,
    dtype: DTypeLike | None = None,
    order: _OrderCF | None = "C",
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
    fill_value: _Number | None = None,
    hardmask: bool = False,
) -> numpy.ma.MaskedArray: ...
def zeros_like(
    a: Any,
    dtype: DTypeLike | None = None,
    order: _Order | None = "K",
    subok: bool = True,
    shape: _ShapeLike | None = None,
    *,
    device: _DeviceLike | None = None,
) -> numpy.ma.MaskedArray: ...

__all__ = [
    "MAError",
    "MaskError",
    "MaskType",
    "MaskedArray",
    "abs",
    "absolute",
    "add",
    "all",
    "allclose",
    "allequal",
    "alltrue",
    "amax",
    "amin",
    "angle",
    "anom",
    "anomalies",
    "any",
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "around",
    "array",
    "asanyarray",
    "asarray",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bool_",
    "ceil",
    "choose",
    "clip",
    "clump_masked",
    "clump_unmasked",
    "column_stack",
    "common_fill_value",
    "compress",
    "compress_cols",
    "compress_nd",
    "compress_rowcols",
    "compress_rows",
    "compressed",
    "concatenate",
    "conjugate",
    "convolve",
    "copy",
    "core",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "count",
    "count_masked",
    "cov",
    "cumprod",
    "cumsum",
    "default_fill_value",
    "diag",
    "diagflat",
    "diagonal",
    "diff",
    "divide",
    "dot",
    "dstack",
    "ediff1d",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "extras",
    "fabs",
    "filled",
    "fix_invalid",
    "flatnotmasked_contiguous",
    "flatnotmasked_edges",
    "flatten_mask",
    "flatten_structured_array",
    "floor",
    "floor_divide",
    "fmod",
    "frombuffer",
    "fromflex",
    "fromfunction",
    "getdata",
    "getmask",
    "getmaskarray",
    "greater",
    "greater_equal",
    "harden_mask",
    "hsplit",
    "hstack",
    "hypot",
    "identity",
    "ids",
    "in1d",
    "indices",
    "inner",
    "innerproduct",
    "intersect1d",
    "isMA",
    "isMaskedArray",
    "is_mask",
    "is_masked",
    "isarray",
    "isin",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "make_mask",
    "make_mask_descr",
    "make_mask_none",
    "mask_cols",
    "mask_or",
    "mask_rowcols",
    "mask_rows",
    "masked",
    "masked_all",
    "masked_all_like",
    "masked_array",
    "masked_equal",
    "masked_greater",
    "masked_greater_equal",
    "masked_inside",
    "masked_invalid",
    "masked_less",
    "masked_less_equal",
    "masked_not_equal",
    "masked_object",
    "masked_outside",
    "masked_print_option",
    "masked_singleton",
    "masked_values",
    "masked_where",
    "max",
    "maximum",
    "maximum_fill_value",
    "mean",
    "median",
    "min",
    "minimum",
    "minimum_fill_value",
    "mod",
    "mr_",
    "multiply",
    "mvoid",
    "ndenumerate",
    "ndim",
    "negative",
    "nomask",
    "nonzero",
    "not_equal",
    "notmasked_contiguous",
    "notmasked_edges",
    "ones",
    "ones_like",
    "outer",
    "outerproduct",
    "polyfit",
    "power",
    "prod",
    "product",
    "ptp",
    "put",
    "putmask",
    "ravel",
    "remainder",
    "repeat",
    "reshape",
    "resize",
    "right_shift",
    "round",
    "round_",
    "row_stack",
    "set_fill_value",
    "setdiff1d",
    "setxor1d",
    "shape",
    "sin",
    "sinh",
    "size",
    "soften_mask",
    "sometrue",
    "sort",
    "sqrt",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "tan",
    "tanh",
    "trace",
    "transpose",
    "true_divide",
    "union1d",
    "unique",
    "vander",
    "var",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]
