"""Arguments for the ops of the table, and the results that NumPy computes."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy

from gpunumpy.core.dtypes import BYTE_FLOATS, DTYPES, KIND, ML_DTYPES, float4_e2m1fn
from gpunumpy.core.ops import table
from gpunumpy.kernels.host import op_functions

Array = numpy.ndarray[Any, Any]

_REALS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 2.5, numpy.inf, -numpy.inf, numpy.nan, 1e-3, 177.0, -20.25)
_PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -250.0, 1e-12, numpy.inf, -numpy.inf, numpy.nan)
_RANDOM = 150


def _float_limits(dtype: numpy.dtype[Any]) -> list[float]:
    info: Any = ml_dtypes.finfo(dtype)
    largest, tiny, least = map(float, (info.max, info.tiny, info.smallest_subnormal))
    return [sign * x for x in (largest, tiny, least, 7 * least) for sign in (1, -1)]


def every_value(dtype: numpy.dtype[Any]) -> Array:
    """Every value of a dtype of at most 16 bits."""
    count = 16 if dtype == float4_e2m1fn else 1 << 8 * dtype.itemsize
    return numpy.arange(count).astype(f"u{dtype.itemsize}").view(dtype)


def specials(dtype: numpy.dtype[Any]) -> Array:
    """The values of `dtype` that operations treat specially."""
    kind = KIND[dtype]
    with numpy.errstate(all="ignore"):
        if kind == "b":
            return numpy.array([False, True])
        if kind in "iu":
            info = numpy.iinfo(dtype)
            near = {info.min, info.min + 1, info.max, info.max - 1, info.max // 2, 8 * dtype.itemsize}
            small = {-65, -8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, 12, 31, 32, 63, 64, 100}
            return numpy.array(sorted(x for x in near | small if info.min <= x <= info.max), dtype)
        if dtype in BYTE_FLOATS:
            return every_value(dtype)
        if kind == "c":
            return numpy.array([complex(re, im) for re, im in itertools.product(_PARTS, repeat=2)], dtype)
        return numpy.array([*_REALS, *_float_limits(dtype)], dtype)


def random(dtype: numpy.dtype[Any], count: int, domain: tuple[float, float], rng: numpy.random.Generator) -> Array:
    """`count` values of `dtype`: from all of an integer's range, from `domain` else."""
    kind = KIND[dtype]
    if kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if kind in "iu":
        return rng.integers(0, 256, count * dtype.itemsize, numpy.uint8).view(dtype)
    real = rng.uniform(*domain, count)
    if kind == "c":
        wide = real + 1j * rng.uniform(*domain, count)
        wide[::2] = rng.normal(size=(count + 1) // 2) + 1j * rng.normal(size=(count + 1) // 2)
        wide[::5] /= numpy.abs(wide[::5])
        return wide.astype(dtype)
    return real.astype(dtype)


def arguments(case: tuple[str, table.Loop]) -> list[Array]:
    """All combinations of special values, then random ones, for one op and loop."""
    name, loop = case
    rng = numpy.random.default_rng(len(name))
    columns = [specials(dtype) for dtype in loop[:-1]]
    if len(columns) > 1 and "c" in [KIND[dtype] for dtype in loop[:-1]]:
        columns = [column[:: 1 if len(columns) < 2 else 3] for column in columns]
    if len(columns) == 3:
        columns = [column[:12] for column in columns]
    grids = [grid.ravel() for grid in numpy.meshgrid(*columns, indexing="ij")]
    domain = table.ELEMENTWISE[name].domain
    inputs = [
        numpy.concatenate([grid, random(dtype, _RANDOM, domain, rng)])
        for grid, dtype in zip(grids, loop[:-1], strict=True)
    ]
    if name == "power" and KIND[loop[0]] == "i":
        inputs[1] = numpy.where(inputs[1] < 0, 3, inputs[1]).astype(loop[1])
    return inputs


_WIDER = dict.fromkeys([dtype.name for dtype in DTYPES if KIND[dtype] == "e"], "float64")
_WIDER |= {"float32": "float64", "float64": "longdouble"}
_WIDER |= {"complex64": "complex128", "complex128": "clongdouble"}


# Before 2.5 NumPy's float16 gave the first of two equal values, and not the second as C and its other loops do.
_HALF_KEEPS_FIRST = not numpy.signbit(numpy.nextafter(numpy.float16(0), numpy.float16(-0.0)))


def answer(case: tuple[str, table.Loop], inputs: list[Array]) -> Array:
    """NumPy's answer in the loop's own dtypes."""
    name, loop = case
    with numpy.errstate(all="ignore"):
        want = numpy.asarray(op_functions.function(name, loop)(*inputs)).astype(loop[-1])
    if name == "nextafter" and loop[0] == numpy.float16 and _HALF_KEEPS_FIRST:
        want = numpy.where(inputs[0] == inputs[1], inputs[1], want)
    return want


def precise(case: tuple[str, table.Loop], inputs: list[Array]) -> Array:
    """NumPy's answer in the next wider dtype: exact for the purpose of counting units in the last place."""
    name, loop = case
    ufunc = table.ufunc_of(name)
    assert ufunc is not None
    wide = [array.astype(_WIDER.get(array.dtype.name, array.dtype)) for array in inputs]
    with numpy.errstate(all="ignore"):
        if name == "log1p" and KIND[loop[0]] == "c":
            return _log1p(wide[0])
        if name in op_functions.CORRECTED and KIND[loop[0]] == "c":
            return op_functions.CORRECTED[name](wide[0])
        return numpy.asarray(ufunc(*wide))


def _log1p(z: Array) -> Array:
    """NumPy's own loses the real part of a small argument in the rounding of 1 + z."""
    want = numpy.log1p(z)
    small = numpy.abs(z.real) + numpy.abs(z.imag) < 0.5
    want.real[small] = 0.5 * numpy.log1p(z.real * (2 + z.real) + z.imag**2)[small]
    return want


# Infinities whose sign C99 leaves open, by function: the part, and what the argument's parts are where it does. (Zeros
# have such signs too; `within` takes either sign of zero everywhere.)
_OPEN_SIGNS: dict[str, tuple[str, str, str]] = {
    "exp": ("real", "+inf", "inf nan"),
    "exp2": ("real", "+inf", "inf nan"),
    "expm1": ("real", "+inf", "inf nan"),
    "sqrt": ("imag", "-inf", "nan"),
    "sinh": ("real", "inf", "inf nan"),
    "cosh": ("real", "inf", "inf"),
    "sin": ("imag", "inf nan", "inf"),
    "cos": ("real", "inf", "inf"),
    "arcsinh": ("real", "nan", "inf"),
    "arcsin": ("imag", "inf", "nan"),
    "arccos": ("imag", "inf", "nan"),
}
_IS = {"inf": numpy.isinf, "+inf": numpy.isposinf, "-inf": numpy.isneginf, "nan": numpy.isnan}


def signs_left_open(case: tuple[str, table.Loop], inputs: list[Array], got: Array, want: Array) -> Array:
    """`want` with the signs of `got` on the infinities where C99 lets a complex function choose."""
    name, loop = case
    if KIND[loop[-1]] != "c" or name not in _OPEN_SIGNS:
        return want
    part, *classes = _OPEN_SIGNS[name]
    chosen = numpy.isinf(getattr(want, part))
    for values, allowed in zip((inputs[0].real, inputs[0].imag), classes, strict=True):
        chosen &= numpy.any([_IS[word](values) for word in allowed.split()], axis=0)  # type: ignore[operator]
    out = want.copy()
    out_part, got_part = getattr(out, part), getattr(got, part)
    out_part[chosen] = numpy.copysign(out_part, got_part)[chosen]
    return out


def same_bits(got: Array, want: Array) -> Array:
    """Where two arrays of one dtype agree to the bit, all NaN being one."""
    if KIND[got.dtype] == "c":
        return same_bits(got.real, want.real) & same_bits(got.imag, want.imag)
    if KIND[got.dtype] in "biu":
        return numpy.asarray(got == want)
    unsigned = f"u{got.dtype.itemsize}"
    bits = numpy.ascontiguousarray(got).view(unsigned) == numpy.ascontiguousarray(want).view(unsigned)
    return bits | (numpy.isnan(got) & numpy.isnan(want))


def spacing(size: Array, dtype: numpy.dtype[Any]) -> Array:
    """The distance of the floats of `dtype` at each size, given and returned in a wider dtype."""
    if dtype in ML_DTYPES:
        info: Any = ml_dtypes.finfo(dtype)
        exponent = numpy.floor(numpy.log2(numpy.clip(size, float(info.tiny), float(info.max))))
        return numpy.maximum(2.0 ** (exponent - info.nmant), float(info.smallest_subnormal))
    largest = numpy.finfo(dtype).max
    return numpy.spacing(numpy.minimum(size, largest).astype(dtype)).astype(size.dtype)


def _close_real(got: Array, want: Array, size: Array, ulp: float) -> Array:
    """`got` within `ulp` units, in the last place of `size`, of `want`, which has a wider dtype."""
    with numpy.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        wide = got.astype(want.dtype)
        finite = numpy.isfinite(size)
        unit = spacing(numpy.where(finite, size, 0), got.dtype)
        near = finite & (numpy.abs(wide - want) <= ulp * unit)
        overflow = numpy.isinf(wide) & (numpy.abs(want) >= (1 - 1e-6) * float(numpy.abs(_float_limits(got.dtype)[0])))
        overflow &= numpy.sign(wide) == numpy.sign(want)
    same = (wide == rounded.astype(want.dtype)) | (numpy.isnan(wide) & numpy.isnan(rounded))
    return near | overflow | same


def within(got: Array, want: Array, ulp: float) -> Array:
    """Where `got` is within `ulp` units in the last place of `want`; for complex numbers, of the larger part."""
    if KIND[got.dtype] != "c":
        return _close_real(got, want, numpy.abs(want), ulp)
    with numpy.errstate(all="ignore"):
        parts = numpy.abs([want.real, want.imag])
        size = numpy.where(numpy.isfinite(parts), parts, 0).max(axis=0)
    return _close_real(got.real, want.real, size, ulp) & _close_real(got.imag, want.imag, size, ulp)


# Where an inner argument is rounded before its exponential is taken (b log a, z log 2), the error comes out times its
# size.
_CONDITIONED = {"power": 16384.0, "float_power": 16384.0, "exp2": 512.0}


def tolerance(case: tuple[str, table.Loop]) -> float:
    """Units in the last place that a result may be off: half a unit and the op's floats; of complex numbers the op's.

    For 16-bit floats, which are rounded from float32, it is one unit at most.
    """
    name, loop = case
    op, kind = table.ELEMENTWISE[name], KIND[loop[-1]]
    if kind in "biu":
        return 0.0
    if KIND[loop[0]] == "c":
        return _CONDITIONED.get(name, op.complex_ulp) if loop[0].name == "complex128" else op.complex_ulp
    return 0.0 if not op.ulp else 1.0 if kind == "e" else op.ulp + 0.5
