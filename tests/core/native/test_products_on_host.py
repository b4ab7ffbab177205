"""Products of small vectors and matrices on the host: NumPy's loop, run by the core, gives NumPy's bits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.functions.placement import Placement

DTYPES = ("f8", "f4", "c16", "c8", "i8", "i4", "u1", "?", "f2")
PRODUCTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "@": lambda library, a, b: a @ b,
    "__rmatmul__": lambda library, a, b: b.__rmatmul__(a),
    "matmul": lambda library, a, b: library.matmul(a, b),
    "dot": lambda library, a, b: library.dot(a, b),
    "method": lambda library, a, b: a.dot(b),
}
SHAPES = [((n,), (n,)) for n in (0, 1, 2, 3, 17, 100)]
SHAPES += [((m, n), (n,)) for m in (0, 1, 2, 9) for n in (0, 1, 2, 33)]
SHAPES += [((n,), (n, m)) for m in (0, 1, 2, 9) for n in (0, 1, 2, 33)]
SHAPES += [((3, 4), (4, 2)), ((2, 3, 4), (4,)), ((200, 200), (200,)), ((3,), (4,)), ((2, 3), (4,))]
# How the operands lie in memory.
FORMS: dict[str, Callable[[Any], Any]] = {
    "as they are": lambda x: x,
    "every other": lambda x: x[::2],
    "backwards": lambda x: x[::-1],
    "turned": lambda x: x.T,
    "repeated": lambda x: (x[..., :1] + x * 0)[..., :],
    "columns": lambda x: x.reshape(-1, 1)[:, 0].reshape(x.shape),
}


@pytest.fixture(autouse=True)
def on_the_host() -> Iterator[None]:
    before = np.set_residence("auto")
    with np.Device("cpu"):  # a GPU has the larger of these matrices
        yield
    np.set_residence(before)


def _data(shape: tuple[int, ...], dtype: str, form: str, seed: int) -> tuple[Any, Any]:
    """Return an array of either library that lies in memory as a form says."""
    stored = shape[::-1] if form == "turned" else (2 * shape[0], *shape[1:]) if form == "every other" else shape
    data = numpy.random.default_rng(seed).standard_normal(stored) * 3
    data = data.astype(dtype) if dtype[0] in "fc" else numpy.abs(data).astype(dtype)
    if data.size and dtype[0] in "fc":
        data.flat[0] = -0.0
    return FORMS[form](np.asarray(data)), FORMS[form](data)


def _outcome(product: Callable[[Any, Any, Any], Any], library: Any, a: Any, b: Any) -> Any:
    try:
        return product(library, a, b)
    except (TypeError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_bits_are_numpys(name: str, dtype: str) -> None:
    product = PRODUCTS[name]
    for seed, (left, right) in enumerate(SHAPES):
        for form in FORMS:
            (a, expected_a), (b, expected_b) = (_data(shape, dtype, form, seed) for shape in (left, right))
            with numpy.errstate(all="ignore"):
                found, expected = _outcome(product, np, a, b), _outcome(product, numpy, expected_a, expected_b)
            if isinstance(expected, type):
                assert found is expected
                continue
            assert type(found) is np.ndarray
            assert (found.dtype, found.shape, found.residence) == (expected.dtype, expected.shape, "host")
            assert np.asnumpy(found).tobytes() == expected.tobytes(), (left, right, form)


@pytest.mark.parametrize(("left", "right"), [("f8", "f4"), ("i8", "f8"), ("i4", "i8"), ("?", "i8")])
def test_operands_of_two_dtypes(left: str, right: str) -> None:
    (a, expected_a), (b, expected_b) = _data((5,), left, "as they are", 1), _data((5,), right, "as they are", 2)
    found, expected = a @ b, expected_a @ expected_b
    assert (found.dtype, found) == (expected.dtype, expected)


def test_results_without_dimensions_act_as_scalars() -> None:
    v = np.arange(3.0)
    s = v @ v
    before = s
    s += 1
    assert (before, s) == (5.0, 6.0)
    assert hash(before) == hash(5.0)


@pytest.mark.skipif(not IS_COMPILED, reason="the core in Python calls NumPy's functions")
def test_the_core_runs_the_loop_itself() -> None:
    asked: list[str] = []

    def product(*_: Any) -> Any:
        asked.append("called")
        return NotImplemented

    v, a = np.arange(4.0), np.ones((4, 4))
    call = Placement(product, "__matmul__").in_front_of(product)
    assert call(v, v) == 14.0
    assert call(a, v).tolist() == call(v, a).tolist() == [6.0] * 4
    assert Placement(product, "dot").in_front_of(product)(v, v) == 14.0
    assert not asked
    assert operator.matmul(a, a).tolist() == [[4.0] * 4] * 4
