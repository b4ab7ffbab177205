"""What an Einstein sum becomes: labels, the way that operands are read, and how many kernels and products."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph.layout import c_strides
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.schedule.steps import RunLibraryCall
from gpunumpy.functions.products.einsum_plan import Kernel, Operand, Product, parse, plan_pair, subscripts_of


def letters(labels: tuple[int, ...]) -> str:
    return "".join(chr(label) if label > 0 else "." for label in labels)


@pytest.mark.parametrize(
    ("subscripts", "shapes", "inputs", "output"),
    [
        ("ij,jk", ((2, 3), (3, 4)), ["ij", "jk"], "ik"),
        ("ba", ((2, 3),), ["ba"], "ab"),
        ("ii", ((3, 3),), ["i"], ""),
        ("iji->ij", ((3, 2, 3),), ["ij"], "ij"),
        ("i...j,...j", ((2, 5, 6, 3), (6, 3)), ["i..j", ".j"], "..i"),
        ("ij,jk", ((2, 1), (3, 4)), ["i", "jk"], "ik"),
        (" a b -> b a ", ((2, 3),), ["ab"], "ba"),
    ],
)
def test_labels(subscripts: str, shapes: Any, inputs: list[str], output: str) -> None:
    found = parse(subscripts, shapes, False)
    assert [letters(labels) for labels, _ in found.inputs] == inputs
    assert letters(found.output) == output


def test_sublists_are_letters() -> None:
    assert subscripts_of([[0, 25, 26], [Ellipsis, 51]], [Ellipsis, 0]) == "AZa,...z->...A"
    for wrong in ([52], [-1], ["a"]):
        with pytest.raises((TypeError, ValueError)):
            subscripts_of([wrong], None)


@pytest.mark.parametrize("subscripts", ["ij", "i,j", "ij->ik", "ij->ii", "i1", "i..", "ij->j->i", "i...j...", "iij"])
def test_what_is_refused(subscripts: str) -> None:
    with pytest.raises(ValueError):
        parse(subscripts, ((2, 3, 4),), False)


def operand(labels: str, sizes: dict[str, int], order: str = "") -> Operand:
    """An operand that lies in memory in the order given."""
    order = order or labels
    strides = dict(zip(order, c_strides(tuple(sizes[x] for x in order))))
    return Operand(tuple(map(ord, labels)), tuple(sizes[x] for x in labels), tuple(strides[x] for x in labels))


def planned(subscripts: str, sizes: dict[str, int], *orders: str) -> Kernel | Product:
    terms, output = subscripts.split("->")
    first, second = terms.split(",")
    ways = orders or (first, second)
    a, b = operand(first, sizes, ways[0]), operand(second, sizes, ways[1])
    return plan_pair(a, b, tuple(map(ord, output)), 4)


LARGE = dict.fromkeys("abcdefghijklmn", 64) | {"b": 8, "h": 16}


@pytest.mark.parametrize(
    ("subscripts", "orders", "copies", "result"),
    [
        ("ij,jk->ik", (), 0, "ik"),
        ("ij,jk->ki", (), 0, "ki"),
        ("ji,kj->ik", (), 0, "ik"),
        ("bhij,bhkj->bhik", (), 0, "bhik"),
        ("abcd,cdef->abef", (), 0, "abef"),
        ("abcd,efcd->efab", (), 0, "efab"),
        ("ijk,jil->kl", (), 1, "kl"),
        ("ijk,jil->kl", ("ijk", "ijl"), 0, "kl"),
        ("ikj,kl->ijl", (), 0, "ijl"),
        ("nchw,oc->nohw", (), 0, "nohw"),
        ("bij,bjk->bik", ("ibj", "bjk"), 0, "bik"),
    ],
)
def test_products_read_operands_as_they_lie(subscripts: str, orders: Any, copies: int, result: str) -> None:
    sizes = LARGE | {"n": 4, "c": 32, "w": 8, "o": 64}
    plan = planned(subscripts, sizes, *orders)
    assert isinstance(plan, Product)
    assert plan.left.copy + plan.right.copy == copies
    assert letters(plan.labels) == result


def test_many_small_products_are_worth_a_copy() -> None:
    sizes = {"b": 64, "q": 8, "k": 8, "h": 8, "d": 8}
    plan = planned("bqhd,bkhd->bhqk", sizes)
    assert isinstance(plan, Product)
    assert plan.left.copy
    assert plan.right.copy
    plan = planned("bqhd,bkhd->bhqk", {"b": 2, "q": 1024, "k": 1024, "h": 16, "d": 64})
    assert isinstance(plan, Product)
    assert not plan.left.copy
    assert not plan.right.copy


@pytest.mark.parametrize(
    ("subscripts", "axes", "result"),
    [
        ("i,j->ij", (), "ij"),
        ("i,j->ji", (), "ji"),
        ("ij,ij->ij", (), "ij"),
        ("ij,ij->i", (1,), "i"),
        ("ij,ji->", (0, 1), ""),
        ("ij,i->ij", (), "ij"),
        ("ij,j->i", (1,), "i"),
        ("bij,bj->bi", (2,), "bi"),
        ("bpq,bqr->bpr", (3,), "bpr"),
        ("bpq,bqr->brp", (3,), "bpr"),
        ("bpq,brq->bpr", (3,), "bpr"),
    ],
)
def test_the_rest_is_one_kernel(subscripts: str, axes: tuple[int, ...], result: str) -> None:
    plan = planned(subscripts, LARGE | {"b": 4096, "p": 8, "q": 8, "r": 8})
    assert isinstance(plan, Kernel)
    assert plan.axes == axes
    assert letters(plan.labels) == result


def steps(call: Any) -> list[str]:
    """The names of the library calls and the word "kernel" for every other step that a computation takes."""
    names: list[str] = []

    def observe(step: Any, work: Any) -> None:
        names.append(step.name if isinstance(step, RunLibraryCall) else "kernel")
        work()

    before, evaluate.observer = evaluate.observer, observe
    try:
        call().computed()
    finally:
        evaluate.observer = before
    return [name for name in names if name]


@pytest.mark.on_device
def test_steps() -> None:
    np.synchronize()  # what other tests have left pending would be computed too
    rng = numpy.random.default_rng(0)
    a, b, c = (np.asarray(rng.random((16, 16, 16))) for _ in range(3))
    m = a[0]
    assert steps(lambda: np.einsum("ij,jk,kl->il", m, m + 1, m)) == ["kernel", "matmul", "matmul"]
    assert steps(lambda: np.einsum("abc,cde,efg->abdfg", a, b, c)) == ["matmul", "matmul"]
    assert steps(lambda: np.einsum("ij,ij->i", m + 1, m * 2) - 1) == ["kernel"]
    assert steps(lambda: np.einsum("ij,ij,ij->", m, m, m)) == ["kernel"]
    assert steps(lambda: np.einsum("i,j,k->ijk", m[0], m[1], m[2])) == ["kernel"]
    assert steps(lambda: np.einsum("iij->j", a)) == ["kernel"]
    # An operand that is kept is written once, and read as it lies.
    kept = a + 1
    assert steps(lambda: np.einsum("kij,kl->lji", kept, m)) == ["kernel", "matmul"]
    # The parts of results that are operands are read as they lie.
    assert (
        steps(lambda: np.einsum("ab,bcd->acd", m, np.einsum("ia,ibc->abc", m, a).transpose(1, 0, 2))) == ["matmul"] * 2
    )


def test_recipes_hold_for_other_operands_of_the_same_forms() -> None:
    rng = numpy.random.default_rng(0)
    host = [rng.random((4, 4)) for _ in range(4)]
    x = [np.asarray(h) for h in host]
    for one, two in ((0, 0), (0, 1), (2, 3), (3, 3), (1, 0)):
        for subscripts in ("ij,jk->ki", "ii,jj->ij", "ij,ij->", "ii,ij->j"):
            expected = numpy.einsum(subscripts, host[one], host[two])
            numpy.testing.assert_allclose(np.asnumpy(np.einsum(subscripts, x[one], x[two])), expected)
            found = np.einsum(subscripts, x[one].T[1:, 1:], (x[two] + 1)[:3, :3])
            expected = numpy.einsum(subscripts, host[one].T[1:, 1:], (host[two] + 1)[:3, :3])
            numpy.testing.assert_allclose(np.asnumpy(found), expected)


def test_conjugates_are_operands() -> None:
    rng = numpy.random.default_rng(0)
    a, b = (rng.random((4, 3)) + 1j * rng.random((4, 3)) for _ in range(2))
    x, y = np.asarray(a), np.asarray(b)
    for subscripts in ("ij,ik->jk", "ij,kj->ik", "ij,ij->", "ij,ij->ij"):
        for look in (lambda v: v.conj(), lambda v: v[::-1].conj(), lambda v: v.T.conj().T, lambda v: (v + 1).conj()):
            for _ in range(2):
                found = np.einsum(subscripts, look(x), y)
                numpy.testing.assert_allclose(np.asnumpy(found), numpy.einsum(subscripts, look(a), b))
                found = np.einsum(subscripts, x, look(y))
                numpy.testing.assert_allclose(np.asnumpy(found), numpy.einsum(subscripts, a, look(b)))


@pytest.mark.parametrize("seed", range(8))
def test_random_sums(seed: int) -> None:
    """Any labels, sizes of 1, and operands that lie in memory in any order, computed or not."""
    chance = random.Random(seed)
    data = numpy.random.default_rng(seed)
    for _ in range(25):
        sizes = {label: chance.choice((1, 2, 3, 4)) for label in "abcdef"}
        terms = ["".join(chance.choices("abcdef", k=chance.randint(0, 4))) for _ in range(chance.randint(1, 4))]
        used = sorted(set("".join(terms)))
        subscripts = ",".join(terms) + "->" + "".join(chance.sample(used, chance.randint(0, len(used))))
        reference, tested = [], []
        for term in terms:
            shape = [1 if term.count(x) == 1 and chance.random() < 0.1 else sizes[x] for x in term]
            order = chance.sample(range(len(term)), len(term))
            host = numpy.array(data.integers(-3, 4, [shape[k] for k in order]), chance.choice(("f8", "i4")))
            back = [order.index(k) for k in range(len(order))]
            one, two = host.transpose(back), np.asarray(host).transpose(back)
            look = chance.choice((lambda x: x, lambda x: x + 1, lambda x: x[::-1] if x.ndim else x))
            reference.append(look(one))
            tested.append(look(two))
        expected = numpy.einsum(subscripts, *reference)
        found = np.einsum(subscripts, *tested)
        assert found.shape == expected.shape, subscripts
        assert found.dtype == expected.dtype, subscripts
        for _ in range(2):
            numpy.testing.assert_allclose(np.asnumpy(found), expected, 1e-12, err_msg=subscripts)
            found, expected = np.einsum(subscripts, *tested) + 1, expected + 1
