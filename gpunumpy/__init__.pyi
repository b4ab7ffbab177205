# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from types import EllipsisType, ModuleType, TracebackType
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    Self,
    SupportsIndex,
    SupportsInt,
    TextIO,
    TypeAlias,
    overload,
)

import numpy
from _typeshed import ReadableBuffer, StrOrBytesPath, StrPath, SupportsRead, SupportsWrite
from numpy import False_ as False_
from numpy import ScalarType as ScalarType
from numpy import True_ as True_
from numpy import base_repr as base_repr
from numpy import binary_repr as binary_repr
from numpy import bool as bool
from numpy import bool_ as bool_
from numpy import broadcast as broadcast
from numpy import busdaycalendar as busdaycalendar
from numpy import byte as byte
from numpy import bytes_ as bytes_
from numpy import cdouble as cdouble
from numpy import character as character
from numpy import clongdouble as clongdouble
from numpy import complex64 as complex64
from numpy import complex128 as complex128
from numpy import complex256 as complex256
from numpy import complexfloating as complexfloating
from numpy import csingle as csingle
from numpy import datetime64 as datetime64
from numpy import double as double
from numpy import dtype as dtype
from numpy import e as e
from numpy import euler_gamma as euler_gamma
from numpy import flatiter as flatiter
from numpy import flexible as flexible
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import float128 as float128
from numpy import floating as floating
from numpy import format_float_positional as format_float_positional
from numpy import format_float_scientific as format_float_scientific
from numpy import generic as generic
from numpy import get_include as get_include
from numpy import get_printoptions as get_printoptions
from numpy import getbufsize as getbufsize
from numpy import geterrcall as geterrcall
from numpy import half as half
from numpy import iinfo as iinfo
from numpy import index_exp as index_exp
from numpy import inexact as inexact
from numpy import inf as inf
from numpy import int8 as int8
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int_ as int_
from numpy import intc as intc
from numpy import integer as integer
from numpy import intp as intp
from numpy import issubdtype as issubdtype
from numpy import little_endian as little_endian
from numpy import long as long
from numpy import longdouble as longdouble
from numpy import longlong as longlong
from numpy import matrix as matrix
from numpy import memmap as memmap
from numpy import nan as nan
from numpy import ndenumerate as ndenumerate
from numpy import ndindex as ndindex
from numpy import nditer as nditer
from numpy import newaxis as newaxis
from numpy import number as number
from numpy import object_ as object_
from numpy import pi as pi
from numpy import poly1d as poly1d
from numpy import printoptions as printoptions
from numpy import recarray as recarray
from numpy import record as record
from numpy import s_ as s_
from numpy import sctypeDict as sctypeDict
from numpy import set_printoptions as set_printoptions
from numpy import setbufsize as setbufsize
from numpy import seterrcall as seterrcall
from numpy import short as short
from numpy import show_runtime as show_runtime
from numpy import signedinteger as signedinteger
from numpy import single as single
from numpy import str_ as str_
from numpy import timedelta64 as timedelta64
from numpy import typecodes as typecodes
from numpy import typename as typename
from numpy import ubyte as ubyte
from numpy import uint as uint
from numpy import uint8 as uint8
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uintc as uintc
from numpy import uintp as uintp
from numpy import ulong as ulong
from numpy import ulonglong as ulonglong
from numpy import unsignedinteger as unsignedinteger
from numpy import ushort as ushort
from numpy import void as void
from typing_extensions import TypeVar

from . import char as char
from . import ctypeslib as ctypeslib
from . import cuda as cuda
from . import dtypes as dtypes
from . import exceptions as exceptions
from . import f2py as f2py
from . import fft as fft
from . import lib as lib
from . import linalg as linalg
from . import ma as ma
from . import polynomial as polynomial
from . import random as random
from . import rec as rec
from . import strings as strings
from . import testing as testing
from . import typing as typing
from . import version as version
from .arrays.methods import Flags
from .arrays.namespace_info import __array_namespace_info__ as __array_namespace_info__
from .core.errors import DeviceError as DeviceError
from .core.errors import HostFallbackWarning as HostFallbackWarning
from .core.errors import PerformanceWarning as PerformanceWarning
from .core.recording.array import ndarray as _State
from .core.runtime.device import Device as Device
from .core.runtime.memory import MemoryInfo
from .core.runtime.profile import profile as profile
from .cuda.graph import _P, _R, Graph
from .cuda.memory import MemoryPool, PinnedMemoryPool
from .cuda.stream import Event as Event
from .cuda.stream import Stream as Stream
from .custom.elementwise import ElementwiseKernel as ElementwiseKernel
from .custom.raw import RawKernel as RawKernel
from .custom.raw import RawModule as RawModule
from .custom.reduction import ReductionKernel as ReductionKernel
from .functions.creation.axis_concatenators import AxisConcatenator
from .functions.functional import vectorize as vectorize
from .functions.ufuncs.python_ufunc import PythonUfunc
from .lib import scimath as _emath
from .typing import ArrayLike, DTypeLike

_ShapeT_co = TypeVar("_ShapeT_co", bound=tuple[int, ...], default=tuple[Any, ...], covariant=True)
_DTypeT_co = TypeVar("_DTypeT_co", bound=numpy.dtype[Any], default=numpy.dtype[Any], covariant=True)
_DeviceLike: TypeAlias = Device | str | int
_ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_OneIndex: TypeAlias = SupportsIndex | slice | EllipsisType | ndarray | numpy.ndarray[Any, Any] | None
_Index: TypeAlias = _OneIndex | str | Sequence[_OneIndex | str | list[Any] | tuple[Any, ...]]
_HostNumber: TypeAlias = complex | numpy.number[Any] | numpy.bool
_Number: TypeAlias = _HostNumber | ndarray
_Scalar: TypeAlias = complex | str | bytes | numpy.generic | ndarray
_Out: TypeAlias = ndarray | numpy.ndarray[Any, Any]
_Outs: TypeAlias = _Out | tuple[_Out | None, ...] | None
_Loop: TypeAlias = str | tuple[DTypeLike | None, ...] | None
__version__: str
__array_api_version__: str

class bfloat16(numpy.generic):
    def __new__(cls, value: object = ..., /) -> Self: ...

class float8_e4m3fn(numpy.generic):
    def __new__(cls, value: object = ..., /) -> Self: ...

class float8_e5m2(numpy.generic):
    def __new__(cls, value: object = ..., /) -> Self: ...

class float4_e2m1fn(numpy.generic):
    def __new__(cls, value: object = ..., /) -> Self: ...

class _MGrid:
    def __getitem__(self, key: slice | tuple[slice, ...], /) -> ndarray: ...

class _OGrid:
    @overload
    def __getitem__(self, key: slice, /) -> ndarray: ...
    @overload
    def __getitem__(self, key: tuple[slice, ...], /) -> tuple[ndarray, ...]: ...

mgrid: _MGrid
ogrid: _OGrid

class _Unary(ufunc):
    def __call__(
        self,
        x: ArrayLike,
        /,
        out: _Outs = None,
        *,
        where: ArrayLike = True,
        casting: _Casting = "same_kind",
        order: _Order = "K",
        subok: builtins.bool = True,
        dtype: DTypeLike | None = None,
        signature: _Loop = None,
        sig: _Loop = None,
    ) -> ndarray: ...

class _Binary(ufunc):
    def __call__(
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        /,
        out: _Outs = None,
        *,
        where: ArrayLike = True,
        casting: _Casting = "same_kind",
        order: _Order = "K",
        subok: builtins.bool = True,
        dtype: DTypeLike | None = None,
        signature: _Loop = None,
        sig: _Loop = None,
    ) -> ndarray: ...

class _UnaryPair(ufunc):
    def __call__(
        self,
        x: ArrayLike,
        out1: _Out | None = None,
        out2: _Out | None = None,
        /,
        *,
        out: _Outs = None,
        where: ArrayLike = True,
        casting: _Casting = "same_kind",
        order: _Order = "K",
        subok: builtins.bool = True,
        dtype: DTypeLike | None = None,
        signature: _Loop = None,
        sig: _Loop = None,
    ) -> tuple[ndarray, ndarray]: ...

class _BinaryPair(ufunc):
    def __call__(
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        out1: _Out | None = None,
        out2: _Out | None = None,
        /,
        *,
        out: _Outs = None,
        where: ArrayLike = True,
        casting: _Casting = "same_kind",
        order: _Order = "K",
        subok: builtins.bool = True,
        dtype: DTypeLike | None = None,
        signature: _Loop = None,
        sig: _Loop = None,
    ) -> tuple[ndarray, ndarray]: ...

_Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"]
_Method: TypeAlias = Literal[
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]
_Mode: TypeAlias = Literal["raise", "wrap", "clip"]
_Norm: TypeAlias = Literal["backward", "ortho", "forward"]
_OnError: TypeAlias = Literal["ignore", "warn", "raise", "call", "print", "log"]
_Order: TypeAlias = Literal["C", "F", "A", "K"]
_OrderACF: TypeAlias = Literal["A", "C", "F"]
_OrderCF: TypeAlias = Literal["C", "F"]
_SortKind: TypeAlias = Literal[
    "Q", "quick", "quicksort", "M", "merge", "mergesort", "H", "heap", "heapsort", "S", "stable", "stablesort"
]

class ndarray(_State, Generic[_ShapeT_co, _DTypeT_co]):
    def __new__(
        cls,
        shape: _ShapeLike,
        dtype: DTypeLike | None = float,
        buffer: ReadableBuffer | None = None,
        offset: SupportsIndex = 0,
        strides: _ShapeLike | None = None,
        order: _Order | None = None,
    ) -> Self: ...
    @property
    def base(self) -> ndarray | None: ...
    @property
    def T(self) -> ndarray: ...
    @property
    def __array_interface__(self) -> NoReturn: ...
    @property
    def __array_priority__(self) -> float: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    @property
    def as_integer_ratio(self) -> Any: ...
    @property
    def bit_count(self) -> Any: ...
    @property
    def ctypes(self) -> Any: ...
    @property
    def data(self) -> memoryview: ...
    @property
    def denominator(self) -> Any: ...
    @property
    def dtype(self) -> _DTypeT_co: ...
    @dtype.setter
    def dtype(self, value: DTypeLike) -> None: ...
    @property
    def flags(self) -> Flags: ...
    @property
    def flat(self) -> _Flat: ...
    @flat.setter
    def flat(self, value: ArrayLike) -> None: ...
    @property
    def hex(self) -> Any: ...
    @property
    def imag(self) -> ndarray: ...
    @imag.setter
    def imag(self, value: ArrayLike) -> None: ...
    @property
    def is_integer(self) -> Any: ...
    @property
    def mT(self) -> ndarray: ...
    @property
    def numerator(self) -> Any: ...
    @property
    def real(self) -> ndarray: ...
    @real.setter
    def real(self, value: ArrayLike) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @shape.setter
    def shape(self, value: _ShapeLike) -> None: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @strides.setter
    def strides(self, value: _ShapeLike) -> None: ...
    def __abs__(self) -> ndarray: ...
    def __add__(self, y: ArrayLike, /) -> ndarray: ...
    def __and__(self, y: ArrayLike, /) -> ndarray: ...
    def __array__(
        self, dtype: DTypeLike | None = None, copy: builtins.bool | None = None
    ) -> numpy.ndarray[Any, numpy.dtype[Any]]: ...
    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type[Any]], args: Iterable[Any], kwargs: Mapping[str, Any]
    ) -> Any: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType: ...
    def __array_ufunc__(
        self,
        ufunc: ufunc,
        method: Literal["__call__", "reduce", "reduceat", "accumulate", "outer", "at"],
        *inputs: Any,
        **options: Any,
    ) -> Any: ...
    def __array_wrap__(
        self,
        array: ArrayLike,
        context: tuple[ufunc, tuple[Any, ...], SupportsIndex] | None = None,
        return_scalar: builtins.bool = False,
    ) -> ndarray: ...
    def __arrow_array__(self, type: Any = None) -> Any: ...
    def __bool__(self) -> builtins.bool: ...
    def __buffer__(self, flags: SupportsIndex) -> memoryview: ...
    def __bytes__(self) -> bytes: ...
    def __ceil__(self, *args: Any) -> int: ...
    def __complex__(self, *args: Any) -> complex: ...
    def __contains__(self, y: object, /) -> builtins.bool: ...
    def __copy__(self) -> ndarray: ...
    def __deepcopy__(self, memo: dict[SupportsIndex, Any] | None) -> ndarray: ...
    def __delitem__(self, key: _Index) -> None: ...
    def __dir__(self) -> list[str]: ...
    def __divmod__(self, y: ArrayLike, /) -> tuple[ndarray, ndarray]: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[SupportsIndex, SupportsIndex] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: builtins.bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __eq__(self, y: object, /) -> ndarray: ...
    def __float__(self, *args: Any) -> float: ...
    def __floor__(self, *args: Any) -> int: ...
    def __floordiv__(self, y: ArrayLike, /) -> ndarray: ...
    def __format__(self, spec: str) -> str: ...
    def __ge__(self, y: ArrayLike, /) -> ndarray: ...
    def __getitem__(self, key: _Index) -> ndarray: ...
    def __gt__(self, y: ArrayLike, /) -> ndarray: ...
    def __hash__(self) -> int: ...
    def __iadd__(self, y: ArrayLike, /) -> ndarray: ...
    def __iand__(self, y: ArrayLike, /) -> ndarray: ...
    def __ifloordiv__(self, y: ArrayLike, /) -> ndarray: ...
    def __ilshift__(self, y: ArrayLike, /) -> ndarray: ...
    def __imatmul__(self, y: ArrayLike, /) -> ndarray: ...
    def __imod__(self, y: ArrayLike, /) -> ndarray: ...
    def __imul__(self, y: ArrayLike, /) -> ndarray: ...
    def __index__(self) -> int: ...
    def __int__(self, *args: Any) -> int: ...
    def __invert__(self) -> ndarray: ...
    def __ior__(self, y: ArrayLike, /) -> ndarray: ...
    def __ipow__(self, y: ArrayLike, modulus: None = None, /) -> ndarray: ...
    def __irshift__(self, y: ArrayLike, /) -> ndarray: ...
    def __isub__(self, y: ArrayLike, /) -> ndarray: ...
    def __iter__(self) -> Iterator[ndarray]: ...
    def __itruediv__(self, y: ArrayLike, /) -> ndarray: ...
    def __ixor__(self, y: ArrayLike, /) -> ndarray: ...
    def __le__(self, y: ArrayLike, /) -> ndarray: ...
    def __len__(self) -> int: ...
    def __lshift__(self, y: ArrayLike, /) -> ndarray: ...
    def __lt__(self, y: ArrayLike, /) -> ndarray: ...
    def __matmul__(self, y: ArrayLike, /) -> ndarray: ...
    def __mod__(self, y: ArrayLike, /) -> ndarray: ...
    def __mul__(self, y: ArrayLike, /) -> ndarray: ...
    def __ne__(self, y: object, /) -> ndarray: ...
    def __neg__(self) -> ndarray: ...
    def __or__(self, y: ArrayLike, /) -> ndarray: ...
    def __pos__(self) -> ndarray: ...
    def __pow__(self, y: ArrayLike, modulus: None = None, /) -> ndarray: ...
    def __radd__(self, y: ArrayLike, /) -> ndarray: ...
    def __rand__(self, y: ArrayLike, /) -> ndarray: ...
    def __rdivmod__(self, y: ArrayLike, /) -> tuple[ndarray, ndarray]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, y: ArrayLike, /) -> ndarray: ...
    def __rlshift__(self, y: ArrayLike, /) -> ndarray: ...
    def __rmatmul__(self, y: ArrayLike, /) -> ndarray: ...
    def __rmod__(self, y: ArrayLike, /) -> ndarray: ...
    def __rmul__(self, y: ArrayLike, /) -> ndarray: ...
    def __ror__(self, y: ArrayLike, /) -> ndarray: ...
    def __round__(self, *args: Any) -> int: ...
    def __rpow__(self, y: ArrayLike, modulus: None = None, /) -> ndarray: ...
    def __rrshift__(self, y: ArrayLike, /) -> ndarray: ...
    def __rshift__(self, y: ArrayLike, /) -> ndarray: ...
    def __rsub__(self, y: ArrayLike, /) -> ndarray: ...
    def __rtruediv__(self, y: ArrayLike, /) -> ndarray: ...
    def __rxor__(self, y: ArrayLike, /) -> ndarray: ...
    def __setitem__(self, key: _Index, value: ArrayLike | None) -> None: ...
    def __setstate__(self, state: tuple[SupportsIndex, _ShapeLike, DTypeLike, builtins.bool, ArrayLike]) -> None: ...
    def __sizeof__(self) -> int: ...
    def __str__(
        self,
        max_line_width: int | None = None,
        precision: int | None = None,
        suppress_small: builtins.bool | None = None,
    ) -> str: ...
    def __sub__(self, y: ArrayLike, /) -> ndarray: ...
    def __truediv__(self, y: ArrayLike, /) -> ndarray: ...
    def __trunc__(self, *args: Any) -> int: ...
    def __xor__(self, y: ArrayLike, /) -> ndarray: ...
    def _repr_html_(self) -> str | None: ...
    def all(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        out: _Out | None = None,
        keepdims: builtins.bool = ...,
        *,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def any(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        out: _Out | None = None,
        keepdims: builtins.bool = ...,
        *,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def argmax(
        self, axis: SupportsIndex | None = None, out: _Out | None = None, *, keepdims: builtins.bool = ...
    ) -> ndarray: ...
    def argmin(
        self, axis: SupportsIndex | None = None, out: _Out | None = None, *, keepdims: builtins.bool = ...
    ) -> ndarray: ...
    def argpartition(
        self,
        kth: ArrayLike,
        axis: SupportsIndex | None = -1,
        kind: Literal["introselect"] = "introselect",
        order: str | Sequence[str] | None = None,
    ) -> ndarray: ...
    def argsort(
        self,
        axis: SupportsIndex | None = -1,
        kind: _SortKind | None = None,
        order: str | Sequence[str] | None = None,
        *,
        stable: builtins.bool | None = None,
        descending: builtins.bool | None = None,
    ) -> ndarray: ...
    def astype(
        self,
        dtype: DTypeLike | None,
        order: _Order | None = "K",
        casting: _Casting = "unsafe",
        subok: builtins.bool = True,
        copy: builtins.bool = True,
    ) -> ndarray: ...
    def byteswap(self, inplace: builtins.bool = False) -> ndarray: ...
    def choose(self, *choices: Any, out: _Out | None = None, mode: _Mode = "raise") -> ndarray: ...
    def clip(
        self, min: ArrayLike | None = None, max: ArrayLike | None = None, out: _Out | None = None, **options: Any
    ) -> ndarray: ...
    def compress(self, condition: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None) -> ndarray: ...
    def conj(self, out: _Out | None = None) -> ndarray: ...
    def conjugate(self, out: _Out | None = None) -> ndarray: ...
    def copy(self, order: _Order | None = "C") -> ndarray: ...
    def cumprod(
        self, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: _Out | None = None
    ) -> ndarray: ...
    def cumsum(
        self, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: _Out | None = None
    ) -> ndarray: ...
    def data_ptr(self) -> int: ...
    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> ndarray: ...
    def dot(self, b: ArrayLike, out: _Out | None = None) -> ndarray: ...
    def dump(self, file: StrOrBytesPath | SupportsWrite[bytes]) -> None: ...
    def dumps(self) -> bytes: ...
    def fill(self, value: Any, /) -> None: ...
    def flatten(self, order: _Order | None = "C") -> ndarray: ...
    def get(
        self,
        stream: Any = None,
        order: str = "C",
        out: numpy.ndarray[Any, Any] | None = None,
        *,
        blocking: builtins.bool = True,
    ) -> numpy.ndarray[Any, numpy.dtype[Any]]: ...
    def getfield(self, dtype: DTypeLike, offset: SupportsIndex = 0) -> ndarray: ...
    def item(self, *args: SupportsIndex | tuple[SupportsIndex, ...]) -> Any: ...
    def max(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        out: _Out | None = None,
        keepdims: builtins.bool = ...,
        initial: _Number = ...,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def mean(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out | None = None,
        keepdims: builtins.bool = ...,
        *,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def min(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        out: _Out | None = None,
        keepdims: builtins.bool = ...,
        initial: _Number = ...,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def nonzero(self) -> tuple[ndarray, ...]: ...
    def partition(
        self,
        kth: ArrayLike,
        axis: SupportsIndex = -1,
        kind: Literal["introselect"] = "introselect",
        order: str | Sequence[str] | None = None,
    ) -> None: ...
    def prod(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out | None = None,
        keepdims: builtins.bool = ...,
        initial: _Number = ...,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def put(self, ind: Any, v: Any, mode: _Mode = "raise") -> None: ...
    def ravel(self, order: _Order | None = "C") -> ndarray: ...
    def repeat(self, repeats: ArrayLike, axis: SupportsIndex | None = None) -> ndarray: ...
    def reshape(
        self,
        *shape: SupportsIndex | tuple[()] | Sequence[SupportsIndex] | None,
        order: _OrderACF | None = "C",
        copy: builtins.bool | None = None,
    ) -> ndarray: ...
    def resize(self, *new_shape: _ShapeLike, refcheck: builtins.bool = True) -> None: ...
    def round(self, decimals: SupportsIndex = 0, out: _Out | None = None) -> ndarray: ...
    def searchsorted(
        self, v: ArrayLike, side: Literal["left", "right"] = "left", sorter: ArrayLike | None = None
    ) -> ndarray: ...
    def setfield(self, val: ArrayLike, /, dtype: DTypeLike, offset: SupportsIndex = 0) -> None: ...
    def setflags(
        self, write: builtins.bool | None = None, align: builtins.bool | None = None, uic: builtins.bool | None = None
    ) -> None: ...
    def sort(
        self,
        axis: SupportsIndex = -1,
        kind: _SortKind | None = None,
        order: str | Sequence[str] | None = None,
        *,
        stable: builtins.bool | None = None,
        descending: builtins.bool | None = None,
    ) -> None: ...
    def squeeze(self, axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None) -> ndarray: ...
    def std(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out | None = None,
        ddof: _Number = 0,
        keepdims: builtins.bool = ...,
        *,
        where: ArrayLike = True,
        mean: ArrayLike = ...,
        correction: _Number = ...,
    ) -> ndarray: ...
    def sum(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out | None = None,
        keepdims: builtins.bool = ...,
        initial: _Number = ...,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> ndarray: ...
    def take(
        self, indices: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None, mode: _Mode = "raise"
    ) -> ndarray: ...
    def to_device(self, device: _DeviceLike | None, /, *, stream: Any = None) -> ndarray: ...
    def to_numpy(self) -> numpy.ndarray[Any, numpy.dtype[Any]]: ...
    def tobytes(self, order: _Order | None = "C") -> bytes: ...
    def tofile(self, fid: StrOrBytesPath, /, sep: str = "", format: str = "%s") -> None: ...
    def tolist(self) -> Any: ...
    def trace(
        self,
        offset: SupportsIndex = 0,
        axis1: SupportsIndex = 0,
        axis2: SupportsIndex = 1,
        dtype: DTypeLike | None = None,
        out: _Out | None = None,
    ) -> ndarray: ...
    def transpose(self, *axes: _ShapeLike | None) -> ndarray: ...
    def var(
        self,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out | None = None,
        ddof: _Number = 0,
        keepdims: builtins.bool = ...,
        *,
        where: ArrayLike = True,
        mean: ArrayLike = ...,
        correction: _Number = ...,
    ) -> ndarray: ...
    def view(self, dtype: DTypeLike | None = None, type: type[Any] | None = None) -> ndarray: ...

class _Flat:
    def __init__(self, a: ndarray) -> None: ...
    def __array__(
        self, dtype: DTypeLike | None = None, copy: builtins.bool | None = None
    ) -> numpy.ndarray[Any, numpy.dtype[Any]]: ...
    def __getitem__(self, key: _Index) -> ndarray: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __next__(self) -> Any: ...
    def __setitem__(self, key: _Index, value: ArrayLike | None) -> None: ...
    @property
    def coords(self) -> tuple[int, ...]: ...
    def copy(self) -> ndarray: ...
    @property
    def index(self) -> int: ...
    def numpy_class(self) -> Any: ...
    base: ndarray

class ufunc:
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    __name__: str
    identity: Any
    signature: None

    def __call__(self, *args: ArrayLike, **options: Any) -> Any: ...
    def accumulate(
        self,
        array: ArrayLike,
        /,
        axis: SupportsIndex = 0,
        dtype: DTypeLike | None = None,
        out: _Out | EllipsisType | None = None,
    ) -> ndarray: ...
    def at(self, a: ArrayLike, indices: ArrayLike, /, *operands: ArrayLike | None) -> None: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /, **kwargs: Any) -> ndarray: ...
    def reduce(
        self,
        array: ArrayLike,
        /,
        axis: _ShapeLike | None = 0,
        dtype: DTypeLike | None = None,
        out: _Out | EllipsisType | None = None,
        keepdims: builtins.bool = False,
        initial: Any = ...,
        where: Any = True,
    ) -> ndarray: ...
    def reduceat(
        self,
        array: ArrayLike,
        /,
        indices: ArrayLike,
        axis: SupportsIndex = 0,
        dtype: DTypeLike | None = None,
        out: _Out | EllipsisType | None = None,
    ) -> ndarray: ...
    def resolve_dtypes(
        self,
        dtypes: tuple[DTypeLike | None, ...],
        *,
        signature: tuple[DTypeLike | None, ...] | None = None,
        casting: _Casting | None = None,
        reduction: builtins.bool = False,
    ) -> tuple[numpy.dtype[Any], ...]: ...

class finfo:
    def __init__(self, dtype: ArrayLike | DTypeLike) -> None: ...
    @property
    def bits(self) -> int: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def eps(self) -> float: ...
    @property
    def epsneg(self) -> float: ...
    @property
    def iexp(self) -> int: ...
    @property
    def machep(self) -> int: ...
    @property
    def max(self) -> float: ...
    @property
    def maxexp(self) -> int: ...
    @property
    def min(self) -> float: ...
    @property
    def minexp(self) -> int: ...
    @property
    def negep(self) -> int: ...
    @property
    def nexp(self) -> int: ...
    @property
    def nmant(self) -> int: ...
    @property
    def precision(self) -> int: ...
    @property
    def resolution(self) -> float: ...
    @property
    def smallest_normal(self) -> float: ...
    @property
    def smallest_subnormal(self) -> float: ...
    @property
    def tiny(self) -> float: ...

class _UniqueAllResult(NamedTuple):
    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray

class _UniqueCountsResult(NamedTuple):
    values: ndarray
    counts: ndarray

class _UniqueInverseResult(NamedTuple):
    values: ndarray
    inverse_indices: ndarray

abs: _Unary
absolute: _Unary
acos: _Unary
acosh: _Unary
add: _Binary

def all(
    a: ArrayLike | None,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = True,
) -> ndarray: ...
def allclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: builtins.bool = False
) -> builtins.bool: ...
def amax(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def amin(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def angle(z: ArrayLike, deg: builtins.bool = False) -> ndarray: ...
def any(
    a: ArrayLike | None,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = True,
) -> ndarray: ...
def append(arr: ArrayLike, values: ArrayLike, axis: SupportsIndex | None = None) -> ndarray: ...
def apply_along_axis(
    func1d: Callable[..., Any], axis: SupportsIndex, arr: ArrayLike, *args: Any, **kwargs: Any
) -> ndarray: ...
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: _ShapeLike) -> ndarray: ...
def arange(
    start_or_stop: _Scalar | None = ...,
    /,
    stop: str | _Scalar | None = None,
    step: _Scalar | None = None,
    dtype: DTypeLike | None = None,
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
    start: _Scalar | None = ...,
) -> ndarray: ...

arccos: _Unary
arccosh: _Unary
arcsin: _Unary
arcsinh: _Unary
arctan: _Unary
arctan2: _Binary
arctanh: _Unary

def argmax(
    a: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None, *, keepdims: builtins.bool = ...
) -> ndarray: ...
def argmin(
    a: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None, *, keepdims: builtins.bool = ...
) -> ndarray: ...
def argpartition(
    a: ArrayLike,
    kth: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: Literal["introselect"] = "introselect",
    order: str | Sequence[str] | None = None,
) -> ndarray: ...
def argsort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: _SortKind | None = None,
    order: str | Sequence[str] | None = None,
    *,
    stable: builtins.bool | None = None,
    descending: builtins.bool | None = None,
) -> ndarray: ...
def argwhere(a: ArrayLike) -> ndarray: ...
def around(a: ArrayLike, decimals: SupportsIndex = 0, out: _Out | None = None) -> ndarray: ...
def array(
    object: Any,
    dtype: DTypeLike | None = None,
    *,
    copy: builtins.bool | None = True,
    order: _Order | None = "K",
    subok: builtins.bool = False,
    ndmin: SupportsIndex = 0,
    ndmax: SupportsIndex = 0,
    like: Any = None,
    device: _DeviceLike | None = None,
    blocking: builtins.bool = True,
) -> ndarray: ...
def array2string(
    a: ArrayLike,
    max_line_width: _Number | None = None,
    precision: SupportsIndex | None = None,
    suppress_small: builtins.bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: dict[str, Any] | None = None,
    threshold: _Number | None = None,
    edgeitems: SupportsIndex | None = None,
    sign: Literal["-", "+", " "] | None = None,
    floatmode: Literal["fixed", "unique", "maxprec", "maxprec_equal"] | None = None,
    suffix: str = "",
    legacy: Literal["1.13", "1.21", "1.25", "2.1", False] | None = None,
) -> str: ...
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: builtins.bool = False) -> builtins.bool: ...
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> builtins.bool: ...
def array_repr(
    arr: ArrayLike,
    max_line_width: _Number | None = None,
    precision: SupportsIndex | None = None,
    suppress_small: builtins.bool | None = None,
) -> str: ...
def array_split(ary: ArrayLike, indices_or_sections: _ShapeLike, axis: SupportsIndex = 0) -> list[ndarray]: ...
def array_str(
    a: ArrayLike,
    max_line_width: _Number | None = None,
    precision: SupportsIndex | None = None,
    suppress_small: builtins.bool | None = None,
) -> str: ...
def asanyarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: _Order | None = None,
    *,
    device: _DeviceLike | None = None,
    copy: builtins.bool | None = None,
    like: Any = None,
) -> ndarray: ...
def asarray(
    a: object,
    dtype: DTypeLike | None = None,
    order: _Order | None = None,
    *,
    device: _DeviceLike | None = None,
    copy: builtins.bool | None = None,
    like: Any = None,
    blocking: builtins.bool = True,
) -> ndarray: ...
def asarray_chkfinite(a: object, dtype: DTypeLike | None = None, order: _Order | None = None) -> ndarray: ...
def ascontiguousarray(
    a: object, dtype: DTypeLike | None = None, *, like: Any = None, device: _DeviceLike | None = None
) -> ndarray: ...
def asfortranarray(
    a: object, dtype: DTypeLike | None = None, *, like: Any = None, device: _DeviceLike | None = None
) -> ndarray: ...

asin: _Unary
asinh: _Unary

def asmatrix(data: ArrayLike, dtype: DTypeLike | None = None) -> numpy.matrix: ...
def asnumpy(
    x: Any,
    stream: Any = None,
    order: str = "C",
    out: numpy.ndarray[Any, Any] | None = None,
    *,
    blocking: builtins.bool = True,
) -> numpy.ndarray[Any, numpy.dtype[Any]]: ...
def astype(
    x: ArrayLike, dtype: DTypeLike | None, /, *, copy: builtins.bool = True, device: _DeviceLike | None = None
) -> ndarray: ...

atan: _Unary
atan2: _Binary
atanh: _Unary

@overload
def atleast_1d(a0: ArrayLike, /) -> ndarray: ...
@overload
def atleast_1d(a0: ArrayLike, a1: ArrayLike, /) -> tuple[ndarray, ndarray]: ...
@overload
def atleast_1d(a0: ArrayLike, a1: ArrayLike, /, *arys: ArrayLike) -> tuple[ndarray, ...]: ...
@overload
def atleast_2d(a0: ArrayLike, /) -> ndarray: ...
@overload
def atleast_2d(a0: ArrayLike, a1: ArrayLike, /) -> tuple[ndarray, ndarray]: ...
@overload
def atleast_2d(a0: ArrayLike, a1: ArrayLike, /, *arys: ArrayLike) -> tuple[ndarray, ...]: ...
@overload
def atleast_3d(a0: ArrayLike, /) -> ndarray: ...
@overload
def atleast_3d(a0: ArrayLike, a1: ArrayLike, /) -> tuple[ndarray, ndarray]: ...
@overload
def atleast_3d(a0: ArrayLike, a1: ArrayLike, /, *arys: ArrayLike) -> tuple[ndarray, ...]: ...
@overload
def average(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    weights: ArrayLike | None = None,
    returned: Literal[False] = False,
    *,
    keepdims: builtins.bool = ...,
) -> ndarray: ...
@overload
def average(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    weights: ArrayLike | None = None,
    *,
    returned: Literal[True],
    keepdims: builtins.bool = ...,
) -> tuple[ndarray, ndarray]: ...
@overload
def average(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    weights: ArrayLike | None = None,
    returned: builtins.bool = False,
    *,
    keepdims: builtins.bool = ...,
) -> Any: ...
def bartlett(M: _Number) -> ndarray: ...
def bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: SupportsIndex = 0) -> ndarray: ...

bitwise_and: _Binary
bitwise_count: _Unary
bitwise_invert: _Unary
bitwise_left_shift: _Binary
bitwise_not: _Unary
bitwise_or: _Binary
bitwise_right_shift: _Binary
bitwise_xor: _Binary

def blackman(M: _Number) -> ndarray: ...
def block(arrays: ArrayLike) -> ndarray: ...
def bmat(
    obj: ArrayLike, ldict: Mapping[str, Any] | None = None, gdict: Mapping[str, Any] | None = None
) -> numpy.matrix: ...
def broadcast_arrays(*args: ArrayLike, subok: builtins.bool = False) -> tuple[ndarray, ...]: ...
def broadcast_shapes(*args: _ShapeLike) -> tuple[int, ...]: ...
def broadcast_to(
    array: ArrayLike, shape: SupportsIndex | Iterable[SupportsIndex], subok: builtins.bool = False
) -> ndarray: ...
def busday_count(
    begindates: ArrayLike,
    enddates: ArrayLike,
    weekmask: ArrayLike = "1111100",
    holidays: ArrayLike = (),
    busdaycal: numpy.busdaycalendar | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def busday_offset(
    dates: ArrayLike,
    offsets: ArrayLike,
    roll: Literal[
        "raise", "nat", "forward", "following", "backward", "preceding", "modifiedfollowing", "modifiedpreceding"
    ] = "raise",
    weekmask: ArrayLike = "1111100",
    holidays: ArrayLike | None = None,
    busdaycal: numpy.busdaycalendar | None = None,
    out: _Out | None = None,
) -> ndarray: ...

c_: AxisConcatenator

def can_cast(from_: ArrayLike | DTypeLike, to: DTypeLike, casting: _Casting = "safe") -> builtins.bool: ...

cbrt: _Unary
ceil: _Unary

def choose(a: ArrayLike, choices: ArrayLike, out: _Out | None = None, mode: _Mode = "raise") -> ndarray: ...
def clear_memo() -> None: ...
def clip(
    a: ArrayLike,
    a_min: ArrayLike | None = ...,
    a_max: ArrayLike | None = ...,
    out: _Out | None = None,
    *,
    min: ArrayLike | None = ...,
    max: ArrayLike | None = ...,
    dtype: DTypeLike | None = None,
    **options: Any,
) -> ndarray: ...
def column_stack(tup: Sequence[ArrayLike]) -> ndarray: ...
def common_type(*arrays: DTypeLike) -> type: ...
def compress(
    condition: ArrayLike, a: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None
) -> ndarray: ...
def concat(
    arrays: ArrayLike,
    /,
    axis: SupportsIndex | None = 0,
    out: _Out | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: _Casting | None = "same_kind",
) -> ndarray: ...
def concatenate(
    arrays: ArrayLike,
    /,
    axis: SupportsIndex | None = 0,
    out: _Out | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: _Casting | None = "same_kind",
) -> ndarray: ...

conj: _Unary
conjugate: _Unary

def convolve(a: ArrayLike, v: ArrayLike, mode: Literal["valid", "same", "full"] = "full") -> ndarray: ...
def copy(a: ArrayLike, order: _Order | None = "K", subok: builtins.bool = False) -> ndarray: ...

copysign: _Binary

def copyto(dst: ArrayLike, src: ArrayLike, casting: _Casting = "same_kind", where: object = True) -> None: ...
def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: builtins.bool = True, *, dtype: DTypeLike | None = None
) -> ndarray: ...
def correlate(a: ArrayLike, v: ArrayLike, mode: Literal["valid", "same", "full"] = "valid") -> ndarray: ...

cos: _Unary
cosh: _Unary

def count_nonzero(a: ArrayLike, axis: _ShapeLike | None = None, *, keepdims: builtins.bool = False) -> ndarray: ...
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: builtins.bool = True,
    bias: builtins.bool = False,
    ddof: SupportsIndex | SupportsInt | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> ndarray: ...
def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: SupportsIndex = -1,
    axisb: SupportsIndex = -1,
    axisc: SupportsIndex = -1,
    axis: SupportsIndex | None = None,
) -> ndarray: ...
def cumprod(
    a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: _Out | None = None
) -> ndarray: ...
def cumsum(
    a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: _Out | None = None
) -> ndarray: ...
def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    include_initial: builtins.bool = False,
) -> ndarray: ...
def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    include_initial: builtins.bool = False,
) -> ndarray: ...
def datetime_as_string(
    arr: ArrayLike,
    unit: Literal["auto", "Y", "M", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as"] | None = None,
    timezone: Literal["naive", "UTC", "local"] = "naive",
    casting: _Casting = "same_kind",
) -> ndarray: ...
def datetime_data(dtype: DTypeLike, /) -> tuple[str, int]: ...
@overload
def default_device() -> Device: ...
@overload
def default_device(device: _DeviceLike | None) -> None: ...

deg2rad: _Unary
degrees: _Unary

def delete(arr: ArrayLike, obj: ArrayLike | slice, axis: SupportsIndex | None = None) -> ndarray: ...
def devices() -> tuple[Device, ...]: ...
def diag(v: ArrayLike, k: SupportsIndex = 0) -> ndarray: ...
def diag_indices(n: _Number, ndim: SupportsIndex = 2) -> tuple[ndarray, ...]: ...
def diag_indices_from(arr: ndarray) -> tuple[ndarray, ...]: ...
def diagflat(v: ArrayLike, k: SupportsIndex = 0) -> ndarray: ...
def diagonal(
    a: ArrayLike, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
) -> ndarray: ...
def diff(
    a: ArrayLike, n: SupportsIndex = 1, axis: SupportsIndex = -1, prepend: ArrayLike = ..., append: ArrayLike = ...
) -> ndarray: ...
def digitize(x: ArrayLike, bins: ArrayLike, right: builtins.bool = False) -> ndarray: ...

divide: _Binary
divmod: _BinaryPair

def dot(a: ArrayLike, b: ArrayLike, out: _Out | None = None) -> ndarray: ...
def dsplit(ary: ArrayLike, indices_or_sections: _ShapeLike) -> list[ndarray]: ...
def dstack(tup: Sequence[ArrayLike]) -> ndarray: ...
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> ndarray: ...
def einsum(
    *operands: Any,
    out: _Out | None = None,
    optimize: ArrayLike | Literal["greedy", "optimal"] | None = False,
    dtype: DTypeLike | None = None,
    order: _Order | None = "K",
    casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"] = "safe",
) -> ndarray: ...
def einsum_path(
    *operands: ArrayLike | DTypeLike,
    optimize: ArrayLike | Literal["greedy", "optimal"] | None = "greedy",
    einsum_call: Literal[False] = False,
) -> tuple[ndarray, str]: ...

emath = _emath

def empty(
    shape: _ShapeLike,
    dtype: DTypeLike | None = float,
    order: _OrderCF | None = "C",
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
) -> ndarray: ...
def empty_like(
    prototype: Any,
    dtype: DTypeLike | None = None,
    order: _Order | None = "K",
    subok: builtins.bool = True,
    shape: _ShapeLike | None = None,
    *,
    device: _DeviceLike | None = None,
) -> ndarray: ...
def empty_like_pinned(
    a: Any, dtype: DTypeLike | None = None, order: str = "K", subok: Any = None, shape: Any = None
) -> numpy.ndarray[Any, Any]: ...
def empty_pinned(shape: Any, dtype: DTypeLike | None = float, order: str = "C") -> numpy.ndarray[Any, Any]: ...

equal: _Binary

class errstate:
    def __init__(
        self,
        *,
        call: Callable[..., Any] | SupportsWrite[str] = ...,
        all: _OnError | None = None,
        divide: _OnError | None = None,
        over: _OnError | None = None,
        under: _OnError | None = None,
        invalid: _OnError | None = None,
    ) -> None: ...
    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: type[Any] | BaseException | TracebackType | None) -> None: ...

exp: _Unary
exp2: _Unary

def expand_dims(
    a: ArrayLike,
    axis: SupportsIndex
    | tuple[()]
    | tuple[SupportsIndex, ...]
    | tuple[SupportsIndex]
    | tuple[SupportsIndex, SupportsIndex],
) -> ndarray: ...
def explain(*arrays: Any, path: str | PathLike[str] | None = None, file: TextIO | None = None) -> None: ...

expm1: _Unary

def extract(condition: ArrayLike, arr: ArrayLike) -> ndarray: ...
def eye(
    N: SupportsIndex,
    M: SupportsIndex | None = None,
    k: SupportsIndex = 0,
    dtype: DTypeLike | None = float,
    order: _OrderCF | None = "C",
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
) -> ndarray: ...

fabs: _Unary

def fill_diagonal(a: ndarray, val: object, wrap: builtins.bool = False) -> None: ...
def fix(x: ArrayLike, out: _Out | None = None) -> ndarray: ...
def flatnonzero(a: ArrayLike) -> ndarray: ...
def flip(m: ArrayLike, axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None) -> ndarray: ...
def fliplr(m: ArrayLike) -> ndarray: ...
def flipud(m: ArrayLike) -> ndarray: ...

float_power: _Binary
floor: _Unary
floor_divide: _Binary
fmax: _Binary
fmin: _Binary
fmod: _Binary

def free_all_blocks(device: _DeviceLike | None = None) -> None: ...

frexp: _UnaryPair

def from_dlpack(x: Any, /, *, device: _DeviceLike | None = None, copy: builtins.bool | None = None) -> ndarray: ...
def frombuffer(
    buffer: ReadableBuffer,
    dtype: DTypeLike | None = float,
    count: SupportsIndex = -1,
    offset: SupportsIndex = 0,
    *,
    like: Any = None,
) -> ndarray: ...
def fromfile(
    file: StrOrBytesPath,
    dtype: DTypeLike | None = None,
    count: SupportsIndex = -1,
    sep: str = "",
    offset: SupportsIndex = 0,
    *,
    like: Any = None,
) -> ndarray: ...
def fromfunction(
    function: Callable[..., Any],
    shape: Sequence[SupportsIndex],
    *,
    dtype: DTypeLike | None = float,
    device: _DeviceLike | None = None,
    like: Any = None,
    **kwargs: Any,
) -> Any: ...
def fromiter(
    iter: Iterable[object], dtype: DTypeLike | None, count: SupportsIndex = -1, *, like: Any = None
) -> ndarray: ...
def frompyfunc(
    func: Callable[..., Any], /, nin: SupportsIndex, nout: SupportsIndex, *, identity: object = ...
) -> PythonUfunc: ...
def fromregex(
    file: StrPath | SupportsRead[str] | SupportsRead[bytes],
    regexp: str | bytes,
    dtype: DTypeLike | None,
    encoding: str | None = None,
) -> ndarray: ...
def fromstring(
    string: str | bytes, dtype: DTypeLike | None = float, count: SupportsIndex = -1, *, sep: str = "", like: Any = None
) -> ndarray: ...
def full(
    shape: _ShapeLike,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: _OrderCF | None = "C",
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
) -> ndarray: ...
def full_like(
    a: object,
    fill_value: object,
    dtype: DTypeLike | None = None,
    order: _Order | None = "K",
    subok: builtins.bool = True,
    shape: _ShapeLike | None = None,
    *,
    device: _DeviceLike | None = None,
) -> ndarray: ...
def fuse(*args: Any, kernel_name: str | None = None) -> Any: ...

gcd: _Binary

def genfromtxt(
    fname: StrPath | Iterable[str] | Iterable[bytes],
    dtype: DTypeLike | None = float,
    comments: str = "#",
    delimiter: SupportsIndex | str | Iterable[SupportsIndex] | None = None,
    skip_header: SupportsIndex = 0,
    skip_footer: SupportsIndex = 0,
    converters: Mapping[SupportsIndex | str, Callable[..., Any]] | None = None,
    missing_values: Any = None,
    filling_values: Any = None,
    usecols: Sequence[SupportsIndex] | None = None,
    names: str | Collection[str] | Literal[True] | None = None,
    excludelist: Sequence[str] | None = None,
    deletechars: str = " !#$%&'()*+,-./:;<=>?@[\\]^{|}~",
    replace_space: str = "_",
    autostrip: builtins.bool = False,
    case_sensitive: builtins.bool | Literal["upper", "lower"] = True,
    defaultfmt: str = "f%i",
    unpack: builtins.bool | None = None,
    usemask: builtins.bool = False,
    loose: builtins.bool = True,
    invalid_raise: builtins.bool = True,
    max_rows: SupportsIndex | None = None,
    encoding: str | None = None,
    *,
    ndmin: Literal[0, 1, 2] = 0,
    like: Any = None,
) -> ndarray: ...
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    dtype: DTypeLike | None = None,
    axis: SupportsIndex = 0,
    *,
    device: _DeviceLike | None = None,
) -> ndarray: ...
def get_array_module(*args: Any) -> ModuleType: ...
def get_default_memory_pool() -> MemoryPool: ...
def get_default_pinned_memory_pool() -> PinnedMemoryPool: ...
def geterr() -> dict[str, Any]: ...
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: _ShapeLike | None = None, edge_order: Literal[1, 2] = 1
) -> Any: ...
def graph(function: Callable[_P, _R]) -> Graph[_P, _R]: ...

greater: _Binary
greater_equal: _Binary

def hamming(M: _Number) -> ndarray: ...
def hanning(M: _Number) -> ndarray: ...

heaviside: _Binary

def histogram(
    a: ArrayLike,
    bins: ArrayLike | Literal["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"] = 10,
    range: tuple[_Number, _Number] | None = None,
    density: builtins.bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[ndarray, ndarray]: ...
def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike = 10,
    range: ArrayLike | None = None,
    density: builtins.bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[ndarray, ndarray, ndarray]: ...
def histogram_bin_edges(
    a: ArrayLike,
    bins: ArrayLike | Literal["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"] = 10,
    range: tuple[_Number, _Number] | None = None,
    weights: ArrayLike | None = None,
) -> ndarray: ...
def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[tuple[_Number, _Number]] | None = None,
    density: builtins.bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[ndarray, list[ndarray]]: ...
def host_fallback(action: str | None = None) -> str: ...
def hsplit(ary: ArrayLike, indices_or_sections: _ShapeLike) -> list[ndarray]: ...
def hstack(tup: Sequence[ArrayLike], *, dtype: DTypeLike | None = None, casting: _Casting = "same_kind") -> ndarray: ...

hypot: _Binary

def i0(x: ArrayLike) -> ndarray: ...
def identity(
    n: SupportsIndex, dtype: DTypeLike | None = None, *, device: _DeviceLike | None = None, like: Any = None
) -> ndarray: ...
def imag(val: ArrayLike) -> ndarray: ...
@overload
def indices(
    dimensions: tuple[()] | Sequence[SupportsIndex],
    dtype: DTypeLike | None = int,
    sparse: Literal[False] = False,
    *,
    device: _DeviceLike | None = None,
) -> ndarray: ...
@overload
def indices(
    dimensions: tuple[()] | Sequence[SupportsIndex],
    dtype: DTypeLike | None = int,
    *,
    sparse: Literal[True],
    device: _DeviceLike | None = None,
) -> tuple[ndarray, ...]: ...
@overload
def indices(
    dimensions: tuple[()] | Sequence[SupportsIndex],
    dtype: DTypeLike | None = int,
    sparse: builtins.bool = False,
    *,
    device: _DeviceLike | None = None,
) -> Any: ...
def info(
    object: object = None,
    maxwidth: SupportsIndex = 76,
    output: SupportsWrite[str] | None = None,
    toplevel: str = "numpy",
) -> None: ...
def inner(a: ArrayLike, b: ArrayLike, /) -> ndarray: ...
def insert(arr: ArrayLike, obj: ArrayLike | slice, values: ArrayLike, axis: SupportsIndex | None = None) -> ndarray: ...
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: _Number | None = None,
    right: _Number | None = None,
    period: _Number | None = None,
) -> ndarray: ...
@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, return_indices: Literal[False] = False
) -> ndarray: ...
@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, *, return_indices: Literal[True]
) -> tuple[ndarray, ndarray, ndarray]: ...
@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, return_indices: builtins.bool = False
) -> Any: ...

invert: _Unary

def is_available() -> builtins.bool: ...
def is_busday(
    dates: ArrayLike,
    weekmask: ArrayLike = "1111100",
    holidays: ArrayLike | None = None,
    busdaycal: numpy.busdaycalendar | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def isclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: builtins.bool = False
) -> ndarray: ...
def iscomplex(x: ArrayLike) -> ndarray: ...
def iscomplexobj(x: ArrayLike | DTypeLike) -> builtins.bool: ...
def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> builtins.bool: ...

isfinite: _Unary

def isfortran(a: _Scalar) -> builtins.bool: ...
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    *,
    kind: Literal["sort", "table"] | None = None,
) -> ndarray: ...

isinf: _Unary
isnan: _Unary

def isnat(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def isneginf(x: ArrayLike, out: _Out | None = None) -> ndarray: ...
def isposinf(x: ArrayLike, out: _Out | None = None) -> ndarray: ...
def isreal(x: ArrayLike) -> ndarray: ...
def isrealobj(x: ArrayLike | DTypeLike) -> builtins.bool: ...
def isscalar(element: object) -> builtins.bool: ...
def iterable(y: object) -> builtins.bool: ...
def ix_(*args: ArrayLike) -> tuple[ndarray, ...]: ...
def kaiser(M: _Number, beta: _Number) -> ndarray: ...
def kron(a: object, b: object) -> ndarray: ...

lcm: _Binary
ldexp: _Binary
left_shift: _Binary
less: _Binary
less_equal: _Binary

def lexsort(keys: ArrayLike, axis: SupportsIndex = -1) -> ndarray: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike | None = None,
    axis: SupportsIndex = 0,
    *,
    device: _DeviceLike | None = None,
) -> ndarray: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike | None = None,
    axis: SupportsIndex = 0,
    device: _DeviceLike | None = None,
) -> tuple[ndarray, ndarray]: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    retstep: builtins.bool = False,
    dtype: DTypeLike | None = None,
    axis: SupportsIndex = 0,
    *,
    device: _DeviceLike | None = None,
) -> Any: ...
def load(
    file: StrOrBytesPath,
    mmap_mode: Literal["r+", "r", "w+", "c"] | None = None,
    allow_pickle: builtins.bool = False,
    fix_imports: builtins.bool = True,
    encoding: Literal["ASCII", "latin1", "bytes"] = "ASCII",
    *,
    max_header_size: SupportsIndex = 10000,
) -> Any: ...
def loadtxt(
    fname: StrPath | Iterable[str] | Iterable[bytes],
    dtype: DTypeLike | None = float,
    comments: str | Sequence[str] | None = "#",
    delimiter: str | None = None,
    converters: Mapping[SupportsIndex | str, Callable[..., Any]] | Callable[..., Any] | None = None,
    skiprows: SupportsIndex = 0,
    usecols: SupportsIndex | Sequence[SupportsIndex] | None = None,
    unpack: builtins.bool = False,
    ndmin: Literal[0, 1, 2] = 0,
    encoding: str | None = None,
    max_rows: SupportsIndex | None = None,
    *,
    quotechar: str | None = None,
    like: Any = None,
) -> ndarray: ...

log: _Unary
log10: _Unary
log1p: _Unary
log2: _Unary
logaddexp: _Binary
logaddexp2: _Binary
logical_and: _Binary
logical_not: _Unary
logical_or: _Binary
logical_xor: _Binary

def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: SupportsIndex = 0,
    *,
    device: _DeviceLike | None = None,
) -> ndarray: ...
def mask_indices(n: SupportsIndex, mask_func: Callable[..., Any], k: SupportsIndex = 0) -> tuple[ndarray, ...]: ...
def matmul(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: _Out | EllipsisType | tuple[_Out] | None = None,
    *,
    axes: Sequence[tuple[SupportsIndex, SupportsIndex]] = ...,
    axis: Any = ...,
    keepdims: Any = False,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: str | tuple[str | None, str | None, str | None] | None = None,
) -> ndarray: ...
def matrix_transpose(x: ArrayLike, /) -> ndarray: ...
def matvec(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: _Out | EllipsisType | tuple[_Out] | None = None,
    *,
    axes: Sequence[tuple[SupportsIndex, SupportsIndex]] = ...,
    axis: Any = ...,
    keepdims: Any = False,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: str | tuple[str | None, str | None, str | None] | None = None,
) -> ndarray: ...
def max(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...

maximum: _Binary

def may_share_memory(a: object, b: object, /, max_work: SupportsIndex | None = 0) -> builtins.bool: ...
def mean(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = True,
) -> ndarray: ...
def median(
    a: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    overwrite_input: builtins.bool = False,
    keepdims: builtins.bool = False,
) -> ndarray: ...
def memoize(for_each_device: builtins.bool = False) -> Callable[..., Any]: ...
def memory_info(device: _DeviceLike | None = None) -> MemoryInfo: ...
def meshgrid(
    *xi: ArrayLike, copy: builtins.bool = True, sparse: builtins.bool = False, indexing: Literal["ij", "xy"] = "xy"
) -> Sequence[ndarray]: ...
def min(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def min_scalar_type(a: ArrayLike, /) -> numpy.dtype[Any]: ...

minimum: _Binary

def mintypecode(typechars: Iterable[ArrayLike], typeset: str = "GDFgdf", default: str = "d") -> str: ...

mod: _Binary
modf: _UnaryPair

def moveaxis(a: ArrayLike, source: _ShapeLike, destination: _ShapeLike) -> ndarray: ...

multiply: _Binary

def nan_to_num(
    x: ArrayLike,
    copy: builtins.bool = True,
    nan: _Number = 0.0,
    posinf: _Number | None = None,
    neginf: _Number | None = None,
) -> ndarray: ...
def nanargmax(
    a: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None, *, keepdims: builtins.bool = ...
) -> ndarray: ...
def nanargmin(
    a: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None, *, keepdims: builtins.bool = ...
) -> ndarray: ...
def nancumprod(
    a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: _Out | None = None
) -> ndarray: ...
def nancumsum(
    a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: _Out | None = None
) -> ndarray: ...
def nanmax(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def nanmean(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = True,
) -> ndarray: ...
def nanmedian(
    a: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    overwrite_input: builtins.bool = False,
    keepdims: builtins.bool = ...,
) -> ndarray: ...
def nanmin(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    overwrite_input: builtins.bool = False,
    method: _Method = "linear",
    keepdims: builtins.bool = ...,
    *,
    weights: ArrayLike | None = None,
) -> ndarray: ...
def nanprod(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    overwrite_input: builtins.bool = False,
    method: _Method = "linear",
    keepdims: builtins.bool = ...,
    *,
    weights: ArrayLike | None = None,
) -> ndarray: ...
def nanstd(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    ddof: _Number = 0,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = ...,
    correction: _Number = ...,
) -> ndarray: ...
def nansum(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def nanvar(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    ddof: _Number = 0,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = ...,
    correction: _Number = ...,
) -> ndarray: ...
def ndim(a: ArrayLike) -> int: ...

negative: _Unary

def nested_iters(
    op: ArrayLike,
    axes: Sequence[Sequence[SupportsIndex]],
    flags: Sequence[
        Literal[
            "buffered",
            "c_index",
            "copy_if_overlap",
            "common_dtype",
            "delay_bufalloc",
            "external_loop",
            "f_index",
            "grow_inner",
            "growinner",
            "multi_index",
            "ranged",
            "refs_ok",
            "reduce_ok",
            "zerosize_ok",
        ]
    ]
    | None = None,
    op_flags: Sequence[
        Sequence[
            Literal[
                "aligned",
                "allocate",
                "arraymask",
                "copy",
                "config",
                "nbo",
                "no_subtype",
                "no_broadcast",
                "overlap_assume_elementwise",
                "readonly",
                "readwrite",
                "updateifcopy",
                "virtual",
                "writeonly",
                "writemasked",
            ]
        ]
    ]
    | None = None,
    op_dtypes: DTypeLike | Sequence[DTypeLike | None] | None = None,
    order: _Order | None = "K",
    casting: _Casting = "safe",
    buffersize: SupportsIndex = 0,
) -> Any: ...

nextafter: _Binary

def nonzero(a: ArrayLike) -> tuple[ndarray, ...]: ...

not_equal: _Binary

def ones(
    shape: _ShapeLike,
    dtype: DTypeLike | None = None,
    order: _OrderCF | None = "C",
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
) -> ndarray: ...
def ones_like(
    a: object,
    dtype: DTypeLike | None = None,
    order: _Order | None = "K",
    subok: builtins.bool = True,
    shape: _ShapeLike | None = None,
    *,
    device: _DeviceLike | None = None,
) -> ndarray: ...
def outer(a: ArrayLike, b: ArrayLike, out: _Out | None = None) -> ndarray: ...
def packbits(
    a: ArrayLike, /, axis: SupportsIndex | None = None, bitorder: Literal["big", "little"] = "big"
) -> ndarray: ...
def pad(
    array: ArrayLike,
    pad_width: ArrayLike
    | dict[SupportsIndex, SupportsIndex]
    | dict[SupportsIndex, tuple[SupportsIndex, SupportsIndex]]
    | dict[SupportsIndex, SupportsIndex | tuple[SupportsIndex, SupportsIndex]],
    mode: Literal[
        "constant",
        "edge",
        "linear_ramp",
        "maximum",
        "mean",
        "median",
        "minimum",
        "reflect",
        "symmetric",
        "wrap",
        "empty",
    ] = "constant",
    *,
    stat_length: ArrayLike | None = None,
    constant_values: ArrayLike = 0,
    end_values: ArrayLike = 0,
    reflect_type: Literal["odd", "even"] = "even",
    **kwargs: Any,
) -> ndarray: ...
def partition(
    a: ArrayLike,
    kth: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: Literal["introselect"] = "introselect",
    order: str | Sequence[str] | None = None,
) -> ndarray: ...
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    overwrite_input: builtins.bool = False,
    method: _Method = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: ArrayLike | None = None,
) -> ndarray: ...
def permute_dims(a: ArrayLike, axes: _ShapeLike | None = None) -> ndarray: ...
def piecewise(x: ArrayLike, condlist: ArrayLike, funclist: Any, *args: Any, **kw: Any) -> ndarray: ...
def place(arr: ndarray, mask: ArrayLike, vals: ArrayLike) -> None: ...
def poly(seq_of_zeros: ArrayLike) -> ndarray: ...
@overload
def polyadd(a1: numpy.poly1d, a2: ArrayLike) -> numpy.poly1d: ...
@overload
def polyadd(a1: ArrayLike, a2: numpy.poly1d) -> numpy.poly1d: ...
@overload
def polyadd(a1: ArrayLike, a2: ArrayLike) -> ndarray: ...
@overload
def polyder(p: numpy.poly1d, m: SupportsIndex | SupportsInt = 1) -> numpy.poly1d: ...
@overload
def polyder(p: ArrayLike, m: SupportsIndex | SupportsInt = 1) -> ndarray: ...
@overload
def polydiv(u: numpy.poly1d, v: ArrayLike) -> tuple[numpy.poly1d, numpy.poly1d]: ...
@overload
def polydiv(u: ArrayLike, v: numpy.poly1d) -> tuple[numpy.poly1d, numpy.poly1d]: ...
@overload
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[ndarray, ndarray]: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex | SupportsInt,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: ArrayLike | None = None,
    cov: Literal[False] = False,
) -> ndarray: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex | SupportsInt,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: ArrayLike | None = None,
    *,
    cov: Literal[True, "unscaled"],
) -> tuple[ndarray, ndarray]: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex | SupportsInt,
    rcond: float | None,
    full: Literal[True],
    w: ArrayLike | None = None,
    cov: builtins.bool | Literal["unscaled"] = False,
) -> tuple[ndarray, ndarray, ndarray, ndarray, ndarray]: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex | SupportsInt,
    rcond: float | None = None,
    *,
    full: Literal[True],
    w: ArrayLike | None = None,
    cov: builtins.bool | Literal["unscaled"] = False,
) -> tuple[ndarray, ndarray, ndarray, ndarray, ndarray]: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex | SupportsInt,
    rcond: _Number | None = None,
    full: builtins.bool = False,
    w: ArrayLike | None = None,
    cov: builtins.bool | Literal["unscaled"] = False,
) -> Any: ...
@overload
def polyint(p: numpy.poly1d, m: SupportsIndex | SupportsInt = 1, k: ArrayLike | None = None) -> numpy.poly1d: ...
@overload
def polyint(p: ArrayLike, m: SupportsIndex | SupportsInt = 1, k: ArrayLike | None = None) -> ndarray: ...
@overload
def polymul(a1: numpy.poly1d, a2: ArrayLike) -> numpy.poly1d: ...
@overload
def polymul(a1: ArrayLike, a2: numpy.poly1d) -> numpy.poly1d: ...
@overload
def polymul(a1: ArrayLike, a2: ArrayLike) -> ndarray: ...
@overload
def polysub(a1: numpy.poly1d, a2: ArrayLike) -> numpy.poly1d: ...
@overload
def polysub(a1: ArrayLike, a2: numpy.poly1d) -> numpy.poly1d: ...
@overload
def polysub(a1: ArrayLike, a2: ArrayLike) -> ndarray: ...
def polyval(p: ArrayLike, x: ArrayLike) -> ndarray: ...

positive: _Unary
pow: _Binary
power: _Binary

def prod(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def promote_types(type1: DTypeLike, type2: DTypeLike, /) -> numpy.dtype[Any]: ...
def ptp(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
) -> ndarray: ...
def put(a: ndarray, ind: ArrayLike, v: ArrayLike, mode: _Mode = "raise") -> None: ...
def put_along_axis(arr: ndarray, indices: ArrayLike, values: ArrayLike, axis: SupportsIndex | None) -> None: ...
def putmask(a: ndarray, /, mask: ArrayLike, values: ArrayLike) -> None: ...
def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: _ShapeLike | None = None,
    out: _Out | None = None,
    overwrite_input: builtins.bool = False,
    method: _Method = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: ArrayLike | None = None,
) -> ndarray: ...

r_: AxisConcatenator
rad2deg: _Unary
radians: _Unary

def ravel(a: ArrayLike, order: _Order | None = "C") -> ndarray: ...
def ravel_multi_index(
    multi_index: ArrayLike, dims: _ShapeLike, mode: tuple[_Mode, ...] | _Mode = "raise", order: _OrderCF | None = "C"
) -> ndarray: ...
def real(val: ArrayLike) -> ndarray: ...
def real_if_close(a: ArrayLike, tol: _Number = 100) -> ndarray: ...

reciprocal: _Unary
remainder: _Binary

def repeat(a: ArrayLike, repeats: ArrayLike, axis: SupportsIndex | None = None) -> ndarray: ...
def require(
    a: object,
    dtype: DTypeLike | None = None,
    requirements: Iterable[
        Literal[
            "C",
            "C_CONTIGUOUS",
            "CONTIGUOUS",
            "F",
            "F_CONTIGUOUS",
            "FORTRAN",
            "A",
            "ALIGNED",
            "W",
            "WRITEABLE",
            "O",
            "OWNDATA",
        ]
    ]
    | Iterable[
        Literal[
            "C",
            "C_CONTIGUOUS",
            "CONTIGUOUS",
            "F",
            "F_CONTIGUOUS",
            "FORTRAN",
            "A",
            "ALIGNED",
            "W",
            "WRITEABLE",
            "O",
            "OWNDATA",
            "E",
            "ENSUREARRAY",
        ]
    ]
    | Literal[
        "C",
        "C_CONTIGUOUS",
        "CONTIGUOUS",
        "F",
        "F_CONTIGUOUS",
        "FORTRAN",
        "A",
        "ALIGNED",
        "W",
        "WRITEABLE",
        "O",
        "OWNDATA",
        "E",
        "ENSUREARRAY",
    ]
    | None = None,
    *,
    like: Any = None,
) -> ndarray: ...
def reshape(
    a: ArrayLike, /, shape: _ShapeLike, order: _OrderACF | None = "C", *, copy: builtins.bool | None = None
) -> ndarray: ...
def resize(a: ArrayLike, new_shape: tuple[()] | _ShapeLike) -> ndarray: ...
def result_type(*arrays_and_dtypes: ArrayLike | DTypeLike | None) -> numpy.dtype[Any]: ...

right_shift: _Binary
rint: _Unary

def roll(a: ArrayLike, shift: _ShapeLike, axis: _ShapeLike | None = None) -> ndarray: ...
def rollaxis(a: ArrayLike, axis: SupportsIndex, start: SupportsIndex = 0) -> ndarray: ...
def roots(p: ArrayLike) -> ndarray: ...
def rot90(m: ArrayLike, k: SupportsIndex = 1, axes: Sequence[SupportsIndex] = (0, 1)) -> ndarray: ...
def round(a: ArrayLike, decimals: SupportsIndex = 0, out: _Out | None = None) -> ndarray: ...
def save(file: StrPath | SupportsWrite[bytes], arr: ArrayLike, allow_pickle: builtins.bool = True) -> None: ...
def savetxt(
    fname: StrPath | SupportsWrite[bytes] | SupportsWrite[str],
    X: ArrayLike,
    fmt: str | Sequence[str] = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
    encoding: str | None = None,
) -> None: ...
def savez(
    file: StrPath | SupportsWrite[bytes], *args: ArrayLike, allow_pickle: builtins.bool = True, **kwds: Any
) -> None: ...
def savez_compressed(
    file: StrPath | SupportsWrite[bytes], *args: ArrayLike, allow_pickle: builtins.bool = True, **kwds: Any
) -> None: ...
def scatter_add(a: ndarray, slices: Any, value: Any) -> None: ...
def scatter_max(a: ndarray, slices: Any, value: Any) -> None: ...
def scatter_min(a: ndarray, slices: Any, value: Any) -> None: ...
def searchsorted(
    a: ArrayLike, v: ArrayLike, side: Literal["left", "right"] = "left", sorter: ArrayLike | None = None
) -> ndarray: ...
def select(condlist: Sequence[Any], choicelist: ArrayLike, default: ArrayLike = 0) -> ndarray: ...
def set_memory_limit(nbytes: int | str | None, device: _DeviceLike | None = None) -> None: ...
def set_residence(residence: str) -> str: ...
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False) -> ndarray: ...
def seterr(
    all: _OnError | None = None,
    divide: _OnError | None = None,
    over: _OnError | None = None,
    under: _OnError | None = None,
    invalid: _OnError | None = None,
) -> dict[str, Any]: ...
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False) -> ndarray: ...
def shape(a: ArrayLike | memoryview | bytearray) -> tuple[int, ...]: ...
def shares_memory(a: object, b: object, /, max_work: SupportsIndex | None = -1) -> builtins.bool: ...
def show_config(mode: Literal["stdout", "dicts"] = "stdout") -> dict[str, Any] | None: ...

sign: _Unary
signbit: _Unary
sin: _Unary

def sinc(x: ArrayLike) -> ndarray: ...

sinh: _Unary

def size(a: ArrayLike, axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None) -> int: ...
def sort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: _SortKind | None = None,
    order: str | Sequence[str] | None = None,
    *,
    stable: builtins.bool | None = None,
    descending: builtins.bool | None = None,
) -> ndarray: ...
def sort_complex(a: ArrayLike) -> ndarray: ...

spacing: _Unary

def split(ary: ArrayLike, indices_or_sections: _ShapeLike, axis: SupportsIndex = 0) -> list[ndarray]: ...

sqrt: _Unary
square: _Unary

def squeeze(a: ArrayLike, axis: _ShapeLike | None = None) -> ndarray: ...
def stack(
    arrays: Sequence[ArrayLike],
    axis: SupportsIndex = 0,
    out: _Out | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: _Casting = "same_kind",
) -> ndarray: ...
def std(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    ddof: _Number = 0,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = ...,
    correction: _Number = ...,
) -> ndarray: ...

subtract: _Binary

def sum(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    keepdims: builtins.bool = ...,
    initial: _Number = ...,
    where: ArrayLike = True,
) -> ndarray: ...
def swapaxes(a: ArrayLike, axis1: SupportsIndex, axis2: SupportsIndex) -> ndarray: ...
def synchronize(device: _DeviceLike | None = None) -> None: ...
def take(
    a: ArrayLike, indices: ArrayLike, axis: SupportsIndex | None = None, out: _Out | None = None, mode: _Mode = "raise"
) -> ndarray: ...
def take_along_axis(arr: _Scalar, indices: ArrayLike, axis: SupportsIndex | None = -1) -> ndarray: ...

tan: _Unary
tanh: _Unary

def tensordot(a: ArrayLike, b: ArrayLike, axes: SupportsIndex | tuple[_ShapeLike, _ShapeLike] = 2) -> ndarray: ...
def test(
    label: Literal["fast", "full"] = "fast",
    verbose: SupportsIndex = 1,
    extra_argv: Iterable[str] | None = None,
    doctests: Literal[False] = False,
    coverage: builtins.bool = False,
    durations: SupportsIndex = -1,
    tests: Iterable[str] | None = None,
) -> builtins.bool: ...
def tile(A: ArrayLike, reps: ArrayLike) -> ndarray: ...
def trace(
    a: ArrayLike,
    offset: SupportsIndex = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def transpose(a: ArrayLike, axes: _ShapeLike | None = None) -> ndarray: ...
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: _Number = 1.0, axis: SupportsIndex = -1) -> ndarray: ...
def tri(
    N: SupportsIndex,
    M: SupportsIndex | None = None,
    k: SupportsIndex = 0,
    dtype: DTypeLike | None = float,
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
) -> ndarray: ...
def tril(m: ArrayLike, k: SupportsIndex = 0) -> ndarray: ...
def tril_indices(n: SupportsIndex, k: SupportsIndex = 0, m: SupportsIndex | None = None) -> tuple[ndarray, ...]: ...
def tril_indices_from(arr: Any, k: SupportsIndex = 0) -> tuple[ndarray, ...]: ...
def trim_zeros(filt: Any, trim: Literal["f", "b", "fb", "bf"] = "fb", axis: _ShapeLike | None = None) -> ndarray: ...
def triu(m: ArrayLike, k: SupportsIndex = 0) -> ndarray: ...
def triu_indices(n: SupportsIndex, k: SupportsIndex = 0, m: SupportsIndex | None = None) -> tuple[ndarray, ...]: ...
def triu_indices_from(arr: Any, k: SupportsIndex = 0) -> tuple[ndarray, ...]: ...

true_divide: _Binary
trunc: _Unary

def union1d(ar1: ArrayLike, ar2: ArrayLike) -> ndarray: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> ndarray: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> tuple[ndarray, ndarray, ndarray, ndarray]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: builtins.bool = False,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: builtins.bool = True,
    sorted: builtins.bool = True,
) -> Any: ...
def unique_all(x: ArrayLike, /) -> _UniqueAllResult: ...
def unique_counts(x: ArrayLike, /) -> _UniqueCountsResult: ...
def unique_inverse(x: ArrayLike, /) -> _UniqueInverseResult: ...
def unique_values(x: ArrayLike, /) -> ndarray: ...
def unpackbits(
    a: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    count: SupportsIndex | None = None,
    bitorder: Literal["big", "little"] = "big",
) -> ndarray: ...
def unravel_index(indices: ArrayLike, shape: _ShapeLike, order: _OrderCF | None = "C") -> tuple[ndarray, ...]: ...
def unstack(x: ArrayLike, /, *, axis: SupportsIndex = 0) -> tuple[ndarray, ...]: ...
def unwrap(
    p: ArrayLike, discont: _Number | None = None, axis: SupportsIndex = -1, *, period: _Number = 6.283185307179586
) -> ndarray: ...
def vander(x: ArrayLike, N: SupportsIndex | None = None, increasing: builtins.bool = False) -> ndarray: ...
def var(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: _Out | None = None,
    ddof: _Number = 0,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = ...,
    correction: _Number = ...,
) -> ndarray: ...
def vdot(a: object, b: object, /) -> ndarray: ...
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: _Out | EllipsisType | tuple[_Out] | None = None,
    *,
    axes: Sequence[tuple[SupportsIndex, SupportsIndex]] = ...,
    axis: Any = ...,
    keepdims: Any = False,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: str | tuple[str | None, str | None, str | None] | None = None,
) -> ndarray: ...
def vecmat(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: _Out | EllipsisType | tuple[_Out] | None = None,
    *,
    axes: Sequence[tuple[SupportsIndex, SupportsIndex]] = ...,
    axis: Any = ...,
    keepdims: Any = False,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: str | tuple[str | None, str | None, str | None] | None = None,
) -> ndarray: ...
def vsplit(ary: ArrayLike, indices_or_sections: _ShapeLike) -> list[ndarray]: ...
def vstack(tup: Sequence[ArrayLike], *, dtype: DTypeLike | None = None, casting: _Casting = "same_kind") -> ndarray: ...
@overload
def where(condition: ArrayLike, x: None = ..., y: None = ..., /) -> tuple[ndarray, ...]: ...
@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> ndarray: ...
def zeros(
    shape: _ShapeLike,
    dtype: DTypeLike | None = float,
    order: _OrderCF | None = "C",
    *,
    device: _DeviceLike | None = None,
    like: Any = None,
) -> ndarray: ...
def zeros_like(
    a: object,
    dtype: DTypeLike | None = None,
    order: _Order | None = "K",
    subok: builtins.bool = True,
    shape: _ShapeLike | None = None,
    *,
    device: _DeviceLike | None = None,
) -> ndarray: ...
def zeros_like_pinned(
    a: Any, dtype: DTypeLike | None = None, order: str = "K", subok: Any = None, shape: Any = None
) -> numpy.ndarray[Any, Any]: ...
def zeros_pinned(shape: Any, dtype: DTypeLike | None = float, order: str = "C") -> numpy.ndarray[Any, Any]: ...

__all__ = [
    "Device",
    "DeviceError",
    "ElementwiseKernel",
    "Event",
    "False_",
    "HostFallbackWarning",
    "PerformanceWarning",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "ScalarType",
    "Stream",
    "True_",
    "__array_namespace_info__",
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "amax",
    "amin",
    "angle",
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
    "argpartition",
    "argsort",
    "argwhere",
    "around",
    "array",
    "array2string",
    "array_equal",
    "array_equiv",
    "array_repr",
    "array_split",
    "array_str",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "asin",
    "asinh",
    "asmatrix",
    "asnumpy",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bartlett",
    "base_repr",
    "bfloat16",
    "binary_repr",
    "bincount",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman",
    "block",
    "bmat",
    "bool",
    "bool_",
    "broadcast",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "busday_count",
    "busday_offset",
    "busdaycalendar",
    "byte",
    "bytes_",
    "c_",
    "can_cast",
    "cbrt",
    "cdouble",
    "ceil",
    "char",
    "character",
    "choose",
    "clear_memo",
    "clip",
    "clongdouble",
    "column_stack",
    "common_type",
    "complex128",
    "complex256",
    "complex64",
    "complexfloating",
    "compress",
    "concat",
    "concatenate",
    "conj",
    "conjugate",
    "convolve",
    "copy",
    "copysign",
    "copyto",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "count_nonzero",
    "cov",
    "cross",
    "csingle",
    "ctypeslib",
    "cuda",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "datetime64",
    "datetime_as_string",
    "datetime_data",
    "default_device",
    "deg2rad",
    "degrees",
    "delete",
    "devices",
    "diag",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "diff",
    "digitize",
    "divide",
    "divmod",
    "dot",
    "double",
    "dsplit",
    "dstack",
    "dtype",
    "dtypes",
    "e",
    "ediff1d",
    "einsum",
    "einsum_path",
    "emath",
    "empty",
    "empty_like",
    "empty_like_pinned",
    "empty_pinned",
    "equal",
    "errstate",
    "euler_gamma",
    "exceptions",
    "exp",
    "exp2",
    "expand_dims",
    "explain",
    "expm1",
    "extract",
    "eye",
    "f2py",
    "fabs",
    "fft",
    "fill_diagonal",
    "finfo",
    "fix",
    "flatiter",
    "flatnonzero",
    "flexible",
    "flip",
    "fliplr",
    "flipud",
    "float128",
    "float16",
    "float32",
    "float4_e2m1fn",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float_power",
    "floating",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "format_float_positional",
    "format_float_scientific",
    "free_all_blocks",
    "frexp",
    "from_dlpack",
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "frompyfunc",
    "fromregex",
    "fromstring",
    "full",
    "full_like",
    "fuse",
    "gcd",
    "generic",
    "genfromtxt",
    "geomspace",
    "get_array_module",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
    "get_include",
    "get_printoptions",
    "getbufsize",
    "geterr",
    "geterrcall",
    "gradient",
    "graph",
    "greater",
    "greater_equal",
    "half",
    "hamming",
    "hanning",
    "heaviside",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "host_fallback",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "identity",
    "iinfo",
    "imag",
    "index_exp",
    "indices",
    "inexact",
    "inf",
    "info",
    "inner",
    "insert",
    "int16",
    "int32",
    "int64",
    "int8",
    "int_",
    "intc",
    "integer",
    "interp",
    "intersect1d",
    "intp",
    "invert",
    "is_available",
    "is_busday",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isdtype",
    "isfinite",
    "isfortran",
    "isin",
    "isinf",
    "isnan",
    "isnat",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "ix_",
    "kaiser",
    "kron",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "lexsort",
    "lib",
    "linalg",
    "linspace",
    "little_endian",
    "load",
    "loadtxt",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logspace",
    "long",
    "longdouble",
    "longlong",
    "ma",
    "mask_indices",
    "matmul",
    "matrix",
    "matrix_transpose",
    "matvec",
    "max",
    "maximum",
    "may_share_memory",
    "mean",
    "median",
    "memmap",
    "memoize",
    "memory_info",
    "meshgrid",
    "mgrid",
    "min",
    "min_scalar_type",
    "minimum",
    "mintypecode",
    "mod",
    "modf",
    "moveaxis",
    "multiply",
    "nan",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ndarray",
    "ndenumerate",
    "ndim",
    "ndindex",
    "nditer",
    "negative",
    "nested_iters",
    "newaxis",
    "nextafter",
    "nonzero",
    "not_equal",
    "number",
    "object_",
    "ogrid",
    "ones",
    "ones_like",
    "outer",
    "packbits",
    "pad",
    "partition",
    "percentile",
    "permute_dims",
    "pi",
    "piecewise",
    "place",
    "poly",
    "poly1d",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polynomial",
    "polysub",
    "polyval",
    "positive",
    "pow",
    "power",
    "printoptions",
    "prod",
    "profile",
    "promote_types",
    "ptp",
    "put",
    "put_along_axis",
    "putmask",
    "quantile",
    "r_",
    "rad2deg",
    "radians",
    "random",
    "ravel",
    "ravel_multi_index",
    "real",
    "real_if_close",
    "rec",
    "recarray",
    "reciprocal",
    "record",
    "remainder",
    "repeat",
    "require",
    "reshape",
    "resize",
    "result_type",
    "right_shift",
    "rint",
    "roll",
    "rollaxis",
    "roots",
    "rot90",
    "round",
    "s_",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "sctypeDict",
    "searchsorted",
    "select",
    "set_memory_limit",
    "set_printoptions",
    "set_residence",
    "setbufsize",
    "setdiff1d",
    "seterr",
    "seterrcall",
    "setxor1d",
    "shape",
    "shares_memory",
    "short",
    "show_config",
    "show_runtime",
    "sign",
    "signbit",
    "signedinteger",
    "sin",
    "sinc",
    "single",
    "sinh",
    "size",
    "sort",
    "sort_complex",
    "spacing",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "str_",
    "strings",
    "subtract",
    "sum",
    "swapaxes",
    "synchronize",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "test",
    "testing",
    "tile",
    "timedelta64",
    "trace",
    "transpose",
    "trapezoid",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "trim_zeros",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "true_divide",
    "trunc",
    "typecodes",
    "typename",
    "typing",
    "ubyte",
    "ufunc",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unpackbits",
    "unravel_index",
    "unsignedinteger",
    "unstack",
    "unwrap",
    "ushort",
    "vander",
    "var",
    "vdot",
    "vecdot",
    "vecmat",
    "vectorize",
    "void",
    "vsplit",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
    "zeros_like_pinned",
    "zeros_pinned",
]
