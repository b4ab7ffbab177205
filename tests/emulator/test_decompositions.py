"""The GPU's own decompositions of small matrices, run on the emulated machine and held to what defines them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from gpunumpy.core.graph.layout import Layout
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.linalg import cuda_decompositions as decompositions
from gpunumpy.kernels.linalg import cuda_small_decompositions as small

from .executor import run_program

DTYPES = ("f4", "f8", "c8", "c16")


def sample(shape: tuple[int, ...], dtype: str, seed: int = 0) -> numpy.ndarray:
    random = numpy.random.default_rng(seed)
    made = random.standard_normal(shape)
    if dtype[0] == "c":
        made = made + 1j * random.standard_normal(shape)
    return made.astype(dtype)


def layout_of(x: numpy.ndarray) -> Layout:
    return Layout(x.shape, tuple(step // x.itemsize for step in x.strides), 0)


def run(make: Any, options: tuple[Any, ...], *arrays: numpy.ndarray) -> None:
    program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    run_program(program, list(arrays), seed=3)


def run_with_failure_word(make: Any, options: tuple[Any, ...], *arrays: numpy.ndarray) -> None:
    """Run a program that takes a failure word, and compare the word with `info`."""
    word = numpy.zeros((), "i4")
    program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    run_program(program, [*arrays, word], seed=3)
    assert bool(word) == arrays[1].any()


def real(dtype: str) -> Any:
    return numpy.dtype(dtype).type(0).real.dtype


def assert_small(error: numpy.ndarray, a: numpy.ndarray, times: float = 40) -> None:
    size = float(numpy.linalg.norm(a.astype("c16"))) or 1.0
    assert abs(error).max(initial=0) <= times * numpy.finfo(a.dtype).eps * size


def wide(x: numpy.ndarray) -> Any:
    return x.astype("c16")


def check_svd(a: numpy.ndarray, full: bool) -> None:
    r, c = a.shape[-2:]
    stack = a.shape[:-2]
    s, info = numpy.empty((*stack, r), real(a.dtype.str[1:])), numpy.full(stack, -1, "i4")
    left, right = numpy.empty((*stack, r, r), a.dtype), numpy.empty((*stack, c if full else r, c), a.dtype)
    run_with_failure_word(small.svd, (), s, info, left, right, a)
    assert not info.any()
    alone = numpy.empty_like(s)
    run_with_failure_word(small.svd, (), alone, info, a)
    for k in numpy.ndindex(stack):
        u, vh = wide(left[k]).conj().T, wide(right[k])
        unit = numpy.eye(1, dtype=a.dtype)
        assert_small(u * s[k] @ vh[:r] - wide(a[k]), a[k])
        assert_small(u.conj().T @ u - numpy.eye(r), unit)
        assert_small(vh @ vh.conj().T - numpy.eye(len(vh)), unit)
        for values in (s[k], alone[k]):
            assert_small(values - numpy.linalg.svd(wide(a[k]), compute_uv=False), a[k])
            assert (numpy.diff(values) <= 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 7), (8, 8), (5, 6), (13, 20), (32, 32)])
def test_svd(shape: tuple[int, int], dtype: str) -> None:
    check_svd(sample(shape, dtype), False)
    if shape[0] < 20:
        check_svd(sample((2, *shape), dtype), True)


def test_svd_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "_MANY_MATRICES", 3)
    for shape in ((4, 5, 5), (3, 9, 12), (2, 2, 17, 17)):
        for dtype in ("f4", "c16"):
            check_svd(sample(shape, dtype), True)


SPECIAL = {
    "zeros": numpy.zeros((6, 6)),
    "ones": numpy.ones((6, 6)),
    "identity": numpy.eye(7),
    "of rank 2": sample((9, 2), "f8") @ sample((2, 9), "f8"),
    "graded": (sample((12, 12), "f8") * numpy.logspace(0, -30, 12)).T,
    "tiny": sample((5, 8), "f8") * 1e-30,
    "large": sample((5, 8), "f8") * 1e30,
    "two alike": numpy.repeat(sample((4, 8), "f8"), 2, 0),
    "a column": numpy.ones((1, 5)),
    "tinier": sample((5, 8), "f8") * 1e-150,
    "larger": sample((5, 5), "f8") * 1e150,
    "of many ones": numpy.ones((20, 20)),
    "one element": numpy.pad([[3.0]], ((2, 3), (4, 2))),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
@pytest.mark.parametrize("kind", SPECIAL)
def test_special(kind: str, dtype: str) -> None:
    with numpy.errstate(over="ignore"):
        a = numpy.nan_to_num(SPECIAL[kind].astype(dtype), posinf=0, neginf=0)
    check_svd(a, True)
    check_q(a)
    check_q(a.T)
    if a.shape[0] == a.shape[1]:
        check_eigh((a + a.T).astype(dtype))


def check_eigh(a: numpy.ndarray) -> None:
    n, stack = a.shape[-1], a.shape[:-2]
    given = numpy.ascontiguousarray(a.conj())
    for triangle in "LU":
        w, info = numpy.empty((*stack, n), real(a.dtype.str[1:])), numpy.full(stack, -1, "i4")
        v = numpy.empty(a.shape, a.dtype)
        run_with_failure_word(
            small.eigh, (triangle,), w, info, v, numpy.tril(given) if triangle == "L" else numpy.triu(given)
        )
        alone = numpy.empty_like(w)
        run_with_failure_word(small.eigh, (triangle,), alone, info, given)
        assert not info.any()
        for k in numpy.ndindex(stack):
            vectors = wide(v[k]).T
            assert_small(wide(a[k]) @ vectors - vectors * w[k], a[k])
            assert_small(vectors.conj().T @ vectors - numpy.eye(n), numpy.eye(1, dtype=a.dtype))
            for values in (w[k], alone[k]):
                assert_small(values - numpy.linalg.eigvalsh(wide(a[k])), a[k])
                assert (numpy.diff(values) >= 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (2, 5, 5), (8, 8), (17, 17), (32, 32), (39, 39)])
def test_eigh(shape: tuple[int, ...], dtype: str) -> None:
    a = sample(shape, dtype)
    check_eigh(a + a.swapaxes(-1, -2).conj().copy())


def check_qr(a: numpy.ndarray) -> None:
    m, n = a.shape[-2:]
    stack, least = a.shape[:-2], min(m, n)
    columns = a.swapaxes(-1, -2)
    packed, tau = numpy.empty((*stack, n, m), a.dtype), numpy.empty((*stack, least), a.dtype)
    run(small.qr, ("raw",), packed, tau, columns)
    alone = numpy.empty((*stack, n, least), a.dtype)
    run(small.qr, ("reduced",), alone, columns)
    for k in numpy.ndindex(stack):
        reference = numpy.linalg.qr(wide(a[k]), "raw")
        assert_small(wide(packed[k]) - reference[0], a[k])
        assert_small(wide(tau[k]) - reference[1], a[k])
        assert_small(wide(alone[k]).T - numpy.linalg.qr(wide(a[k]), "r"), a[k])
    check_q(a)


def check_q(a: numpy.ndarray) -> None:
    m, n = a.shape[-2:]
    stack, columns = a.shape[:-2], a.swapaxes(-1, -2)
    for wanted in (min(m, n), m):
        r, q = numpy.empty((*stack, n, wanted), a.dtype), numpy.empty((*stack, wanted, m), a.dtype)
        run(small.qr, ("reduced",), r, q, columns)
        assert not numpy.triu(r, 1).any()
        for k in numpy.ndindex(stack):
            found = wide(q[k]).T
            assert_small(found.conj().T @ found - numpy.eye(wanted), numpy.eye(1, dtype=a.dtype))
            assert_small(found @ r[k].T - wide(a[k]), a[k])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 7), (7, 3), (1, 4), (4, 1), (2, 6, 5), (17, 20), (32, 32)])
def test_qr(shape: tuple[int, ...], dtype: str) -> None:
    check_qr(sample(shape, dtype))


def test_qr_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "_MANY_MATRICES", 3)
    for shape in ((4, 5, 5), (3, 9, 12), (2, 2, 17, 13)):
        for dtype in ("f4", "c16"):
            check_qr(sample(shape, dtype))


def test_eigh_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "_MANY_MATRICES", 3)
    for shape in ((4, 5, 5), (3, 12, 12), (2, 2, 35, 35)):
        for dtype in ("f4", "c16"):
            a = sample(shape, dtype)
            check_eigh(a + a.swapaxes(-1, -2).conj().copy())


@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf])
def test_what_is_not_finite(bad: float) -> None:
    a = numpy.ones((2, 4, 4))
    a[1, 2, 1] = bad
    s, info, same = numpy.empty((2, 4)), numpy.empty(2, "i4"), numpy.empty((2, 4, 4))
    run_with_failure_word(small.svd, (), s, info, a)
    assert info.tolist() == [0, 1]
    run_with_failure_word(small.eigh, ("L",), s, info, same, a)
    assert info.tolist() == [0, 1]
    run_with_failure_word(small.eigh, ("U",), s, info, same, a)
    assert info.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_beside_the_library(dtype: str) -> None:
    a = sample((2, 5, 7), dtype)
    columns, r = numpy.ascontiguousarray(a.swapaxes(-1, -2)), numpy.empty((2, 7, 4), dtype)
    run_program(decompositions.upper_triangles(layout_of(r), 5, a.dtype), [r, columns])
    assert (r.swapaxes(-1, -2) == numpy.triu(a[:, :4])).all()

    a[1, 2, 3] = numpy.nan
    a[1, 0, 6] = numpy.inf
    bad, info = numpy.full(2, 7, "i4"), numpy.array([2, 0], "i4")
    for given in (a, numpy.asfortranarray(a)):
        out = numpy.empty(a.shape, dtype)
        run_program(decompositions.finite_copy(layout_of(given), a.dtype), [out, bad, given])
        assert (out == numpy.where(numpy.isfinite(given), given, 0)).all()
        assert bad.tolist() == [0, 1]
    run_program(decompositions.finite_copy(layout_of(a), a.dtype, "row >= column"), [numpy.empty_like(a), bad, a])
    assert bad.tolist() == [0, 0]
    for failed, word in (([0, 1], numpy.zeros(1, "i4")), ([0, 0], numpy.zeros(1, "i4"))):
        run_program(decompositions.failure_merge(2), [info, numpy.array(failed, "i4"), word])
        assert info.tolist() == [2, 1]
        assert word == 1

    square, out = sample((6, 6), dtype), numpy.empty((6, 6), dtype)
    run_program(decompositions.conjugate_transpose(layout_of(square), square.dtype), [out, square])
    assert (out == square.conj().T).all()


@pytest.mark.parametrize(("single", "double"), [("f4", "f8"), ("c8", "c16")])
def test_conversion(single: str, double: str) -> None:
    for want, have in ((double, single), (single, double), (double, double)):
        x, out = sample((700,), have), numpy.empty(700, want)
        program = decompositions.conversion(700, out.dtype, x.dtype)
        run_program(program, [out, x])
        assert (out == x.astype(want)).all()
        assert compile_cubin(program.text, "sm_90")


class Arena:
    """Memory that a decomposition works in by addresses, and cuSOLVER there: NumPy, of matrices by columns."""

    def __init__(self, singular: tuple[int, ...]) -> None:
        self.bytes = numpy.full(1 << 16, 0xFF, numpy.uint8)
        self.start, self.end = self.bytes.ctypes.data, 0
        self.singular, self.polar, self.exact = singular, 0, 0

    def allocate_fixed(self, device: Any, nbytes: int) -> Any:
        found = SimpleNamespace(ptr=self.start + self.end)
        self.end += nbytes + 256  # which nothing may write
        assert self.end < self.bytes.size
        return found

    def at(self, address: int, shape: tuple[int, ...], dtype: Any) -> numpy.ndarray:
        """The array there, by columns."""
        here, dtype = address - self.start, numpy.dtype(dtype)
        assert 0 <= here < self.bytes.size
        nbytes = math.prod(shape) * dtype.itemsize
        return self.bytes[here : here + nbytes].view(dtype).reshape(shape[::-1]).T

    def hold(self, x: numpy.ndarray) -> int:
        """Put an array there in C order."""
        address = self.allocate_fixed(None, x.nbytes).ptr
        self.at(address, x.shape[::-1], x.dtype).T[...] = x
        return int(address)

    def prepare_program(self, device: Any, program: Any, count: int) -> Any:
        return lambda pointers: run_program(program, [self.bytes[p - self.start :] for p in pointers], guard=False)

    def with_failure_word(self, device: Any, program: Any, count: int) -> Any:
        run, word = self.prepare_program(device, program, count), self.hold(numpy.zeros(64, "i4"))
        return lambda pointers: run((*pointers, word))

    def svd_polar(self, device: Any, rows: int, columns: int, dtype: Any, full: bool) -> Any:
        def call(matrix: int, s: int, left: int, right: int, info: int, work: int) -> int:
            self.polar += 1
            assert dtype in ("f8", "c16")
            lost = self.polar - 1 in self.singular
            u, values, vh = numpy.linalg.svd(self.at(matrix, (rows, columns), dtype), full)
            values, u, vh = (x * numpy.nan if lost else x for x in (values, u, vh))
            self.at(s, (columns,), real(dtype.str[1:]))[...] = values
            self.at(left, u.shape, dtype)[...] = u
            self.at(right, (columns, columns), dtype)[...] = vh.conj().T
            self.at(info, (1,), "i4")[...] = 0
            self.at(work, (64,), "u1")[...] = 0xFF
            self.at(matrix, (rows, columns), dtype)[...] = 0
            return int(lost)

        return SimpleNamespace(run=call, nbytes=64)

    def svd(self, device: Any, rows: int, columns: int, dtype: Any, vectors: bool, full: bool) -> Any:
        def call(matrix: int, s: int, left: int, right: int, info: int, work: int) -> None:
            self.exact += 1
            u, values, vh = numpy.linalg.svd(self.at(matrix, (rows, columns), dtype), full)
            self.at(s, (columns,), real(dtype.str[1:]))[...] = values
            if vectors:
                self.at(left, u.shape, dtype)[...] = u
                self.at(right, vh.shape, dtype)[...] = vh
            self.at(info, (1,), "i4")[...] = 0
            self.at(work, (96,), "u1")[...] = 0xFF

        return SimpleNamespace(run=call, nbytes=96)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("vectors", [False, True])
def test_svd_by_the_library(monkeypatch: pytest.MonkeyPatch, dtype: str, full: bool, vectors: bool) -> None:
    arena, (r, c) = Arena((1,)), (5, 7)
    monkeypatch.setattr(small, "is_small_svd", lambda *args: False)
    monkeypatch.setattr(decompositions, "prepare_program", arena.prepare_program)
    monkeypatch.setattr(decompositions, "with_failure_word", arena.with_failure_word)
    monkeypatch.setattr(decompositions, "memory", arena)
    monkeypatch.setattr(decompositions, "library", arena)
    a = sample((4, r, c), dtype)
    a[3, 2, 2] = numpy.nan
    arrays = [numpy.empty((4, r), real(dtype)), numpy.empty(4, "i4")]
    if vectors:
        arrays += [numpy.empty((4, r, r), dtype), numpy.empty((4, c if full else r, c), dtype)]
    arrays.append(a)
    device: Any = SimpleNamespace(attributes=SimpleNamespace(shared_per_block=0))
    pointers = [arena.hold(x) for x in arrays]
    decompositions.svd(device, (), [layout_of(x) for x in arrays], [x.dtype for x in arrays])(pointers)
    assert (arena.polar, arena.exact) == (4, 1)
    s, info, *sides = (arena.at(p, x.shape[::-1], x.dtype).T for p, x in zip(pointers, arrays[:-1]))
    assert info.tolist() == [0, 0, 0, 1]
    for k in range(3):
        assert_small(s[k] - numpy.linalg.svd(wide(a[k]), compute_uv=False), a[k])
        if vectors:
            left, right = wide(sides[0][k]).conj().T, wide(sides[1][k])
            assert_small(left * s[k] @ right[:r] - wide(a[k]), a[k])
            assert_small(right @ right.conj().T - numpy.eye(len(right)), numpy.eye(1, dtype=dtype))
    for p, x in zip(pointers, arrays):  # what lies beside an array is as it was
        assert (arena.at(p + x.nbytes, (200,), "u1") == 0xFF).all()
    assert (arena.bytes[arena.end - 256 :] == 0xFF).all()


def test_conjugate_pairs() -> None:
    values = numpy.array([[1, 2 + 1j, 2 - 1j], [3 + 2j, 3 - 2j, 5]])
    real = sample((2, 3, 3), "f8")
    out = numpy.empty((2, 3, 3), "c16")
    run_program(decompositions.conjugate_pairs(3, 2, out.dtype, real.dtype), [out, values, real])
    pair = real[0, 1] + 1j * real[0, 2], real[1, 0] + 1j * real[1, 1]
    wanted = [[real[0, 0], pair[0], pair[0].conj()], [pair[1], pair[1].conj(), real[1, 2]]]
    assert (out == numpy.array(wanted)).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("which", range(5))
def test_they_compile(which: int, dtype: str, arch: str) -> None:
    a, large = numpy.empty((2, 8, 8), dtype), numpy.empty((40, 40), dtype)
    s, info, v, w = numpy.empty((2, 8), real(dtype)), numpy.empty(2, "i4"), numpy.empty_like(a), large[0].real
    makers = (
        (small.svd, (), (s, info, v, v, a)),
        (small.eigh, ("L",), (s, info, v, a)),
        (small.eigh, ("L",), (w, info[:1], large, large)),
        (small.eigh, ("U",), (w, info[:1], large)),
        (small.qr, ("raw",), (v, s, a)),
    )
    make, options, arrays = makers[which]
    program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    assert compile_cubin(program.text, arch)


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_svd_of_what_is_not_shared(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More matrices than blocks, some of which fail."""
    monkeypatch.setattr(small, "_MAX_GLOBAL_BLOCKS", 2)
    a = sample((5, 6, 9), dtype)
    a[1, 0, 0] = numpy.inf
    s, info = numpy.empty((5, 6), real(dtype)), numpy.full(5, -1, "i4")
    left, right = numpy.empty((5, 6, 6), a.dtype), numpy.empty((5, 9, 9), a.dtype)
    arrays = [s, info, left, right, a]
    program = small.svd((), [layout_of(x) for x in arrays], [x.dtype for x in arrays], 1000)
    assert program.launches[0].shared < 1000
    word = numpy.zeros((), "i4")
    run_program(program, [*arrays, word], seed=3)
    assert word == 1
    assert info.tolist() == [0, 1, 0, 0, 0]
    for k in (0, 2, 3, 4):
        u, vh = wide(left[k]).conj().T, wide(right[k])
        assert_small(u * s[k] @ vh[:6] - wide(a[k]), a[k])
        assert_small(vh @ vh.conj().T - numpy.eye(9), numpy.eye(1, dtype=dtype))


def test_which_singular_values_are_small() -> None:
    def fits(count: int, n: int, dtype: str) -> bool:
        x = numpy.dtype(dtype)
        square, rows = Layout((count, n, n), (n * n, n, 1), 0), Layout((count, n), (n, 1), 0)
        return small.is_small_svd([rows, rows, square, square, square], [x] * 5, 227 << 10)

    assert fits(1, 100, "f8")
    assert not fits(1, 105, "f8")
    assert fits(2, 105, "f8")
    assert fits(1, 128, "f4")
    assert fits(100, 200, "f8")
    assert not fits(10, 200, "f8")
    assert not fits(100, 300, "f4")


def test_many_rotations_keep_lengths() -> None:
    """Those of complex numbers that are real are turned by factors of length 1, hundreds of times."""
    a = (sample((44, 60), "f8") * numpy.logspace(0, -20, 60)).astype("c16")
    s, info = numpy.empty(44), numpy.full((), -1, "i4")
    left, right = numpy.empty((44, 44), "c16"), numpy.empty((44, 60), "c16")
    run_with_failure_word(small.svd, (), s, info, left, right, a)
    assert abs((abs(left) ** 2).sum(1) - 1).max() < 15 * numpy.finfo("f8").eps
