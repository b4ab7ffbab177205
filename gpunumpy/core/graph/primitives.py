"""The twelve primitives of the expression graph: every NumPy function is recorded as nodes of these kinds."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..dtypes import DType
from ..late_dataclasses import dataclass
from .layout import Layout, Shape


@dataclass(frozen=True, slots=True)
class Leaf:
    """Computed data: a strided window of a buffer. `origin`: offset of its first element from its lowest one."""

    strides: tuple[int, ...]
    origin: int
    aligned: bool


@dataclass(frozen=True, slots=True)
class Const:
    """Scalar passed by value. `weak`: class of a Python scalar (of an int with its range), or "" for a typed scalar."""

    weak: str


@dataclass(frozen=True, slots=True)
class Iota:
    """The int64 index of every element along `axis`."""

    axis: int


@dataclass(frozen=True, slots=True)
class Map:
    """Elementwise op of the table over broadcast arguments. `loop`: the argument dtypes, then the result dtype."""

    op: str
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class View:
    """The elements ``offset + sum(strides[d] * i[d])`` of the argument, counted in its C order."""

    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Update:
    """Copy of the first argument with the elements of `region` (over its C order) replaced by the second argument."""

    region: Layout


@dataclass(frozen=True, slots=True)
class Gather:
    """``base[i1, ..., ik]`` with k = `count` int64 index arrays, broadcast, for the leading dimensions of the base."""

    count: int


@dataclass(frozen=True, slots=True)
class Scatter:
    """``base[i1, ..., ik] = value`` (arguments: base, value, indices).

    `op` is the elementwise op of ``ufunc.at``, or "" for assignment, where the last of several duplicates wins.
    """

    count: int
    op: str


@dataclass(frozen=True, slots=True)
class Reduce:
    """Reduction of the table over `axes`; `loop` as for `Map`. Arguments after the first: scalars for the last step."""

    op: str
    axes: tuple[int, ...]
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """Inclusive scan along `axis` by a reduction of the table; `loop` as for `Map`."""

    op: str
    axis: int
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """Library call over computed arguments. `name` is that of its record; `options` are static and hashable.

    A call with several outputs, whose shapes and dtypes are `results`, has no value itself: its `Output` nodes have.
    """

    name: str
    options: tuple[Any, ...] = ()
    results: tuple[tuple[Shape, DType], ...] = ()


@dataclass(frozen=True, slots=True)
class Output:
    """One output, by number, of the library call that is the argument."""

    number: int


Primitive: TypeAlias = (
    Leaf | Const | Iota | Map | View | Update | Gather | Scatter | Reduce | Scan | LibraryCall | Output
)
