# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Sequence
from os import PathLike
from typing import Any, SupportsIndex

import numpy
from _typeshed import SupportsRead, SupportsWrite
from numpy.lib.format import ARRAY_ALIGN as ARRAY_ALIGN
from numpy.lib.format import BUFFER_SIZE as BUFFER_SIZE
from numpy.lib.format import EXPECTED_KEYS as EXPECTED_KEYS
from numpy.lib.format import GROWTH_AXIS_MAX_DIGITS as GROWTH_AXIS_MAX_DIGITS
from numpy.lib.format import MAGIC_LEN as MAGIC_LEN
from numpy.lib.format import MAGIC_PREFIX as MAGIC_PREFIX

from .. import ndarray
from ..typing import ArrayLike, DTypeLike

def descr_to_dtype(
    descr: Sequence[tuple[str, str]] | Sequence[tuple[str, str, tuple[SupportsIndex, ...]]],
) -> numpy.dtype[Any]: ...
def drop_metadata(dtype: DTypeLike, /) -> numpy.dtype[Any]: ...
def dtype_to_descr(dtype: DTypeLike) -> list[tuple[str, str]] | list[tuple[str, str, tuple[int, ...]]]: ...
def header_data_from_array_1_0(array: ArrayLike) -> dict[str, Any]: ...
def isfileobj(f: object) -> bool: ...
def magic(major: SupportsIndex, minor: SupportsIndex) -> bytes: ...
def open_memmap(
    filename: str | PathLike[Any],
    mode: str = "r+",
    dtype: DTypeLike | None = None,
    shape: tuple[SupportsIndex, ...] | None = None,
    fortran_order: bool = False,
    version: tuple[SupportsIndex, SupportsIndex] | None = None,
    *,
    max_header_size: SupportsIndex = 10000,
) -> numpy.memmap: ...
def read_array(
    fp: SupportsRead[bytes],
    allow_pickle: bool = False,
    pickle_kwargs: dict[str, Any] | None = None,
    *,
    max_header_size: SupportsIndex = 10000,
) -> ndarray: ...
def read_array_header_1_0(
    fp: SupportsRead[bytes], max_header_size: SupportsIndex = 10000
) -> tuple[tuple[int, ...], bool, numpy.dtype[Any]]: ...
def read_array_header_2_0(
    fp: SupportsRead[bytes], max_header_size: SupportsIndex = 10000
) -> tuple[tuple[int, ...], bool, numpy.dtype[Any]]: ...
def read_magic(fp: SupportsRead[bytes]) -> tuple[int, int]: ...
def write_array(
    fp: SupportsWrite[bytes],
    array: ArrayLike,
    version: tuple[SupportsIndex, SupportsIndex] | None = None,
    allow_pickle: bool = True,
    pickle_kwargs: dict[str, Any] | None = None,
) -> None: ...
def write_array_header_1_0(fp: SupportsWrite[bytes], d: dict[str, Any]) -> None: ...
def write_array_header_2_0(fp: SupportsWrite[bytes], d: dict[str, Any]) -> None: ...

__all__ = [
    "ARRAY_ALIGN",
    "BUFFER_SIZE",
    "EXPECTED_KEYS",
    "GROWTH_AXIS_MAX_DIGITS",
    "MAGIC_LEN",
    "MAGIC_PREFIX",
    "descr_to_dtype",
    "drop_metadata",
    "dtype_to_descr",
    "header_data_from_array_1_0",
    "isfileobj",
    "magic",
    "open_memmap",
    "read_array",
    "read_array_header_1_0",
    "read_array_header_2_0",
    "read_magic",
    "write_array",
    "write_array_header_1_0",
    "write_array_header_2_0",
]
