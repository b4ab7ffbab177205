"""cuBLASLt: matrix products with epilogues (scale, add, clamp), whose algorithm is chosen once.

The library's objects that describe a product are made once for each kind of product and kept in a bounded cache; a call
passes only pointers. The algorithm is the first of the library's heuristic for the alignment of the pointers, so it is
the same in every run.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy

from ..core.graph.library_calls.products import RESIDUALS, Product
from ..core.runtime import memory
from ..core.runtime.device import Device
from ..core.runtime.memory_copy import copy_to_host
from ..core.runtime.plan import Runner
from .cublas import SCALAR_ADDRESSES, SCALARS, TYPES, Gemms, compute_types, name_of, operations
from .handles import bindings, handle

_HALVES = ("float16", "bfloat16")
WORKSPACE_BYTES = 32 << 20  # of the workspace that the products of a GPU share
_MAX_WORKSPACE_BYTES = 2 << 30  # of an emulated product, whose workspace is allocated for each call
_MAX_ALIGNMENT = 256  # bytes; larger alignments make no difference
_REDUCTION_IN_SUMS_DTYPE = 2  # cublasLtReductionScheme_t: partial sums, also of 16-bit floats, are not rounded
_ANY_REDUCTION = 7
_NAN_CANDIDATES = 8  # algorithms among which one that keeps NaNs is searched
_CHECKED_BYTES = 1 << 20  # at each end of a result that are checked for NaNs

_workspaces: dict[Device, memory.Buffer] = {}


def workspace(device: Device) -> int:
    """Return the address of the workspace that the products of a GPU share, as they run one after the other."""
    found = _workspaces.get(device)
    if found is None:
        found = _workspaces.setdefault(device, memory.allocate_fixed(device, WORKSPACE_BYTES))
    return found.ptr


_INTEGERS: dict[str, Any] = {
    "i1": ctypes.c_int8,
    "i4": ctypes.c_int32,
    "u4": ctypes.c_uint32,
    "i8": ctypes.c_int64,
    "u8": ctypes.c_uint64,
}


def set_attribute(function: Callable[..., None], target: int, attribute: Any, value: int, dtype: str) -> None:
    """Set an attribute of one of the library's objects."""
    encoded = _INTEGERS[dtype](value)
    function(target, int(attribute), ctypes.addressof(encoded), ctypes.sizeof(encoded))


class Multiplication:
    """One kind of product, described by objects of the library.

    Attributes
    ----------
    description
        The library's object of the operation.
    layout_a, layout_b, layout_out
        Its objects of the matrices. Operand A is the product's second operand (see `cublas`).
    workspaces
        Address of an algorithm -> the bytes of its workspace.
    proven
        Alignment -> the address of an algorithm that was seen to keep NaNs, or 0 if none does.
    """

    def __init__(self, device: Device, plan: Gemms, dtype: str, out: str, product: Product, compute: str) -> None:
        self.library, self.handle = handle(device, "cublasLt")
        self.device = device
        lt, cublas = self.library, bindings("cublas")
        self.halves = dtype in _HALVES
        self.max_workspace = _MAX_WORKSPACE_BYTES if product.precision == "emulated" else WORKSPACE_BYTES
        scale = TYPES[TYPES[dtype][1]][0]
        self.description = lt.matmul_desc_create(int(getattr(cublas.ComputeType, compute)), scale)
        objects = [(lt.matmul_desc_destroy, self.description)]
        attributes, set_description = lt.MatmulDescAttribute, lt.matmul_desc_set_attribute
        operation_a, operation_b = operations(cublas, plan, product.conjugate)
        set_attribute(set_description, self.description, attributes.TRANSA, operation_a, "i4")
        set_attribute(set_description, self.description, attributes.TRANSB, operation_b, "i4")
        epilogue = lt.Epilogue
        name = ("RELU_" if "maximum" in product.epilogues else "") + ("BIAS" if "bias" in product.epilogues else "")
        number = int(getattr(epilogue, name.strip("_") or "DEFAULT"))
        set_attribute(set_description, self.description, attributes.EPILOGUE, number, "u4")
        # The address of the bias is an attribute too, which every call sets; until then any address serves.
        if "bias" in product.epilogues:
            self.set_bias(workspace(device))
        m, n, k = plan.sizes
        shapes = ((k, m) if plan.blas_a[0] else (m, k), (n, k) if plan.blas_b[0] else (k, n), (m, n))
        leading = (plan.blas_a[1], plan.blas_b[1], m)
        codes = (TYPES[dtype][0], TYPES[dtype][0], TYPES[out][0])
        layouts = []
        for code, (rows, columns), step, stride in zip(codes, shapes, leading, plan.strides, strict=True):
            matrix = lt.matrix_layout_create(code, rows, columns, step)
            layouts.append(matrix)
            objects.append((lt.matrix_layout_destroy, matrix))
            if plan.batch > 1:
                layout_attributes = lt.MatrixLayoutAttribute
                set_attribute(lt.matrix_layout_set_attribute, matrix, layout_attributes.BATCH_COUNT, plan.batch, "i4")
                set_attribute(
                    lt.matrix_layout_set_attribute, matrix, layout_attributes.STRIDED_BATCH_OFFSET, stride, "i8"
                )
        self.layout_a, self.layout_b, self.layout_out = layouts
        weakref.finalize(self, destroy, objects).atexit = False
        self.clamps = "maximum" in product.epilogues
        self.proven: dict[int, int] = {}
        self.workspaces: dict[int, int] = {}
        self._algorithms: dict[int, list[int]] = {}
        self._results: list[Any] = []  # the library's arrays that hold the algorithms
        self._result_size = lt.matmul_heuristic_result_dtype.itemsize

    def set_bias(self, pointer: int) -> None:
        """Set the address of the bias."""
        attributes, set_description = self.library.MatmulDescAttribute, self.library.matmul_desc_set_attribute
        set_attribute(set_description, self.description, attributes.BIAS_POINTER, pointer, "i8")

    def algorithms(self, alignment: int) -> list[int]:
        """Return the addresses of the algorithms for pointers to multiples of `alignment` bytes, the best first."""
        found = self._algorithms.get(alignment)
        if found is None:
            reductions = _REDUCTION_IN_SUMS_DTYPE if self.halves else _ANY_REDUCTION
            layouts = (self.layout_a, self.layout_b, self.layout_out)
            max_results = _NAN_CANDIDATES if self.clamps else 1
            results, count = ask_heuristic(
                self.device, self.description, layouts, alignment, self.max_workspace, reductions, max_results
            )
            self._results.append(results)
            found = self._algorithms[alignment] = [results.ptr + n * self._result_size for n in range(count)]
            sizes = results.workspace_size if max_results > 1 else (results.workspace_size,)
            self.workspaces.update(zip(found, map(int, sizes), strict=False))
        return found


class Algorithms(NamedTuple):
    """The library's array of algorithms for a product, the best first, and how many it has found."""

    results: Any
    found: int


def ask_heuristic(
    device: Device,
    description: int,
    layouts: tuple[int, int, int],
    alignment: int,
    max_workspace: int = WORKSPACE_BYTES,
    reductions: int = _REDUCTION_IN_SUMS_DTYPE,
    max_results: int = 1,
) -> Algorithms:
    """Return algorithms for a product whose pointers are multiples of `alignment` bytes.

    `description` and `layouts`, of A, B and the result, are addresses of the library's objects.
    """
    lt, library = handle(device, "cublasLt")
    preference = _preference(device, alignment, max_workspace, reductions)
    results, count = lt.MatmulHeuristicResult(max_results), ctypes.c_int32()
    request = (*layouts, layouts[-1], preference.pointer, max_results, results.ptr, ctypes.addressof(count))
    device.activate()
    try:
        lt.matmul_algo_get_heuristic(library, description, *request)
    except lt.cuBLASLtError:  # the library has no such product
        return Algorithms(results, 0)
    return Algorithms(results, count.value)


class _Preference:
    """The library's object of what an algorithm may need; destroyed with this one."""

    def __init__(self, lt: Any, alignment: int, max_workspace: int, reductions: int) -> None:
        self.pointer = lt.matmul_preference_create()
        weakref.finalize(self, lt.matmul_preference_destroy, self.pointer).atexit = False
        attributes, set_preference = lt.MatmulPreferenceAttribute, lt.matmul_preference_set_attribute
        set_attribute(set_preference, self.pointer, attributes.MAX_WORKSPACE_BYTES, max_workspace, "u8")
        set_attribute(set_preference, self.pointer, attributes.REDUCTION_SCHEME_MASK, reductions, "u4")
        for matrix in "ABCD":
            set_attribute(set_preference, self.pointer, attributes[f"MIN_ALIGNMENT_{matrix}_BYTES"], alignment, "u4")


@lru_cache(maxsize=64)
def _preference(device: Device, alignment: int, max_workspace: int, reductions: int) -> _Preference:
    """Return a preference, of which products of all sizes have the same."""
    return _Preference(handle(device, "cublasLt")[0], alignment, max_workspace, reductions)


def destroy(objects: Sequence[tuple[Callable[[int], None], int]]) -> None:
    """Destroy objects of the library, each by its own function."""
    for release, target in objects:
        release(target)


@lru_cache(maxsize=1024)
def _multiplication(device: Device, plan: Gemms, dtype: str, out: str, product: Product) -> Multiplication | None:
    """Return the product with the first compute type for which the library has an algorithm; None if it has none."""
    for compute in compute_types(dtype, product.precision):
        try:
            multiplication = Multiplication(device, plan, dtype, out, product, compute)
        except bindings("cublasLt").cuBLASLtError:  # an older library does not have this compute type
            continue
        if multiplication.algorithms(_MAX_ALIGNMENT):
            return multiplication
    return None


def prepare(device: Device, plan: Gemms, dtype: Any, out: Any, product: Product, fallback: Runner) -> Runner | None:
    """Prepare a product with its epilogues; return None if the library has no such product.

    The returned function takes the pointers of the result and the operands, and a value for each epilogue: a number for
    a scale or divisor, a pointer for an array. The maximum is with 0; its value is not used.

    Parameters
    ----------
    device
        The GPU.
    plan
        The calls.
    dtype, out
        The dtypes of the operands and the result.
    product
        The options of the call "matmul".
    fallback
        The function to call instead where the library has no algorithm for the alignment of the pointers.
    """
    name = name_of(dtype)
    multiplication = _multiplication(device, plan, name, name_of(out), product)
    if multiplication is None:
        return None
    matmul, library, description = multiplication.library.matmul, multiplication.handle, multiplication.description
    layout_a, layout_b, layout_out = multiplication.layout_a, multiplication.layout_b, multiplication.layout_out
    activate, stream, shared = device.activate, int(device.stream), workspace(device)
    positions = {epilogue: 3 + number for number, epilogue in enumerate(product.epilogues)}
    scale, divisor, bias = positions.get("scale"), positions.get("divide"), positions.get("bias")
    residual = next((positions[name] for name in positions if name in RESIDUALS), None)
    sign = -1 if "subtract_from" in positions else 1
    scalars, alpha = SCALARS[TYPES[name][1]], SCALAR_ADDRESSES[TYPES[name][1]]
    if product.epilogues:
        scalars = scalars.copy()  # kept alive by `run`, as cuBLASLt reads its memory
        scalars[:] = sign, 0 if residual is None else -1 if "subtract" in positions else 1
        alpha = scalars.ctypes.data
    beta = alpha + scalars.itemsize
    itemsize, out_itemsize = dtype.itemsize, out.itemsize
    offsets = [(itemsize * a, itemsize * b, out_itemsize * c) for a, b, c in plan.offsets]
    offset_bits = 0
    for call_offsets in offsets:
        offset_bits |= call_offsets[0] | call_offsets[1] | call_offsets[2]
    algorithms: dict[int, int] = {}

    def choose_algorithm(bits: int, pointers: Sequence[Any]) -> int:
        """Return the algorithm for pointers whose lower bits are `bits`; 0 if there is none."""
        alignment = bits & -bits or _MAX_ALIGNMENT
        candidates = multiplication.algorithms(alignment)
        if multiplication.clamps:
            if alignment not in multiplication.proven:
                multiplication.proven[alignment] = next((c for c in candidates if keeps_nan(c, pointers)), 0)
            found = multiplication.proven[alignment]
        else:
            found = candidates[0] if candidates else 0
        algorithms[bits] = found
        return found

    def run_plain(pointers: Sequence[Any]) -> None:
        """Run the commonest kind of product: one call without epilogues, in as little time as possible."""
        d, b, a = pointers
        bits = (d | a | b) & (_MAX_ALIGNMENT - 1)
        algorithm = algorithms.get(bits) or choose_algorithm(bits, pointers)
        if not algorithm:
            fallback(pointers)
            return
        activate()
        # Spelt out, as a star makes a tuple for every call.
        # fmt: off
        matmul(library, description, alpha, a, layout_a, b, layout_b, beta, d, layout_out, d, layout_out, algorithm,
               shared, WORKSPACE_BYTES, stream)
        # fmt: on

    def launch(pointers: Sequence[Any], addend: int, algorithm: int) -> None:
        """Make the calls; `addend` is the matrix C, which cuBLASLt scales by beta and adds."""
        target, left, right = pointers[:3]
        activate()
        if bias is not None:
            multiplication.set_bias(pointers[bias])
        needed = multiplication.workspaces[algorithm]
        block = memory.allocate_fixed(device, needed) if needed > WORKSPACE_BYTES else None
        address, size = (block.ptr, needed) if block else (shared, WORKSPACE_BYTES)
        for offset_a, offset_b, offset_out in offsets:
            matmul(
                *(library, description, alpha, right + offset_a, layout_a, left + offset_b, layout_b, beta),
                *(addend + offset_out, layout_out, target + offset_out, layout_out, algorithm, address, size, stream),
            )

    def keeps_nan(algorithm: int, pointers: Sequence[Any]) -> bool:
        """Return whether an algorithm's maximum keeps NaNs: with a scale of NaN all results must be NaN."""
        scalars[0] = numpy.nan
        launch(pointers, pointers[0] if residual is None else pointers[residual], algorithm)
        scalars[0] = sign
        nbytes = prod(plan.sizes[:2]) * plan.batch * len(offsets) * out_itemsize
        buffer, checked = memory.foreign_buffer(pointers[0], nbytes, None, device), min(nbytes, _CHECKED_BYTES)
        ends = [copy_to_host(buffer, start, checked).view(out) for start in (0, nbytes - checked)]
        return all(bool(numpy.isnan(end).all()) for end in ends)

    def run(pointers: Sequence[Any]) -> None:
        addend = pointers[0] if residual is None else pointers[residual]
        bits = (pointers[0] | pointers[1] | pointers[2] | addend | offset_bits) & (_MAX_ALIGNMENT - 1)
        algorithm = algorithms.get(bits) or choose_algorithm(bits, pointers)
        if not algorithm:
            fallback(pointers)
            return
        if scale is not None:
            scalars[0] = sign * pointers[scale]
        elif divisor is not None:
            scalars[0] = sign / pointers[divisor]
        launch(pointers, addend, algorithm)

    is_plain = not product.epilogues and offsets == [(0, 0, 0)] and multiplication.max_workspace == WORKSPACE_BYTES
    return run_plain if is_plain else run
