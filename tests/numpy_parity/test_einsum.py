"""Einstein sums and chains of products against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE

from ..support.arrays import from_host, to_host
from .parity import check, outcome, same, sample

pytestmark = pytest.mark.usefixtures("nothing_runs_on_the_host")

DTYPES = ("?", "i1", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "c8", "c16")

# Subscripts, and the shapes of their operands.
SUMS: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    *(("ij,jk", ((3, 4), (4, 5))), ("ij,jk->ki", ((3, 4), (4, 5))), ("ij,kj->ik", ((3, 4), (5, 4)))),
    *(("bhqd,bhkd->bhqk", ((2, 3, 4, 5), (2, 3, 6, 5))), ("bqhd,bkhd->bhqk", ((2, 4, 3, 5), (2, 6, 3, 5)))),
    *(("bhqk,bkhd->bqhd", ((2, 3, 4, 6), (2, 6, 3, 5))), ("nchw,oc->nohw", ((2, 3, 4, 5), (6, 3)))),
    *(("ij,jk,kl->il", ((3, 4), (4, 5), (5, 2))), ("abc,cde,efg->abdfg", ((2, 3, 2), (2, 3, 4), (4, 3, 2)))),
    *(("ijk,jil->kl", ((2, 3, 4), (3, 2, 5))), ("abcd,cdef->abef", ((2, 3, 4, 2), (4, 2, 3, 2)))),
    *(("ijk,kl->ijl", ((2, 3, 4), (4, 5))), ("ikj,kl->ijl", ((2, 4, 3), (4, 5))), ("kij,lk->jli", ((4, 2, 3), (5, 4)))),
    ("pqrs,ap,bq,cr,ds->abcd", ((2, 3, 2, 3), (4, 2), (5, 3), (4, 2), (5, 3))),
    *(("ii", ((4, 4),)), ("ii->i", ((4, 4),)), ("iij->j", ((3, 3, 4),)), ("ij->", ((3, 4),)), ("ij->j", ((3, 4),))),
    *(("ij->ji", ((3, 4),)), ("ijk->kij", ((2, 3, 4),)), ("", ((),)), ("i,->i", ((3,), ()))),
    *(("i,j->ij", ((3,), (4,))), ("i,j->ji", ((3,), (4,))), ("i,i", ((5,), (5,))), ("i,i->i", ((5,), (5,)))),
    *(("ij,ij->i", ((3, 4), (3, 4))), ("ij,ij->j", ((3, 4), (3, 4))), ("ij,ij->", ((3, 4), (3, 4)))),
    *(
        ("ij,ji->", ((3, 4), (4, 3))),
        ("ij,j->i", ((3, 4), (4,))),
        ("ij,i->j", ((3, 4), (3,))),
        ("ij,i->", ((3, 4), (3,))),
    ),
    *(("bij,bj->bi", ((2, 3, 4), (2, 4))), ("i,ij,j->", ((3,), (3, 4), (4,))), ("ij,ij,ij->ij", ((3, 4),) * 3)),
    *(("iij,j->i", ((3, 3, 4), (4,))), ("ij,kl->", ((3, 4), (2, 2))), ("ij,kl->li", ((3, 4), (2, 5)))),
    *(("...ij,...jk->...ik", ((2, 3, 4), (5, 1, 4, 2))), ("...,...", ((5, 1), (3,))), ("i...->...i", ((2, 3, 4),))),
    *(("...ii->...i", ((2, 3, 3),)), ("...j,jk", ((2, 4), (4, 3))), ("i...,i...->...", ((2, 3), (2, 4, 3)))),
    *(("ij,jk->ik", ((3, 1), (4, 5))), ("ij,jk->ik", ((1, 4), (4, 1))), ("ij,jk->ik", ((3, 0), (0, 5)))),
    *(("ij->i", ((3, 0),)), ("ij,jk->ik", ((0, 4), (4, 2))), ("iJ,Jk", ((2, 3), (3, 4))), ("Ba->", ((2, 3),))),
    *(("ab,bc,cd,de,ef->af", ((2, 3), (3, 4), (4, 2), (2, 5), (5, 3))), ("i j , j k -> k i", ((3, 4), (4, 5)))),
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums(dtype: str) -> None:
    for subscripts, shapes in SUMS:
        operands = [sample(dtype, shape, k, -2, 3) for k, shape in enumerate(shapes)]
        check(np.einsum, numpy.einsum, subscripts, *operands, ulp=8)


def test_bfloat16_is_summed_as_float32() -> None:
    for subscripts, shapes in SUMS:
        wide = [sample("f4", shape, k, -2, 3) for k, shape in enumerate(shapes)]
        found = np.einsum(subscripts, *(from_host(x.astype(ml_dtypes.bfloat16)) for x in wide))
        assert found.dtype == ml_dtypes.bfloat16
        same(to_host(found), numpy.einsum(subscripts, *wide).astype(ml_dtypes.bfloat16), 2, subscripts)


@pytest.mark.parametrize("optimize", [True, "greedy", "optimal", ("greedy", 20), ["einsum_path", (0, 2), (0, 1)], 0])
def test_orders_of_contraction(optimize: Any) -> None:
    shapes = ((3, 4), (4, 5), (5, 2))
    operands = [sample("f8", shape, k) for k, shape in enumerate(shapes)]
    for subscripts in ("ij,jk,kl->il", "ij,jk,kl->", "ij,jk,kl->ijkl", "ij,jk,kl"):
        check(np.einsum, numpy.einsum, subscripts, *operands, optimize=optimize, ulp=32)


VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.T,
    "strided": lambda x: x[::2, 1::2, ::3],
    "backwards": lambda x: x[::-1, :, ::-1],
    "in another order": lambda x: x.transpose(2, 0, 1),
    "a part": lambda x: x[1:3, 2:4],
}


@pytest.mark.parametrize("optimize", [True, False, None, "optimal", ["einsum_path", (0, 2), (0, 1)]])
@pytest.mark.parametrize(
    "dtypes", [("i1", "u1", "f2"), ("f2", "u1", "i1"), ("u2", "f2", "i2"), ("i8", "u8", "f4"), ("?", "i1", "c8")]
)
@pytest.mark.parametrize("subscripts", ["i,ij,j", "i,ij,j->j"])
def test_the_order_of_contraction_decides_dtypes(subscripts: str, dtypes: tuple[str, ...], optimize: Any) -> None:
    """The dtype of a product of three may be narrower than that of a product of two, multiplied by the third."""
    shapes = ((3,), (3, 2), (2,))
    arrays = [numpy.arange(1, 1 + numpy.prod(s)).reshape(s).astype(d) for s, d in zip(shapes, dtypes, strict=True)]
    expected = numpy.einsum(subscripts, *arrays, optimize=optimize)
    got = np.einsum(subscripts, *map(from_host, arrays), optimize=optimize)
    assert got.dtype == expected.dtype
    numpy.testing.assert_array_equal(to_host(got), expected)


@pytest.mark.parametrize("way", VIEWS)
@pytest.mark.parametrize("pending", [False, True])
def test_operands_are_taken_as_they_lie(way: str, pending: bool) -> None:
    a, b = sample("f8", (6, 6, 6), 1), sample("f8", (6, 6, 6), 2)
    x, y = from_host(a), from_host(b)
    if pending:
        a, b, x, y = a + 1, b * 2, x + 1, y * 2
    look = VIEWS[way]
    for subscripts in ("ijk,ljk->il", "ijk,ijl->ikl", "ijk,ikl->lij", "ijk,jlk->", "ijk,jkl->il", "iij->j"):
        count = subscripts.count(",") + 1
        for reference, tested in (((look(a), look(b)), (look(x), look(y))), ((look(a), b), (look(x), y))):
            expected = outcome(lambda: numpy.einsum(subscripts, *reference[:count]))  # noqa: B023
            found = outcome(lambda: to_host(np.einsum(subscripts, *tested[:count])))  # noqa: B023
            same(found, expected, 32, subscripts)


def test_results_are_operands() -> None:
    a, b, c = (sample("f8", (4, 5, 6), k) for k in range(3))
    x, y, z = map(from_host, (a, b, c))
    found = np.einsum("ijk,ilk->jil", x, y)
    expected = numpy.einsum("ijk,ilk->jil", a, b)
    same(
        to_host(np.einsum("jil,lim->jm", found, z.transpose(1, 0, 2))),
        numpy.einsum("jil,lim->jm", expected, c.transpose(1, 0, 2)),
        32,
    )
    same(to_host(found + 1), expected + 1, 8)
    same(to_host(found.sum(axis=1)), expected.sum(axis=1), 8)


def test_sublists() -> None:
    a, b = sample("f8", (2, 3), 1), sample("f8", (3, 4), 2)
    check(np.einsum, numpy.einsum, a, [0, 1], b, [1, 2])
    check(np.einsum, numpy.einsum, a, [0, 30], b, [30, 1], [1, 0])
    check(np.einsum, numpy.einsum, a, [30, 27], b, [27, 1])
    check(np.einsum, numpy.einsum, a, [..., 1], b, [1, 0], [0, ...])
    for wrong in ([0, 60], ["a", 0], [-1, 0], "ab", 3):
        check(np.einsum, numpy.einsum, a, wrong)


@pytest.mark.parametrize(
    "arguments",
    [
        *((), ("ij",), ("ij,jk", "a"), ("ij", "a", "b"), ("ijk", "a"), ("i", "a"), ("ij,kj->ik", "a", "b")),
        *(("ij->ik", "a"), ("ij->ii", "a"), ("i1", "a"), ("i..j", "a"), ("i.j...", "a"), ("ii", "a"), ("i->...", "a")),
        *(("...->i", "a"), ("ij->i->j", "a"), ("ij,jk", "b", "b"), ("......", "a"), ("...i...", "a"), ("ij-i", "a")),
    ],
)
def test_errors(arguments: tuple[str, ...]) -> None:
    known = {"a": sample("f8", (2, 3), 1), "b": sample("f8", (3, 4), 2)}
    given = [known.get(x, x) if k else x for k, x in enumerate(arguments)]
    reference = outcome(lambda: numpy.einsum(*given))
    tested = outcome(lambda: np.einsum(*[from_host(x) if isinstance(x, numpy.ndarray) else x for x in given]))
    same(on_host(tested), reference)
    if isinstance(reference, Exception):
        assert str(tested) == str(reference)


def on_host(x: Any) -> Any:
    return to_host(x) if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize(
    "options", [{"order": "X"}, {"dtype": "i4"}, {"casting": "no"}, {"dtype": "f4"}, {"dtype": "c16"}]
)
def test_options(options: Any) -> None:
    a, b = sample("f4", (2, 3), 1), sample("f8", (3, 4), 2)
    check(np.einsum, numpy.einsum, "ij,jk->ik", a, b, **options)
    check(np.einsum, numpy.einsum, "ij,jk->ik", a, b, **options, casting="same_kind") if len(options) == 0 else None
    check(np.einsum, numpy.einsum, "ij->i", a, **options)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_order_in_memory(order: str) -> None:
    a, b = from_host(sample("f8", (2, 3), 1)), from_host(sample("f8", (3, 4), 2))
    found = np.einsum("ij,jk->ki", a, b, order=order)
    if order in "CF":
        assert found.flags[f"{order}_CONTIGUOUS"]
    same(to_host(found), numpy.einsum("ij,jk->ki", to_host(a), to_host(b)))
    if order == "A":
        assert np.einsum("ij,jk->ik", a.T.copy(order="F").T.T.T, b, order=order).flags.c_contiguous
        assert np.einsum("ij,jk->ik", np.asfortranarray(a), np.asfortranarray(b), order=order).flags.f_contiguous


@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "c16"])
def test_out(kind: str) -> None:
    a, b = sample("f8", (3, 4), 1), sample("f8", (4, 2), 2)
    for subscripts, shape in (
        ("ij,jk->ik", (3, 2)),
        ("ij,jk->ki", (2, 3)),
        ("ij,jk->ik", (2, 3)),
        ("ij,jk->ik", (1, 3, 2)),
    ):
        for casting in ("safe", "same_kind"):
            host, into = numpy.zeros(shape, kind), from_host(numpy.zeros(shape, kind))
            reference = outcome(lambda: numpy.einsum(subscripts, a, b, out=host, casting=casting))  # noqa: B023
            tested = outcome(lambda: np.einsum(subscripts, from_host(a), from_host(b), out=into, casting=casting))  # noqa: B023
            if isinstance(reference, Exception):
                same(tested, reference)
                assert str(tested) == str(reference)
            else:
                assert tested is into
                same(to_host(into), host)
    x = from_host(sample("f8", (3, 3), 1))
    expected = to_host(x).T @ to_host(x)
    np.einsum("ji,jk->ik", x, x, out=x)
    same(to_host(x), expected)


def test_what_is_not_summed_is_a_view() -> None:
    host = sample("f8", (3, 3, 4), 1)
    x = from_host(host)
    for subscripts in ("iij->ij", "iij->ji", "ijk->kij", "..."):
        view, reference = np.einsum(subscripts, x), numpy.einsum(subscripts, host)
        assert view.base is x
        view[...] = 7
        reference[...] = 7
        same(to_host(x), host)
    x.flags.writeable = False
    assert not np.einsum("iij->ij", x).flags.writeable
    assert np.einsum("ij->ji", x[0], dtype="f4").dtype == numpy.einsum("ij->ji", host[0], dtype="f4").dtype


# Subscripts that sum one axis or two of size 1, and the shape of the operand.
SHORT = (("ij->i", (3, 1)), ("ij->j", (1, 3)), ("ijk->ik", (3, 1, 4)), ("iij->j", (1, 1, 3)), ("i->", (1,)))


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize(("subscripts", "shape"), SHORT)
def test_a_sum_over_one_element_is_no_view(subscripts: str, shape: tuple[int, ...], optimize: bool) -> None:
    host = sample("f8", shape, 1)
    x = from_host(host)
    found, reference = np.einsum(subscripts, x, optimize=optimize), numpy.einsum(subscripts, host, optimize=optimize)
    x[...] = host[...] = 5
    same(to_host(found), reference)
    if reference.ndim:
        found[...] = reference[...] = 7
    same(to_host(found), reference)
    same(to_host(x), host)


@pytest.mark.parametrize(("subscripts", "shape"), SHORT)
def test_a_sum_over_one_element_is_computed_in_a_dtype(subscripts: str, shape: tuple[int, ...]) -> None:
    for options in ({"dtype": "f8"}, {"dtype": "i8"}, {"dtype": "?"}, {"dtype": "?", "casting": "unsafe"}):
        for optimize in (False, True):
            check(np.einsum, numpy.einsum, subscripts, sample("i1", shape), optimize=optimize, **options)


@pytest.mark.parametrize(
    ("subscripts", "shape"),
    [
        *(("ij->ji", (3, 0)), ("ij->ij", (0, 3)), ("i->i", (0,)), ("ii->i", (0, 0)), ("iij->ji", (2, 2, 0))),
        *(("...", (0,)), ("...", (2, 0, 3)), ("bij->bji", (0, 2, 2)), ("ij->i", (0, 1)), ("ij->i", (3, 0))),
    ],
)
def test_nothing_is_seen(subscripts: str, shape: tuple[int, ...]) -> None:
    whole = sample("f4", tuple(n + 2 for n in shape), 1)
    part = tuple(slice(1, n + 1) for n in shape)
    for host, x in ((numpy.zeros(shape, "f4"), np.zeros(shape, "f4")), (whole[part], from_host(whole)[part])):
        for options in ({}, {"optimize": True}, {"dtype": "f8"}, {"order": "F"}):
            found, reference = np.einsum(subscripts, x, **options), numpy.einsum(subscripts, host, **options)
            same(to_host(found), reference)
            same(to_host(found + 1), reference + 1)
            if found.size == 0:
                found[...] = 7
        same(to_host(x), host)


@pytest.mark.parametrize(
    ("subscripts", "shapes", "optimize"),
    [
        *(("ij->i", ((2, 3),), False), ("ij->ji", ((3, 2),), False), ("ij->i", ((2, 1),), False)),
        *(("ij->i", ((2, 3),), True), ("ij->ji", ((3, 2),), True), ("i,j->", ((3,), (3,)), False)),
    ],
)
def test_the_dtype_of_out_counts(subscripts: str, shapes: Any, optimize: bool) -> None:
    shape = numpy.einsum(subscripts, *map(numpy.zeros, shapes)).shape
    for kind, into in product(("?", "i1", "u1", "i8", "f4", "c8"), ("?", "i1", "i8", "f4", "f8", "c16")):
        operands = [sample(kind, s, 3, 1) * numpy.asarray(20, kind) for s in shapes]
        for options in ({}, {"casting": "same_kind"}, {"casting": "unsafe"}, {"dtype": "i4"}):
            given = {"optimize": optimize, **options}
            host, tested = numpy.zeros(shape, into), from_host(numpy.zeros(shape, into))
            reference = outcome(lambda: numpy.einsum(subscripts, *operands, out=host, **given))  # noqa: B023
            found = outcome(lambda: np.einsum(subscripts, *map(from_host, operands), out=tested, **given))  # noqa: B023
            same(on_host(found), reference, what=f"{kind} into {into} {options}")
            same(to_host(tested), host, what=f"{kind} into {into} {options}")


def test_sums_that_only_out_has_room_for() -> None:
    for kind, value, wide in (("i1", 100, "i8"), ("f4", 1e30, "f8")):
        a, b = numpy.full((2, 3), value, kind), numpy.full(3, value, kind)
        for subscripts, operands, shape in (("ij,j->i", (a, b), (2,)), ("ij,kj->ik", (a, a), (2, 2))):
            host, tested = numpy.zeros(shape, wide), from_host(numpy.zeros(shape, wide))
            numpy.einsum(subscripts, *operands, out=host)
            np.einsum(subscripts, *map(from_host, operands), out=tested)
            same(to_host(tested), host)
            if kind == "i1":  # products of pairs are of their operands' dtype
                numpy.einsum(subscripts, *operands, out=host, optimize=True)
                np.einsum(subscripts, *map(from_host, operands), out=tested, optimize=True)
                same(to_host(tested), host)


@pytest.mark.skipif(RELEASE < "2.4.0", reason="before NumPy 2.4 a dtype does not reach the products of pairs")
def test_a_narrower_dtype_of_contracted_pairs() -> None:
    """Which NumPy takes by its rule for products of matrices."""
    a, b = sample("f8", (3, 4), 1), sample("f8", (4, 5), 1)
    for subscripts, operands in (
        ("ij,jk", (a, b)),
        ("ij,jk->", (a, b)),
        ("i,j", (a[0], b[0])),
        ("ij,jk,ik", (a, b, a @ b)),
    ):
        for dtype, into in product(("f4", "c8", "i4"), (None, "f4", "f8")):
            shape = numpy.einsum(subscripts, *operands).shape

            def made(xp: Any) -> Any:
                out = None if into is None else xp.zeros(shape, into)  # noqa: B023
                given = {"dtype": dtype, "out": out, "optimize": True}  # noqa: B023
                return xp.einsum(subscripts, *map(xp.asarray, operands), **given)  # noqa: B023

            reference, found = outcome(lambda: made(numpy)), outcome(lambda: made(np))
            if isinstance(reference, numpy.ndarray):
                assert found.dtype == reference.dtype
                numpy.testing.assert_allclose(on_host(found), reference, 1e-5, 1e-5)
            else:
                assert type(found) is type(reference)


def test_nothing_large_is_computed_to_be_refused() -> None:
    large = np.broadcast_to(np.zeros((), "f8"), (1 << 20, 1 << 20))
    with pytest.raises(TypeError):
        np.einsum("ij,jk->", large, large, dtype="i4", optimize=True)


def test_imaginary_parts_that_are_lost_warn() -> None:
    z = sample("c16", (3,), 1)
    x = from_host(z)
    for subscripts, options in (
        *(("i->", {"dtype": "f8"}), ("i->i", {"dtype": "f8"}), ("i->", {"dtype": "?"}), ("i->", {"dtype": "c8"})),
        ("i,i->", {"dtype": "f8"}),
        # Before NumPy 2.4 a dtype does not reach the products of pairs.
        *([("i,i->", {"dtype": "f8", "optimize": True})] if RELEASE >= "2.4.0" else []),
    ):
        for _ in range(2):
            with warnings.catch_warnings(record=True) as reference:
                warnings.simplefilter("always")
                expected = numpy.einsum(subscripts, *[z] * (subscripts.count(",") + 1), casting="unsafe", **options)
            with warnings.catch_warnings(record=True) as tested:
                warnings.simplefilter("always")
                found = np.einsum(subscripts, *[x] * (subscripts.count(",") + 1), casting="unsafe", **options)
            assert [(w.category, str(w.message)) for w in tested] == [(w.category, str(w.message)) for w in reference]
            assert all(w.filename == __file__ for w in tested)
            same(to_host(found), expected)


@pytest.mark.parametrize("optimize", [False, True, None])
@pytest.mark.parametrize(
    "subscripts",
    ["d - > d", "d- >", ". . .", ". ..->...", "d -> d", " ... ", "... -> ...", "d...->d", " d ... -> ... d"],
)
def test_blanks(subscripts: str, optimize: Any) -> None:
    check(np.einsum, numpy.einsum, subscripts, sample("f8", (3,), 1), optimize=optimize)
    check(np.einsum, numpy.einsum, subscripts, sample("f8", (3, 2), 1), optimize=optimize)


@pytest.mark.parametrize("count", [63, 64, 70])
def test_many_operands(count: int) -> None:
    operands = [sample("f8", (2,), k, 1, 3) for k in range(count)]
    subscripts = ",".join(["i"] * count)
    for optimize in (False, True):
        check(np.einsum, numpy.einsum, subscripts, *operands, optimize=optimize, ulp=64)


def test_einsum_path() -> None:
    shapes = ((3, 4), (4, 5), (5, 2))
    host = [sample("f8", shape, k) for k, shape in enumerate(shapes)]
    for options in ({}, {"optimize": "optimal"}, {"optimize": ("greedy", 4)}, {"optimize": False}):
        reference = numpy.einsum_path("ij,jk,kl->il", *host, **options)
        assert np.einsum_path("ij,jk,kl->il", *map(from_host, host), **options) == reference
    reference = numpy.einsum_path(host[0], [0, 1], host[1], [1, 2])
    assert np.einsum_path(from_host(host[0]), [0, 1], from_host(host[1]), [1, 2]) == reference
    with pytest.raises(ValueError, match="does not match"):
        np.einsum_path("ij,jk", from_host(host[0]), from_host(host[2]))


def test_paths_of_lists() -> None:
    operands = [sample("f8", shape, k) for k, shape in enumerate(((3, 4), (4, 5), (5, 2)))]
    for path in (["einsum_path", [0, 1], [0, 1]], ("einsum_path", (1, 2), [0, 1]), ["einsum_path", (0, 1, 2)]):
        check(np.einsum, numpy.einsum, "ij,jk,kl->il", *operands, optimize=path, ulp=16)


OUTPUTS: tuple[tuple[str, tuple[tuple[int, ...], ...], tuple[int, ...]], ...] = (
    ("i,i->", ((3,), (3,)), ()),
    ("ij,jk->ki", ((3, 2), (2, 4)), (4, 3)),
    ("ij,jk->ik", ((3, 2), (2, 4)), (3, 4)),
    ("ij,jk->ki", ((3, 2), (2, 4)), (5, 4, 3)),
    ("ij,jk->ki", ((3, 2), (2, 4)), (4, 2)),
    ("i,i->i", ((3,), (3,)), (2, 3)),
    ("b,d->", ((3,), (4,)), (2,)),
    ("ij,jk,kl->il", ((3, 2), (2, 4), (4, 3)), (3, 3)),
    ("ij->ji", ((3, 2),), (2, 3)),
)


@pytest.mark.parametrize("optimize", [False, True, "optimal"])
@pytest.mark.parametrize("dtype", ["i8", "f4", "f8", "c16"])
def test_outputs_of_another_dtype_or_shape(dtype: str, optimize: Any) -> None:
    """NumPy takes some of them where it multiplies matrices, by rules of its own."""
    for subscripts, shapes, shape in OUTPUTS:
        if subscripts == "i,i->" and optimize and RELEASE >= "2.4.0" and RELEASE < "2.4.5":
            continue  # NumPy 2.4 writes an inner product to no 0-d output before 2.4.5
        for given in ("f8", "c16"):
            host = [sample(given, x, k) for k, x in enumerate(shapes)]
            out, into = numpy.zeros(shape, dtype), from_host(numpy.zeros(shape, dtype))
            reference = outcome(lambda: numpy.einsum(subscripts, *host, out=out, optimize=optimize))  # noqa: B023
            tested = outcome(lambda: np.einsum(subscripts, *map(from_host, host), out=into, optimize=optimize))  # noqa: B023
            if isinstance(reference, Exception):
                assert type(tested) is type(reference), (subscripts, shape)
                assert str(tested) == str(reference)
            else:
                assert tested is into
            same(to_host(into), out, 16)


def test_a_dtype_that_is_none() -> None:
    for arguments in (("", 0), ("ij->ij", from_host(numpy.ones((2, 2))))):
        with pytest.raises(TypeError, match="data type 'bad' not understood"):
            np.einsum(*arguments, dtype="bad")


def test_what_is_not_subscripts() -> None:
    x, host = from_host(numpy.ones(3)), numpy.ones(3)
    for arguments in ((), (3,), (None, 3), (3, 3), (3, 3, 3), (3, [0], 3)):
        words = []
        for einsum, array in ((np.einsum, x), (numpy.einsum, host)):
            with pytest.raises((TypeError, ValueError)) as raised:
                einsum(*(array if a == 3 else a for a in arguments))
            words.append((raised.type, str(raised.value)))
        assert words[0] == words[1]


# --- linalg ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c16"])
def test_multi_dot(dtype: str) -> None:
    sizes = ((3, 4), (4, 2), (2, 6), (6, 5), (5, 1))
    chain = [sample(dtype, shape, k, -2, 3) for k, shape in enumerate(sizes)]
    for count in range(6):
        check_chain(chain[:count])
    check_chain([chain[0][0], *chain[1:]])
    check_chain([*chain[:4], chain[4][:, 0]])
    check_chain([chain[0][0], *chain[1:4], chain[4][:, 0]])
    check_chain([chain[0], chain[2], chain[1]])
    check_chain([chain[0], chain[1][None], chain[2]])


def check_chain(chain: list[Any]) -> None:
    reference = outcome(lambda: numpy.linalg.multi_dot(chain))
    tested = outcome(lambda: on_host(np.linalg.multi_dot([from_host(x) for x in chain])))
    same(tested, reference, 64)
    if isinstance(reference, Exception) and isinstance(reference, numpy.linalg.LinAlgError):
        assert isinstance(tested, numpy.linalg.LinAlgError)


def test_multi_dot_out() -> None:
    chain = [sample("f8", shape, k) for k, shape in enumerate(((3, 4), (4, 2), (2, 6)))]
    into = from_host(numpy.zeros((3, 6)))
    assert np.linalg.multi_dot([from_host(x) for x in chain], out=into) is into
    same(to_host(into), numpy.linalg.multi_dot(chain), 16)


def test_names_of_linalg() -> None:
    a, b, v = sample("f8", (2, 3, 3), 1), sample("c8", (2, 3, 3), 2), sample("i4", (3,), 3)
    tested, reference = np.linalg, numpy.linalg
    for one, two in ((a, b), (a, v), (v, v), (b, a), (a, a[:, :2])):
        for name in ("matmul", "outer", "tensordot", "vecdot", "cross"):
            check(getattr(tested, name), getattr(reference, name), one, two)
    check(tested.vecdot, reference.vecdot, b, b, axis=1)
    check(tested.cross, reference.cross, a, a, axis=1)
    check(tested.tensordot, reference.tensordot, a, b, axes=([0, 1], [0, 2]))
    for offset in (-1, 0, 2):
        check(tested.diagonal, reference.diagonal, a, offset=offset)
        check(tested.trace, reference.trace, a, offset=offset, dtype="c16")
    check(tested.trace, reference.trace, a.astype("i2"))
    check(tested.matrix_transpose, reference.matrix_transpose, b)
    check(tested.matrix_transpose, reference.matrix_transpose, v)
    check(tested.diagonal, reference.diagonal, v)
