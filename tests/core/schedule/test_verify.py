"""The checker finds what is wrong with a plan, a kernel, a signature; and right ones pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest

from gpunumpy.core.graph import node as graph
from gpunumpy.core.graph.layout import Layout
from gpunumpy.core.graph.primitives import Gather, Iota, Leaf, Map, Reduce, Scan, Update, View
from gpunumpy.core.graph.signature import Signature, intern_signature
from gpunumpy.core.recording.array import ArrayState
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import CPU
from gpunumpy.core.schedule import kernel
from gpunumpy.core.schedule.lower import Source, items_of
from gpunumpy.core.schedule.passes import run_passes
from gpunumpy.core.schedule.steps import Adopt, Allocate, Free, RunKernel, RunLibraryCall, Step
from gpunumpy.core.schedule.verify import InvalidPlan, verify_signature
from gpunumpy.core.schedule.verify_plan import verify_plan

from ...support.arrays import elementwise, from_host, ndarray

FLOAT = numpy.dtype(numpy.float64)
Plan = tuple[list[Step], list[Any], list[int]]


def plan(*arrays: ndarray) -> Plan:
    roots = [x._node for x in arrays]
    nodes, _ = evaluate.walk(roots)
    steps, items = run_passes(items_of(nodes), range(len(roots)), evaluate.state_of(CPU).executor)
    return list(steps), list(items), list(range(len(roots)))


def array(*shape: int) -> ndarray:
    return from_host(numpy.ones(shape), CPU)


def chain() -> ndarray:
    return elementwise("add", [elementwise("multiply", [array(3, 4), array(4)]), 1.0])


def product() -> ndarray:
    from_expression = elementwise("negative", [array(4, 4)])
    node = graph.library_call("matmul", (), (from_expression._node, array(4, 4)._node))
    return elementwise("add", [evaluate_later(node), 1.0])


def evaluate_later(node: graph.Node) -> ndarray:
    made = ArrayState.__new__(ndarray)
    made._node, made._base, made._flags = node, None, 0
    return made


def in_place() -> ndarray:
    x = array(6)
    x.assign(elementwise("add", [x, 1.0]).value())
    base = array(6)
    node = graph.update(base._node, Layout((3,), (2,), 0), array(3)._node)
    return evaluate_later(node)


def picked() -> ndarray:
    index = from_host(numpy.array([0, 2]), CPU)
    return evaluate_later(graph.gather(array(5, 3)._node, [index._node], "here"))


@pytest.mark.parametrize("program", [chain, product, in_place, picked])
def test_right_plans_pass(program: Callable[[], ndarray]) -> None:
    verify_plan(*plan(program()))


def first(steps: list[Step], kind: type) -> int:
    return next(k for k, step in enumerate(steps) if isinstance(step, kind))


def change(steps: list[Step], edit: Callable[[kernel.Kernel], kernel.Kernel]) -> list[Step]:
    k = first(steps, RunKernel)
    run = steps[k]
    assert isinstance(run, RunKernel)
    return [*steps[:k], replace(run, kernel=edit(run.kernel)), *steps[k + 1 :]]


def with_instr(kind: type, edit: Callable[[Any], Any]) -> Callable[[list[Step]], list[Step]]:
    """The first instruction of a kind, changed."""

    def corrupt(steps: list[Step]) -> list[Step]:
        def edit_kernel(k: kernel.Kernel) -> kernel.Kernel:
            instructions = list(k.body.instructions)
            place = next(n for n, instr in enumerate(instructions) if isinstance(instr, kind))
            instructions[place] = edit(instructions[place])
            return replace(k, body=replace(k.body, instructions=tuple(instructions)))

        return change(steps, edit_kernel)

    return corrupt


def with_store(edit: Callable[[kernel.Store], kernel.Store]) -> Callable[[list[Step]], list[Step]]:
    return lambda steps: change(
        steps, lambda k: replace(k, body=replace(k.body, stores=tuple(edit(s) for s in k.body.stores)))
    )


def shifted(x: Any) -> Any:
    return replace(x, at=kernel.Affine(x.at.offset + 1, x.at.coef))


def flat(x: Any) -> Any:
    return replace(x, at=kernel.Affine(0, (0,) * len(x.at.coef)))


def without(kind: type) -> Callable[[list[Step]], list[Step]]:
    return lambda steps: [s for k, s in enumerate(steps) if k != first(steps, kind)]


def twice(kind: type) -> Callable[[list[Step]], list[Step]]:
    return lambda steps: [*steps[: first(steps, kind)], steps[first(steps, kind)], *steps[first(steps, kind) :]]


F4 = numpy.dtype(numpy.float32)

CORRUPTIONS: dict[str, tuple[Callable[[], ndarray], Callable[[list[Step]], list[Step]], str]] = {
    "load outside": (chain, with_instr(kernel.Load, shifted), "touches elements"),
    "store outside": (chain, with_store(shifted), "touches elements"),
    "store many times": (chain, with_store(flat), "many times"),
    "later value": (chain, with_instr(kernel.Apply, lambda x: replace(x, args=(99, 0))), "comes later"),
    "loop": (chain, with_instr(kernel.Apply, lambda x: replace(x, loop=(F4, F4, F4))), "gets"),
    "load of an output": (chain, with_instr(kernel.Load, lambda x: replace(x, arg=3)), "no input"),
    "gather outside": (picked, with_instr(kernel.LoadIndexed, lambda x: replace(x, dims=(6,))), "touches elements"),
    "gather by what": (
        picked,
        with_instr(kernel.LoadIndexed, lambda x: replace(x, source_location=0)),
        "no source location",
    ),
    "region alone": (chain, lambda s: change(s, lambda k: replace(k, region=((0, 1), (0, 1)))), "outside"),
    "reduced": (chain, lambda s: change(s, lambda k: replace(k, reduced=9)), "loops are reduced"),
    "no buffer": (chain, without(Allocate), "has no buffer"),
    "allocated twice": (chain, twice(Allocate), "exists already"),
    "nothing runs": (chain, without(RunKernel), "is not computed"),
    "never freed": (product, without(Free), "never freed"),
    "freed twice": (product, twice(Free), "does not exist"),
    "not called": (product, without(RunLibraryCall), "is not there"),
    "not adopted": (in_place, without(Adopt), "has no buffer"),
    "read after overwriting": (in_place, lambda s: [*s, s[first(s, Adopt)]], "overwritten"),
}


@pytest.mark.parametrize(("program", "corrupt", "words"), CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_wrong_plans_are_refused(
    program: Callable[[], ndarray], corrupt: Callable[[list[Step]], list[Step]], words: str
) -> None:
    steps, items, roots = plan(program())
    with pytest.raises(InvalidPlan, match=words):
        verify_plan(corrupt(steps), items, roots)


def test_wrong_dtypes_of_arguments() -> None:
    steps, items, roots = plan(chain())

    def narrow(k: kernel.Kernel) -> kernel.Kernel:
        return replace(k, args=tuple(replace(a, dtype=F4) if a.kind == "in" else a for a in k.args))

    with pytest.raises(InvalidPlan, match="taken as float32"):
        verify_plan(change(steps, narrow), items, roots)
    run = steps[first(steps, RunKernel)]
    assert isinstance(run, RunKernel)
    other = [replace(s, args=(Source("new", 0), *s.args[1:])) if s is run else s for s in steps]
    with pytest.raises(InvalidPlan):
        verify_plan(other, items, roots)


FORMS = {
    "view": (View((1,), 2), ((4,),), (3,), FLOAT),
    "map": (Map("add", (FLOAT,) * 3), ((4,), (4,)), (3,), FLOAT),
    "map dtype": (Map("add", (FLOAT,) * 3), ((4,), (4,)), (4,), F4),
    "reduce": (Reduce("add", (0,), (FLOAT, FLOAT)), ((4, 5),), (4,), FLOAT),
    "scan": (Scan("add", 1, (FLOAT, FLOAT)), ((4,),), (4,), FLOAT),
    "update": (Update(Layout((3,), (2,), 0)), ((4,), (3,)), (4,), FLOAT),
    "gather": (Gather(1), ((4,), (2,)), (2,), FLOAT),
    "iota": (Iota(1), (), (4,), numpy.dtype(numpy.int64)),
}


@pytest.mark.parametrize(("op", "shapes", "shape", "dtype"), FORMS.values(), ids=FORMS)
def test_wrong_forms_are_refused(op: Any, shapes: Any, shape: Any, dtype: Any) -> None:
    queue = evaluate.queue_of(CPU)
    args = tuple(intern_signature(Leaf((1,) * len(s), 0, True), (), s, FLOAT, queue) for s in shapes)
    with pytest.raises((InvalidPlan, ValueError)):
        verify_signature(Signature(op, args, shape, dtype, queue))


def test_it_is_on_in_tests() -> None:
    assert evaluate.CHECK
