"""The accumulators of a kernel's reductions: declared, fed, and combined over a team."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.kernel import Reduce, Scan, row_level
from .emit import Emitter
from .plan import Plan, outer_loops
from .unit import Text, Unit


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
            self.reducers[n] = unit.reducer(instr.row, instr.loop)[0]

    def instr(self, n: int) -> Reduce | Scan:
        """The reduction or scan that is value `n`."""
        instr = self.unit.kernel.body.instrs[n]
        assert isinstance(instr, (Reduce, Scan))
        return instr

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

    def accumulate(self, emitter: Emitter) -> None:
        """Take in the lane at hand, if it is there."""
        with self.text.block("if (on)"):
            for n in self.values:
                instr, state = self.instr(n), self.names[n]
                args = [emitter.known[arg] for arg in self.mapped(n)]
                code = self.unit.reducer(instr.row, instr.loop)[1]
                self.text.line(f"{state} = {code.accumulate(state, args, self.position(emitter))};")

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
