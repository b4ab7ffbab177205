# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, SupportsIndex

import numpy

from .. import _Casting, _Number, _Scalar, ndarray
from ..typing import ArrayLike, DTypeLike

def append_fields(
    base: ArrayLike,
    names: str | Iterable[str],
    data: ndarray | Iterable[ndarray],
    dtypes: tuple[DTypeLike, ...] | Sequence[DTypeLike] | None = None,
    fill_value: SupportsIndex = -1,
    usemask: bool = True,
    asrecarray: bool = False,
) -> Any: ...
def apply_along_fields(func: Callable[..., Any], arr: ArrayLike) -> ndarray: ...
def assign_fields_by_name(dst: ArrayLike, src: ArrayLike, zero_unassigned: bool = True) -> None: ...
def drop_fields(
    base: ArrayLike, drop_names: str | Iterable[str], usemask: bool = True, asrecarray: bool = False
) -> Any: ...
def find_duplicates(
    a: numpy.ma.MaskedArray, key: str | None = None, ignoremask: bool = True, return_index: bool = False
) -> Any: ...
def flatten_descr(ndtype: DTypeLike | numpy.dtypes.StringDType) -> Any: ...
def get_fieldstructure(
    adtype: DTypeLike, lastname: str | None = None, parents: dict[str, Sequence[str]] | None = None
) -> dict[str, list[str]]: ...
def get_names(adtype: DTypeLike) -> tuple[str, ...]: ...
def get_names_flat(adtype: DTypeLike) -> tuple[str, ...]: ...
def join_by(
    key: str | Sequence[str],
    r1: ArrayLike,
    r2: ArrayLike,
    jointype: Literal["inner", "outer", "leftouter"] = "inner",
    r1postfix: str = "1",
    r2postfix: str = "2",
    defaults: Mapping[str, object] | None = None,
    usemask: bool = True,
    asrecarray: bool = False,
) -> Any: ...
def merge_arrays(
    seqarrays: ArrayLike,
    fill_value: _Number = -1,
    flatten: bool = False,
    usemask: bool = False,
    asrecarray: bool = False,
) -> numpy.recarray: ...
def rec_append_fields(
    base: ArrayLike,
    names: str | Iterable[str],
    data: ndarray | Iterable[ndarray],
    dtypes: tuple[DTypeLike, ...] | Sequence[DTypeLike] | None = None,
) -> numpy.ma.MaskedArray: ...
def rec_drop_fields(base: ArrayLike, drop_names: str | Iterable[str]) -> numpy.recarray: ...
def rec_join(
    key: str | Sequence[str],
    r1: ArrayLike,
    r2: ArrayLike,
    jointype: Literal["inner", "outer", "leftouter"] = "inner",
    r1postfix: str = "1",
    r2postfix: str = "2",
    defaults: Mapping[str, object] | None = None,
) -> numpy.recarray: ...
def recursive_fill_fields(input: ArrayLike, output: ArrayLike) -> ndarray: ...
def rename_fields(base: ndarray | numpy.ma.MaskedArray | numpy.recarray, namemapper: Mapping[str, str]) -> Any: ...
def repack_fields(a: DTypeLike | _Scalar, align: bool = False, recurse: bool = False) -> Any: ...
def require_fields(array: ArrayLike, required_dtype: DTypeLike) -> ndarray: ...
def stack_arrays(
    arrays: ndarray | Sequence[ndarray],
    defaults: Mapping[str, object] | Mapping[str, Any] | None = None,
    usemask: bool = True,
    asrecarray: bool = False,
    autoconvert: bool = False,
) -> Any: ...
def structured_to_unstructured(
    arr: ArrayLike, dtype: DTypeLike | None = None, copy: bool = False, casting: _Casting = "unsafe"
) -> ndarray: ...
def unstructured_to_structured(
    arr: ArrayLike,
    dtype: DTypeLike | None = None,
    names: str | Iterable[str] | None = None,
    align: bool = False,
    copy: bool = False,
    casting: str = "unsafe",
) -> ndarray: ...

__all__ = [
    "append_fields",
    "apply_along_fields",
    "assign_fields_by_name",
    "drop_fields",
    "find_duplicates",
    "flatten_descr",
    "get_fieldstructure",
    "get_names",
    "get_names_flat",
    "join_by",
    "merge_arrays",
    "rec_append_fields",
    "rec_drop_fields",
    "rec_join",
    "recursive_fill_fields",
    "rename_fields",
    "repack_fields",
    "require_fields",
    "stack_arrays",
    "structured_to_unstructured",
    "unstructured_to_structured",
]
