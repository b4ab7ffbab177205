"""The values of a kernel's body as C text, for one tile: `count` vectors of `width` lanes in each thread.

The lanes of a vector are neighbours along one loop. All loads of a tile come first, so that they are in flight
together, then the arithmetic, then the stores. A tile with missing lanes checks each of its accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...core.dtypes import C_TYPE, DType
from ...core.late_dataclasses import dataclass
from ...core.ops.philox32 import BLOCK_OPS, elements_of_block
from ...core.ops.streams import CONGRUENTIAL
from ...core.schedule.kernel import (
    Affine,
    Apply,
    Body,
    Load,
    LoadIndexed,
    LoopIndex,
    ReduceLoops,
    Scalar,
    ScanLoop,
    Store,
    operands,
    value_dtypes,
)
from ..random.stream_code import start_walk, walk_arguments
from .unit import Text, Unit

# The condition under which a lane exists -> the suffix of the functions in prelude.cuh that load and store a vector.
_ACCESS = {"": "pack", "left > 0": "pack_if", "left > v": "lanes"}

# The operations that make random words, each of which keeps a state from point to point.
_DRAWS = frozenset((*BLOCK_OPS, "philox", *CONGRUENTIAL))
# C expressions of how the position of a random word follows from the one before (`Sure` in random/streams.cuh): unknown
# until run time; or by one kind of increment from lane to lane, and by a leap from the last lane of a vector to the
# first lane of the next vector.
_UNKNOWN_INCREMENT, _KNOWN_INCREMENT = "op::UNSURE", "v ? op::{} : op::LEAPS"


@dataclass(frozen=True, slots=True)
class Tile:
    """The loop points that a thread computes at once: `count` vectors of `width` lanes.

    Attributes
    ----------
    index
        The C names of the loop indices, one for each loop.
    lane
        The loop along which the lanes of a vector lie; None if a vector is one point.
    index_lines
        C lines that define, for vector ``u``, the loop indices of its first lane and ``left``, the number of its lanes
        that exist (none if zero or less).
    whole
        A C condition that every lane of every vector exists.
    fixed_loops
        Loops whose index is the same in every vector. Where there are any, the first vector exists.
    leap
        The usual increment of the index of loop `lane` (of the last loop if `lane` is None) from the last lane of a
        vector to the first lane of the thread's next vector.
    leaps_always
        Whether every such increment is `leap`, also from tile to tile.
    repeats_last
        Whether a vector that does not exist has the indices of the last one, so that it may be loaded like any other.
        What it loads may be overwritten already, so nothing may come of it: no look at an index, which has an error.
    """

    index: tuple[str, ...]
    lane: int | None = None
    width: int = 1
    count: int = 1
    index_lines: tuple[str, ...] = ()
    whole: str = "true"
    fixed_loops: tuple[int, ...] = ()
    leap: int = 1
    leaps_always: bool = False
    repeats_last: bool = False


class Emitter:
    """Emits the values of one body over one tile.

    `known` maps a value to the C expression that holds it; it lasts from one call of `run` to the next. `states` maps
    a reduction or scan to the C expression of its accumulated state. `tag` keeps the C names of several emitters in
    one entry distinct.
    """

    def __init__(self, unit: Unit, text: Text, body: Body, tile: Tile, tag: str = "") -> None:
        self.unit = unit
        self.text = text
        self.body = body
        self.tile = tile
        self.tag = tag
        self.dtypes: list[DType] = value_dtypes(unit.kernel, body)
        self._operands = list(map(operands, body.instructions))
        instructions = enumerate(body.instructions)
        self._random_words = {n for n, instr in instructions if isinstance(instr, Apply) and instr.op in _DRAWS}
        self.known: dict[int, str] = {}
        self.states: dict[int, str] = {}
        self._streams: dict[int, str] = {}
        self._started: set[int] = set()
        self._varying: dict[int, bool] = {}
        # Every vector exists with all its lanes or not at all, so one condition serves a whole vector.
        self._only_whole_vectors = tile.lane is None or unit.kernel.shape[tile.lane] % tile.width == 0

    # Properties of values

    def varies(self, value: int) -> bool:
        """Return whether the value differs between the lanes of a vector."""
        found = self._varying.get(value)
        if found is None:
            instr, lane = self.body.instructions[value], self.tile.lane
            if isinstance(instr, Apply):
                found = any(map(self.varies, instr.args))
            elif isinstance(instr, Scalar):
                found = False
            elif isinstance(instr, (Load, LoopIndex)):
                found = lane is not None and instr.at.coef[lane] != 0
            elif isinstance(instr, LoadIndexed):
                found = (lane is not None and instr.at.coef[lane] != 0) or any(map(self.varies, instr.index))
            elif isinstance(instr, ReduceLoops):
                found = lane is not None and lane < len(self.unit.kernel.shape) - self.unit.kernel.reduced
            else:
                found = lane is not None
            self._varying[value] = found
        return found

    def closure(self, values: Iterable[int]) -> list[int]:
        """Return the values that must be computed before all of `values` are known, in the order of the body."""
        found: set[int] = set()
        todo = list(values)
        while todo:
            value = todo.pop()
            if value not in found and value not in self.known:
                found.add(value)
                args = self._operands[value]
                # A reduction in `states` is accumulated already: only its final expression is left.
                todo += args[1:] if value in self.states else args
        return sorted(found)

    def ctype(self, value: int) -> str:
        """Return the C type of the value."""
        return C_TYPE[self.dtypes[value]]

    # Words of a random stream

    def declare_streams(self, values: Iterable[int], first_lines: Sequence[str] = ()) -> None:
        """Declare the state that each random word among the values keeps from point to point of a thread.

        The declarations go to the end of the text, which must be outside of the loops over the tile. `first_lines`
        define what `Tile.index_lines` read, as it is at the first vector. Where they are given, a stream whose
        increments are known is started one leap before the first vector.
        """
        for value in values if self._random_words else ():
            instr = self.body.instructions[value]
            if value in self._streams or value not in self._random_words:
                continue
            assert isinstance(instr, Apply)
            name = f"w{self.tag}{value}"
            if instr.op in BLOCK_OPS:
                self.text.line(f"op::Block<{self.ctype(value)}> {name};")
            elif instr.op == "philox":
                self.text.line(f"op::Four {name};")
            else:
                step, leap, _ = self._increments(instr.args[0])
                self.text.line(f"op::Walk {name}{walk_arguments(instr.op, step, leap)};")
                if first_lines:
                    self._start_walk(value, instr, name, leap, first_lines)
            self._streams[value] = name

    def _start_walk(self, value: int, instr: Apply, name: str, leap: int, first_lines: Sequence[str]) -> None:
        """Start a stream one leap before the first vector, if its increments are known."""
        position, *state = instr.args
        known = self._increments(position)[2] != _UNKNOWN_INCREMENT
        if not known or not all(isinstance(self.body.instructions[n], Scalar) for n in state):
            return
        self.compute_once(state)
        self._started.add(value)
        with self.text.block(""):
            for line in (*first_lines, "const int u = 0, v = 0;", *self.tile.index_lines):
                self.text.line(line)
            self.text.line(
                start_walk(instr.op, name, self._position(position), leap, ", ".join(self.known[n] for n in state))
                + ";"
            )

    def _position(self, value: int) -> str:
        """Return the C expression of a word's position at lane ``v``. The position has known increments."""
        instr = self.body.instructions[value]
        if isinstance(instr, LoopIndex):
            return self._index_value(instr)
        assert isinstance(instr, Apply)
        return self.unit.expression(instr.op, instr.loop, [f"({self._position(instr.args[0])})"])

    def _increments(self, value: int) -> tuple[int, int, str]:
        """Return the usual increments of a position and, as C, which of them applies at lane ``v``.

        The first increment is from lane to lane, the second from the last lane of a vector to the next vector.
        """
        instr = self.body.instructions[value]
        if isinstance(instr, LoopIndex) and instr.at.coef:
            coef = instr.at.coef[-1 if self.tile.lane is None else self.tile.lane]
            known = _KNOWN_INCREMENT.format("STEPS") if self.tile.leaps_always else _UNKNOWN_INCREMENT
            return coef, coef * self.tile.leap, known
        if not isinstance(instr, Apply):
            return 1, 1, _UNKNOWN_INCREMENT
        step, leap, _ = self._increments(instr.args[0])
        if instr.op != "stream_place":
            return step, leap, _UNKNOWN_INCREMENT
        # Two neighbouring halves share a word. Where all vectors begin with the same half of a word, the increment of
        # the word's position is known at every lane.
        half = self.body.instructions[instr.args[0]]
        if not (self.tile.leaps_always and isinstance(half, LoopIndex) and step == 1):
            return 1, (leap + 1) // 2, _UNKNOWN_INCREMENT
        if self.tile.width == 1:
            return 1, leap // 2, _UNKNOWN_INCREMENT if leap % 2 else "op::LEAPS"
        odd = half.at.offset % 2
        steps = f"v % 2 == {odd} ? op::STEPS : op::STAYS"
        return 1, (leap + 1 - odd) // 2, f"v ? ({steps}) : op::LEAPS"

    def _increment_kind(self, value: int, instr: Apply) -> str:
        """Return, as C, which increment leads to a word's position; unknown where the stream was not started."""
        return self._increments(instr.args[0])[2] if value in self._started else _UNKNOWN_INCREMENT

    def _lane_parity(self, value: int) -> str | None:
        """Return the C expression of a position's parity at lane ``v``, or None if it is unknown."""
        position, lane = self.body.instructions[value], self.tile.lane
        if lane is None or not isinstance(position, LoopIndex) or position.at.coef[lane] != 1 or self.tile.width % 2:
            return None
        rest = (c for d, c in enumerate(position.at.coef) if d != lane)
        return f"(v + {position.at.offset % 2}) % 2" if all(c % 2 == 0 for c in rest) else None

    def _turn_in_block(self, value: int) -> str:
        """Return the C expression of a lane's turn among the elements of its random block; negative if unknown."""
        instr = self.body.instructions[value]
        assert isinstance(instr, Apply)
        position, lane = self.body.instructions[instr.args[0]], self.tile.lane
        per_block = elements_of_block(self.dtypes[value])
        if lane is None or not isinstance(position, LoopIndex) or position.at.coef[lane] != 1:
            return "-1"
        rest = (c for d, c in enumerate(position.at.coef) if d != lane)
        aligned = all(n % per_block == 0 for n in (self.tile.width, position.at.offset, *rest))
        return f"v % {per_block}" if aligned else "-1"

    # Emission

    def compute_once(self, values: Iterable[int]) -> None:
        """Compute values that are the same all over the tile, at the end of the text."""
        order = self.closure(values)
        self.declare_streams(order)
        for value in order:
            instr = self.body.instructions[value]
            if isinstance(instr, Load):
                self._define(value, "*" + self.unit.element(instr.arg, instr.at, self.tile.index), keep=True)
            else:
                self._compute(value, guard="true", keep=True)

    def run(
        self,
        values: Sequence[int],
        keep: Iterable[int] = (),
        stores: Sequence[Store] = (),
        consume: Callable[[], None] | None = None,
    ) -> None:
        """Emit the tile: its loads, then its arithmetic, then its stores.

        Parameters
        ----------
        values
            The values to compute for `consume`.
        keep
            Values to compute that stay known after this call.
        stores
            The stores to make.
        consume
            A function that emits what uses the values. It is called once, inside the loops over vector ``u`` and lane
            ``v``: the C variable ``exists`` says whether the lane exists, and `known` names the values.
        """
        order = self.closure([*values, *keep, *(store.value for store in stores)])
        self.declare_streams(order)
        kept = [value for value in keep if value in order]
        instructions = self.body.instructions
        self._emit_loads([value for value in order if type(instructions[value]) is Load])
        order = [value for value in order if type(instructions[value]) is not Load]
        kept_names = dict(self.known)
        for value in kept:
            if value not in kept_names:
                kept_names[value] = self._declare_registers("k", value, self.varies(value))
        results = [self._declare_result(n, store) for n, store in enumerate(stores)]
        with self.text.unrolled("u", self.tile.count):
            self.define_indices()
            for value in order:
                if not self.varies(value):
                    self._compute(value, guard=self.lane_exists("0"))
                    if value in kept:
                        self.text.line(f"{kept_names[value]} = {self.known[value]};")
            for value in order:
                if self._is_gathered_whole(value):
                    self._gather_vector(value)
            if any(map(self.varies, order)) or stores or consume is not None:
                self._compute_lanes(order, kept, kept_names, stores, results, consume)
        self.known = kept_names
        if stores:
            self._emit_stores(stores, results)

    def _compute_lanes(
        self,
        order: Sequence[int],
        kept: Sequence[int],
        kept_names: dict[int, str],
        stores: Sequence[Store],
        results: Sequence[str],
        consume: Callable[[], None] | None,
    ) -> None:
        with self.text.unrolled("v", self.tile.width):
            self.text.line(f"const bool exists = {self.lane_exists('v')};")
            for value in order:
                if self.varies(value):
                    if not self._is_gathered_whole(value):
                        self._compute(value, guard="exists")
                    if value in kept:
                        self.text.line(f"{kept_names[value]} = {self.known[value]};")
            for store, result in zip(stores, results, strict=True):
                self.text.line(f"{result}[u].v[v] = {self.known[store.value]};")
            if consume is not None:
                consume()

    def lane_exists(self, lane: str) -> str:
        """Return the C condition that a lane exists."""
        if self.tile.whole == "true":
            return "true"
        return "left > 0" if self._only_whole_vectors else f"{self.tile.whole} || left > {lane}"

    def define_indices(self) -> None:
        """Define the loop indices of vector ``u``, and ``left``, the number of its lanes that exist."""
        for line in self.tile.index_lines:
            self.text.line(line)

    def _declare_registers(self, letter: str, value: int, varying: bool, fixed: bool = False) -> str:
        """Declare registers for the value over the whole tile; return the C expression of one lane."""
        name = f"{letter}{self.tag}{value}"
        count, u = (1, "0") if fixed else (self.tile.count, "u")
        if varying:
            self.text.line(f"Pack<{self.ctype(value)}, {self.tile.width}> {name}[{count}];")
            return f"{name}[{u}].v[v]"
        self.text.line(f"{self.ctype(value)} {name}[{count}];")
        return f"{name}[{u}]"

    def _is_fixed(self, value: int) -> bool:
        """Return whether a load is the same in every vector of the tile."""
        instr, fixed_loops = self.body.instructions[value], self.tile.fixed_loops
        assert isinstance(instr, Load)
        return bool(fixed_loops) and not any(c for d, c in enumerate(instr.at.coef) if d not in fixed_loops)

    def _declare_result(self, n: int, store: Store) -> str:
        name = f"y{self.tag}{n}_{store.value}"
        ctype = C_TYPE[self.unit.kernel.args[store.arg].dtype]
        self.text.line(f"Pack<{ctype}, {self.tile.width}> {name}[{self.tile.count}];")
        return name

    def _is_vector_access(self, arg: int, at: Affine) -> bool:
        """Return whether each vector of the access is contiguous and aligned."""
        return is_vector_access(self.unit, arg, at, self.tile.lane, self.tile.width)

    def _emit_loads(self, values: Sequence[int]) -> None:
        if not values:
            return
        fixed = [value for value in values if self._is_fixed(value)]
        moving = [value for value in values if value not in fixed]
        registers = {value: self._declare_registers("x", value, self.varies(value), value in fixed) for value in values}
        self.known.update(registers)
        width = self.tile.width

        def load(group: Sequence[int], count: int, guard: str) -> None:
            with self.text.unrolled("u", count):
                self.define_indices()
                for value in group:
                    instr = self.body.instructions[value]
                    assert isinstance(instr, Load)
                    name = registers[value].removesuffix(".v[v]")
                    address = self.unit.element(instr.arg, instr.at, self.tile.index)
                    other = f" : {self.ctype(value)}()"
                    if not self.varies(value):
                        self.text.line(f"{name} = {f'left > 0 ? *{address}{other}' if guard else f'*{address}'};")
                    elif self._is_vector_access(instr.arg, instr.at):
                        self.text.line(
                            f"{name} = load_{_ACCESS[guard]}<{width}>({address}{', left' if guard else ''});"
                        )
                    else:
                        assert self.tile.lane is not None
                        item = f"{address}[{self.unit.term(instr.at, self.tile.lane, 'v')}]"
                        with self.text.unrolled("v", width):
                            self.text.line(f"{name}.v[v] = {f'{guard} ? {item}{other}' if guard else item};")

        def emit(guard: str) -> None:
            for group, count in ((fixed, 1), (moving, self.tile.count)):
                if group:
                    load(group, count, "" if self.tile.repeats_last else guard)

        self._emit_guarded(emit)

    def _emit_stores(self, stores: Sequence[Store], results: Sequence[str]) -> None:
        lane, width = self.tile.lane, self.tile.width

        def emit(guard: str) -> None:
            with self.text.unrolled("u", self.tile.count):
                self.define_indices()
                for store, name in zip(stores, results, strict=True):
                    to = self.unit.element(store.arg, store.at, self.tile.index)
                    if self._is_vector_access(store.arg, store.at):
                        self.text.line(f"store_{_ACCESS[guard]}({to}, {name}[u]{', left' if guard else ''});")
                        continue
                    step = self.unit.term(store.at, lane, "v") if lane is not None else ""
                    with self.text.unrolled("v", width):
                        self.text.line(f"{f'if ({guard}) ' if guard else ''}{to}[{step or 0}] = {name}[u].v[v];")

        self._emit_guarded(emit)

    def _emit_guarded(self, emit: Callable[[str], None]) -> None:
        """Call `emit` with the condition under which a lane exists; it is empty where the tile is whole."""
        if self.tile.whole == "true":
            emit("")
        elif self._only_whole_vectors:
            emit("left > 0")
        else:
            with self.text.block(f"if ({self.tile.whole})"):
                emit("")
            with self.text.block("else"):
                emit("left > v")

    # One value

    def _define(self, value: int, expression: str, keep: bool) -> None:
        name = f"{'r' if keep else 't'}{self.tag}{value}"
        self.text.line(f"const {self.ctype(value)} {name} = {expression};")
        self.known[value] = name

    def _compute(self, value: int, guard: str, keep: bool = False) -> None:
        instr = self.body.instructions[value]
        if isinstance(instr, Scalar):
            self._define(value, self.unit.scalar(instr.arg), keep)
        elif isinstance(instr, LoopIndex):
            self._define(value, self._index_value(instr), keep)
        elif isinstance(instr, Apply):
            args = [self.known[arg] for arg in instr.args]
            if instr.op == "philox":
                args.append(self._streams[value])
            elif value in self._streams:
                known = self._turn_in_block(value) if instr.op in BLOCK_OPS else self._increment_kind(value, instr)
                args += [self._streams[value], known]
            elif instr.op == "stream_half":  # it reads only the parity of the position
                args[0] = self._lane_parity(instr.args[0]) or args[0]
            self._define(value, self.unit.expression(instr.op, instr.loop, args), keep)
        elif isinstance(instr, LoadIndexed):
            self._gather(value, instr, guard, keep)
        elif isinstance(instr, (ReduceLoops, ScanLoop)):
            code = self.unit.reducer(instr.op, instr.loop, isinstance(instr, ScanLoop))[1]
            self._define(value, code.finish(self.states[value], [self.known[arg] for arg in instr.args[1:]]), keep)

    def _index_value(self, instr: LoopIndex) -> str:
        terms = [
            f"(long long)({name}) * {self.unit.long_param(c, (instr.at.coef, d, 'index'))}"
            for d, name in enumerate(self._lane_index())
            if (c := instr.at.coef[d]) and name != "0"
        ]
        return " + ".join([self.unit.long_param(instr.at.offset), *terms])

    def _lane_index(self) -> tuple[str, ...]:
        """Return the C expressions of the loop indices at lane ``v``."""
        lane = self.tile.lane
        return tuple(f"{name} + v" if d == lane else name for d, name in enumerate(self.tile.index))

    def _gather(self, value: int, instr: LoadIndexed, guard: str, keep: bool) -> None:
        name = f"{'r' if keep else 't'}{self.tag}{value}"
        self.text.line(f"{self.ctype(value)} {name} = {self.ctype(value)}();")
        self.known[value] = name
        varying = self.varies(value)
        index = tuple(f"({i})" for i in (self._lane_index() if varying else self.tile.index))
        with self.text.block(f"if ({guard})"):
            place = self._looked_up(instr)
            if 0 not in instr.dims:
                self.text.line(f"{name} = {self.unit.element(instr.arg, instr.at, index)}[{place}];")

    def _looked_up(self, instr: LoadIndexed) -> str:
        """Look at the indices of a gather; return the C expression of how far they lead from its first element."""
        terms = []
        for k, (i, n, stride) in enumerate(zip(instr.index, instr.dims, instr.strides, strict=True)):
            wrapped = f"wrap({self.known[i]}, {self.unit.long_param(n)}, int(a{instr.source_location}), flag)"
            self.text.line(f"const long long j{k} = {wrapped};")
            if stride:
                terms.append(f"j{k}" if stride == 1 else f"j{k} * {self.unit.long_param(stride)}")
        return " + ".join(terms) or "0"

    def _is_gathered_whole(self, value: int) -> bool:
        """Return whether the lanes of a vector are gathered by one index, which is then looked at once."""
        instr = self.body.instructions[value]
        if not isinstance(instr, LoadIndexed) or self.tile.width == 1 or not self.varies(value):
            return False
        return not any(map(self.varies, instr.index))

    def _gather_vector(self, value: int) -> None:
        instr, name, width = self.body.instructions[value], f"t{self.tag}{value}", self.tile.width
        assert isinstance(instr, LoadIndexed)
        assert self.tile.lane is not None
        self.text.line(f"Pack<{self.ctype(value)}, {width}> {name} = {{}};")
        self.known[value] = f"{name}.v[v]"
        with self.text.block(f"if ({self.lane_exists('0')})"):
            address = f"({self.unit.element(instr.arg, instr.at, self.tile.index)} + ({self._looked_up(instr)}))"
            has_all_lanes = self.tile.whole == "true" or self._only_whole_vectors
            if 0 in instr.dims:
                return
            if (
                has_all_lanes
                and self._is_vector_access(instr.arg, instr.at)
                and not any(n % width for n in instr.strides)
            ):
                self.text.line(f"{name} = load_pack<{width}>({address});")
                return
            step = self.unit.term(instr.at, self.tile.lane, "v")
            with self.text.unrolled("v", width):
                self.text.line(f"if ({self.lane_exists('v')}) {name}.v[v] = {address}[{step}];")


def is_vector_access(unit: Unit, arg: int, at: Affine, lane: int | None, width: int) -> bool:
    """Return whether every vector of `width` lanes of the access is contiguous and aligned for one memory access."""
    kernel_arg = unit.kernel.args[arg]
    if lane is None or at.coef[lane] != 1 or not kernel_arg.aligned or (width == 1 and kernel_arg.dtype.itemsize < 16):
        return False
    shape = unit.kernel.shape
    rest = (c for d, c in enumerate(at.coef) if d != lane and shape[d] > 1)
    return at.offset % width == 0 and all(c % width == 0 for c in rest)
