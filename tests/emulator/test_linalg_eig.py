"""The GPU's own eigenvalues of square matrices, run on the emulated machine and compared with NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
import pytest

from gpunumpy.core.graph.layout import Layout
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.linalg import cuda_eig as small
from gpunumpy.kernels.linalg import cuda_small_decompositions as decompositions

from ..support.square_matrices import HARD, check_eig
from .executor import run_program
from .test_decompositions import DTYPES, layout_of, run_with_failure_word, sample

Found = tuple[Any, Any, Any]


def eig(a: numpy.ndarray, vectors: bool = True, most: int = 1 << 20) -> Found:
    """Values, vectors as columns, and `info`."""
    stack, complex_ = a.shape[:-2], numpy.result_type(a.dtype, "c8")
    w, info = numpy.full(a.shape[:-1], numpy.nan, complex_), numpy.full(stack, -1, "i4")
    v = numpy.full(a.shape, numpy.nan, complex_)
    arrays = [w, info, *([v] if vectors else []), a.swapaxes(-1, -2)]
    run_with_failure_word(partial(small.eig, shared_limit=most), (), *arrays)
    return w, v.swapaxes(-1, -2), info


def check(a: numpy.ndarray) -> None:
    found, alone = eig(a), eig(a, False)
    assert not found[2].any()
    assert not alone[2].any()
    check_eig(a, found[0], found[1], alone[0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 2), (3, 3), (4, 4), (2, 5, 5), (8, 8), (2, 2, 17, 17), (32, 32), (45, 45)]
)
def test_eig(shape: tuple[int, ...], dtype: str) -> None:
    a = sample(shape, dtype)
    check(a)
    w, n = eig(a)[0].reshape(-1, shape[-1]), shape[-1]
    reference = numpy.linalg.eigvals(a.astype("c16")).reshape(-1, n)
    for tested, other in zip(w, reference):
        assert abs(tested[:, None] - other).min(0).max() < 100 * n * numpy.finfo(dtype).eps


def test_layouts() -> None:
    base = sample((6, 6, 6), "f8")
    for a in (base, base.swapaxes(-1, -2), base[:, ::-1, ::-1], numpy.moveaxis(base, 0, -1), base[1::2, :5, 1:]):
        check(a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_shared(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More matrices than blocks have memory, one of which fails."""
    monkeypatch.setattr(decompositions, "_MAX_GLOBAL_BLOCKS", 2)
    a = sample((5, 9, 9), dtype)
    a[1, 2, 3] = numpy.nan
    few, some = 700 if dtype in ("f4", "f8") else 1000, {"f4": 1300, "f8": 1800, "c8": 2000, "c16": 3200}[dtype]
    for vectors, most in ((False, few), (True, few), (True, some)):
        w, v, info = eig(a, vectors, most)
        assert info.tolist() == [0, 1, 0, 0, 0]
        reference = eig(a, vectors)
        numpy.testing.assert_array_equal(w, reference[0])
        numpy.testing.assert_array_equal(v, reference[1])


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("kind", HARD)
def test_hard(kind: str, dtype: str) -> None:
    a = HARD[kind] * (numpy.exp(0.7j) if dtype[0] == "c" else 1)
    with numpy.errstate(over="ignore", under="ignore"):
        a = a.astype(dtype)
    check(numpy.nan_to_num(a, posinf=0, neginf=0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("half", ["upper", "lower"])
def test_triangles_have_their_diagonals(half: str, dtype: str) -> None:
    powers = numpy.random.default_rng(1).integers(-30, 30, (9, 9))
    a = sample((9, 9), dtype) * (10.0**powers).astype(numpy.finfo(dtype).dtype)
    a = numpy.triu(a) if half == "upper" else numpy.tril(a)
    for values in (eig(a)[0], eig(a, False)[0]):
        assert (numpy.sort_complex(values) == numpy.sort_complex(numpy.diagonal(a))).all()
    w, v, _ = eig(a)
    if half == "upper":
        assert (w == numpy.diagonal(a)).all()
        assert not numpy.tril(v, -1).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_balance_keeps_what_is_small(dtype: str) -> None:
    """Eigenvalues of a badly scaled matrix are as exact as those of what it is scaled to."""
    a = sample((10, 10), dtype)
    d = 2.0 ** numpy.random.default_rng(4).integers(-20, 20, 10)
    bad = (a * d[:, None] / d).astype(dtype)
    order = numpy.linalg.eigvals(a.astype("c16"))
    for values in (eig(bad)[0], eig(bad, False)[0]):
        assert abs(values[:, None] - order).min(0).max() < 500 * numpy.finfo(dtype).eps


def test_what_does_not_converge() -> None:
    """Those that take more steps than they may; a triangle takes none."""
    a = numpy.stack([sample((6, 6), "f8"), numpy.triu(sample((6, 6), "f8")), sample((6, 6), "f8", 1)])
    w, info, word = numpy.empty((3, 6), "c16"), numpy.full(3, -1, "i4"), numpy.zeros((), "i4")
    program = small.eig((), [layout_of(x) for x in (w, info, a.swapaxes(1, 2))], [w.dtype, info.dtype, a.dtype])
    assert program.text.count("30 * max(10,") == 1
    run_program(program._replace(text=program.text.replace("30 * max(10,", "0 * max(10,")), [w, info, a, word])
    assert info.tolist() == [1, 0, 1]
    assert word == 1
    assert (w[1] == numpy.diagonal(a[1])).all()


def test_what_is_not_finite() -> None:
    a = numpy.stack([numpy.eye(4), numpy.full((4, 4), numpy.inf), numpy.eye(4)])
    a[2, 1, 1] = numpy.nan
    w, v, info = eig(a)
    assert info.tolist() == [0, 1, 1]
    assert (w[0] == 1).all()
    assert (v[0] == numpy.eye(4)).all()


def test_which_are_small() -> None:
    def fits(count: int, n: int, dtype: str = "f8", vectors: bool = True) -> bool:
        square, rows = Layout((count, n, n), (n * n, n, 1), 0), Layout((count, n), (n, 1), 0)
        layouts = [rows, rows, *([square] if vectors else []), square]
        return small.is_small(layouts, [numpy.dtype(dtype)] * len(layouts))

    assert [fits(1, n) for n in (144, 146)] == [True, False]
    assert [fits(3, n, "c16") for n in (101, 104)] == [True, False]
    assert [fits(1, n, "f4", False) for n in (160, 161)] == [True, False]
    assert [fits(4, n) for n in (256, 257)] == [True, False]
    assert [fits(16, n, "c16") for n in (512, 513)] == [True, False]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("arch", "n"), [("sm_75", 8), ("sm_90", 8), ("sm_90", 150)])
def test_they_compile(arch: str, n: int, dtype: str) -> None:
    a, info = numpy.empty((2, n, n), dtype), numpy.empty(2, "i4")
    w = numpy.empty((2, n), numpy.result_type(dtype, "c8"))
    arrays = (w, info, numpy.empty(a.shape, w.dtype), a)
    program = small.eig((), [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    assert compile_cubin(program.text, arch)
