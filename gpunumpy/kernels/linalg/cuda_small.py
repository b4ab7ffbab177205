"""Factorisations of small matrices on a GPU, each by a group of threads or by a block.

`linalg_warp.cuh` is for matrices of up to 32 rows, `linalg_block.cuh` for those that fit in shared memory. Where `info`
tells of a failure, so does a word that the programs take as their last argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, COMPLEX128
from ...core.graph.layout import Layout
from ..codegen import op_code
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.routine import Routine, pointer

_WARP_ROWS = 32  # at most, of a matrix that a warp factors
_WARPS = 8  # of a block for one matrix
_BLOCK_BYTES = 96 << 10  # of shared memory for a matrix with its right-hand sides
_LEAST, _WIDEST = 8, 64  # right-hand sides of a block
_GROUP_BYTES = 40 << 10  # of shared memory for the matrices of a block
_SIDE_BYTES = 64  # of the right-hand sides that a thread holds at once
_GRID_Y = 65_535


def fits(n: int, dtype: Any) -> bool:
    """Whether matrices of n rows are small: with some right-hand sides, one is held by a block."""
    return n <= _WARP_ROWS or _block_bytes(n, n + _LEAST, dtype) <= _BLOCK_BYTES


def _block_bytes(n: int, width: int, dtype: Any) -> int:
    return (n * (width | 1) + 2 * _WARPS * width) * dtype.itemsize + 4 * (n + 4 * _WARPS)


def cholesky(options: tuple[bool, bool], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Upper or lower factors, by columns or as they are, and `info`."""
    out, info, a = layouts
    text = _Small(out.shape[-1], dtypes[0], info.shape)
    upper, by_columns = options
    at = text.element(a, "c, r" if upper else "r, c", conjugate=upper)
    if text.tiny:
        size = text.param(text.n)
        value = "group.tile[c * PITCH + r]" if upper or by_columns else "group.tile[r * PITCH + c]"
        value = f"la::conj({value})" if upper else value
        body = (
            f"  const bool failed = group.cholesky({at});\n"
            f"  for (int i = group.lane; here && i < {size} * {size}; i += {text.lanes}) {{\n"
            f"    const int r = i / (int){size}, c = i % (int){size};\n"
            f"    out[m * {size} * {size} + i] = {value};\n"
            "  }\n  if (here && group.lane == 0) la::tell(failed, info + m, told);"
        )
        text.entry_of_groups("cholesky_rows", body, 2 * text.lanes)
    else:
        size = text.param(text.n)
        row, column = ("c", "r") if upper or by_columns else ("r", "c")
        put = f"out[(m * {size} + {row}) * {size} + {column}] = {'la::conj(x)' if upper else 'x'};"
        body = (
            f"  const bool failed = la::cholesky_of_block<T, {_WARPS}, {text.held(text.n)}>({size}, {at},\n"
            f"    [=](int r, int c, T x) {{ {put} }});\n"
            "  if (threadIdx.x == 0) la::tell(failed, info + m, told);"
        )
        text.entry_of_blocks("cholesky_block", body, 0)
    return text.made([pointer(dtypes[0], "out", ""), "int* info", pointer(dtypes[0], "a"), "int* told"])


def solve(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Solutions and `info`; those of several right-hand sides one after the other in memory."""
    _, info, a, b = layouts
    text = _Small(a.shape[-1], dtypes[0], info.shape)
    if len(b.shape) < len(a.shape):
        b = Layout((*b.shape, 1), (*b.strides, 0), b.offset)
    columns = b.shape[-1]
    at = text.element(a, "r, c")
    given = text.element(b, "r, c", "b")
    text.solved(columns, at, given, lambda i, c: f"out[(m * {text.param(columns)} + {c}) * {text.param(text.n)} + {i}]")
    return text.made(
        [pointer(dtypes[0], "out", ""), "int* info", pointer(dtypes[0], "a"), pointer(dtypes[0], "b"), "int* told"],
    )


def inv(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Inverses and `info`."""
    _, info, a = layouts
    text = _Small(a.shape[-1], dtypes[0], info.shape)
    at, n = text.element(a, "r, c"), text.n
    size, given = text.param(n), "[=](int r, int c) { return la::of_real<T>(r == c); }"
    text.solved(n, at, given, lambda i, c: f"out[(m * {size} + {i}) * {size} + {c}]")
    return text.made([pointer(dtypes[0], "out", ""), "int* info", pointer(dtypes[0], "a"), "int* told"])


def slogdet(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """The signs of determinants and the logarithms of their sizes; or the determinants, where there is one result."""
    a = layouts[-1]
    text = _Small(a.shape[-1], dtypes[0], a.shape[:-2])
    at = text.element(a, "r, c")
    pointers, store = determinants(dtypes[:-1])
    if text.tiny:
        body = f"  const auto found = group.determinant({at});\n  if (here && group.lane == 0) {store}"
        text.entry_of_groups("determinant_rows", body, 2 * (text.padded + 1))
    else:
        body = (
            f"  block.template factor<{text.held(text.n)}>({at});\n"
            "  if (threadIdx.x < 32) {\n    const auto found = block.determinant();\n"
            f"    if (threadIdx.x == 0) {store}\n  }}"
        )
        text.entry_of_blocks("determinant_block", body, text.n)
    return text.made([*pointers, pointer(dtypes[0], "a")])


def determinants(dtypes: Sequence[Any]) -> tuple[list[str], str]:
    """The pointers to the results of so many dtypes, and what writes there what was `found`."""
    if len(dtypes) == 1:
        return [pointer(dtypes[0], "out", "")], "out[m] = found.value();"
    names = [pointer(dtypes[0], "sign", ""), pointer(dtypes[1], "logarithm", "")]
    return names, "sign[m] = found.sign, logarithm[m] = found.logarithm;"


class _Small(Routine):
    """A program in the making, for a stack of matrices of n rows; `m` is the number of a matrix."""

    def __init__(self, n: int, dtype: Any, stack: tuple[int, ...]) -> None:
        super().__init__()
        self.need("multiply", (COMPLEX128,) * 3)
        self.n, self.dtype, self.type, self.stack, self.count = n, dtype, C_TYPE[dtype], stack, prod(stack)
        self.tiny = n <= _WARP_ROWS
        # Few sizes are compiled: the others are made larger.
        self.padded = 4 if n <= 4 else -(-n // 8) * 8
        self.lanes = 1 << (self.padded - 1).bit_length()
        self._steps: list[str] = []  # where the matrix m of each argument begins

    def element(self, where: Layout, place: str, name: str = "a", conjugate: bool = False) -> str:
        """A function of a row and a column, in that order or the other, that reads an argument."""
        start = Layout(where.shape[:-2], where.strides[:-2], where.offset)
        self._steps.append(f"const {self.type}* {name}_m = {name} + ({self.offset(start, self.stack)});")
        down, across = (self.param(s) for s in where.strides[-2:])
        value = f"{name}_m[r * {down} + c * {across}]"
        r, c = place.split(", ")
        return f"[=](int {r}, int {c}) {{ return {f'la::conj({value})' if conjugate else value}; }}"

    def entry_of_groups(self, name: str, body: str, buffer: int) -> None:
        """An entry with a group of threads to each matrix, which has a buffer of so many elements in shared memory."""
        groups, cells = 32 // self.lanes, self.padded * (self.padded + 1) + buffer
        warps = max(1, min(8, _GROUP_BYTES // (cells * self.dtype.itemsize * groups), -(-self.count // (groups * 132))))
        taken = warps * groups
        total = self.param(self.count)
        head = (
            f"  typedef {self.type} T;\n  const int PITCH = {self.padded + 1};\n"
            f"  __shared__ __align__(16) unsigned char memory[{taken} * {cells} * sizeof(T)];\n"
            f"  la::Group<T, {self.padded}, {self.lanes}> group(\n"
            f"      (T*)memory + threadIdx.x / {self.lanes} * {cells}, {self.param(self.n)});\n"
            f"  const long long number = (long long)blockIdx.x * {taken} + threadIdx.x / {self.lanes};\n"
            f"  const bool here = number < {total};\n  const long long m = here ? number : {total} - 1;\n"
            f"  {self.split('m', self.stack)}\n  {' '.join(self._steps)}\n"
        )
        self.entry(name, head + body, -(-self.count // taken), 32 * warps)

    def entry_of_blocks(self, name: str, body: str, width: int, parts: int = 1) -> None:
        """An entry with a block to each matrix, `width` columns wide, and each of `parts` of its sides."""
        count = self.param(parts)
        head = (
            f"  typedef {self.type} T;\n  const long long m = blockIdx.x / {count}, part = blockIdx.x % {count};\n"
            f"  {self.split('m', self.stack)}\n  {' '.join(self._steps)}\n"
        )
        shared = 0
        if width:
            head += (
                "  extern __shared__ unsigned long long shared[];\n"
                f"  la::Block<T, {_WARPS}> block(shared, {self.param(self.n)}, {self.param(width)});\n"
            )
            shared = _block_bytes(self.n, width, self.dtype)
        self.entry(name, head + body, self.count * parts, 32 * _WARPS, shared)

    def held(self, width: int) -> str:
        """The rows of a warp and the columns of a lane, for matrices so wide."""
        return f"{-(-self.n // _WARPS)}, {-(-width // 32)}"

    def solved(self, columns: int, at: str, given: str, put: Any) -> None:
        """An entry that solves for so many right-hand sides."""
        n = self.n
        if self.tiny:
            held = min(columns, max(1, _SIDE_BYTES // self.dtype.itemsize))
            body = (
                f"  const auto put = [=](int i, int c, T x) {{ if (here) {put('i', 'c')} = x; }};\n"
                f"  group.template solve<{held}>({self.param(columns)}, {at}, {given}, put);\n"
                "  if (here && group.lane == 0) la::tell(group.singular, info + m, told);"
            )
            self.entry_of_groups("solve_rows", body, 2 * (self.padded + held))
            return
        room = _BLOCK_BYTES - _block_bytes(n, n, self.dtype)
        held = max(1, min(columns, room // ((n + 2 * _WARPS) * self.dtype.itemsize) - 1, _WIDEST))
        parts = -(-columns // held)
        held = -(-columns // parts)
        size, each, total = self.param(n), self.param(held), self.param(columns)
        body = (
            f"  const int begin = part * {each}, sides = min((int){each}, (int){total} - begin);\n"
            f"  const auto at = {at};\n  const auto given = {given};\n"
            f"  const bool singular = block.template factor<{self.held(n + held)}>([=](int r, int c) {{\n"
            f"    if (c < {size}) return at(r, c);\n"
            f"    return c - {size} < sides ? given(r, c - {size} + begin) : la::of_real<T>(0);\n  }});\n"
            f"  const auto put = [=](int i, int c, T x) {{ {put('i', '(c + begin)')} = x; }};\n"
            f"  block.template substitute<{-(-n // 32)}>(sides, put);\n"
            "  if (threadIdx.x == 0 && part == 0) la::tell(singular, info + m, told);"
        )
        self.entry_of_blocks("solve_block", body, n + held, parts)

    def made(self, pointers: Sequence[str]) -> Program:
        return self.program(pointers, head=source("linalg/common", "linalg/warp" if self.tiny else "linalg/block"))


def helpers() -> str:
    """The arithmetic that all factorisations need."""
    return op_code.helpers([("multiply", (COMPLEX128,) * 3)])
