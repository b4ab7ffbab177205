"""The GPU's own factorisations, run on the emulated machine and compared with NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from scipy.linalg import hadamard, lu_factor

from gpunumpy.core.graph.layout import Layout
from gpunumpy.kernels.codegen.program import Launch, Program
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.linalg import (
    cuda_cholesky,
    cuda_lu,
    cuda_small,
    cuda_solvers,
)

from .executor import run_program

DTYPES = ("f4", "f8", "c8", "c16")
# Groups of 4 threads to a warp, and blocks.
CASES = [(n, dtype) for n in (1, 5, 30, 40, 60) for dtype in (DTYPES if n in (5, 40) else ("f4", "c16"))]
STACKS = ((), (2, 5))


def sample(shape: tuple[int, ...], dtype: str, seed: int = 0) -> numpy.ndarray:
    random = numpy.random.default_rng(seed)
    made = random.standard_normal(shape)
    if dtype[0] == "c":
        made = made + 1j * random.standard_normal(shape)
    return made.astype(dtype)


def definite(stack: tuple[int, ...], n: int, dtype: str) -> numpy.ndarray:
    a = sample((*stack, n, n), dtype).astype("c16" if dtype[0] == "c" else "f8")
    return (a @ a.conj().swapaxes(-1, -2) + n * numpy.eye(n)).astype(dtype)


def layout_of(x: numpy.ndarray) -> Layout:
    return Layout(x.shape, tuple(step // x.itemsize for step in x.strides), 0)


def run(make: Any, options: tuple[Any, ...], *arrays: numpy.ndarray) -> None:
    """Run a program over its results and arguments; where it gives `info`, the word for failures says the same."""
    program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    if make is cuda_small.slogdet:
        run_program(program, list(arrays), seed=3)
        return
    word = numpy.zeros((), "i4")
    run_program(program, [*arrays, word], seed=3)
    assert word == arrays[1].any()


def close(found: numpy.ndarray, wanted: numpy.ndarray, condition: float = 1e3) -> None:
    eps = numpy.finfo(found.dtype).eps
    numpy.testing.assert_allclose(found, wanted, condition * eps, condition * eps * abs(wanted).max(initial=0))


def real(dtype: str) -> Any:
    return numpy.dtype(dtype).type(0).real.dtype


@pytest.mark.parametrize(("n", "dtype"), CASES)
def test_cholesky(n: int, dtype: str) -> None:
    for stack in STACKS:
        a = definite(stack, n, dtype)
        for upper in (False, True):
            given = numpy.triu(a) if upper else numpy.tril(a)
            out, info = numpy.empty_like(a), numpy.full(stack, 7, "i4")
            run(cuda_small.cholesky, (upper, False), out, info, given)
            close(out, numpy.linalg.cholesky(a, upper=upper))
            assert not info.any()
    by_columns = out.copy()
    run(cuda_small.cholesky, (False, True), by_columns, info, numpy.tril(a))
    close(by_columns.swapaxes(-1, -2), numpy.linalg.cholesky(a))
    a[..., n - 1, n - 1] = -1
    run(cuda_small.cholesky, (True, False), out, info, a)
    assert info.all()


@pytest.mark.parametrize(("n", "dtype"), CASES)
def test_solve(n: int, dtype: str) -> None:
    for stack, columns in (((), 0), ((3,), 1), ((2, 5), 19)):
        a = sample((*stack, n, n), dtype) + (n / 2 * numpy.eye(n)[::-1]).astype(dtype)
        b = sample((*stack, n, columns) if columns else (*stack, n), dtype, 1)
        out, info = numpy.empty((*stack, columns, n) if columns else b.shape, dtype), numpy.full(stack, 7, "i4")
        run(cuda_small.solve, (), out, info, a, b)
        close(out.swapaxes(-1, -2) if columns else out, numpy.linalg.solve(a, b))
        assert not info.any()


@pytest.mark.parametrize(("n", "dtype"), CASES)
def test_inverses_and_determinants(n: int, dtype: str) -> None:
    for stack in STACKS:
        a = sample((*stack, n, n), dtype) + (n / 2 * numpy.eye(n)[::-1]).astype(dtype)
        out, info = numpy.empty_like(a), numpy.full(stack, 7, "i4")
        run(cuda_small.inv, (), out, info, a.swapaxes(-1, -2))
        close(out.swapaxes(-1, -2), numpy.linalg.inv(a))
        assert not info.any()
        sign, logarithm = numpy.empty(stack, dtype), numpy.empty(stack, real(dtype))
        run(cuda_small.slogdet, (), sign, logarithm, a)
        for found, wanted in zip((sign, logarithm), numpy.linalg.slogdet(a), strict=True):
            close(found, wanted)
        value = numpy.empty(stack, dtype)
        run(cuda_small.slogdet, (), value, a)
        if n < 35:
            close(value, numpy.linalg.det(a))


@pytest.mark.parametrize("n", [1, 4, 20, 50])
def test_singular(n: int) -> None:
    a = numpy.eye(n)
    a[n // 2] = 0
    b, x, info = numpy.ones(n), numpy.empty(n), numpy.zeros((), "i4")
    run(cuda_small.solve, (), x, info, a, b)
    assert info
    info[()] = 0
    run(cuda_small.inv, (), numpy.empty_like(a), info, a)
    assert info
    for dtype in DTYPES:
        for matrix in (a, numpy.zeros((n, n))):
            sign, logarithm = numpy.ones((), dtype), numpy.ones((), real(dtype))
            run(cuda_small.slogdet, (), sign, logarithm, matrix.astype(dtype))
            assert (sign, logarithm) == (0, -numpy.inf)


@pytest.mark.parametrize("n", [3, 40])
def test_tiny_pivots_and_nan(n: int) -> None:
    a = numpy.eye(n)[::-1] * 1e-310
    out, info = numpy.empty_like(a), numpy.ones((), "i4")
    run(cuda_small.solve, (), out, info, a, numpy.eye(n) * 1e-310)
    assert not info
    numpy.testing.assert_array_equal(out.T, numpy.eye(n)[::-1])
    run(cuda_small.solve, (), out, info, a * numpy.nan, numpy.eye(n))
    assert not info
    assert numpy.isnan(out).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_beside_the_library(dtype: str) -> None:
    """Copies in any layout, identities, and determinants from factors."""
    a = sample((3, 4, 37, 37), dtype)
    for given, kept, wanted in (
        (a.swapaxes(-1, -2), "true", a.swapaxes(-1, -2)),
        (a[::2, 1:, ::-1], "r >= c", numpy.tril(a[::2, 1:, ::-1])),
        (a[:, :1], "r <= c", numpy.triu(a[:, :1])),
    ):
        where = Layout(given.shape, tuple(s // a.itemsize for s in given.strides), 0)
        start = given.__array_interface__["data"][0] - a.__array_interface__["data"][0]
        out = numpy.empty(given.shape, dtype)
        program = cuda_solvers.matrix_copy(where._replace(offset=start // a.itemsize), a.dtype, kept)
        run_program(program, [out, a], seed=3)
        numpy.testing.assert_array_equal(out, wanted)
    out = numpy.empty((4, 6, 6), dtype)
    run_program(cuda_solvers.identity_matrices(layout_of(out), out.dtype, 36, 0), [out, out], seed=3)
    numpy.testing.assert_array_equal(out, numpy.broadcast_to(numpy.eye(6), out.shape))
    apart = numpy.zeros((4, 50), dtype)
    run_program(cuda_solvers.identity_matrices(layout_of(out), out.dtype, 50, 14), [apart, out], seed=3)
    numpy.testing.assert_array_equal(apart[:, 14:].reshape(out.shape), out)
    assert not apart[:, :14].any()
    where = layout_of(a[0])
    apart = numpy.zeros((4, 37 * 37 + 3), dtype)
    run_program(cuda_solvers.matrix_copy(where, a.dtype, stride=37 * 37 + 3, start=3), [apart, a], seed=3)
    numpy.testing.assert_array_equal(apart[:, 3:].reshape(a[0].shape), a[0])

    info, word = numpy.zeros(700, "i4"), numpy.zeros((), "i4")
    for wanted in (0, 1):
        run_program(cuda_solvers.failure_report(700), [info, word], seed=3)
        assert word == wanted
        info[650] = 3

    factors = sample((7, 40, 40), dtype)
    pivots = numpy.broadcast_to(numpy.arange(1, 41, dtype="i4"), (7, 40)).copy()
    pivots[::2, 3] = 9
    sign, logarithm = numpy.empty(7, dtype), numpy.empty(7, real(dtype))
    program = cuda_solvers.determinants_of_lu(40, 7, (sign.dtype, logarithm.dtype))
    run_program(program, [sign, logarithm, factors, pivots], seed=3)
    wanted = numpy.linalg.slogdet(numpy.triu(factors))
    close(sign, wanted[0] * numpy.where(numpy.arange(7) % 2, 1, -1))
    close(logarithm, wanted[1])
    value = numpy.empty(7, dtype)
    run_program(cuda_solvers.determinants_of_lu(40, 7, (sign.dtype,)), [value, factors, pivots], seed=3)
    close(value, sign * numpy.exp(logarithm))


def subtract(a: numpy.ndarray, s: cuda_lu.Product) -> None:
    """What the library does."""
    inner, rows = slice(s.first, s.first + s.inner), slice(s.row, s.row + s.rows)
    columns = slice(s.column, s.column + s.columns)
    a[:, columns, rows] -= a[:, columns, inner] @ a[:, inner, rows]


def factored(a: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """The factors of a stack of matrices, which lie by columns in it, with pivots and `info`; products by NumPy."""
    count, columns, n = a.shape
    a, pivots, info = a.copy(), numpy.zeros((count, n), "i4"), numpy.full(count, 7, "i4")
    for s in cuda_lu.steps(n, columns - n, a.dtype):
        if isinstance(s, cuda_lu.Product):
            subtract(a, s)
            continue
        params: tuple[int, ...]
        if isinstance(s, cuda_lu.Panel):
            text = cuda_lu.panel_text(s.max_width, s.thread_rows, a.dtype)
            launch = Launch("panel", (count, 1, 1), (512, 1, 1), 4 * n)
            params = (n, columns, s.first, s.width, s.begin, s.end)
        else:
            text = cuda_lu.exchange_text(a.dtype)
            launch = Launch("other_columns", (count, 2, 1), (256, 1, 1), cuda_lu.other_columns_shared_bytes(n, a.dtype))
            params = (n, columns, s.begin, s.end)
        run_program(Program(text, (launch,), (), False, params), [a, pivots, info], seed=3)
    return a, pivots, info


@pytest.mark.parametrize(("n", "dtype"), [(40, "f8"), (100, "f4"), (150, "c16"), (520, "f8"), (600, "c8")])
def test_lu(n: int, dtype: str) -> None:
    a = sample((2 if n < 500 else 1, n, n + 3), dtype)
    by_columns, pivots, info = factored(a.swapaxes(1, 2).copy())
    assert not info.any()
    for matrix, found, exchanges in zip(a, by_columns.swapaxes(1, 2), pivots - 1, strict=True):
        lower = numpy.tril(found[:, :n], -1)
        assert abs(lower).max() <= (1.42 if numpy.iscomplexobj(a) else 1.00001)
        for k, row in enumerate(exchanges):
            assert k <= row < n
            matrix[[k, row]] = matrix[[row, k]]
        # The columns after the matrix are solutions for the lower factor.
        close((lower + numpy.eye(n, dtype=dtype)) @ numpy.triu(found), matrix)


@pytest.mark.parametrize("n", [64, 600])
def test_lu_takes_the_first_of_equal_pivots(n: int) -> None:
    """As LAPACK does. All numbers are exact here."""
    a = numpy.tile(hadamard(64), (1, -(-n // 64), -(-n // 64)))[:, :64, :n].astype("f8")
    a = numpy.concatenate([a, numpy.eye(n)[None, 64:]], axis=1)
    assert (factored(a)[1][0, :64] - 1 == lu_factor(a[0].T)[1][:64]).all()


def solved(a: numpy.ndarray, n: int) -> numpy.ndarray:
    """The same stack with the systems of its upper factors solved for the columns after the matrices."""
    count, columns, _ = a.shape
    a, text = a.copy(), cuda_lu.upper_text(a.dtype)
    for s in cuda_lu.upper_steps(n, columns - n):
        if isinstance(s, cuda_lu.Product):
            subtract(a, s)
            continue
        launch = Launch("upper", (count, 2, 1), (256, 1, 1), cuda_lu.upper_shared_bytes(a.dtype))
        run_program(Program(text, (launch,), (), False, (n, columns, s.begin, s.end)), [a], seed=3)
    return a


@pytest.mark.parametrize(("n", "columns", "dtype"), [(40, 1, "f8"), (64, 20, "c8"), (150, 3, "c16"), (200, 9, "f4")])
def test_upper_systems(n: int, columns: int, dtype: str) -> None:
    matrices = sample((3, n, n), dtype) / n + 2 * numpy.eye(n, dtype=dtype)
    a = numpy.concatenate([matrices, sample((3, n, columns), dtype, 1)], axis=2)
    found = solved(a.swapaxes(1, 2).copy(), n).swapaxes(1, 2)
    numpy.testing.assert_array_equal(found[..., :n], a[..., :n])
    close(numpy.triu(a[..., :n]) @ found[..., n:], a[..., n:])


def test_lu_of_singular_matrices() -> None:
    a = numpy.stack([numpy.eye(70), numpy.eye(70), numpy.zeros((70, 70))])
    a[1, :, 66] = 0
    found, _, info = factored(a)
    assert info.tolist() == [0, 1, 1]
    numpy.testing.assert_array_equal(found, a)


def cholesky_by_blocks(a: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The lower factors of a stack of matrices, which lie by columns in it, with `info`; products by NumPy."""
    count, n, _ = a.shape
    a, info = a.copy(), numpy.full(count, 7, "i4")
    text = cuda_cholesky.kernel_text(a.dtype)
    for s in cuda_cholesky.steps(n, a.dtype):
        if isinstance(s, cuda_cholesky.Product):
            inner, rows = slice(s.first, s.first + s.inner), slice(s.start, s.start + s.rows)
            columns = slice(s.start, s.start + s.columns)
            a[:, columns, rows] -= a[:, inner, columns].conj().swapaxes(1, 2) @ a[:, inner, rows]
            continue
        corner, rest = (
            Launch("factor_corner", (count, 1, 1), (1024, 1, 1), 0),
            Launch("solve_below", (count, -(-n // 128), 1), (128, 1, 1), 0),
        )
        run_program(Program(text, (corner,), (), False, (n, *s)), [a, info], seed=3)
        run_program(Program(text, (rest,), (), False, (n, *s)), [a], seed=3)
    return a, info


@pytest.mark.parametrize(("n", "dtype"), [(40, "f8"), (100, "f4"), (150, "c16"), (200, "f8"), (140, "c8")])
def test_cholesky_by_blocks(n: int, dtype: str) -> None:
    a = definite((3,), n, dtype)
    given = numpy.triu(a.swapaxes(1, 2))
    found, info = cholesky_by_blocks(given)
    assert not info.any()
    close(found.swapaxes(1, 2), numpy.linalg.cholesky(a))
    given[1, n - 2, n - 2] = -1
    given[2, 5, 5] = numpy.nan
    assert cholesky_by_blocks(given)[1].tolist() == [0, 1, 1]


def test_grids_of_very_many_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU takes no more than 65535 blocks in the second dimension."""
    grids: list[Sequence[int]] = []

    def launcher(device: Any, function: Any, launch: Launch, *rest: Any) -> None:
        grids.append(launch.grid)

    for module in (cuda_cholesky, cuda_lu):
        monkeypatch.setattr(module, "Launcher", launcher)
        monkeypatch.setattr(module, "compile_program", lambda text, entries, device: dict.fromkeys(entries))
        monkeypatch.setattr(module, "subtract_products", lambda *args, **options: None)
    device: Any = SimpleNamespace(attributes=SimpleNamespace(multiprocessors=132))
    count, dtype = 70_000, numpy.dtype("f4")
    cuda_cholesky.prepare(device, 100, count, dtype)
    cuda_lu.prepare(device, 100, 100, count, dtype)
    cuda_lu.prepare_upper(device, 100, 100, count, dtype)
    assert grids
    assert all(grid[0] == count and max(grid[1:]) < 1 << 16 for grid in grids)


def programs() -> list[Program]:
    made = []
    for dtype in map(numpy.dtype, DTYPES):
        for n in (3, 32, 60):
            a, stack = Layout((9, n, n), (n * n, n, 1), 0), Layout((9,), (1,), 0)
            side = Layout((9, n, 11), (n * 11, 11, 1), 0)
            info, size = numpy.dtype("i4"), real(dtype.str)
            made += [
                cuda_small.cholesky((False, False), [a, stack, a], (dtype, info, dtype)),
                cuda_small.inv((), [a, stack, a], (dtype, info, dtype)),
                cuda_small.slogdet((), [stack, stack, a], (dtype, size, dtype)),
                cuda_small.solve((), [side, stack, a, side], (dtype, info, dtype, dtype)),
            ]
        made += [cuda_solvers.matrix_copy(a, dtype, "r >= c"), cuda_solvers.identity_matrices(a, dtype, n * n, 0)]
        made.append(cuda_solvers.determinants_of_lu(60, 9, (dtype, size)))
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("chunk", range(12))
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_compiles(arch: str, chunk: int) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    for program in programs()[:: 1 if arch == "sm_90" else 5][chunk::12]:
        compile_cubin(program.text, arch)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("dtype", "n"), [("f4", 900), ("c16", 300)])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_what_is_for_large_matrices_compiles(arch: str, dtype: str, n: int) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    steps = cuda_lu.steps(n, 0, numpy.dtype(dtype))
    for sizes in {(s.max_width, s.thread_rows) for s in steps if isinstance(s, cuda_lu.Panel)}:
        compile_cubin(cuda_lu.panel_text(*sizes, numpy.dtype(dtype)), arch)
    compile_cubin(cuda_lu.exchange_text(numpy.dtype(dtype)), arch)
    compile_cubin(cuda_lu.upper_text(numpy.dtype(dtype)), arch)
    compile_cubin(cuda_cholesky.kernel_text(numpy.dtype(dtype)), arch)
