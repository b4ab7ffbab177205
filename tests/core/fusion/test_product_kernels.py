"""What becomes a part of a matrix product, as on a GPU; computed here as the CPU device does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import bfloat16
from gpunumpy.core.graph.layout import c_layout
from gpunumpy.core.graph.library_calls.products import Product
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.explain import explanation
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.nvlib.cublas import as_matrices, gemms
from tests.support.host_executor import with_traits

from ...support.arrays import from_host, ndarray, to_host
from .counting import kernels

RNG = numpy.random.default_rng(0)
CPU = Device("cpu")


@pytest.fixture(autouse=True)
def folding(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    state = evaluate.state_of(CPU)
    evaluate.flush(state.queue)
    with_traits(monkeypatch, takes_epilogues=True)
    yield
    evaluate.flush(state.queue)


def sample(*shape: int, dtype: Any = "f4") -> Any:
    made = RNG.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        made = made + 1j * RNG.standard_normal(shape)
    return from_host(made.astype(dtype), CPU)


def epilogues(steps: list[RunKernel | RunLibraryCall]) -> list[Any]:
    """For every step what is done after the product, or None for what is no product."""
    return [
        Product(*s.options).epilogues if isinstance(s, RunLibraryCall) and s.name == "matmul" else None for s in steps
    ]


x, w, b, c = sample(7, 5), sample(5, 6), sample(6), sample(7, 6)
turned = sample(6, 7)
stack = sample(3, 7, 5)

FOLDED: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "a bias": (lambda m, x, w, b, c: x @ w + b, ("bias",)),
    "a bias before": (lambda m, x, w, b, c: b + x @ w, ("bias",)),
    "a bias as a row": (lambda m, x, w, b, c: x @ w + b[None, :], ("bias",)),
    "a layer": (lambda m, x, w, b, c: m.maximum(x @ w + b, 0), ("bias", "maximum")),
    "a layer the other way round": (lambda m, x, w, b, c: m.maximum(0.0, b + x @ w), ("bias", "maximum")),
    "a bound that is not 0": (lambda m, x, w, b, c: m.maximum(x @ w, 0.25), ("maximum",)),
    "a scale": (lambda m, x, w, b, c: x @ w * 0.5, ("scale",)),
    "a quotient": (lambda m, x, w, b, c: x @ w / 8 + b, ("divide", "bias")),
    "a quotient that is not exact": (lambda m, x, w, b, c: x @ w / 3, ("divide",)),
    "a residual": (lambda m, x, w, b, c: c + x @ w, ("residual",)),
    "less a matrix": (lambda m, x, w, b, c: 2 * (x @ w) + b - c, ("scale", "bias", "subtract")),
    "from a matrix": (lambda m, x, w, b, c: c - x @ w * 2 + b, ("scale", "subtract_from", "bias")),
    "everything": (
        lambda m, x, w, b, c: m.maximum(2 * (x @ w) + b + c, 0),
        ("scale", "bias", "residual", "maximum"),
    ),
    "transposed operands": (lambda m, x, w, b, c: w.T @ x.T + (turned if m is np else to_host(turned)), ("residual",)),
}


@pytest.mark.parametrize("name", FOLDED)
def test_is_a_part_of_the_product(name: str) -> None:
    function, expected = FOLDED[name]
    made: list[ndarray] = []
    steps = kernels(lambda: made.append(function(np, x, w, b, c)) or made[0])
    assert epilogues(steps) == [expected]
    hosts = [to_host(v) for v in (x, w, b, c)]
    numpy.testing.assert_allclose(to_host(made[0]), function(numpy, *hosts), rtol=1e-5, atol=1e-6)


NOT_FOLDED: dict[str, Callable[..., Any]] = {
    "more follows": lambda: np.tanh(x @ w + b),
    "a scale after a bias": lambda: (x @ w + b) * 2,
    "a column": lambda: x @ w + c[:, :1],
    "a difference": lambda: x @ w - b,
    "what was added, subtracted": lambda: c - (x @ w + b),
    "two residuals": lambda: x @ w + c - c,
    "a quotient by a product": lambda: 3 / (x @ w),
    "a product and a quotient": lambda: x @ w * 2 / 3,
    "an expression to add": lambda: x @ w + np.exp(c),
    "a residual with steps": lambda: x @ w + sample(6, 7).T,
    "integers": lambda: sample(2, 2, dtype="i8") @ sample(2, 2, dtype="i8") + 1,
    "another dtype": lambda: x @ w + sample(6, dtype="f8"),
    "an array that is a scalar": lambda: x @ w * b[0],
    "a minimum": lambda: np.minimum(x @ w, 0),
    "a maximum of complex numbers": lambda: np.maximum(sample(2, 2, dtype="c8") @ sample(2, 2, dtype="c8"), 0),
}


@pytest.mark.parametrize("name", NOT_FOLDED)
def test_is_a_kernel_of_its_own(name: str) -> None:
    steps = kernels(NOT_FOLDED[name])
    assert [s for s in epilogues(steps) if s is not None] == [()]


def test_a_product_that_is_kept_stays() -> None:
    def kept() -> tuple[ndarray, ndarray]:
        product = x @ w
        return product, product + b

    def used_twice() -> ndarray:
        product = x @ w
        return (product + b) * product

    assert epilogues(kernels(kept)) == [(), None]
    assert epilogues(kernels(used_twice)) == [(), None]


def test_two_products_are_added_by_the_second() -> None:
    y, v = sample(7, 4), sample(4, 6)
    made: list[ndarray] = []
    steps = kernels(lambda: made.append(x @ w + y @ v) or made[0])
    assert sorted(epilogues(steps)) == [(), ("residual",)]
    numpy.testing.assert_allclose(
        to_host(made[0]), to_host(x) @ to_host(w) + to_host(y) @ to_host(v), rtol=1e-5, atol=1e-6
    )


def test_stacks() -> None:
    made: list[ndarray] = []
    steps = kernels(lambda: made.append(np.maximum(stack @ w * 3 + b, 0)) or made[0])
    assert epilogues(steps) == [("scale", "bias", "maximum")]
    expected = numpy.maximum(to_host(stack) @ to_host(w) * 3 + to_host(b), 0)
    numpy.testing.assert_allclose(to_host(made[0]), expected, rtol=1e-5, atol=1e-6)


def test_what_reads_a_product_that_was_folded() -> None:
    v = sample(6, 3)
    steps = kernels(lambda: np.maximum(x @ w + b, 0) @ v)
    assert epilogues(steps) == [("bias", "maximum"), ()]


def test_halves_are_rounded_once() -> None:
    left, right = sample(4, 64, dtype=bfloat16), sample(64, 3, dtype=bfloat16)
    bias = sample(3, dtype=bfloat16)
    wide = to_host(left).astype("f4") @ to_host(right).astype("f4")
    for make, expected in (
        (lambda: left @ right + bias, (wide + to_host(bias).astype("f4")).astype(bfloat16)),
        (lambda: (left @ right).astype(np.float32), wide),
        (lambda: (left @ right) * 0.5, wide * 0.5),  # a Python float makes float32 of a bfloat16
        (lambda: ((left @ right) * 0.3).astype(bfloat16), (wide * numpy.float32(0.3)).astype(bfloat16)),
    ):
        made: list[ndarray] = []
        assert len(kernels(lambda: made.append(make()) or made[0])) == 1  # noqa: B023
        assert made[0].dtype == expected.dtype
        numpy.testing.assert_allclose(to_host(made[0]).astype("f4"), expected.astype("f4"), rtol=1e-2, atol=1e-5)


def test_not_numbers_stay() -> None:
    bad = from_host(numpy.array([[numpy.nan, 1], [1, 2]], "f4"), CPU)
    numpy.testing.assert_array_equal(to_host(np.maximum(bad @ bad, 0))[0], [numpy.nan] * 2)
    numpy.testing.assert_array_equal(to_host(bad @ bad * 0)[0], [numpy.nan] * 2)


def test_the_value_of_a_scalar_is_no_part_of_the_plan() -> None:
    for bound in (0, 0.5, -1.0):
        made = to_host(np.maximum(x @ w, bound))
        numpy.testing.assert_allclose(made, numpy.maximum(to_host(x) @ to_host(w), bound), rtol=1e-5, atol=1e-6)
    assert len(evaluate.state_of(CPU).planner.plans) == 2  # a Python int and a Python float


def test_it_is_explained() -> None:
    text = explanation(np.maximum(x @ w + b, 0))
    assert "1. matmul_bias_maximum: " in text
    assert "reads float32 7×5, float32 5×6, float32 6\n" in text


def test_elsewhere_nothing_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    with_traits(monkeypatch, takes_epilogues=False)
    assert epilogues(kernels(lambda: x @ w + b)) == [(), None]


def test_what_exists_already_takes_the_product() -> None:
    def into() -> Any:
        out = from_host(numpy.empty((7, 6), "f4"), CPU)
        np.matmul(x, w, out=out)
        return out

    def added() -> Any:
        total = from_host(to_host(c), CPU)
        total += x @ w
        return total

    assert epilogues(kernels(into)) == [()]
    assert epilogues(kernels(added)) == [("residual",)]


def program(seed: int) -> None:
    """A random program of products and what may follow them, by both packages; some results are kept, others not."""
    rng = numpy.random.default_rng(seed)

    def fresh(*shape: int) -> tuple[Any, Any]:
        host = rng.standard_normal(shape)
        return host, from_host(host, CPU)

    pool = [fresh(4, 4) for _ in range(3)]
    rows = [fresh(4) for _ in range(2)]
    for _ in range(14):
        kind = rng.integers(11)
        (a, x), (b, y) = (pool[rng.integers(len(pool))] for _ in range(2))
        row, v = rows[rng.integers(2)]
        scalar = float(rng.choice([0, 0.5, -1, 2]))
        if kind <= 2:
            made = a @ b / 2, x @ y / 2
            if kind:
                made = a.T @ b, x.T @ y
        elif kind == 3:
            made = a + b, x + y
        elif kind == 4:
            made = a + row, x + v
        elif kind == 5:
            made = a * scalar, x * scalar
        elif kind == 6:
            made = numpy.maximum(a, scalar), np.maximum(x, scalar)
        elif kind == 7:
            made = numpy.maximum((a @ b) * scalar + row + a, 0), np.maximum((x @ y) * scalar + v + x, 0)
        elif kind == 9:
            made = numpy.maximum(a @ b / 4 + row, 0), np.maximum(x @ y / 4 + v, 0)
        elif kind == 8:
            made = (b - a @ b, y - x @ y) if rng.integers(2) else (a @ b - b, x @ y - y)
        else:
            host, tested = a.copy(), x.copy()
            host[1:3] += (a @ b)[1:3]
            tested[1:3] += (x @ y)[1:3]
            made = host, tested
        if rng.integers(5) == 0:
            numpy.testing.assert_allclose(to_host(made[1]), made[0], rtol=1e-8, atol=1e-8 * abs(made[0]).max())
        pool[rng.integers(len(pool))] = made
        pool = [(numpy.tanh(a), np.tanh(x)) if abs(a).max() > 1e3 else (a, x) for a, x in pool]
    for host, tested in pool:
        numpy.testing.assert_allclose(to_host(tested), host, rtol=1e-8, atol=1e-8 * (abs(host).max() + 1))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("batch", range(4))
def test_random_programs(batch: int) -> None:
    for seed in range(100):
        program(batch * 100 + seed)


# A product, the kernels that it takes where those multiply vectors, and the library calls.
VECTOR_PRODUCTS: dict[str, tuple[Callable[[Any, Any, Any], Any], int, int]] = {
    "a matrix and a vector": (lambda a, u, v: a @ v, 1, 0),
    "a vector and a matrix": (lambda a, u, v: u @ a, 1, 0),
    "of one column": (lambda a, u, v: u @ a[:, 2:3], 1, 0),
    "of a transposed matrix": (lambda a, u, v: a.T @ u, 1, 0),
    "of parts": (lambda a, u, v: a[1:, ::2] @ v[::2], 1, 0),
    "with what comes before and after": (lambda a, u, v: abs((a + 1) @ (v * 2) - u), 1, 0),
    "of a product": (lambda a, u, v: u @ a @ a.T, 2, 0),
    "a matrix and a column": (lambda a, u, v: a @ v[:, None], 0, 1),
    "two matrices": (lambda a, u, v: a @ a.T, 0, 1),
    "a stack": (lambda a, u, v: a[None] @ v, 0, 1),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", VECTOR_PRODUCTS)
def test_kernels_multiply_vectors(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    product, kernel_count, call_count = VECTOR_PRODUCTS[name]
    with_traits(monkeypatch, reduces_vector_products=True)
    data = [RNG.standard_normal(shape).astype(dtype) for shape in ((7, 5), (7,), (5,))]
    arrays = [from_host(each, CPU) for each in data]
    steps = kernels(lambda: product(*arrays))
    counts = [sum(isinstance(step, kind) for step in steps) for kind in (RunKernel, RunLibraryCall)]
    assert counts == [kernel_count, call_count]
    tolerance = 20 * float(numpy.finfo(dtype).eps)
    numpy.testing.assert_allclose(to_host(product(*arrays)), product(*data), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["f2", "F", "i4"])
def test_a_library_multiplies_other_vectors(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_traits(monkeypatch, reduces_vector_products=True)
    (step,) = kernels(lambda: sample(7, 5, dtype=dtype) @ sample(5, dtype=dtype))
    assert isinstance(step, RunLibraryCall)


@pytest.mark.parametrize(
    ("left", "right", "type_of_step"),
    [
        ((2048, 2048), (2048,), RunKernel),
        ((2049, 2048), (2048,), RunLibraryCall),
        ((2048,), (2048, 2048), RunKernel),
        ((1 << 14,), (1 << 14, 64), RunKernel),
        ((1 << 15,), (1 << 15, 32), RunKernel),
        (((1 << 15) + 1,), ((1 << 15) + 1, 32), RunLibraryCall),
    ],
)
def test_a_library_multiplies_large_matrices(
    left: tuple[int, ...], right: tuple[int, ...], type_of_step: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_traits(monkeypatch, reduces_vector_products=True)
    (step,) = kernels(lambda: sample(*left) @ sample(*right))
    assert isinstance(step, type_of_step)


def test_windows_that_are_most_of_a_value_are_read_where_it_is_stored() -> None:
    made: list[ndarray] = []

    def windows() -> list[ndarray]:
        centred = c - 0.5
        made[:] = [centred[:, k] @ centred[:, k:] for k in range(6)]
        return made

    steps = kernels(windows)
    assert [type(step) for step in steps] == [RunKernel, *[RunLibraryCall] * 6]
    centred = to_host(c) - numpy.float32(0.5)
    for k, result in enumerate(made):
        numpy.testing.assert_allclose(to_host(result), centred[:, k] @ centred[:, k:], rtol=1e-5, atol=1e-5)


def test_a_part_of_a_value_is_computed_alone() -> None:
    made: list[ndarray] = []
    kernel, product = kernels(lambda: made.append((x - 0.5)[:3, ::2] @ w[:3]) or made[0])
    assert isinstance(kernel, RunKernel)
    assert kernel.kernel.shape == (3, 3)
    assert isinstance(product, RunLibraryCall)
    expected = (to_host(x) - numpy.float32(0.5))[:3, ::2] @ to_host(w)[:3]
    numpy.testing.assert_allclose(to_host(made[0]), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("is_column", [False, True])
def test_a_conjugated_part_of_a_product_is_read_as_blas_can(is_column: bool) -> None:
    z, row = sample(9, 9, dtype="c16"), sample(1, 9, dtype="c16")
    part = numpy.s_[:, 1:2] if is_column else numpy.s_[1]
    made: list[ndarray] = []
    steps = kernels(lambda: made.append(row @ (z @ z)[part].conj()) or made[0])
    for step in steps:
        if isinstance(step, RunLibraryCall):
            layouts = [where for _, where in step.args]
            result = c_layout((*layouts[0].shape[:-1], *layouts[1].shape[1:]))
            gemms(*as_matrices(result, *layouts), Product(*step.options).conjugate)  # which asserts it
    numpy.testing.assert_allclose(to_host(made[0]), to_host(row) @ (to_host(z) @ to_host(z))[part].conj())
