# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Iterable, Sequence
from typing import Any, Literal, SupportsIndex

import numpy
from _typeshed import ReadableBuffer, StrOrBytesPath
from numpy.rec import format_parser as format_parser
from numpy.rec import recarray as recarray
from numpy.rec import record as record

from . import _ShapeLike
from .typing import ArrayLike, DTypeLike

def array(
    obj: ArrayLike | None,
    dtype: DTypeLike | None = None,
    shape: _ShapeLike | None = None,
    offset: SupportsIndex = 0,
    strides: tuple[SupportsIndex, ...] | None = None,
    formats: DTypeLike | None = None,
    names: str | Sequence[str] | None = None,
    titles: str | Sequence[str] | None = None,
    aligned: bool = False,
    byteorder: Literal["S", "<", "L", "little", ">", "B", "big", "=", "N", "native", "|", "I"] | None = None,
    copy: bool = True,
) -> numpy.recarray: ...
def find_duplicate(list: Iterable[Any]) -> list[Any]: ...
def fromarrays(
    arrayList: Iterable[ArrayLike],
    dtype: DTypeLike | None = None,
    shape: _ShapeLike | None = None,
    formats: DTypeLike | None = None,
    names: str | Sequence[str] | None = None,
    titles: str | Sequence[str] | None = None,
    aligned: bool = False,
    byteorder: Literal["S", "<", "L", "little", ">", "B", "big", "=", "N", "native", "|", "I"] | None = None,
) -> numpy.recarray: ...
def fromfile(
    fd: StrOrBytesPath,
    dtype: DTypeLike | None = None,
    shape: _ShapeLike | None = None,
    offset: SupportsIndex = 0,
    formats: DTypeLike | None = None,
    names: str | Sequence[str] | None = None,
    titles: str | Sequence[str] | None = None,
    aligned: bool = False,
    byteorder: Literal["S", "<", "L", "little", ">", "B", "big", "=", "N", "native", "|", "I"] | None = None,
) -> numpy.recarray: ...
def fromrecords(
    recList: ArrayLike | tuple[object, ...],
    dtype: DTypeLike | None = None,
    shape: _ShapeLike | None = None,
    formats: DTypeLike | None = None,
    names: str | Sequence[str] | None = None,
    titles: str | Sequence[str] | None = None,
    aligned: bool = False,
    byteorder: Literal["S", "<", "L", "little", ">", "B", "big", "=", "N", "native", "|", "I"] | None = None,
) -> numpy.recarray: ...
def fromstring(
    datastring: ReadableBuffer,
    dtype: DTypeLike | None = None,
    shape: _ShapeLike | None = None,
    offset: SupportsIndex = 0,
    formats: DTypeLike | None = None,
    names: str | Sequence[str] | None = None,
    titles: str | Sequence[str] | None = None,
    aligned: bool = False,
    byteorder: Literal["S", "<", "L", "little", ">", "B", "big", "=", "N", "native", "|", "I"] | None = None,
) -> numpy.recarray: ...

__all__ = [
    "array",
    "find_duplicate",
    "format_parser",
    "fromarrays",
    "fromfile",
    "fromrecords",
    "fromstring",
    "recarray",
    "record",
]
