"""Products of vectors and matrices against NumPy."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import bfloat16
from gpunumpy.core.numpy_release import RELEASE
from tests.core.fusion.counting import kernels

from ..support.arrays import from_host, mark_as_array, to_host
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
        got, _ = outcome(lambda: getattr(np, name)(from_host(a), from_host(b)))  # noqa: B023
        expected, _ = outcome(lambda: getattr(numpy, name)(a, b))  # noqa: B023
        same(got, expected, (name, dtype, left, right))


@pytest.mark.parametrize("left", ["?", "i4", "f2", "f4", "c8"])
@pytest.mark.parametrize("right", ["u1", "i8", "f8", "c16"])
def test_dtypes_meet(left: str, right: str) -> None:
    a, b = sample((4, 5), left, 1), abs(sample((5, 3), "i4", 2)).astype(right)
    for name in ("matmul", "dot"):
        same(to_host(getattr(np, name)(from_host(a), b)), getattr(numpy, name)(a, b), (name, left, right))
    same(to_host(np.inner(from_host(a), from_host(b.T))), numpy.inner(a, b.T))


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
                same(to_host(np.matmul(one(device), two(device))), one(base) @ two(base))


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
        same(to_host(np.matmul(x, y)), expected, (left, right))
        turned = from_host(numpy.ascontiguousarray(b.swapaxes(-1, -2))).mT
        same(to_host(np.matmul(x, turned)), expected, (left, right))
        same(to_host(np.matvec(x, turned[..., 0])), numpy.matvec(a, b[..., 0]), (left, right))


def test_pending_operands_and_results() -> None:
    a, b = sample((4, 4), "f8", 1), sample((4, 4), "f8", 2)
    x, y = from_host(a), from_host(b)
    same(to_host(np.matmul(x + y, (x - y).T) * 2), ((a + b) @ (a - b).T) * 2)
    same(to_host(np.dot((x + y)[0], (x * 2)[1])), (a + b)[0] @ (a * 2)[1])


@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "c16"])
def test_out(kind: str) -> None:
    a, b = sample((3, 4), "f4", 1), sample((4, 2), "f4", 2)
    for shape in ((3, 2), (2, 3), (1, 3, 2)):
        for name in ("matmul", "dot"):
            into, host = mark_as_array(from_host(numpy.zeros(shape, kind))), numpy.zeros(shape, kind)
            expected, _ = outcome(lambda: getattr(numpy, name)(a, b, out=host))  # noqa: B023
            if name == "matmul" and len(shape) == 3:
                continue  # NumPy broadcasts into it
            if isinstance(expected, type):
                with pytest.raises(expected):
                    getattr(np, name)(from_host(a), from_host(b), out=into)
            else:
                assert getattr(np, name)(from_host(a), from_host(b), out=into) is into
                same(to_host(into), host, (name, kind, shape), numpy.dtype("f4"))


def test_out_may_be_an_operand() -> None:
    a = sample((3, 3), "f8", 1)
    x = from_host(a)
    np.matmul(x, x, out=x)
    same(to_host(x), a @ a)


# One axis by two numbers, and halves of unlike types.
_AXES = (([0, -2], [0, 1]), ([0, 1], [1, -1]), ([-1, 1], [0, 1]), ((0,), 0), (1, [1]), ((0, 1), (0,)), ((), ()))


@pytest.mark.parametrize(
    "axes", [0, 1, 2, ([1, 0], [0, 1]), ([2], [1]), (0, 2), ([0, 0], [1, 1]), ([0, 1], [0]), 3, *_AXES]
)
def test_tensordot(axes: Any) -> None:
    for left, right in (((3, 4, 5), (4, 3, 5)), ((2, 3, 4), (3, 4, 2)), ((4, 4, 4), (4, 4, 4)), ((2, 2), (2, 2))):
        a, b = sample(left, "f8", 1), sample(right, "f8", 2)
        got, _ = outcome(lambda: np.tensordot(from_host(a), from_host(b), axes))  # noqa: B023
        expected, _ = outcome(lambda: numpy.tensordot(a, b, axes))  # noqa: B023
        same(got, expected, (left, right, axes))


@pytest.mark.parametrize("offset", [0, 1, -1, 3, -3, 9])
def test_trace(offset: int) -> None:
    for dtype in DTYPES:
        a = sample((3, 4, 5), dtype, 1)
        for axes in ((0, 1), (1, 2), (-1, 0), (1, 1), (0, 3)):
            got, _ = outcome(lambda: np.trace(from_host(a), offset, *axes))  # noqa: B023
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
                    reference = numpy.cross(a, b)
                except ValueError as refused:  # NumPy 2.5 takes no vectors of 2 elements
                    with pytest.raises(ValueError, match=re.escape(str(refused))):
                        np.cross(from_host(a), from_host(b))
                else:
                    same(to_host(np.cross(from_host(a), from_host(b))), reference, (left, right))
        a, b = sample((3, 4, 5), "f8", 1), sample((4, 5, 3), "f8", 2)
        same(to_host(np.cross(from_host(a), from_host(b), 0, 2, 1)), numpy.cross(a, b, 0, 2, 1))
        same(to_host(np.cross(from_host(a), a, axis=0)), numpy.cross(a, a, axis=0))
    with pytest.raises(ValueError):
        np.cross(from_host(a), from_host(b))
    with pytest.raises(ValueError):
        np.cross(1.0, [1.0, 2.0, 3.0])


def test_a_long_product_of_vectors_is_accurate() -> None:
    a = numpy.random.default_rng(0).random(200_000).astype("f4")
    expected = a.astype("f8") @ a.astype("f8")
    assert abs(float(to_host(np.dot(from_host(a), from_host(a)))) - expected) < 1e-6 * expected


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
    for x, tested in ways:
        for y, reference in ways:
            got, _ = outcome(lambda: getattr(np, name)(tested, reference))  # noqa: B023
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
            assert len(kernels(lambda: np.vecmat(x[:, 1], y))) == 1  # noqa: B023


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
        made = to_host(getattr(np, name)(x, y))
        assert made.dtype == bfloat16
        numpy.testing.assert_array_equal(made.astype("f4"), expected.astype("f4"))
    made = to_host(np.vdot(x[0], x[1]))
    assert made.dtype == bfloat16


@pytest.mark.parametrize("dtype", ["f2", "i4", "i8", "u2"])
def test_bfloat16_with_what_it_has_no_dtype_in_common_with(dtype: str) -> None:
    a, b = sample((3, 4), "f4", 1).astype(bfloat16), sample((4, 2), dtype, 2)
    x, y = from_host(a), from_host(b)
    for one, two, left, right in ((a, b, x, y), (b.T, a.T, y.T, x.T)):
        expected = numpy.matmul(one, two)
        same(to_host(left @ right), expected)
        for made in (np.dot(left, right), np.tensordot(left, right, 1), np.einsum("ij,jk", left, right)):
            same(to_host(made), expected)


STACKED = ("matmul", "matvec", "vecmat", "vecdot")
CORES = {"matmul": ((3, 3), (3, 3)), "matvec": ((3, 3), (3,)), "vecmat": ((3,), (3, 3)), "vecdot": ((3,), (3,))}


def alike(name: str, a: Any, b: Any, **options: Any) -> None:
    """The function of a name makes what NumPy's makes, in a new array or in `out`, with the same warnings."""
    reference, tested = dict(options), dict(options)
    if "out" in options:
        reference["out"], tested["out"] = options["out"].copy(), mark_as_array(from_host(options["out"]))
    expected, said = outcome(lambda: getattr(numpy, name)(a, b, **reference))
    got, heard = outcome(lambda: getattr(np, name)(from_host(a), from_host(b), **tested))
    same(got, expected, (name, a.shape, b.shape, options), a.dtype)
    assert heard == said or isinstance(expected, type)
    if "out" in options:
        same(to_host(tested["out"]), reference["out"], (name, options), a.dtype)


@pytest.mark.parametrize("name", STACKED)
def test_casting_counts_for_outputs(name: str) -> None:
    for kinds in ("f4 f8", "f8 f4", "f8 i4", "c16 f8", "c8 c16", "f4 f4", "i4 ?"):
        kind, into = kinds.split()
        a, b = (sample(core, kind, 1) for core in CORES[name])
        out = numpy.zeros(getattr(numpy, name)(a, b).shape + (() if name != "vecdot" else (1,)), into)
        for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
            alike(name, a, b, out=out, casting=casting)
            alike(name, a, b.astype(numpy.promote_types(kind, "f8")), casting=casting)
            alike(name, a, b, casting=casting, dtype=into)
    for wrong in ("x", None):
        alike(name, a, b, casting=wrong)


@pytest.mark.parametrize("name", STACKED)
def test_keywords_of_generalised_ufuncs(name: str) -> None:
    a, b = (sample((3, *core), "f8", 1) for core in CORES[name])
    given: tuple[dict[str, Any], ...] = (
        *({"order": order} for order in ("C", "F", "A", "K", "f", None, "Z", 3)),
        *({"subok": subok} for subok in (True, False, 3)),
        *({key: sig} for key in ("signature", "sig") for sig in ("dd->d", "ff->f", "FF->F", "d", (None, None, "F"))),
        {"signature": (None, None, "f4"), "casting": "unsafe"},
        {"signature": "dd->d", "dtype": "f8"},
        {"signature": "dd->d", "sig": "dd->d"},
        *({"keepdims": keep} for keep in (True, False, 3, None)),
        *({"axis": axis} for axis in (0, 1, -1, -2, 3, None)),
        {"axis": 0, "keepdims": True},
        {"axis": 0, "axes": [0, 0]},
        {"where": True},
        {"bad": 1},
        *({"axes": axes} for axes in (None, (0, 1, 2), [0], [0, 0], [0, 0, 0], [0, 0, ()], [1, 0], [(1,), 0])),
        *({"axes": axes, "keepdims": True} for axes in ([0, 0], [0, 0, 0], [0, 0, -1], [0, 0, 1])),
        *({"axes": [left, (0, 1), (0, 1)]} for left in ((0, 0), (7, 0), (0, 1.5), (0, 2), (2, 0), 1, 0)),
        *({"axes": [(0, 1), right, out]} for right in ((2, 0), (0,), 1, (1, 2)) for out in ((0, -1), (2, 1), 0, (1,))),
        *({"axes": [0, right, out]} for right in ((2, 0), (0, 1), 1) for out in ((), 0, 1, -1)),
    )
    for options in given:
        if name == "matmul" and options.get("order") in ("F", "f") and RELEASE < "2.3.1":
            continue  # NumPy 2.3.0 hands BLAS wrong strides of the result
        alike(name, a, b, **options)
        alike(name, a, b[0], **options)
        if isinstance(order := options.get("order"), str) and order in "CF":
            made = getattr(np, name)(from_host(a), from_host(b), order=order)
            reference = getattr(numpy, name)(a, b, order=order)
            assert [s // 8 for s in reference.strides] == list(made.layout.strides)


def test_axes_of_vectors_and_outputs() -> None:
    a, b = sample((4, 2, 3), "f8", 1), sample((4, 3, 5), "f8", 2)
    for out in ((2, 5, 6, 4), (2, 5, 4), (6, 2, 5, 4), (2, 4, 5), (2, 5)):
        for axes in ((0, 1), (0, -2), (-3, -2), (1, 2), (1, 0)):
            alike("matmul", a, b, axes=[(1, 2), (1, 2), axes], out=numpy.zeros(out))
    alike("matmul", a[0, 0], b, axes=[0, (1, 2), 0])
    alike("matmul", a[0, 0], b, axes=[0, (1, 2), 0], out=numpy.zeros((5, 7, 4)))
    alike("matmul", a[0, 0], a[0, 0], axes=[0, 0])
    for shape in ((6, 4, 1, 3), (6, 1, 2, 3), (4, 1, 3), (4, 3)):
        alike("vecdot", a, a, axis=-2, keepdims=True, out=numpy.zeros(shape))
        alike("vecdot", a, a, axis=-2, out=numpy.zeros(shape))


@pytest.mark.parametrize("name", STACKED)
def test_outputs_may_have_more_dimensions(name: str) -> None:
    a, b = (sample(core, "f8", 1) for core in CORES[name])
    core = getattr(numpy, name)(a, b).shape
    for shape in ((4, *core), (2, 4, *core), (*core, 1), (4, *(1 for _ in core)), core[1:]):
        alike(name, a, b, out=numpy.zeros(shape))
        alike(name, numpy.stack([a] * 4), b, out=numpy.zeros(shape))
    host = numpy.zeros((4, *core))
    assert getattr(np, name)(from_host(a), b, out=host) is host
    same(host, getattr(numpy, name)(a, b, out=numpy.zeros((4, *core))))


def test_outer_broadcasts_into_its_output() -> None:
    for shape in ((3, 4), (2, 3, 4), (1, 4), (4,)):
        alike("outer", sample((3,), "f8"), sample((4,), "f8"), out=numpy.zeros(shape))


@pytest.mark.parametrize("name", STACKED)
def test_a_lost_imaginary_part_warns(name: str) -> None:
    for kind in ("f4", "c8", "?"):
        for empty in (False, True):
            a, b = (sample((0, *core) if empty else core, "c16", 1) for core in CORES[name])
            alike(name, a, b, dtype=kind, casting="unsafe")
            alike(name, a, b, signature=(None, None, kind), casting="unsafe")


@pytest.mark.parametrize("shape", [(0, 0), (2, 0), (2, 2), (0, 2, 2), (2, 2, 0)])
def test_trace_tells_of_a_lost_imaginary_part(shape: tuple[int, ...]) -> None:
    a = sample(shape, "c16", 1)
    for dtype in ("f4", "c8", "?", None):
        expected, said = outcome(lambda: numpy.trace(a, dtype=dtype))  # noqa: B023
        got, heard = outcome(lambda: np.trace(from_host(a), dtype=dtype))  # noqa: B023
        same(got, expected, (shape, dtype), numpy.dtype("f4"))
        assert heard == said
        _, said = outcome(lambda: numpy.sum(a, 0, dtype=dtype))  # noqa: B023
        _, heard = outcome(lambda: np.sum(from_host(a), 0, dtype=dtype))  # noqa: B023
        assert heard == said


def test_the_numbers_of_arguments_are_known() -> None:
    for name in STACKED:
        tested, reference = getattr(np, name), getattr(numpy, name)
        for attribute in ("__name__", "nin", "nout", "nargs", "signature", "identity", "types", "ntypes"):
            assert getattr(tested, attribute) == getattr(reference, attribute)


def test_what_numpy_refuses() -> None:
    host = numpy.eye(2)
    x = from_host(host)
    into = mark_as_array(from_host(numpy.zeros((2, 2)))), numpy.zeros((2, 2))
    for function in (
        lambda xp, a, out: xp.tensordot(a, a, axes=1.0),
        lambda xp, a, out: xp.dot(a, a, out=(out,)),
        lambda xp, a, out: xp.outer(a[0], a[0], out=(out,)),
        lambda xp, a, out: xp.trace(xp.stack([a, a]), axis1=1, axis2=2, out=(out[0],)),
        lambda xp, a, out: xp.linalg.multi_dot(a for _ in range(3)),
        lambda xp, a, out: xp.linalg.multi_dot([a, a, a], out=(out,)),
    ):
        with pytest.raises(TypeError):
            function(numpy, host, into[1])
        with pytest.raises(TypeError):
            function(np, x, into[0])
    for axes in (True, numpy.array(1), -1, numpy.array([0, 1]), numpy.array([[0, 1], [1, 0]])):
        same(to_host(np.tensordot(x, x, axes)), numpy.tensordot(host, host, axes))
        if isinstance(axes, numpy.ndarray):
            same(to_host(np.tensordot(x, x, from_host(axes))), numpy.tensordot(host, host, axes))


def refused(call: Any) -> str:
    """The words of the error that a call raises, with the name of its class in Python."""
    with pytest.raises(Exception) as raised:
        call()
    return f"{next(t for t in raised.type.__mro__ if t.__module__ == 'builtins').__name__}: {raised.value}"


def test_words_of_what_is_refused() -> None:
    for call in (
        lambda xp, a: a.__imatmul__(a[0]),
        lambda xp, a: a[0].__imatmul__(a[1]),
        lambda xp, a: xp.stack([a, a]).__imatmul__([1.0, 2.0, 3.0]),
        lambda xp, a: xp.inner(a[:, :2], a),
        lambda xp, a: xp.inner(a[0, :2], a),
        lambda xp, a: xp.inner(xp.stack([a, a]), a[:2, :2]),
        lambda xp, a: xp.inner(a[0], a[:2, :1]),
        lambda xp, a: xp.vecdot(a, a, dtype="?"),
        lambda xp, a: xp.matvec(a, a, casting="no", dtype="c8"),
        lambda xp, a: xp.matvec(a, a[0], out=xp.zeros(5)),
        lambda xp, a: xp.matmul(a, a, out=xp.zeros((3, 2))),
        lambda xp, a: xp.matmul(a, a, axes=[(0, -2), (0, 1), (0, 1)]),
        lambda xp, a: xp.tensordot(a, a, ([0, -2], [0, 1])),
        lambda xp, a: xp.tensordot(a, a, ((0, 1), (0,))),
    ):
        host = numpy.arange(9.0).reshape(3, 3)
        assert refused(lambda: call(np, from_host(host))) == refused(lambda: call(numpy, host))  # noqa: B023


def test_more_products_than_there_is_memory_for(device: str) -> None:
    """No kernel is prepared for them, which the CPU device would take hours for; what else is pending is computed."""
    with np.Device(device):
        column, other = np.ones((10**7, 1)), np.ones(3) * 2
        for many in (np.kron(column, column), np.outer(column, column), column @ column.T):
            with pytest.raises(MemoryError, match="800,000,000,000,000 bytes"):
                to_host(many)
        assert to_host(other).tolist() == [2, 2, 2]
