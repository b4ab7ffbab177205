"""cuBLASLt: products of float8 matrices, each with a scale in memory.

The library multiplies float8 where both operands lie along the sums: its operand A is transposed, its B is not.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..core.errors import DeviceError
from ..core.graph.layout import Layout
from ..core.runtime.device import Device
from ..core.runtime.plan import Runner
from . import cublaslt
from .cublas import SCALARS, TYPES
from .handles import bindings, handle

# dtype -> its cudaDataType.
_FORMATS = {"float8_e4m3fn": 28, "float8_e5m2": 29}
# What a scale is of, by the library's names of modes; that of one element is its default.
_MODES = {"vectors": "VEC128_32F", "blocks": "BLK128x128_32F"}
_MAX_ALIGNMENT = 256  # bytes; larger alignments make no difference
_Kinds = tuple[str, str]


class _ScaledProduct:
    """One kind of product, described by objects of the library; `algorithms` has one for each alignment."""

    def __init__(
        self, device: Device, sizes: tuple[int, int, int], dtypes: tuple[str, str, str], fast: bool, kinds: _Kinds
    ) -> None:
        self.library, self.handle = handle(device, "cublasLt")
        self.device, self.algorithms = device, dict[int, cublaslt.Algorithms]()
        lt, cublas = self.library, bindings("cublas")
        rows, columns, inner = sizes
        attributes, set_attribute = lt.MatmulDescAttribute, lt.matmul_desc_set_attribute
        self.description = lt.matmul_desc_create(int(cublas.ComputeType.COMPUTE_32F), TYPES["float32"][0])
        for attribute, value, dtype in (
            (attributes.TRANSA, int(cublas.Operation.T), "i4"),
            (attributes.TRANSB, int(cublas.Operation.N), "i4"),
            (attributes.EPILOGUE, int(lt.Epilogue.DEFAULT), "u4"),
            (attributes.FAST_ACCUM, int(fast), "i1"),
        ):
            cublaslt.set_attribute(set_attribute, self.description, attribute, value, dtype)
        out, left, right = dtypes
        self.layout_a = lt.matrix_layout_create(_FORMATS[right], inner, columns, inner)
        self.layout_b = lt.matrix_layout_create(_FORMATS[left], inner, rows, inner)
        self.layout_out = lt.matrix_layout_create(TYPES[out][0], columns, rows, columns)
        layouts = (self.layout_a, self.layout_b, self.layout_out)
        objects = [(lt.matmul_desc_destroy, self.description), *((lt.matrix_layout_destroy, x) for x in layouts)]
        weakref.finalize(self, cublaslt.destroy, objects).atexit = False
        self._set_modes(kinds)
        self.set_scales(*[cublaslt.workspace(device)] * 2)  # until a call, any address serves

    def _set_modes(self, kinds: _Kinds) -> None:
        """Tell the library what the scales are of."""
        for matrix, kind in zip("BA", kinds, strict=True):
            if kind in _MODES:
                modes = getattr(self.library, "MatmulMatrixScale", None)
                if modes is None:
                    raise DeviceError("this version of nvmath-python has no scales of blocks; update it")
                attribute = self.library.MatmulDescAttribute[f"{matrix}_SCALE_MODE"]
                set_attribute = self.library.matmul_desc_set_attribute
                cublaslt.set_attribute(set_attribute, self.description, attribute, int(modes[_MODES[kind]]), "i4")

    def set_scales(self, left: int, right: int) -> None:
        """Set the addresses of the scales."""
        attributes, set_attribute = self.library.MatmulDescAttribute, self.library.matmul_desc_set_attribute
        cublaslt.set_attribute(set_attribute, self.description, attributes.A_SCALE_POINTER, right, "i8")
        cublaslt.set_attribute(set_attribute, self.description, attributes.B_SCALE_POINTER, left, "i8")

    def algorithm(self, alignment: int) -> int:
        """Return the address of the algorithm for pointers to multiples of `alignment` bytes; 0 if there is none."""
        found = self.algorithms.get(alignment)
        if found is None:
            layouts = (self.layout_a, self.layout_b, self.layout_out)
            found = self.algorithms[alignment] = cublaslt.ask_heuristic(
                self.device, self.description, layouts, alignment
            )
        return int(found.results.ptr) if found.found else 0


@lru_cache(maxsize=1024)
def _scaled_product(
    device: Device, sizes: tuple[int, int, int], dtypes: tuple[str, str, str], fast: bool, kinds: _Kinds
) -> _ScaledProduct | None:
    """Return a kind of product; None if the library does not know what it has to be told of it."""
    try:
        return _ScaledProduct(device, sizes, dtypes, fast, kinds)
    except handle(device, "cublasLt")[0].cuBLASLtError:
        return None


def scaled_matmul(
    device: Device, options: tuple[bool, str, str], layouts: Sequence[Layout], dtypes: Sequence[Any]
) -> Runner:
    """Prepare the product of a matrix and a transposed one, both in C order.

    The returned function takes the pointers of the result, the operands, and their scales.

    Raises
    ------
    DeviceError
        If the library has no such product.
    """
    (rows, inner), columns = layouts[1].shape, layouts[2].shape[0]
    out, left, right = (dtype.name for dtype in dtypes[:3])
    fast, *kinds = options
    product = _scaled_product(device, (rows, columns, inner), (out, left, right), fast, (kinds[0], kinds[1]))
    if product is None or not product.algorithm(_MAX_ALIGNMENT):
        scales = "" if kinds == ["whole", "whole"] else f" with scales of {' and '.join(kinds)}"
        raise DeviceError(f"cuBLASLt has no product of {left} and {right} in {out}{scales} on {device}")
    matmul, library, description = product.library.matmul, product.handle, product.description
    layout_a, layout_b, layout_out = product.layout_a, product.layout_b, product.layout_out
    one, workspace, stream = SCALARS["float32"].ctypes.data, cublaslt.workspace(device), int(device.stream)
    zero = one + SCALARS["float32"].itemsize

    def run(pointers: Sequence[Any]) -> None:
        result, a, b, scale_a, scale_b = pointers
        bits = (result | a | b) & (_MAX_ALIGNMENT - 1)
        algorithm = product.algorithm(bits & -bits or _MAX_ALIGNMENT)
        if not algorithm:
            raise DeviceError(f"cuBLASLt has no product of {left} and {right} in {out} that are not aligned")
        device.activate()
        product.set_scales(scale_a, scale_b)
        matmul(
            *(library, description, one, b, layout_a, a, layout_b, zero, result, layout_out, result, layout_out),
            *(algorithm, workspace, cublaslt.WORKSPACE_BYTES, stream),
        )

    return run
