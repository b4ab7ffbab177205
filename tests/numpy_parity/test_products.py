"""Products of vectors and matrices against NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy import products
from gpunumpy.core.array import boxed, from_host, to_host
from gpunumpy.core.dtypes import bfloat16
from tests.fusion.counting import kernels

from .test_reduction import outcome, same, sample

DTYPES = ("?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    *(((3,), (3,)), ((3,), (4,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3), (2, 3))),
    *(((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 1, 2, 3), (4, 3, 2)), ((5, 2, 3), (3,))),
    *(
        ((3,), (5, 3, 2)),
        ((), (3,)),
        ((2, 2), ()),
        ((0, 3), (3, 2)),
        ((2, 0), (0, 3)),
        ((0,), (0,)),
        ((2, 3, 4), (4, 3)),
    ),
    *(((2, 3), (5, 3)), ((2, 2, 3), (3, 3, 2)), ((), ()), ((4, 1), (1, 4))),
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["matmul", "dot", "inner", "outer", "vdot", "kron", "vecdot", "matvec", "vecmat"])
def test_shapes(name: str, dtype: str) -> None:
    for left, right in SHAPES:
        a, b = sample(left, dtype, 1), sample(right, dtype, 2)
        got, _ = outcome(lambda: getattr(products, name)(from_host(a), from_host(b)))  # noqa: B023
        expected, _ = outcome(lambda: getattr(numpy, name)(a, b))  # noqa: B023
        same(got, expected, (name, dtype, left, right))


@pytest.mark.parametrize("left", ["?", "i4", "f2", "f4", "c8"])
@pytest.mark.parametrize("right", ["u1", "i8", "f8", "c16"])
def test_dtypes_meet(left: str, right: str) -> None:
    a, b = sample((4, 5), left, 1), abs(sample((5, 3), "i4", 2)).astype(right)
    for name in ("matmul", "dot"):
        same(to_host(getattr(products, name)(from_host(a), b)), getattr(numpy, name)(a, b), (name, left, right))
    same(to_host(products.inner(from_host(a), from_host(b.T))), numpy.inner(a, b.T))


@pytest.mark.parametrize("dtype", ["f4", "i4", "c16"])
def test_operands_are_taken_as_they_lie(dtype: str) -> None:
    base = sample((2, 6, 6), dtype, 3)
    device = from_host(base)
    ways: tuple[Any, ...] = (
        lambda x: x,
        lambda x: x.transpose(0, 2, 1),
        lambda x: x[:, ::-1],
        lambda x: x[:, ::2, ::2].repeat(2, 1).repeat(2, 2) if isinstance(x, numpy.ndarray) else x,
        lambda x: x[0],
        lambda x: x[..., 1:4, 2:5],
    )
    for one in ways[:3] + ways[4:]:
        for two in ways[:3] + ways[4:]:
            if one(base).shape[-1] == two(base).shape[-2]:
                same(to_host(products.matmul(one(device), two(device))), one(base) @ two(base))


@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks_of_tiny_matrices(dtype: str) -> None:
    for left, right in (
        ((2000, 2, 3), (2000, 3, 4)),
        ((40, 40, 3, 3), (40, 40, 3, 1)),
        ((1, 1100, 2, 2), (3, 1100, 2, 2)),
    ):
        a, b = sample(left, dtype, 1), sample(right, dtype, 2)
        x, y = from_host(a), from_host(b)
        expected = a @ b
        same(to_host(products.matmul(x, y)), expected, (left, right))
        turned = from_host(numpy.ascontiguousarray(b.swapaxes(-1, -2))).mT
        same(to_host(products.matmul(x, turned)), expected, (left, right))
        same(to_host(products.matvec(x, turned[..., 0])), numpy.matvec(a, b[..., 0]), (left, right))


def test_pending_operands_and_results() -> None:
    a, b = sample((4, 4), "f8", 1), sample((4, 4), "f8", 2)
    x, y = from_host(a), from_host(b)
    same(to_host(products.matmul(x + y, (x - y).T) * 2), ((a + b) @ (a - b).T) * 2)
    same(to_host(products.dot((x + y)[0], (x * 2)[1])), (a + b)[0] @ (a * 2)[1])


@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "c16"])
def test_out(kind: str) -> None:
    a, b = sample((3, 4), "f4", 1), sample((4, 2), "f4", 2)
    for shape in ((3, 2), (2, 3), (1, 3, 2)):
        for name in ("matmul", "dot"):
            into, host = boxed(from_host(numpy.zeros(shape, kind))), numpy.zeros(shape, kind)
            expected, _ = outcome(lambda: getattr(numpy, name)(a, b, out=host))  # noqa: B023
            if name == "matmul" and len(shape) == 3:
                continue  # NumPy broadcasts into it
            if isinstance(expected, type):
                with pytest.raises(expected):
                    getattr(products, name)(from_host(a), from_host(b), out=into)
            else:
                assert getattr(products, name)(from_host(a), from_host(b), out=into) is into
                same(to_host(into), host, (name, kind, shape), numpy.dtype("f4"))


def test_out_may_be_an_operand() -> None:
    a = sample((3, 3), "f8", 1)
    x = from_host(a)
    products.matmul(x, x, out=x)
    same(to_host(x), a @ a)


@pytest.mark.parametrize("axes", [0, 1, 2, ([1, 0], [0, 1]), ([2], [1]), (0, 2), ([0, 0], [1, 1]), ([0, 1], [0]), 3])
def test_tensordot(axes: Any) -> None:
    for left, right in (((3, 4, 5), (4, 3, 5)), ((2, 3, 4), (3, 4, 2)), ((4, 4, 4), (4, 4, 4)), ((2, 2), (2, 2))):
        a, b = sample(left, "f8", 1), sample(right, "f8", 2)
        got, _ = outcome(lambda: products.tensordot(from_host(a), from_host(b), axes))  # noqa: B023
        expected, _ = outcome(lambda: numpy.tensordot(a, b, axes))  # noqa: B023
        same(got, expected, (left, right, axes))


@pytest.mark.parametrize("offset", [0, 1, -1, 3, -3, 9])
def test_trace(offset: int) -> None:
    for dtype in DTYPES:
        a = sample((3, 4, 5), dtype, 1)
        for axes in ((0, 1), (1, 2), (-1, 0), (1, 1), (0, 3)):
            got, _ = outcome(lambda: products.trace(from_host(a), offset, *axes))  # noqa: B023
            expected, _ = outcome(lambda: numpy.trace(a, offset, *axes))  # noqa: B023
            same(got, expected, (offset, axes))


def test_cross() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for left, right in (
            ((3,), (3,)),
            ((4, 3), (3,)),
            ((4, 3), (4, 3)),
            ((2,), (3,)),
            ((4, 2), (2,)),
            ((3,), (5, 2)),
        ):
            for dtype in DTYPES[1:]:
                a, b = sample(left, dtype, 1), sample(right, dtype, 2)
                try:
                    theirs = numpy.cross(a, b)
                except ValueError:  # NumPy 2.5 takes no vectors of 2 elements
                    with pytest.raises(ValueError, match=r"3 elements"):
                        products.cross(from_host(a), from_host(b))
                else:
                    same(to_host(products.cross(from_host(a), from_host(b))), theirs, (left, right))
        a, b = sample((3, 4, 5), "f8", 1), sample((4, 5, 3), "f8", 2)
        same(to_host(products.cross(from_host(a), from_host(b), 0, 2, 1)), numpy.cross(a, b, 0, 2, 1))
        same(to_host(products.cross(from_host(a), a, axis=0)), numpy.cross(a, a, axis=0))
    with pytest.raises(ValueError):
        products.cross(from_host(a), from_host(b))
    with pytest.raises(ValueError):
        products.cross(1.0, [1.0, 2.0, 3.0])


def test_a_long_product_of_vectors_is_accurate() -> None:
    a = numpy.random.default_rng(0).random(200_000).astype("f4")
    expected = a.astype("f8") @ a.astype("f8")
    assert abs(float(to_host(products.dot(from_host(a), from_host(a)))) - expected) < 1e-6 * expected


CUTS: tuple[Any, ...] = (
    lambda x: x[1],
    lambda x: x[1].T,
    lambda x: x[1, ::-1],
    lambda x: x[1, :, ::-1].T,
    lambda x: x[2, ::2, ::2],
    lambda x: x[:, 1, :],
    lambda x: x[:, 1, 2],
    lambda x: x[1, 2, ::-2],
)


@pytest.mark.parametrize("dtype", ["?", "i4", "u1", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", ["matmul", "dot", "inner", "vecdot", "matvec", "vecmat", "tensordot", "outer", "vdot"])
def test_operands_of_any_strides(name: str, dtype: str) -> None:
    base = sample((4, 6, 6), dtype, 5)
    device = from_host(base)
    row = (numpy.broadcast_to(base[0, 0], (6, 6)), np.broadcast_to(device[0, 0], (6, 6)))
    ways = [(cut(base), cut(device)) for cut in CUTS] + [row]
    for x, ours in ways:
        for y, theirs in ways:
            got, _ = outcome(lambda: getattr(products, name)(ours, theirs))  # noqa: B023
            expected, _ = outcome(lambda: getattr(numpy, name)(x, y))  # noqa: B023
            same(got, expected, (name, dtype, x.shape, x.strides, y.shape, y.strides))


@pytest.mark.parametrize("left", ["?", "i4", "f4", "f8", "c8"])
@pytest.mark.parametrize("right", ["i4", "f4", "f8", "c8"])
def test_in_place(left: str, right: str) -> None:
    for shape, other in (((3, 3), (3, 3)), ((2, 3), (3, 3)), ((2, 3), (3, 2)), ((4, 2, 3), (3, 3)), ((3,), (3, 3))):
        host, b = sample(shape, left, 1), sample(other, right, 2)
        device = from_host(host)

        def multiply(x: Any, y: Any) -> Any:
            x @= y
            return x

        expected, _ = outcome(lambda: multiply(host, b))  # noqa: B023
        got, _ = outcome(lambda: multiply(device, from_host(b)))  # noqa: B023
        same(got, expected, (left, right, shape, other))
        if not isinstance(expected, type):
            same(to_host(device), host)


def test_conjugated_operands_are_read_as_they_lie() -> None:
    for dtype in ("c8", "c16", "f8"):
        a, b = sample((5, 4), dtype, 1), sample((5, 3), dtype, 2)
        x, y = from_host(a), from_host(b)
        for compute in (
            lambda a, b: a.conj().T @ b,
            lambda a, b: a.T.conj() @ b,
            lambda a, b: b.T @ a.conj(),
            lambda a, b: a[:, 0].conj() @ b,
            lambda a, b: a.conj()[:, 1:3].T @ b.conj(),
        ):
            same(to_host(compute(x, y)), compute(a, b), dtype)
        if dtype != "f8":
            assert len(kernels(lambda: x.conj().T @ y)) == 1  # noqa: B023
            assert len(kernels(lambda: products.vecmat(x[:, 1], y))) == 1  # noqa: B023


def test_precision() -> None:
    a = sample((4, 4), "f4", 1)
    x = from_host(a)
    with np.linalg.matmul_precision("high"):
        inside = x @ x
        with np.linalg.matmul_precision("highest"):
            (step,) = kernels(lambda: x @ x)
            assert step.options[0] == "highest"  # type: ignore[union-attr]
        (step,) = kernels(lambda: x @ x)
        assert step.options[0] == "high"  # type: ignore[union-attr]
        double = x.astype("f8")
        double.computed()
        (step,) = kernels(lambda: double @ double)
        assert step.options[0] == "highest"  # type: ignore[union-attr]
    (step,) = kernels(lambda: x @ x)
    assert step.options[0] == "highest"  # type: ignore[union-attr]
    same(to_host(inside), a @ a)
    with pytest.raises(ValueError, match="'highest', 'high'"), np.linalg.matmul_precision("low"):
        pass


def test_bfloat16() -> None:
    a, b = sample((5, 40), "f4", 1).astype(bfloat16), sample((40, 3), "f4", 2).astype(bfloat16)
    x, y = from_host(a), from_host(b)
    expected = (a.astype("f4") @ b.astype("f4")).astype(bfloat16)
    for name in ("matmul", "dot"):
        made = to_host(getattr(products, name)(x, y))
        assert made.dtype == bfloat16
        numpy.testing.assert_array_equal(made.astype("f4"), expected.astype("f4"))
    made = to_host(products.vdot(x[0], x[1]))
    assert made.dtype == bfloat16
