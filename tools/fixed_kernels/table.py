"""The table of fixed kernels: those whose text does not depend on a user's program, for what users need first.

A family lists the texts of one function for the cases that they tell apart: each size stands for a range of sizes with
one text, and a stack of three matrices for any stack. What is not in the table is compiled when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy

import gpunumpy
from gpunumpy.core.dtypes import COMPLEX128, FLOAT64, INT64
from gpunumpy.core.graph.layout import Layout, Shape, c_layout
from gpunumpy.core.graph.library_calls.elements import EQUAL_VALUES
from gpunumpy.core.recording.array import wrap
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.plan import Work
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.functions.indexing.masks import TILE_ELEMENTS
from gpunumpy.kernels.codegen.generate import generate
from gpunumpy.kernels.codegen.interpreter import text as interpreter_text
from gpunumpy.kernels.correlation import cuda as cuda_correlation
from gpunumpy.kernels.histogram import cuda as cuda_histogram
from gpunumpy.kernels.indexing import cuda_masks, cuda_scatter
from gpunumpy.kernels.linalg import cuda_cholesky, cuda_eig, cuda_lu, cuda_small, cuda_solvers
from gpunumpy.kernels.linalg import cuda_decompositions as cuda_large_decompositions
from gpunumpy.kernels.linalg import cuda_small_decompositions as cuda_decompositions
from gpunumpy.kernels.products import cuda_integers
from gpunumpy.kernels.products import cuda_small as cuda_small_products
from gpunumpy.kernels.random import cuda_bounded, cuda_draws, cuda_mt19937, cuda_rejection_sampling
from gpunumpy.kernels.search import cuda as cuda_search
from gpunumpy.kernels.sort import cuda as cuda_sort
from gpunumpy.random import discrete_plans, words
from gpunumpy.random.rejection_sampling import Sampler
from gpunumpy.random.stream import Stream

Texts: TypeAlias = Iterator[str]

FLOAT32, COMPLEX64, UINT64 = numpy.dtype("f4"), numpy.dtype("c8"), numpy.dtype("u8")
INT32, UINT32 = numpy.dtype("i4"), numpy.dtype("u4")
_SORTED: tuple[Any, ...] = (FLOAT64, FLOAT32, INT64, INT32)
_REAL: tuple[Any, ...] = (FLOAT64, FLOAT32)
_NUMBERS: tuple[Any, ...] = (*_REAL, COMPLEX128, COMPLEX64)
_STACKS: tuple[Shape, ...] = ((), (3,))
_MANY = 1 << 20
_MULTIPROCESSORS = 132  # on which no text of the table depends
_STATE, _TWISTER_STATE = (7,), (625,)

# For each architecture, the most bytes of shared memory in a block of the GPUs that its machine code runs on: a text
# may depend on them.
SHARED_BYTES = {
    "sm_75": (64 << 10,),
    "sm_80": (163 << 10, 99 << 10),
    "sm_90": (227 << 10,),
    "sm_100": (227 << 10,),
    "sm_120": (99 << 10,),
}


@cache
def texts(arch: str) -> Mapping[str, list[str]]:
    """The texts of every family for an architecture, each in one family only."""
    seen: set[str] = set()
    found: dict[str, list[str]] = {}
    for family in FAMILIES:
        listed = dict.fromkeys(text for limit in SHARED_BYTES[arch] for text in family(limit))
        found[family.__name__] = [text for text in listed if text not in seen]
        seen.update(listed)
    return found


def _layouts(*shapes: Shape) -> list[Layout]:
    return [c_layout(shape) for shape in shapes]


def _real(dtype: Any) -> Any:
    return numpy.dtype(f"f{cuda_decompositions.real_bytes(dtype)}")


def interpreter(shared: int) -> Texts:
    yield interpreter_text()


# --- elements -------------------------------------------------------------------------------------------------------


def sort(shared: int) -> Texts:
    for dtype, n in product(_SORTED, _SORT_SIZES):
        yield cuda_sort.sort((False,), _layouts((n,), (n,)), [dtype, dtype]).text
    yield cuda_sort.sort_upper((), _layouts((_MANY,), (_MANY,)), [UINT64, UINT64]).text


def argsort(shared: int) -> Texts:
    for dtype, n in product(_SORTED, _SORT_SIZES):
        yield cuda_sort.argsort((False,), _layouts((n,), (n,)), [INT64, dtype]).text


_SORT_SIZES = (2, 4, 8, 16, 32, 64, 96, 128, 256, 512, 1024, 2048, 4096, 1 << 18, _MANY)


def searchsorted(shared: int) -> Texts:
    cases = ((10, _MANY), (_MANY, 100), (_MANY, 10_000), (_MANY, _MANY))
    for dtype, side, (values, n) in product((FLOAT64, FLOAT32, INT64), ("left", "right"), cases):
        yield cuda_search.searchsorted((side,), _layouts((values,), (n,), (values,)), [INT64, dtype, dtype]).text


def masks(shared: int) -> Texts:
    mask, offsets, count = _layouts((_MANY,), (_MANY // TILE_ELEMENTS + 1,), ())
    yield cuda_masks.mask_offsets((TILE_ELEMENTS,), [offsets, count, mask], ()).text
    for itemsize in (1, 2, 4, 8, 16):
        layouts = [mask, mask, mask, offsets]
        yield cuda_masks.mask_elements((TILE_ELEMENTS,), layouts, [numpy.dtype(f"V{itemsize}")]).text


def scatter(shared: int) -> Texts:
    for dtype, op, value in product((FLOAT64, FLOAT32, INT64), (None, EQUAL_VALUES, "add"), _layouts((), (9,))):
        for cells in (9, _MANY):  # fewer and more than the tuples need
            layouts = [c_layout((cells,)), value, *_layouts((9,), ())]
            yield cuda_scatter.scatter((1, op, (cells,)), layouts, [dtype, dtype, INT64, INT64]).text
        layouts = [c_layout((_MANY, _MANY)), value, *_layouts((9,), (9,), ())]
        yield cuda_scatter.scatter((2, op, (_MANY, _MANY)), layouts, [dtype, dtype, *[INT64] * 3]).text


def correlate(shared: int) -> Texts:
    for dtype in (*_NUMBERS, INT64):
        yield cuda_correlation.correlate((2,), _layouts((_MANY,), (_MANY,), (9,)), [dtype] * 3).text


def bincount(shared: int) -> Texts:
    weights: Any
    for n, bins, weights in product((1000, _MANY), (10, 100_000), ((), (FLOAT64,))):
        layouts = _layouts((bins,), *[(n,)] * (1 + len(weights)))
        yield cuda_histogram.bincount((), layouts, [FLOAT64 if weights else INT64, INT64, *weights]).text


def histogram(shared: int) -> Texts:
    for n, bins, dtype in product((1000, _MANY), (10, 100_000), _REAL):
        layouts = _layouts((bins,), (n,), (bins + 1,), (1,))
        yield cuda_histogram.histogram((True, None), layouts, [INT64, dtype, dtype, dtype]).text


# --- random numbers -------------------------------------------------------------------------------------------------


def draws(shared: int) -> Texts:
    for distribution, dtype in product(("normal", "exponential"), _REAL):
        layouts = _layouts((_MANY,), _STATE, _STATE)
        options = ("pcg64", distribution)
        yield cuda_draws.piecewise_draws_program(options, layouts, [dtype, UINT64], shared).text
    for bits, dtype in ((32, INT64), (64, INT64), (32, INT32)):
        layouts = _layouts((_MANY,), _STATE, _STATE, (3,))
        yield cuda_draws.piecewise_draws_program(("pcg64", "integers", bits, 65), layouts, [dtype, UINT64], shared).text


def samplers(shared: int) -> Texts:
    named = [Sampler("Gamma", dtype=FLOAT32)]
    named += [Sampler(name) for name in ("Gamma", "Beta", "BetaOfPowers", "F", "StandardT", "Wald", "VonMises")]
    plans = [discrete_plans.poisson(mean) for mean in (2.0, 5.0, 50.0)]
    plans += [discrete_plans.binomial(n, 0.5) for n in (10, 1000)]
    for sampler in [*named, *(plan[0] for plan in plans if plan)]:
        dtypes = [sampler.dtype, INT64, UINT32 if sampler.has_words32 else UINT64, FLOAT64]
        layouts = _layouts((_MANY,), (4,), (_MANY,), (4,))
        yield cuda_rejection_sampling.rejection_sampling(sampler.options, layouts, dtypes).text


def twister(shared: int) -> Texts:
    drawn = (_MANY,)
    yield cuda_mt19937.twister_words((64, 4), _layouts(drawn, *[_TWISTER_STATE] * 2, (9,)), [UINT32, UINT32]).text
    for kind, bits, dtype in (("normal", 64, FLOAT64), ("positive", 64, FLOAT64), ("masked", 32, INT64)):
        layouts = _layouts((_MANY,), _TWISTER_STATE, drawn, *[_TWISTER_STATE] * 2, (3,))
        yield cuda_mt19937.twister_numbers((kind, bits, 0), layouts, [dtype, UINT32]).text
    for taken in (1, 2):
        layouts = _layouts(_TWISTER_STATE, drawn, *[_TWISTER_STATE] * 2, (taken,))
        yield cuda_mt19937.twister_advance((), layouts, [UINT32, UINT32]).text


def permutations(shared: int) -> Texts:
    words_drawn = c_layout((_MANY,))
    for rule, count, falling in (("masked", _MANY, (_MANY - 1, 1)), ("product", 9, (_MANY - 1, 1))):
        layouts = [*_layouts((count,), ()), words_drawn]
        yield cuda_bounded.bounded_draws_program((rule, 32, 256, falling), layouts, _MULTIPROCESSORS).text
    yield cuda_bounded.permutation_of_swaps((0,), [words_drawn] * 2, ()).text
    yield cuda_bounded.floyd_sample((0,), [words_drawn] * 3, ()).text


# --- kernels that are generated for a function alone -----------------------------------------------------------------


def _generated(compute: Callable[[], Any]) -> list[str]:
    """The texts of the kernels of a computation, which runs on the CPU device."""
    found: list[str] = []

    def observe(step: Any, work: Work) -> None:
        if isinstance(step, RunKernel):
            found.append(generate(step.kernel, _MULTIPROCESSORS).text)
        work()

    before, evaluate.observer = evaluate.observer, observe
    try:
        with gpunumpy.Device("cpu"):
            gpunumpy.asnumpy(compute())
    finally:
        evaluate.observer = before
    return found


# With and without a rest after whole vectors and blocks. Small kernels have texts of their own.
_COUNTS = (_MANY, 1_000_000, 1_000_001, 10_240, 10_000, 10_001)


def streams(shared: int) -> Texts:
    yield from _streams()


@cache
def _streams() -> list[str]:
    stream, queue = Stream(numpy.random.PCG64(0)), gpunumpy.empty(0, device="cpu").queue
    uniform = words.NUMPY_DRAWS.uniform
    found = []
    for draw, count in product((words.words64, words.words32, uniform[FLOAT64], uniform[FLOAT32]), _COUNTS):
        found += _generated(lambda draw=draw, count=count: wrap(draw(stream, count, queue)))  # type: ignore[misc]
    return found


def functions(shared: int) -> Texts:
    yield from _functions()


@cache
def _functions() -> list[str]:
    calls: list[Callable[[Any], Any]] = [gpunumpy.median, gpunumpy.cumsum, gpunumpy.fft.fft, gpunumpy.unique]
    calls += [lambda x: 1.0 + 2.0 * x, lambda x: gpunumpy.histogram(x, 10)[0]]
    found = []
    for dtype, count, call in product(_REAL, _COUNTS, calls):
        x = gpunumpy.asarray(numpy.arange(count, dtype=dtype), device="cpu")
        found += _generated(lambda call=call, x=x: call(x))  # type: ignore[misc]
    return found


# --- matrices -------------------------------------------------------------------------------------------------------


_LU_ROWS = (512, 1024, 2048, 4096)


def lu(shared: int) -> Texts:
    for dtype in _NUMBERS:
        sizes = [n for n in _LU_ROWS if cuda_lu.fits_in_registers(n, dtype)]
        steps = [step for n in sizes for step in cuda_lu.steps(n, 0, dtype)]
        for sizes_of_panel in sorted({(s.max_width, s.thread_rows) for s in steps if isinstance(s, cuda_lu.Panel)}):
            yield cuda_lu.panel_text(*sizes_of_panel, dtype)
        yield cuda_lu.exchange_text(dtype)
        yield cuda_lu.upper_text(dtype)


def cholesky(shared: int) -> Texts:
    for dtype in _NUMBERS:
        yield cuda_cholesky.kernel_text(dtype)


def beside_libraries(shared: int) -> Texts:
    """What copies matrices for a library, and takes its results."""
    matrix = c_layout((9, 9))
    for dtype, stack in product(_NUMBERS, _STACKS):
        a = c_layout((*stack, 9, 9))
        for layout, condition in product((a, cuda_solvers.transposed(a)), ("true", "r <= c")):
            yield cuda_solvers.matrix_copy(layout, dtype, condition).text
        for condition in ("", "row >= column", "row <= column"):
            yield cuda_large_decompositions.finite_copy(a, dtype, condition).text
    for dtype in _NUMBERS:
        yield cuda_solvers.identity_matrices(matrix, dtype, 81, 0).text
        yield cuda_solvers.determinants_of_lu(9, 1, [dtype]).text
        yield cuda_solvers.determinants_of_lu(9, 1, [dtype, _real(dtype)]).text
        yield cuda_large_decompositions.upper_triangles(matrix, 9, dtype).text
        yield cuda_large_decompositions.conjugate_transpose(matrix, dtype).text
        double = COMPLEX128 if dtype.kind == "c" else FLOAT64
        yield cuda_large_decompositions.conversion(9, double, dtype).text
        yield cuda_large_decompositions.conversion(9, dtype, double).text
    for real, wide in ((FLOAT64, COMPLEX128), (FLOAT32, COMPLEX64)):
        yield cuda_large_decompositions.conjugate_pairs(9, 1, wide, real).text
    yield cuda_solvers.failure_report(1).text
    yield cuda_large_decompositions.failure_merge(1).text


# Rows of matrices: up to 32 each stands for those up to it, of which a group of threads factors one. Larger ones, which
# a block factors, have a text for about eight rows: here are the usual ones, and one for each text of a system with one
# right-hand side.
_GROUP_ROWS, _BLOCK_ROWS = (4, 8, 16, 24, 32), (64, 100, 128)
_SYSTEM_ROWS = (*range(40, 144, 8), 63, 95, 98, 127, 143)


def _small(
    stacks: tuple[Shape, ...], make: Callable[[Shape, int, Any], str], block_rows: Sequence[int] = _BLOCK_ROWS
) -> Texts:
    for dtype, n, stack in product(_REAL, (*_GROUP_ROWS, *block_rows), stacks):
        if cuda_small.is_small(n, dtype) and (n <= _GROUP_ROWS[-1] or prod(stack) == 1):
            yield make(stack, n, dtype)


_ONE_AND_MANY: tuple[Shape, ...] = ((), (_MANY,))


def small_solve(shared: int) -> Texts:
    def make(stack: Shape, n: int, dtype: Any) -> str:
        layouts = _layouts((*stack, n), stack, (*stack, n, n), (*stack, n))
        if stack:  # NumPy takes a stack of right-hand sides as matrices
            layouts = _layouts((*stack, 1, n), stack, (*stack, n, n), (*stack, n, 1))
        return cuda_small.solve((), layouts, [dtype]).text

    return _small(_ONE_AND_MANY, make, _SYSTEM_ROWS)


def small_inv(shared: int) -> Texts:
    return _small(
        _ONE_AND_MANY,
        lambda stack, n, dtype: cuda_small.inv((), _layouts((*stack, n, n), stack, (*stack, n, n)), [dtype]).text,
    )


def small_determinants(shared: int) -> Texts:
    def make(stack: Shape, n: int, dtype: Any) -> str:
        return cuda_small.slogdet((), _layouts(stack, (*stack, n, n)), [dtype, dtype]).text

    yield from _small(_ONE_AND_MANY, make)
    for dtype, n in product(_REAL, (*_GROUP_ROWS, *_BLOCK_ROWS)):
        if cuda_small.is_small(n, dtype):
            yield cuda_small.slogdet((), _layouts((), (), (n, n)), [dtype, dtype, dtype]).text


def small_cholesky(shared: int) -> Texts:
    return _small(
        _ONE_AND_MANY,
        lambda stack, n, dtype: (
            cuda_small.cholesky((False, False), _layouts((*stack, n, n), stack, (*stack, n, n)), [dtype]).text
        ),
    )


def small_svd(shared: int) -> Texts:
    for dtype, vectors, stack in product(_NUMBERS, (True, False), _STACKS):
        square = (*stack, 16, 16)
        layouts = _layouts((*stack, 16), stack, *[square] * (3 if vectors else 1))
        dtypes = [_real(dtype), INT32, *[dtype] * (3 if vectors else 1)]
        yield cuda_decompositions.svd((vectors, True), layouts, dtypes, shared).text


def small_eigh(shared: int) -> Texts:
    cases = product(_REAL, (True, False), (8, 16, 32, 64, 96, 128), ((), (3,), (_MANY,)))
    for dtype, vectors, n, stack in cases:
        layouts = _layouts((*stack, n), stack, *[(*stack, n, n)] * (2 if vectors else 1))
        if cuda_decompositions.is_small_eigh(layouts, [dtype], shared):
            dtypes = [_real(dtype), INT32, *[dtype] * (2 if vectors else 1)]
            yield cuda_decompositions.eigh(("L", vectors), layouts, dtypes).text


def small_eig(shared: int) -> Texts:
    for dtype, vectors, n, stack in product(_NUMBERS, (True, False), (16, 64, 100, 128), _STACKS):
        wide = numpy.result_type(dtype, COMPLEX64)
        layouts = _layouts((*stack, n), stack, *[(*stack, n, n)] * (2 if vectors else 1))
        yield cuda_eig.eig((vectors,), layouts, [wide, INT32, *[wide] * vectors, dtype], shared).text


def small_qr(shared: int) -> Texts:
    for dtype, mode, stack in product(_NUMBERS, ("reduced", "r", "raw"), ((), (3,), (_MANY,))):
        square = (*stack, 16, 16)
        further = {"reduced": [square], "r": [], "raw": [(*stack, 16)]}[mode]
        yield cuda_decompositions.qr((mode,), _layouts(square, *further, square), [dtype] * 3).text


def products(shared: int) -> Texts:
    """Small products, alone and as a batch, with the operations that follow most often; and products of integers."""
    square = _layouts(*[(16, 16)] * 3)
    epilogues = ((), *[(name,) for name in cuda_small_products.EPILOGUES], ("bias", "maximum"))
    for dtype, after, count in product(_REAL, epilogues, (1, 3)):
        yield cuda_small_products.small_matmul(square, [dtype] * 3, after, count)[0].text
    for n in (16, 1024):
        yield cuda_integers.matmul(_layouts(*[(n, n)] * 3), [INT64] * 3).text


FAMILIES: tuple[Callable[[int], Texts], ...] = (
    interpreter,
    *(sort, argsort, searchsorted, masks, scatter, correlate, bincount, histogram),
    *(draws, samplers, twister, permutations),
    *(streams, functions),
    *(lu, cholesky, beside_libraries),
    *(small_solve, small_inv, small_determinants, small_cholesky, small_svd, small_eigh, small_eig, small_qr),
    products,
)
