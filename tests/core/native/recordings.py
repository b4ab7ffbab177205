"""Random programs of what the compiled core does, told step by step: ``python -m tests.core.native.recordings SEED``.

What is printed does not depend on the core: the results and errors of statements, the graphs that they record, the
plans that are made for them and the kernels and library calls of each, the values in the end. `test_cores` compares
both cores' texts.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy

import gpunumpy as np
from gpunumpy.core.graph.primitives import Leaf
from gpunumpy.core.graph.structure import structure_of
from gpunumpy.core.recording.array import memory_on_host
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.core.schedule.lift import has_many_sizes, lowered
from gpunumpy.core.schedule.parts import parts
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.core.schedule.variants import pattern

DTYPES = ("f8", "f4", "i8", "u1", "?", "c16", "i4")
SCALARS = (2, 1.5, True, 0, -3, 300, 2**40, 1j, numpy.float32(0.5), numpy.int8(3), "x", None, [1, 2], (1.0,))
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">"]
UNARY = ("-", "+", "~", "abs ")
UFUNCS = ("sqrt", "sin", "negative", "isnan", "add", "maximum", "arctan2", "power", "logical_and", "floor_divide")


class Program:
    """A program over some variables, drawn statement by statement."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.variables: dict[str, Any] = {}
        self.k = 0  # a number that statements use, which changes with every one
        self.windows: list[str] = []  # the statements that use it
        for name in "abcd":
            shapes = [(3, 4), (4,), (3, 1), (), (2, 3, 4), (0, 4), (1,), (9,), (8, 9), (9, 1), (1, 8)]
            shape = self.random.choice(shapes)
            data = numpy.array(self.random.choices(range(-3, 8), k=numpy.prod(shape, dtype=int))).reshape(shape)
            with np.errstate(all="ignore"):
                self.variables[name] = np.asarray(data.astype(self.random.choice(DTYPES)))

    def operand(self) -> str:
        if self.random.random() < 0.3:
            return repr(self.random.choice(SCALARS)).replace("np.", "numpy.")
        name = self.variable()
        return name + self.random.choice(["", "", self.index(name), ".T", ".real"])

    def variable(self) -> str:
        return self.random.choice(list(self.variables))

    def bound(self) -> str:
        return self.random.choice(["", "", "0", "1", "-1", "2", "7", "-9", "None", "2**80", "k", "k", "-k", "k + 2"])

    def part(self) -> str:
        name = self.variable()
        return name + self.index(name)

    def index(self, name: str) -> str:
        draw = self.random.random
        items = []
        count = self.random.randint(1, max(1, self.variables[name].ndim)) + (draw() < 0.1)
        for _ in range(count):
            if draw() < 0.8:
                step = self.random.choice(["", "", "", "", ":1", ":2", ":-1", ":-2", ":0"])
                items.append(f"{self.bound()}:{self.bound()}{step}")
            else:
                items.append(
                    self.random.choice(
                        ["0", "1", "-1", "5", "None", "None", "...", "...", "True", "[0]", "numpy.int64(1)", "'x'"]
                    )
                )
        return f"[{', '.join(items)}]"

    def statement(self) -> str:
        if self.windows and self.random.random() < 0.3:
            return self.random.choice(self.windows)
        statement = self.new_statement()
        if "k" in statement:
            self.windows.append(statement)
        return statement

    def new_statement(self) -> str:
        choice = self.random.choice
        kinds = ["binary"] * 3 + ["unary", "ufunc", "view", "view", "write", "write", "in place", "in place", "look"]
        kind = choice([*kinds, "reduction", "shape"])
        target = choice("abcdefg")
        if kind == "binary":
            return f"{target} = {self.operand()} {choice(OPERATORS)} {self.operand()}"
        if kind == "unary":
            return f"{target} = {choice(UNARY)}{self.operand()}"
        if kind == "ufunc":
            operands = ", ".join(self.operand() for _ in range(choice([1, 2, 2, 3])))
            return f"{target} = np.{choice(UFUNCS)}({operands})"
        if kind == "reduction":
            axes = choice(["", "0", "0, keepdims=True", "-1, keepdims=True"])
            return f"{target} = {self.part()}.{choice(['sum', 'max'])}({axes})"
        if kind == "shape":
            return f"{target} = {self.part()}.{choice(['reshape(-1)', 'reshape(-1, 2)', 'copy()', 'T[::-1]'])}"
        if kind == "view":
            return f"{target} = {self.part()}"
        if kind == "write":
            return f"{self.part()} = {self.operand()}"
        if kind == "in place":
            return f"{choice([self.variable(), self.part()])} {choice(OPERATORS[:-5])}= {self.operand()}"
        return choice([f"{self.variable()}.get()", f"{self.variable()}.setflags(write=False)"])

    def run(self, statement: str, tell: Callable[[str], None]) -> None:
        self.k = (self.k + 1) % 7
        tell(f"{statement}  # k = {self.k}")
        try:
            with np.errstate(all="ignore"):
                exec(statement, {"np": np, "numpy": numpy, "k": self.k}, self.variables)
        except Exception as error:
            tell(f"    {type(error).__name__}: {error}")
        for name, x in self.variables.items():
            if not isinstance(x, np.ndarray):
                self.variables[name] = np.asarray(3.0)
        for name in list(self.variables)[7:]:
            del self.variables[name]


def description(x: Any) -> str:
    """An array and the graph of its value, node by node."""
    if memory_on_host(x) is not None:
        return f"on the host, {memory_on_host(x)!r}"
    lines = [f"{x.shape} {x.dtype} {x.strides} flags {x._flags} view {x._base is not None} {x.flags.c_contiguous}"]
    nodes, _ = evaluate.walk([x.value()])
    number = {node: k for k, node in enumerate(nodes)}
    for node in nodes:
        signature = node.signature
        primitive = signature.primitive
        args = [] if node.data is not None else [number[a] for a in node.args]
        data = "" if node.data is None or isinstance(primitive, Leaf) else repr(node.data)
        lines.append(
            f"    {primitive} {signature.shape} {signature.dtype} {args} {data} {node.owner is None} "
            f"{signature.weight} {signature.generator} {signature.c_ordered} {signature.kind[:2]} {signature.outputs} "
            f"{signature.sizes} {signature.structure == structure_of(signature)[0]}"
        )
    structure, sizes = lowered(nodes)
    lines.append(f"    {sizes} {pattern(sizes)} {len(structure)} {[has_many_sizes(nodes, n) for n in range(20)]}")
    return "\n".join(lines)


def tell_plans(tell: Callable[[str], None]) -> None:
    """Have every plan that is made told of from now on."""

    def made(planner: Planner, key: Any, nodes: Any, count: int, *rest: Any) -> Any:
        plan = plan_of(planner, key, nodes, count, *rest)
        kinds = [type(step) for step in plan.scheduled.steps]
        kernels, calls = kinds.count(RunKernel), kinds.count(RunLibraryCall)
        tell(f"  plan of {len(nodes)} nodes: {count} results, {len(kinds)} steps, {kernels} kernels, {calls} calls")
        return plan

    plan_of = Planner.plan
    Planner.plan = made  # type: ignore[assignment]


def tell_program(seed: int, tell: Callable[[str], None]) -> None:
    program = Program(seed)
    for _ in range(60):
        program.run(program.statement(), tell)
        name = program.variable()
        tell(f"  {name}: {description(program.variables[name])}")
    queue = evaluate.queue_of(np.Device("cpu"))
    roots = evaluate.live_roots(queue)[0]
    nodes = evaluate.walk(roots)[0]
    tell(f"{len(roots)} roots over {len(nodes)} nodes, {len(queue.pending)} entries in the queue")
    tell(f"parts {parts(nodes, len(roots))}, of the last root {parts(evaluate.walk(roots[-1:])[0], 1)}")
    for name, x in program.variables.items():
        tell(f"{name} = {x.get()!r}")
    tell(f"plans of {queue.state.planner.counts()[0]} structures, {len(queue.pending)} entries in the queue")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tell_plans(print)
    with np.Device("cpu"):
        for argument in sys.argv[1:]:
            tell_program(int(argument), print)
