"""The accumulators of a kernel's reductions: declared, fed, and combined over a team."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.dtypes import C_TYPE
from ...core.schedule.kernel import ReduceLoops, ScanLoop, Store, row_level
from .emit import Emitter
from .op_code import ReductionCode
from .plan import Plan, outer_loops
from .unit import Text, Unit

# Elements that a thread should have at once for a reduction to take them so.
_SEVERAL = 4


class States:
    """The states of some reductions (or scans): ``s<value>[lane]``, `lanes` of them in each thread."""

    def __init__(self, unit: Unit, text: Text, values: Sequence[int], lanes: int = 1) -> None:
        self.unit = unit
        self.text = text
        self.values = values
        self.lanes = lanes
        self.reducers: dict[int, str] = {}
        self.names = {n: f"s{n}[{'v' if lanes > 1 else '0'}]" for n in values}
        self._level = row_level(unit.kernel, unit.kernel.body)
        for n in values:
            instr = self.instr(n)
            self.reducers[n] = unit.reducer(instr.op, instr.loop, isinstance(instr, ScanLoop))[0]

    def instr(self, n: int) -> ReduceLoops | ScanLoop:
        """The reduction or scan that is value `n`."""
        instr = self.unit.kernel.body.instrs[n]
        assert isinstance(instr, (ReduceLoops, ScanLoop))
        return instr

    def code(self, n: int) -> ReductionCode:
        """The code of the reduction of value `n`."""
        instr = self.instr(n)
        return self.unit.reducer(instr.op, instr.loop, isinstance(instr, ScanLoop))[1]

    def mapped(self, n: int) -> list[int]:
        """The arguments that enter element by element: all but row-level ones after the first, which the post uses."""
        first, *rest = self.instr(n).args
        return [first, *(arg for arg in rest if not self._level[arg])]

    def declare(self) -> None:
        """Declare the states, of no elements yet."""
        for n, reducer in self.reducers.items():
            self.text.line(f"{reducer}::State s{n}[{self.lanes}];")
        self.reset()

    def reset(self) -> None:
        """Make them states of no elements."""
        self.each_lane(lambda n, reducer: f"s{n}[v] = {reducer}::identity();")

    def each_lane(self, line: Callable[[int, str], str]) -> None:
        """Emit a line for every state, over the lanes ``v``."""
        with self.text.loop("v", self.lanes):
            for n, reducer in self.reducers.items():
                self.text.line(line(n, reducer))

    def accumulate(self, emitter: Emitter, keep: Sequence[int] = (), stores: Sequence[Store] = ()) -> None:
        """Take in the tile; compute what there is to `keep` and to store besides, as `Emitter.run` has it."""
        count = emitter.tile.count * emitter.tile.width // self.lanes
        at_once = [n for n in self.values if count >= _SEVERAL and self.code(n).several_template]
        one_by_one = [n for n in self.values if n not in at_once]
        for n in at_once:
            self.text.line(f"{C_TYPE[self.instr(n).loop[0]]} e{n}[{self.lanes}][{count}];")

        def lane() -> None:
            for n in at_once:
                self.text.line(f"e{n}{self._slot(emitter)} = {emitter.known[self.mapped(n)[0]]};")
            if one_by_one:
                with self.text.block("if (on)"):
                    for n in one_by_one:
                        args = [emitter.known[arg] for arg in self.mapped(n)]
                        taken = self.code(n).accumulate(self.names[n], args, self.position(emitter))
                        self.text.line(f"{self.names[n]} = {taken};")

        mapped = [arg for n in self.values for arg in self.mapped(n)]
        emitter.run(mapped, keep, stores, lane if self.values else None)
        if at_once:
            with self.text.block(f"if ({emitter.tile.whole})"):
                self._take(emitter, at_once, count, "true")
            with self.text.block("else"):
                self._take(emitter, at_once, count, emitter.on("v"))

    def _slot(self, emitter: Emitter) -> str:
        """Where lane ``v`` of vector ``u`` is among the elements of each state."""
        return "[v][u]" if self.lanes > 1 else f"[0][u * {emitter.tile.width} + v]"

    def _take(self, emitter: Emitter, values: Sequence[int], count: int, there: str) -> None:
        """Take in the elements ``e`` of the tile at once, `count` in each state, and each if it is `there`."""
        self.text.line(f"bool there[{self.lanes}][{count}];")
        with self.text.loop("u", emitter.tile.count):
            emitter.place()
            with self.text.loop("v", emitter.tile.width):
                self.text.line(f"there{self._slot(emitter)} = {there};")
        with self.text.loop("v", self.lanes):
            for n in values:
                state = self.names[n]
                self.text.line(f"{state} = {self.code(n).several(state, f'e{n}[v]', 'there[v]')};")

    def position(self, emitter: Emitter) -> str:
        """The position of lane ``v`` in the reduced space, in C order."""
        out = ""
        for d in range(outer_loops(self.unit), len(self.unit.kernel.shape)):
            name = emitter.tile.index[d]
            name = f"(long long)({name} + v)" if d == emitter.tile.lane else f"(long long)({name})"
            size = self.unit.long(self.unit.kernel.shape[d], ("size", d))
            out = f"({out} * {size} + {name})" if out else name
        return out

    def combine(self, plan: Plan) -> None:
        """Combine the states of every team; all its threads have the result."""
        if plan.team.size > 1:
            self.each_lane(lambda n, reducer: f"s{n}[v] = {plan.team.reduce(reducer, f's{n}[v]')};")
