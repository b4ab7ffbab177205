"""cuBLASLt: matrix products whose algorithm is chosen once, and which scale, add and clamp before they write.

A product is described by objects of the library, which are made once for every kind of product and kept in a bounded
cache; a call passes pointers alone. The algorithm is the first one of the library's heuristic, so that it is
the same in every run; it may depend on how the pointers are aligned.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy

from ..core.graph.library_calls.products import RESIDUALS, Product
from ..core.runtime import memory
from ..core.runtime.device import Device
from ..core.runtime.memory_copy import copy_to_host
from ..core.runtime.plan import Runner
from .cublas import SCALARS, TYPES, Gemms, compute_types, operations
from .handles import bindings, handle

_HALVES = ("float16", "bfloat16")
_WORKSPACE = 32 << 20  # bytes that the products of a GPU share
_MOST_WORKSPACE = 2 << 30  # bytes that an emulated product may use, which are allocated for each
_ALIGNED = 256
_REDUCTION_IN_SUMS_DTYPE = 2  # of halves too: partial sums are not rounded
_ANY_REDUCTION = 7
_CHOICES = 8  # the algorithms among which one is looked for that keeps NaNs
_SEEN = 1 << 20  # bytes of either end of a result that are looked at for that

_workspaces: dict[Device, memory.Buffer] = {}
_lock = threading.Lock()


def _workspace(device: Device) -> int:
    """Memory that products use while they run, one after the other."""
    found = _workspaces.get(device)
    if found is None:
        with _lock:
            found = _workspaces.get(device) or _workspaces.setdefault(device, memory.allocate(device, _WORKSPACE))
    return found.ptr


def _set(function: Callable[..., None], target: int, attribute: Any, value: int, dtype: str) -> None:
    """Give one of the library's objects an attribute."""
    held = numpy.array(value, dtype)
    function(target, int(attribute), held.ctypes.data, held.nbytes)


class Multiplication:
    """One kind of product as the library knows it.

    Attributes
    ----------
    description, first, second, result
        The library's objects: what is done, and the matrices. The first operand of the library is our second.
    workspaces
        For the addresses of algorithms, the bytes that they use.
    proven
        For alignments, the address of the algorithm that was found to keep NaNs, or 0.
    """

    def __init__(self, device: Device, plan: Gemms, dtype: str, out: str, product: Product, compute: str) -> None:
        self.library, self.handle = handle(device, "cublasLt")
        self.device = device
        lt, cublas = self.library, bindings("cublas")
        self.halves = dtype in _HALVES
        self.most_workspace = _MOST_WORKSPACE if product.precision == "emulated" else _WORKSPACE
        scale = TYPES[TYPES[dtype][1]][0]
        self.description = lt.matmul_desc_create(int(getattr(cublas.ComputeType, compute)), scale)
        made = [(lt.matmul_desc_destroy, self.description)]
        attributes, set_description = lt.MatmulDescAttribute, lt.matmul_desc_set_attribute
        first, second = operations(cublas, plan, product.conjugate)
        _set(set_description, self.description, attributes.TRANSA, first, "i4")
        _set(set_description, self.description, attributes.TRANSB, second, "i4")
        epilogue = lt.Epilogue
        name = ("RELU_" if "maximum" in product.after else "") + ("BIAS" if "bias" in product.after else "")
        number = int(getattr(epilogue, name.strip("_") or "DEFAULT"))
        _set(set_description, self.description, attributes.EPILOGUE, number, "u4")
        # The place of the bias is an attribute too, which every call sets; any address will do till then.
        self.bias = numpy.array(_workspace(device), "i8")
        self.bias_attribute = int(attributes.BIAS_POINTER)
        if "bias" in product.after:
            self.set_bias(self.bias.item())
        m, n, k = plan.sizes
        shapes = ((k, m) if plan.first[0] else (m, k), (n, k) if plan.second[0] else (k, n), (m, n))
        leading = (plan.first[1], plan.second[1], m)
        codes = (TYPES[dtype][0], TYPES[dtype][0], TYPES[out][0])
        layouts = []
        for code, (rows, columns), step, stride in zip(codes, shapes, leading, plan.strides, strict=True):
            matrix = lt.matrix_layout_create(code, rows, columns, step)
            layouts.append(matrix)
            made.append((lt.matrix_layout_destroy, matrix))
            if plan.batch > 1:
                which = lt.MatrixLayoutAttribute
                _set(lt.matrix_layout_set_attribute, matrix, which.BATCH_COUNT, plan.batch, "i4")
                _set(lt.matrix_layout_set_attribute, matrix, which.STRIDED_BATCH_OFFSET, stride, "i8")
        self.first, self.second, self.result = layouts
        weakref.finalize(self, _destroy, made).atexit = False
        self.clamps = "maximum" in product.after
        self.proven: dict[int, int] = {}
        self.workspaces: dict[int, int] = {}
        self._chosen: dict[int, tuple[Any, int]] = {}
        self._result_size = lt.matmul_heuristic_result_dtype.itemsize

    def set_bias(self, pointer: int) -> None:
        """Say where the bias is."""
        self.bias[()] = pointer
        self.library.matmul_desc_set_attribute(self.description, self.bias_attribute, self.bias.ctypes.data, 8)

    def algorithms(self, alignment: int) -> list[int]:
        """The addresses of the algorithms for pointers to multiples of `alignment` bytes, the best one first."""
        found = self._chosen.get(alignment)
        if found is None:
            found = self._chosen[alignment] = self._choose(alignment)
        results, count = found
        addresses = [results.ptr + number * self._result_size for number in range(count)]
        self.workspaces.update(zip(addresses, numpy.atleast_1d(results.workspace_size).tolist(), strict=False))
        return addresses

    def _choose(self, alignment: int) -> tuple[Any, int]:
        lt = self.library
        preference = lt.matmul_preference_create()
        try:
            which, give = lt.MatmulPreferenceAttribute, lt.matmul_preference_set_attribute
            _set(give, preference, which.MAX_WORKSPACE_BYTES, self.most_workspace, "u8")
            reductions = _REDUCTION_IN_SUMS_DTYPE if self.halves else _ANY_REDUCTION
            _set(give, preference, which.REDUCTION_SCHEME_MASK, reductions, "u4")
            for matrix in "ABCD":
                _set(give, preference, which[f"MIN_ALIGNMENT_{matrix}_BYTES"], alignment, "u4")
            wanted = _CHOICES if self.clamps else 1
            results, count = lt.MatmulHeuristicResult(wanted), numpy.zeros(1, "i4")
            matrices = (self.first, self.second, self.result, self.result)
            wish = (*matrices, preference, wanted, results.ptr, count.ctypes.data)
            self.device.activate()
            try:
                lt.matmul_algo_get_heuristic(self.handle, self.description, *wish)
            except lt.cuBLASLtError:  # it has no such product
                return results, 0
            return results, int(count[0])
        finally:
            lt.matmul_preference_destroy(preference)


def _destroy(made: Sequence[tuple[Callable[[int], None], int]]) -> None:
    for destroy, target in made:
        destroy(target)


@lru_cache(maxsize=1024)
def _multiplication(device: Device, plan: Gemms, dtype: str, out: str, product: Product) -> Multiplication | None:
    """The product as the library makes it, by the first way of computing that it has; None where it has none."""
    for compute in compute_types(dtype, product.precision):
        try:
            made = Multiplication(device, plan, dtype, out, product, compute)
        except bindings("cublasLt").cuBLASLtError:  # an older library does not know the name
            continue
        if made.algorithms(_ALIGNED):
            return made
    return None


def prepare(device: Device, plan: Gemms, dtype: Any, out: Any, product: Product, otherwise: Runner) -> Runner | None:
    """A function that makes a product over the pointers of the result and the operands, and what comes after.

    A scale or divisor is passed as a number; the maximum is that with 0, whatever is passed. It is None where the
    library has no such product.

    Parameters
    ----------
    device
        The GPU.
    plan
        The calls.
    dtype, out
        The dtypes of the operands and the result.
    product
        What is computed.
    otherwise
        What is called instead where the library has no algorithm for pointers that are aligned like these.
    """
    made = _multiplication(device, plan, dtype.name, out.name, product)
    if made is None:
        return None
    matmul, library, description = made.library.matmul, made.handle, made.description
    first, second, result = made.first, made.second, made.result
    activate, stream, workspace = device.activate, int(device.stream), _workspace(device)
    steps = {step: 3 + number for number, step in enumerate(product.after)}
    scale, divisor, bias = steps.get("scale"), steps.get("divide"), steps.get("bias")
    residual = next((steps[step] for step in steps if step in RESIDUALS), None)
    sign = -1 if "from" in steps else 1
    scalars = SCALARS[TYPES[dtype.name][1]]
    if product.after:
        scalars = scalars.copy()  # which `run` keeps, and its memory with it
        scalars[:] = sign, 0 if residual is None else -1 if "less" in steps else 1
    one, kept = scalars.ctypes.data, scalars.ctypes.data + scalars.itemsize
    unit, wide = dtype.itemsize, out.itemsize
    places = [(unit * x, unit * y, wide * z) for x, y, z in plan.offsets]
    fixed = 0
    for place in places:
        fixed |= place[0] | place[1] | place[2]
    algorithms: dict[int, int] = {}

    def algorithm(bits: int, pointers: Sequence[Any]) -> int:
        alignment = bits & -bits or _ALIGNED
        choices = made.algorithms(alignment)
        if made.clamps:
            if alignment not in made.proven:
                made.proven[alignment] = next((c for c in choices if keeps_nan(c, pointers)), 0)
            found = made.proven[alignment]
        else:
            found = choices[0] if choices else 0
        algorithms[bits] = found
        return found

    def plain(pointers: Sequence[Any]) -> None:
        """The commonest product, with as little as possible to do for one call."""
        d, b, a = pointers
        bits = (d | a | b) & (_ALIGNED - 1)
        chosen = algorithms.get(bits) or algorithm(bits, pointers)
        if not chosen:
            otherwise(pointers)
            return
        activate()
        # Spelt out, as a star makes a tuple for every call.
        # fmt: off
        matmul(library, description, one, a, first, b, second, kept, d, result, d, result, chosen, workspace,
               _WORKSPACE, stream)
        # fmt: on

    def launch(pointers: Sequence[Any], old: int, chosen: int) -> None:
        target, left, right = pointers[:3]
        activate()
        if bias is not None:
            made.set_bias(pointers[bias])
        needed = made.workspaces[chosen]
        held = memory.allocate(device, needed) if needed > _WORKSPACE else None
        place, size = (held.ptr, needed) if held else (workspace, _WORKSPACE)
        for at_right, at_left, at_result in places:
            matmul(
                *(library, description, one, right + at_right, first, left + at_left, second, kept),
                *(old + at_result, result, target + at_result, result, chosen, place, size, stream),
            )

    def keeps_nan(chosen: int, pointers: Sequence[Any]) -> bool:
        """Whether an algorithm's maximum keeps NaNs, which not all do: with a scale of NaN there is nothing else."""
        scalars[0] = numpy.nan
        launch(pointers, pointers[0] if residual is None else pointers[residual], chosen)
        scalars[0] = sign
        nbytes = prod(plan.sizes[:2]) * plan.batch * len(places) * wide
        buffer, seen = memory.foreign(pointers[0], nbytes, None, device), min(nbytes, _SEEN)
        ends = [copy_to_host(buffer, start, seen).view(out) for start in (0, nbytes - seen)]
        return all(bool(numpy.isnan(end).all()) for end in ends)

    def run(pointers: Sequence[Any]) -> None:
        old = pointers[0] if residual is None else pointers[residual]
        bits = (pointers[0] | pointers[1] | pointers[2] | old | fixed) & (_ALIGNED - 1)
        chosen = algorithms.get(bits) or algorithm(bits, pointers)
        if not chosen:
            otherwise(pointers)
            return
        if scale is not None:
            scalars[0] = sign * pointers[scale]
        elif divisor is not None:
            scalars[0] = sign / pointers[divisor]
        launch(pointers, old, chosen)

    short = not product.after and places == [(0, 0, 0)] and made.most_workspace == _WORKSPACE
    return plain if short else run
