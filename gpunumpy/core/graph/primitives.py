"""The twelve primitives of the expression graph: everything NumPy does is written with these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from ..dtypes import DType
from .layout import Layout, Shape


@dataclass(frozen=True, slots=True)
class Leaf:
    """Computed data: a strided window of a buffer. `origin` is its first element, counted from the lowest one."""

    strides: tuple[int, ...]
    origin: int
    aligned: bool


@dataclass(frozen=True, slots=True)
class Const:
    """A scalar passed by value. `weak` names the class of a Python scalar, or is empty for a typed one."""

    weak: str


@dataclass(frozen=True, slots=True)
class Iota:
    """The int64 index along `axis`."""

    axis: int


@dataclass(frozen=True, slots=True)
class Map:
    """The table's elementwise row over broadcast arguments; `loop` is the argument dtypes and the result dtype."""

    op: str
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Elements ``offset + sum(strides[d] * i[d])`` of the argument in C order."""

    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Update:
    """The first argument with the elements of the layout (over its C order) replaced by the second argument."""

    region: Layout


@dataclass(frozen=True, slots=True)
class Gather:
    """``base[i1, ..., ik]`` with k = `count` broadcast int64 index arrays for the leading dimensions of the base."""

    count: int


@dataclass(frozen=True, slots=True)
class Scatter:
    """``base[i1, ..., ik] = value`` (arguments: base, value, indices).

    `row` is "" for assignment, where the last of several duplicates wins, or the elementwise row of ``ufunc.at``.
    """

    count: int
    op: str


@dataclass(frozen=True, slots=True)
class Reduce:
    """The table's reduction over `axes`; `loop` as for `Map`. Arguments after the first are scalars for its end."""

    op: str
    axes: tuple[int, ...]
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """The inclusive scan along `axis` by a reduction row."""

    op: str
    axis: int
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A library routine or a kernel of its own, by name, over computed arguments; `options` are static and hashable.

    A routine with several results, of the shapes and dtypes `results`, has no value itself; its parts have.
    """

    name: str
    options: tuple[Any, ...] = ()
    results: tuple[tuple[Shape, DType], ...] = ()


@dataclass(frozen=True, slots=True)
class Output:
    """One of the results of the routine that is the argument."""

    number: int


Primitive: TypeAlias = (
    Leaf | Const | Iota | Map | View | Update | Gather | Scatter | Reduce | Scan | LibraryCall | Output
)
