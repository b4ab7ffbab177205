# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from types import EllipsisType
from typing import Any

from . import _Binary, _Casting, _Order, _Out, ndarray
from .typing import ArrayLike, DTypeLike

add: _Binary

def capitalize(a: ArrayLike) -> ndarray: ...
def center(a: ArrayLike, width: ArrayLike, fillchar: ArrayLike = " ") -> ndarray: ...
def count(a: ArrayLike, sub: ArrayLike, start: ArrayLike = 0, end: ArrayLike | None = None) -> ndarray: ...
def decode(a: ArrayLike, encoding: str | None = None, errors: str | None = None) -> ndarray: ...
def encode(a: ArrayLike, encoding: str | None = None, errors: str | None = None) -> ndarray: ...
def endswith(a: ArrayLike, suffix: ArrayLike, start: ArrayLike = 0, end: ArrayLike | None = None) -> ndarray: ...

equal: _Binary

def expandtabs(a: ArrayLike, tabsize: ArrayLike = 8) -> ndarray: ...
def find(a: ArrayLike, sub: ArrayLike, start: ArrayLike = 0, end: ArrayLike | None = None) -> ndarray: ...

greater: _Binary
greater_equal: _Binary

def index(a: ArrayLike, sub: ArrayLike, start: ArrayLike = 0, end: ArrayLike | None = None) -> ndarray: ...
def isalnum(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def isalpha(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def isdecimal(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def isdigit(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def islower(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def isnumeric(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def isspace(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def istitle(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def isupper(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...

less: _Binary
less_equal: _Binary

def ljust(a: ArrayLike, width: ArrayLike, fillchar: ArrayLike = " ") -> ndarray: ...
def lower(a: ArrayLike) -> ndarray: ...
def lstrip(a: ArrayLike, chars: ArrayLike | None = None) -> ndarray: ...
def mod(a: ArrayLike, values: Any) -> ndarray: ...
def multiply(a: ArrayLike, i: ArrayLike) -> ndarray: ...

not_equal: _Binary

def partition(a: ArrayLike, sep: ArrayLike) -> tuple[ndarray, ndarray, ndarray]: ...
def replace(a: ArrayLike, old: ArrayLike, new: ArrayLike, count: ArrayLike = -1) -> ndarray: ...
def rfind(a: ArrayLike, sub: ArrayLike, start: ArrayLike = 0, end: ArrayLike | None = None) -> ndarray: ...
def rindex(a: ArrayLike, sub: ArrayLike, start: ArrayLike = 0, end: ArrayLike | None = None) -> ndarray: ...
def rjust(a: ArrayLike, width: ArrayLike, fillchar: ArrayLike = " ") -> ndarray: ...
def rpartition(a: ArrayLike, sep: ArrayLike) -> tuple[ndarray, ndarray, ndarray]: ...
def rstrip(a: ArrayLike, chars: ArrayLike | None = None) -> ndarray: ...
def slice(
    a: ArrayLike, start: ArrayLike | None = None, stop: ArrayLike | None = ..., step: ArrayLike | None = None, /
) -> ndarray: ...
def startswith(a: ArrayLike, prefix: ArrayLike, start: ArrayLike = 0, end: ArrayLike | None = None) -> ndarray: ...
def str_len(
    x: ArrayLike,
    /,
    out: _Out | tuple[_Out] | EllipsisType | None = None,
    *,
    where: ArrayLike | None = True,
    casting: _Casting = "same_kind",
    order: _Order | None = "K",
    dtype: DTypeLike | None = None,
    subok: bool = True,
    signature: str | tuple[str | None, str | None] | None = None,
) -> ndarray: ...
def strip(a: ArrayLike, chars: ArrayLike | None = None) -> ndarray: ...
def swapcase(a: ArrayLike) -> ndarray: ...
def title(a: ArrayLike) -> ndarray: ...
def translate(a: ArrayLike, table: str, deletechars: str | None = None) -> ndarray: ...
def upper(a: ArrayLike) -> ndarray: ...
def zfill(a: ArrayLike, width: ArrayLike) -> ndarray: ...

__all__ = [
    "add",
    "capitalize",
    "center",
    "count",
    "decode",
    "encode",
    "endswith",
    "equal",
    "expandtabs",
    "find",
    "greater",
    "greater_equal",
    "index",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "istitle",
    "isupper",
    "less",
    "less_equal",
    "ljust",
    "lower",
    "lstrip",
    "mod",
    "multiply",
    "not_equal",
    "partition",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rstrip",
    "slice",
    "startswith",
    "str_len",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
]
