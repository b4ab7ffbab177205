"""Cholesky factors, solutions, inverses and determinants of stacks of small matrices on a GPU.

A matrix of up to 32 rows is factored by a group of threads of a warp (`warp.cuh`), a larger one that fits in shared
memory by a block (`block.cuh`). A program that writes `info` also sets the device's failure word, its last argument.
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
from ..cuda.program_builder import ProgramBuilder, pointer_declaration

_MAX_WARP_ROWS = 32  # rows of the largest matrix that one warp factors
_BLOCK_WARPS = 8  # where a block factors one matrix
_MAX_BLOCK_BYTES = 96 << 10  # shared memory for one matrix with its right-hand sides
_MIN_SIDES, _MAX_SIDES = 8, 64  # right-hand sides that one block solves for
_MAX_GROUP_BYTES = 40 << 10  # shared memory of a block whose warps factor several matrices
_SIDE_BYTES_PER_THREAD = 64  # right-hand sides that a thread holds in registers at once


def is_small(n: int, dtype: Any) -> bool:
    """Return True if a warp or a block factors a matrix of n rows: with 8 right-hand sides it fits in shared memory."""
    return n <= _MAX_WARP_ROWS or _block_bytes(n, n + _MIN_SIDES, dtype) <= _MAX_BLOCK_BYTES


def _block_bytes(n: int, width: int, dtype: Any) -> int:
    """Return the shared memory of `la::Block` for n rows of `width` elements, in bytes."""
    return (n * (width | 1) + 2 * _BLOCK_WARPS * width) * dtype.itemsize + 4 * (n + 4 * _BLOCK_WARPS)


def cholesky(options: tuple[bool, bool], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for Cholesky factors, upper or lower, in Fortran or C order, and `info`."""
    out, info, a = layouts
    text = _SmallMatrices(out.shape[-1], dtypes[0], info.shape)
    upper, by_columns = options
    at = text.element_reader(a, "c, r" if upper else "r, c", conjugate=upper)
    if text.in_warp:
        size = text.param(text.n)
        value = "group.tile[c * PITCH + r]" if upper or by_columns else "group.tile[r * PITCH + c]"
        value = f"la::conj({value})" if upper else value
        body = (
            f"  const bool failed = group.cholesky({at});\n"
            f"  for (int i = group.lane; active && i < {size} * {size}; i += {text.lanes}) {{\n"
            f"    const int r = i / (int){size}, c = i % (int){size};\n"
            f"    out[m * {size} * {size} + i] = {value};\n"
            "  }\n  if (active && group.lane == 0) la::report(failed, info + m, failure_word);"
        )
        text.add_group_entry("cholesky_rows", body, 2 * text.lanes)
    else:
        size = text.param(text.n)
        row, column = ("c", "r") if upper or by_columns else ("r", "c")
        tile = text.register_tile(text.n)
        put = f"out[(m * {size} + {row}) * {size} + {column}] = {'la::conj(x)' if upper else 'x'};"
        body = (
            f"  const bool failed = la::cholesky_of_block<T, {_BLOCK_WARPS}, {tile}>({size}, {at},\n"
            f"    [=](int r, int c, T x) {{ {put} }});\n"
            "  if (threadIdx.x == 0) la::report(failed, info + m, failure_word);"
        )
        text.add_block_entry("cholesky_block", body, 0)
    return text.finish(
        [
            pointer_declaration(dtypes[0], "out", ""),
            "int* info",
            pointer_declaration(dtypes[0], "a"),
            "int* failure_word",
        ]
    )


def solve(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for solutions and `info`; each right-hand side's solution is a row of the output."""
    _, info, a, b = layouts
    text = _SmallMatrices(a.shape[-1], dtypes[0], info.shape)
    if len(b.shape) < len(a.shape):
        b = Layout((*b.shape, 1), (*b.strides, 0), b.offset)
    columns = b.shape[-1]
    at = text.element_reader(a, "r, c")
    side = text.element_reader(b, "r, c", "b")

    def put(i: str, c: str) -> str:
        return f"out[(m * {text.param(columns)} + {c}) * {text.param(text.n)} + {i}]"

    text.add_solver(columns, at, side, put)
    inputs = [pointer_declaration(dtypes[0], "a"), pointer_declaration(dtypes[0], "b")]
    return text.finish([pointer_declaration(dtypes[0], "out", ""), "int* info", *inputs, "int* failure_word"])


def inv(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for inverses and `info`."""
    _, info, a = layouts
    text = _SmallMatrices(a.shape[-1], dtypes[0], info.shape)
    at, n = text.element_reader(a, "r, c"), text.n
    size, side = text.param(n), "[=](int r, int c) { return la::of_real<T>(r == c); }"
    text.add_solver(n, at, side, lambda i, c: f"out[(m * {size} + {i}) * {size} + {c}]")
    return text.finish(
        [
            pointer_declaration(dtypes[0], "out", ""),
            "int* info",
            pointer_declaration(dtypes[0], "a"),
            "int* failure_word",
        ]
    )


def slogdet(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for signs and logarithms of determinants, or for determinants if there is one output."""
    a = layouts[-1]
    text = _SmallMatrices(a.shape[-1], dtypes[0], a.shape[:-2])
    at = text.element_reader(a, "r, c")
    pointers, write = determinant_outputs(dtypes[:-1])
    if text.in_warp:
        body = f"  const auto determinant = group.determinant({at});\n  if (active && group.lane == 0) {write}"
        text.add_group_entry("determinant_rows", body, 2 * (text.padded_rows + 1))
    else:
        body = (
            f"  block.template factor<{text.register_tile(text.n)}>({at});\n"
            "  if (threadIdx.x < 32) {\n    const auto determinant = block.determinant();\n"
            f"    if (threadIdx.x == 0) {write}\n  }}"
        )
        text.add_block_entry("determinant_block", body, text.n)
    return text.finish([*pointers, pointer_declaration(dtypes[0], "a")])


def determinant_outputs(dtypes: Sequence[Any]) -> tuple[list[str], str]:
    """Return the parameters of the outputs with these dtypes, and the C++ that writes `determinant` for matrix `m`."""
    if len(dtypes) == 1:
        return [pointer_declaration(dtypes[0], "out", "")], "out[m] = determinant.value();"
    parameters = [pointer_declaration(dtypes[0], "sign", ""), pointer_declaration(dtypes[1], "logarithm", "")]
    return parameters, "sign[m] = determinant.sign, logarithm[m] = determinant.logarithm;"


class _SmallMatrices(ProgramBuilder):
    """Builder of a program for a stack of matrices of n rows; in kernel text `m` is the number of a matrix."""

    def __init__(self, n: int, dtype: Any, stack: tuple[int, ...]) -> None:
        super().__init__()
        self.require_op("multiply", (COMPLEX128,) * 3)
        self.n, self.dtype, self.type, self.stack, self.count = n, dtype, C_TYPE[dtype], stack, prod(stack)
        self.in_warp = n <= _MAX_WARP_ROWS
        # Sizes are rounded up, so that few kernels are compiled.
        self.padded_rows = 4 if n <= 4 else -(-n // 8) * 8
        self.lanes = 1 << (self.padded_rows - 1).bit_length()
        self._matrix_starts: list[str] = []  # declarations of where matrix m of each argument begins

    def element_reader(self, layout: Layout, order: str, name: str = "a", conjugate: bool = False) -> str:
        """Return a C++ lambda that reads an element of matrix m; `order` names its parameters: "r, c" or "c, r"."""
        stack_layout = Layout(layout.shape[:-2], layout.strides[:-2], layout.offset)
        self._matrix_starts.append(f"const {self.type}* {name}_m = {name} + ({self.offset(stack_layout, self.stack)});")
        row_stride, column_stride = (self.param(s) for s in layout.strides[-2:])
        value = f"{name}_m[r * {row_stride} + c * {column_stride}]"
        r, c = order.split(", ")
        return f"[=](int {r}, int {c}) {{ return {f'la::conj({value})' if conjugate else value}; }}"

    def add_group_entry(self, name: str, body: str, buffer_elements: int) -> None:
        """Add an entry where `lanes` threads share a matrix, with a buffer of so many elements in shared memory."""
        groups, elements = 32 // self.lanes, self.padded_rows * (self.padded_rows + 1) + buffer_elements
        warps = max(
            1, min(8, _MAX_GROUP_BYTES // (elements * self.dtype.itemsize * groups), -(-self.count // (groups * 132)))
        )
        groups_per_block = warps * groups
        matrices = self.param(self.count)
        head = (
            f"  typedef {self.type} T;\n  const int PITCH = {self.padded_rows + 1};\n"
            f"  __shared__ __align__(16) unsigned char memory[{groups_per_block} * {elements} * sizeof(T)];\n"
            f"  la::Group<T, {self.padded_rows}, {self.lanes}> group(\n"
            f"      (T*)memory + threadIdx.x / {self.lanes} * {elements}, {self.param(self.n)});\n"
            f"  const long long matrix = (long long)blockIdx.x * {groups_per_block} + threadIdx.x / {self.lanes};\n"
            f"  const bool active = matrix < {matrices};\n  const long long m = active ? matrix : {matrices} - 1;\n"
            f"  {self.unravel('m', self.stack)}\n  {' '.join(self._matrix_starts)}\n"
        )
        self.add_entry(name, head + body, -(-self.count // groups_per_block), 32 * warps)

    def add_block_entry(self, name: str, body: str, width: int, parts: int = 1) -> None:
        """Add an entry with a block for each matrix, and for each of `parts` portions of its right-hand sides.

        `width` counts the columns that the block holds in shared memory, 0 if the entry brings its own memory.
        """
        part_count = self.param(parts)
        head = (
            f"  typedef {self.type} T;\n"
            f"  const long long m = blockIdx.x / {part_count}, part = blockIdx.x % {part_count};\n"
            f"  {self.unravel('m', self.stack)}\n  {' '.join(self._matrix_starts)}\n"
        )
        shared = 0
        if width:
            head += (
                "  extern __shared__ unsigned long long shared[];\n"
                f"  la::Block<T, {_BLOCK_WARPS}> block(shared, {self.param(self.n)}, {self.param(width)});\n"
            )
            shared = _block_bytes(self.n, width, self.dtype)
        self.add_entry(name, head + body, self.count * parts, 32 * _BLOCK_WARPS, shared)

    def register_tile(self, width: int) -> str:
        """Return the template arguments for a matrix of `width` columns: rows of a warp, columns of a lane."""
        return f"{-(-self.n // _BLOCK_WARPS)}, {-(-width // 32)}"

    def add_solver(self, columns: int, at: str, side: str, put: Any) -> None:
        """Add an entry that solves for so many right-hand sides.

        `at` and `side` are C++ lambdas that read the matrix and the right-hand sides; `put(row, column)` is the C++
        expression that a solution is assigned to.
        """
        n = self.n
        if self.in_warp:
            sides_at_once = min(columns, max(1, _SIDE_BYTES_PER_THREAD // self.dtype.itemsize))
            body = (
                f"  const auto put = [=](int i, int c, T x) {{ if (active) {put('i', 'c')} = x; }};\n"
                f"  group.template solve<{sides_at_once}>({self.param(columns)}, {at}, {side}, put);\n"
                "  if (active && group.lane == 0) la::report(group.singular, info + m, failure_word);"
            )
            self.add_group_entry("solve_rows", body, 2 * (self.padded_rows + sides_at_once))
            return
        spare_bytes = _MAX_BLOCK_BYTES - _block_bytes(n, n, self.dtype)
        sides_at_once = max(
            1, min(columns, spare_bytes // ((n + 2 * _BLOCK_WARPS) * self.dtype.itemsize) - 1, _MAX_SIDES)
        )
        parts = -(-columns // sides_at_once)
        sides_at_once = -(-columns // parts)
        size, part_columns, total = self.param(n), self.param(sides_at_once), self.param(columns)
        tile = self.register_tile(n + sides_at_once)
        body = (
            f"  const int begin = part * {part_columns}, sides = min((int){part_columns}, (int){total} - begin);\n"
            f"  const auto at = {at};\n  const auto side = {side};\n"
            f"  const bool singular = block.template factor<{tile}>([=](int r, int c) {{\n"
            f"    if (c < {size}) return at(r, c);\n"
            f"    return c - {size} < sides ? side(r, c - {size} + begin) : la::of_real<T>(0);\n  }});\n"
            f"  const auto put = [=](int i, int c, T x) {{ {put('i', '(c + begin)')} = x; }};\n"
            f"  block.template substitute<{-(-n // 32)}>(sides, put);\n"
            "  if (threadIdx.x == 0 && part == 0) la::report(singular, info + m, failure_word);"
        )
        self.add_block_entry("solve_block", body, n + sides_at_once, parts)

    def finish(self, pointers: Sequence[str]) -> Program:
        """Return the program."""
        return self.build(pointers, head=source("linalg/common", "linalg/warp" if self.in_warp else "linalg/block"))


def arithmetic_helpers() -> str:
    """Return the C++ helpers for complex arithmetic that all factorisations need."""
    return op_code.helpers([("multiply", (COMPLEX128,) * 3)])
