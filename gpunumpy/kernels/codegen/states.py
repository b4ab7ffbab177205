"""The states (accumulators) of a kernel's reductions and scans: declared, accumulated, and combined over a team."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.dtypes import C_TYPE
from ...core.schedule.kernel import ReduceLoops, ScanLoop, Store
from .emit import Emitter
from .op_code import ReductionCode
from .plan import Plan, outer_loops
from .unit import Text, Unit

# Elements that a thread must have at once for a reduction to accumulate them as an array.
MIN_ARRAY_LENGTH = 4


class States:
    """The states of some reductions or scans: C arrays ``s<value>``, with `lanes` states in each thread."""

    def __init__(self, unit: Unit, text: Text, values: Sequence[int], lanes: int = 1) -> None:
        self.unit = unit
        self.text = text
        self.values = values
        self.lanes = lanes
        self.reducers: dict[int, str] = {}
        self.names = {n: f"s{n}[{'v' if lanes > 1 else '0'}]" for n in values}
        self._level = unit.is_row_level
        for n in values:
            instr = self.instr(n)
            self.reducers[n] = unit.reducer(instr.op, instr.loop, isinstance(instr, ScanLoop))[0]

    def instr(self, n: int) -> ReduceLoops | ScanLoop:
        """Return the reduction or scan that is value `n`."""
        instr = self.unit.kernel.body.instructions[n]
        assert isinstance(instr, (ReduceLoops, ScanLoop))
        return instr

    def code(self, n: int) -> ReductionCode:
        """Return the C of the reduction or scan that is value `n`."""
        instr = self.instr(n)
        return self.unit.reducer(instr.op, instr.loop, isinstance(instr, ScanLoop))[1]

    def mapped_args(self, n: int) -> list[int]:
        """Return the arguments that are read for every element.

        Row-level arguments after the first are left out: only the final expression reads them.
        """
        first, *rest = self.instr(n).args
        return [first, *(arg for arg in rest if not self._level[arg])]

    def declare(self) -> None:
        """Declare the states, and initialise them."""
        for n, reducer in self.reducers.items():
            self.text.line(f"{reducer}::State s{n}[{self.lanes}];")
        self.reset()

    def reset(self) -> None:
        """Assign every state the state of no elements."""
        self.emit_per_lane(lambda n, reducer: f"s{n}[v] = {reducer}::identity();")

    def emit_per_lane(self, line: Callable[[int, str], str]) -> None:
        """Emit a loop over lanes ``v`` with the line that `line` returns for each value and its C struct."""
        with self.text.unrolled("v", self.lanes):
            for n, reducer in self.reducers.items():
                self.text.line(line(n, reducer))

    def accumulate(self, emitter: Emitter, keep: Sequence[int] = (), stores: Sequence[Store] = ()) -> None:
        """Accumulate the elements of the tile. `keep` and `stores` are computed besides, as in `Emitter.run`."""
        count = emitter.tile.count * emitter.tile.width // self.lanes
        as_array = [n for n in self.values if count >= MIN_ARRAY_LENGTH and self.code(n).accumulate_many_template]
        one_by_one = [n for n in self.values if n not in as_array]
        for n in as_array:
            self.text.line(f"{C_TYPE[self.instr(n).loop[0]]} e{n}[{self.lanes}][{count}];")

        def lane() -> None:
            for n in as_array:
                self.text.line(f"e{n}{self._element_slot(emitter)} = {emitter.known[self.mapped_args(n)[0]]};")
            if one_by_one:
                with self.text.block("if (exists)"):
                    for n in one_by_one:
                        args = [emitter.known[arg] for arg in self.mapped_args(n)]
                        state = self.code(n).accumulate(self.names[n], args, self.position(emitter))
                        self.text.line(f"{self.names[n]} = {state};")

        mapped = [arg for n in self.values for arg in self.mapped_args(n)]
        emitter.run(mapped, keep, stores, lane if self.values else None)
        if as_array:
            with self.text.block(f"if ({emitter.tile.whole})"):
                self._accumulate_arrays(emitter, as_array, count, "true")
            with self.text.block("else"):
                self._accumulate_arrays(emitter, as_array, count, emitter.lane_exists("v"))

    def _element_slot(self, emitter: Emitter) -> str:
        """Return the C subscripts of lane ``v`` of vector ``u`` in an array of elements ``e<value>``."""
        return "[v][u]" if self.lanes > 1 else f"[0][u * {emitter.tile.width} + v]"

    def _accumulate_arrays(self, emitter: Emitter, values: Sequence[int], count: int, exists: str) -> None:
        """Accumulate the arrays ``e<value>``, `count` elements into each state; `exists` is the condition of a lane."""
        self.text.line(f"bool elements_exist[{self.lanes}][{count}];")
        with self.text.unrolled("u", emitter.tile.count):
            emitter.define_indices()
            with self.text.unrolled("v", emitter.tile.width):
                self.text.line(f"elements_exist{self._element_slot(emitter)} = {exists};")
        with self.text.unrolled("v", self.lanes):
            for n in values:
                state = self.names[n]
                self.text.line(f"{state} = {self.code(n).accumulate_many(state, f'e{n}[v]', 'elements_exist[v]')};")

    def position(self, emitter: Emitter) -> str:
        """Return the C expression of the position of lane ``v`` in the reduced space, in C order."""
        out = ""
        for d in range(outer_loops(self.unit), len(self.unit.kernel.shape)):
            name = emitter.tile.index[d]
            name = f"(long long)({name} + v)" if d == emitter.tile.lane else f"(long long)({name})"
            size = self.unit.long_param(self.unit.kernel.shape[d], ("size", d))
            out = f"({out} * {size} + {name})" if out else name
        return out

    def combine(self, plan: Plan) -> None:
        """Combine the states of each team; every thread of the team gets the result."""
        if plan.team.size > 1:
            self.emit_per_lane(lambda n, reducer: f"s{n}[v] = {plan.team.reduce(reducer, f's{n}[v]')};")
