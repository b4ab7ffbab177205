"""Values of a kernel's body as C, for a tile: `count` vectors of `width` lanes in each thread.

The lanes of a vector are neighbours along one loop. All loads of a tile come first, so that they are in flight
together, then the arithmetic, then the stores; a tile that is not whole is loaded and stored lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ...core.dtypes import C_TYPE, DType
from ...core.ops.philox32 import BLOCKS, elements_of_block
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
    value_dtypes,
)
from ..random.stream_code import stand, walk
from .unit import Text, Unit

# By the condition of a lane, which functions of the prelude load and store a vector.
_HOW = {"": "pack", "left > 0": "if", "left > v": "part"}

# How sure it is by what the position of a word grows: not, or if so from lane to lane by a step.
_UNSURE, _SURE = "op::UNSURE", "v ? op::{} : op::LEAPS"


@dataclass(frozen=True, slots=True)
class Tile:
    """The loop points that a thread works on at once.

    `place` are the lines that define, for vector `u`, the loop indices of its first lane and ``left``, the number of
    its lanes that exist (none if zero or less). `index` names the indices, one a loop. `whole` is a C condition that
    every lane of every vector exists. The indices of the `steady` loops are the same in every vector, and the first
    vector exists. From the last lane of a vector to the first of the thread's next one, the index of the lanes' loop
    (the last one where there are none) mostly grows by `leap`; always, also from tile to tile, if it is `regular`.
    """

    index: tuple[str, ...]
    lane: int | None = None
    width: int = 1
    count: int = 1
    place: tuple[str, ...] = ()
    whole: str = "true"
    steady: tuple[int, ...] = ()
    leap: int = 1
    regular: bool = False


class Emitter:
    """Emits the values of one body over one tile. Values stay known from one pass to the next."""

    def __init__(self, unit: Unit, text: Text, body: Body, tile: Tile, name: str = "") -> None:
        self.unit = unit
        self.text = text
        self.body = body
        self.tile = tile
        self.name = name
        self.dtypes: list[DType] = value_dtypes(unit.kernel, body)
        self.known: dict[int, str] = {}
        self.states: dict[int, str] = {}
        self._walks: dict[int, str] = {}
        self._standing: set[int] = set()
        self._varying: dict[int, bool] = {}
        # Every vector is there with all its lanes or not at all: no vector needs to be taken apart.
        self._exact = tile.lane is None or unit.kernel.shape[tile.lane] % tile.width == 0

    # What is needed

    def varies(self, value: int) -> bool:
        """Whether the value differs between the lanes of a vector."""
        found = self._varying.get(value)
        if found is None:
            instr, lane = self.body.instrs[value], self.tile.lane
            if isinstance(instr, Scalar):
                found = False
            elif isinstance(instr, (Load, LoopIndex)):
                found = lane is not None and instr.at.coef[lane] != 0
            elif isinstance(instr, LoadIndexed):
                found = (lane is not None and instr.at.coef[lane] != 0) or any(map(self.varies, instr.index))
            elif isinstance(instr, Apply):
                found = any(map(self.varies, instr.args))
            elif isinstance(instr, ReduceLoops):
                found = lane is not None and lane < len(self.unit.kernel.shape) - self.unit.kernel.reduced
            else:
                found = lane is not None
            self._varying[value] = found
        return found

    def closure(self, values: Iterable[int]) -> list[int]:
        """The values to compute, in order, so that `values` are known."""
        found: set[int] = set()
        todo = list(values)
        while todo:
            value = todo.pop()
            if value not in found and value not in self.known:
                found.add(value)
                todo += operands(self.body, value, self.states)
        return sorted(found)

    def ctype(self, value: int) -> str:
        """The C type of the value."""
        return C_TYPE[self.dtypes[value]]

    # Words of a stream

    def walk(self, values: Iterable[int], first: Sequence[str] = ()) -> None:
        """Begin the walks of words among the values, where the text stands: outside of the loops of the tile.

        The lines `first` define what `place` asks for at the first vector. Where they are given, what is sure to leap
        from vector to vector stands one leap before it from now on.
        """
        for value in values:
            instr = self.body.instrs[value]
            if value in self._walks or not isinstance(instr, Apply):
                continue
            name = f"w{self.name}{value}"
            if instr.op in BLOCKS:
                self.text.line(f"op::Block<{self.ctype(value)}> {name};")
            elif instr.op == "philox":
                self.text.line(f"op::Four {name};")
            elif instr.op in CONGRUENTIAL:
                step, leap, _ = self._ways(instr.args[0])
                self.text.line(f"op::Walk {name}{walk(instr.op, step, leap)};")
                if first:
                    self._stand(value, instr, name, leap, first)
            else:
                continue
            self._walks[value] = name

    def _stand(self, value: int, instr: Apply, name: str, leap: int, first: Sequence[str]) -> None:
        """Let a walk stand one leap before the first vector, if it is sure to leap."""
        place, *state = instr.args
        if self._ways(place)[2] == _UNSURE or not all(isinstance(self.body.instrs[n], Scalar) for n in state):
            return
        self.once(state)
        self._standing.add(value)
        with self.text.block(""):
            for line in (*first, "const int u = 0, v = 0;", *self.tile.place):
                self.text.line(line)
            self.text.line(
                stand(instr.op, name, self._position(place), leap, ", ".join(self.known[n] for n in state)) + ";"
            )

    def _position(self, value: int) -> str:
        """The position of a word at lane ``v``, of which it is sure how it grows."""
        instr = self.body.instrs[value]
        if isinstance(instr, LoopIndex):
            return self._index(instr)
        assert isinstance(instr, Apply)
        return self.unit.expression(instr.op, instr.loop, [f"({self._position(instr.args[0])})"])

    def _ways(self, value: int) -> tuple[int, int, str]:
        """By how much a position mostly grows, from lane to lane and from vector to vector; in C, how sure that is."""
        instr = self.body.instrs[value]
        if isinstance(instr, LoopIndex) and instr.at.coef:
            coef = instr.at.coef[-1 if self.tile.lane is None else self.tile.lane]
            return coef, coef * self.tile.leap, _SURE.format("STEPS") if self.tile.regular else _UNSURE
        if not isinstance(instr, Apply):
            return 1, 1, _UNSURE
        step, leap, _ = self._ways(instr.args[0])
        if instr.op != "stream_place":
            return step, leap, _UNSURE
        # Two halves have one word: in vectors that begin with a first half, or a second one, it is sure which.
        first = self.body.instrs[instr.args[0]]
        if not (self.tile.regular and isinstance(first, LoopIndex) and step == 1):
            return 1, (leap + 1) // 2, _UNSURE
        if self.tile.width == 1:
            return 1, leap // 2, _UNSURE if leap % 2 else "op::LEAPS"
        odd = first.at.offset % 2
        steps = f"v % 2 == {odd} ? op::STEPS : op::STAYS"
        return 1, (leap + 1 - odd) // 2, f"v ? ({steps}) : op::LEAPS"

    def _way(self, value: int, instr: Apply) -> str:
        """In C, how the position of a word comes from the one before."""
        return self._ways(instr.args[0])[2] if value in self._standing else _UNSURE

    def _parity(self, value: int) -> str | None:
        """In C, whether a position at lane ``v`` is odd, if that is known."""
        place, lane = self.body.instrs[value], self.tile.lane
        if lane is None or not isinstance(place, LoopIndex) or place.at.coef[lane] != 1 or self.tile.width % 2:
            return None
        rest = (c for d, c in enumerate(place.at.coef) if d != lane)
        return f"(v + {place.at.offset % 2}) % 2" if all(c % 2 == 0 for c in rest) else None

    def _turn(self, value: int) -> str:
        """In C, the turn at which a lane's element comes in its block; negative where that is known later alone."""
        instr = self.body.instrs[value]
        assert isinstance(instr, Apply)
        place, lane, many = self.body.instrs[instr.args[0]], self.tile.lane, elements_of_block(self.dtypes[value])
        if lane is None or not isinstance(place, LoopIndex) or place.at.coef[lane] != 1 or self.tile.width % many:
            return "-1"
        rest = (c for d, c in enumerate(place.at.coef) if d != lane)
        return f"v % {many}" if place.at.offset % many == 0 and all(c % many == 0 for c in rest) else "-1"

    # Emission

    def once(self, values: Iterable[int]) -> None:
        """Compute values that are the same all over the tile, where the text stands."""
        order = self.closure(values)
        self.walk(order)
        for value in order:
            instr = self.body.instrs[value]
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
        """Compute `values`, the `keep` ones so that they stay known, and store.

        `consume` is called where the text stands at one lane ``v`` of vector ``u``: ``on`` says that it exists, and
        `known` names the values.
        """
        order = self.closure([*values, *keep, *(store.value for store in stores)])
        self.walk(order)
        kept = [value for value in keep if value in order]
        self._load([value for value in order if isinstance(self.body.instrs[value], Load)])
        order = [value for value in order if not isinstance(self.body.instrs[value], Load)]
        before = dict(self.known)
        for value in kept:
            if value not in before:
                before[value] = self._array("k", value, self.varies(value))
        results = [self._result(n, store) for n, store in enumerate(stores)]
        with self.text.loop("u", self.tile.count):
            self.place()
            for value in order:
                if not self.varies(value):
                    self._compute(value, guard=self.on("0"))
                    if value in kept:
                        self.text.line(f"{before[value]} = {self.known[value]};")
            if any(map(self.varies, order)) or stores or consume is not None:
                self._lanes(order, kept, before, stores, results, consume)
        self.known = before
        if stores:
            self._store(stores, results)

    def _lanes(
        self,
        order: Sequence[int],
        kept: Sequence[int],
        before: dict[int, str],
        stores: Sequence[Store],
        results: Sequence[str],
        consume: Callable[[], None] | None,
    ) -> None:
        with self.text.loop("v", self.tile.width):
            self.text.line(f"const bool on = {self.on('v')};")
            for value in order:
                if self.varies(value):
                    self._compute(value, guard="on")
                    if value in kept:
                        self.text.line(f"{before[value]} = {self.known[value]};")
            for store, result in zip(stores, results, strict=True):
                self.text.line(f"{result}[u].v[v] = {self.known[store.value]};")
            if consume is not None:
                consume()

    def on(self, lane: str) -> str:
        """The condition that a lane exists."""
        if self.tile.whole == "true":
            return "true"
        return "left > 0" if self._exact else f"{self.tile.whole} || left > {lane}"

    def place(self) -> None:
        """Define the loop indices of vector ``u`` and how many of its lanes are ``left``."""
        for line in self.tile.place:
            self.text.line(line)

    def _array(self, letter: str, value: int, varying: bool, steady: bool = False) -> str:
        """Declare registers for the value over the whole tile; return how its lane is named."""
        name = f"{letter}{self.name}{value}"
        count, u = (1, "0") if steady else (self.tile.count, "u")
        if varying:
            self.text.line(f"Pack<{self.ctype(value)}, {self.tile.width}> {name}[{count}];")
            return f"{name}[{u}].v[v]"
        self.text.line(f"{self.ctype(value)} {name}[{count}];")
        return f"{name}[{u}]"

    def _steady(self, value: int) -> bool:
        """Whether a load is the same in every vector of the tile."""
        instr = self.body.instrs[value]
        assert isinstance(instr, Load)
        return bool(self.tile.steady) and not any(c for d, c in enumerate(instr.at.coef) if d not in self.tile.steady)

    def _result(self, n: int, store: Store) -> str:
        name = f"y{self.name}{n}_{store.value}"
        ctype = C_TYPE[self.unit.kernel.args[store.arg].dtype]
        self.text.line(f"Pack<{ctype}, {self.tile.width}> {name}[{self.tile.count}];")
        return name

    def _packs(self, arg: int, at: Affine) -> bool:
        """Whether a vector of the access is contiguous and aligned. (The row strides were seen to: `pack_width`.)"""
        return packs(self.unit, arg, at, self.tile.lane, self.tile.width)

    def _load(self, values: Sequence[int]) -> None:
        if not values:
            return
        steady = [value for value in values if self._steady(value)]
        moving = [value for value in values if value not in steady]
        places = {value: self._array("x", value, self.varies(value), value in steady) for value in values}
        self.known.update(places)
        width = self.tile.width

        def load(group: Sequence[int], count: int, guard: str) -> None:
            with self.text.loop("u", count):
                self.place()
                for value in group:
                    instr = self.body.instrs[value]
                    assert isinstance(instr, Load)
                    name = places[value].removesuffix(".v[v]")
                    from_ = self.unit.element(instr.arg, instr.at, self.tile.index)
                    other = f" : {self.ctype(value)}()"
                    if not self.varies(value):
                        self.text.line(f"{name} = {f'left > 0 ? *{from_}{other}' if guard else f'*{from_}'};")
                    elif self._packs(instr.arg, instr.at):
                        self.text.line(f"{name} = load_{_HOW[guard]}<{width}>({from_}{', left' if guard else ''});")
                    else:
                        assert self.tile.lane is not None
                        item = f"{from_}[{self.unit.term(instr.at, self.tile.lane, 'v')}]"
                        with self.text.loop("v", width):
                            self.text.line(f"{name}.v[v] = {f'{guard} ? {item}{other}' if guard else item};")

        def emit(guard: str) -> None:
            for group, count in ((steady, 1), (moving, self.tile.count)):
                if group:
                    load(group, count, guard)

        self._guarded(emit)

    def _store(self, stores: Sequence[Store], results: Sequence[str]) -> None:
        lane, width = self.tile.lane, self.tile.width

        def emit(guard: str) -> None:
            with self.text.loop("u", self.tile.count):
                self.place()
                for store, name in zip(stores, results, strict=True):
                    to = self.unit.element(store.arg, store.at, self.tile.index)
                    if self._packs(store.arg, store.at):
                        self.text.line(f"store_{_HOW[guard]}({to}, {name}[u]{', left' if guard else ''});")
                        continue
                    step = self.unit.term(store.at, lane, "v") if lane is not None else ""
                    with self.text.loop("v", width):
                        self.text.line(f"{f'if ({guard}) ' if guard else ''}{to}[{step or 0}] = {name}[u].v[v];")

        self._guarded(emit)

    def _guarded(self, emit: Callable[[str], None]) -> None:
        """Emit accesses with the condition of each lane: none where the tile is whole."""
        if self.tile.whole == "true":
            emit("")
        elif self._exact:
            emit("left > 0")
        else:
            with self.text.block(f"if ({self.tile.whole})"):
                emit("")
            with self.text.block("else"):
                emit("left > v")

    # One value

    def _define(self, value: int, expression: str, keep: bool) -> None:
        name = f"{'r' if keep else 't'}{self.name}{value}"
        self.text.line(f"const {self.ctype(value)} {name} = {expression};")
        self.known[value] = name

    def _compute(self, value: int, guard: str, keep: bool = False) -> None:
        instr = self.body.instrs[value]
        if isinstance(instr, Scalar):
            self._define(value, self.unit.scalar(instr.arg), keep)
        elif isinstance(instr, LoopIndex):
            self._define(value, self._index(instr), keep)
        elif isinstance(instr, Apply):
            args = [self.known[arg] for arg in instr.args]
            if instr.op == "philox":
                args.append(self._walks[value])
            elif value in self._walks:
                known = self._turn(value) if instr.op in BLOCKS else self._way(value, instr)
                args += [self._walks[value], known]
            elif instr.op == "stream_half":  # the only thing that counts there
                args[0] = self._parity(instr.args[0]) or args[0]
            self._define(value, self.unit.expression(instr.op, instr.loop, args), keep)
        elif isinstance(instr, LoadIndexed):
            self._gather(value, instr, guard, keep)
        elif isinstance(instr, (ReduceLoops, ScanLoop)):
            code = self.unit.reducer(instr.op, instr.loop)[1]
            self._define(value, code.post(self.states[value], [self.known[arg] for arg in instr.args[1:]]), keep)

    def _index(self, instr: LoopIndex) -> str:
        terms = [
            f"(long long)({name}) * {self.unit.long(c, (instr.at.coef, d, 'index'))}"
            for d, name in enumerate(self._lane_index())
            if (c := instr.at.coef[d]) and name != "0"
        ]
        return " + ".join([self.unit.long(instr.at.offset), *terms])

    def _lane_index(self) -> tuple[str, ...]:
        """The loop indices at lane ``v``."""
        lane = self.tile.lane
        return tuple(f"{name} + v" if d == lane else name for d, name in enumerate(self.tile.index))

    def _gather(self, value: int, instr: LoadIndexed, guard: str, keep: bool) -> None:
        name = f"{'r' if keep else 't'}{self.name}{value}"
        self.text.line(f"{self.ctype(value)} {name} = {self.ctype(value)}();")
        self.known[value] = name
        varying = self.varies(value)
        index = tuple(f"({i})" for i in (self._lane_index() if varying else self.tile.index))
        with self.text.block(f"if ({guard})"):
            terms = []
            for k, (i, n, stride) in enumerate(zip(instr.index, instr.dims, instr.strides, strict=True)):
                wrapped = f"wrap({self.known[i]}, {self.unit.long(n)}, int(a{instr.source_location}), flag)"
                self.text.line(f"const long long j{k} = {wrapped};")
                if stride:
                    terms.append(f"j{k}" if stride == 1 else f"j{k} * {self.unit.long(stride)}")
            if 0 not in instr.dims:
                from_ = self.unit.element(instr.arg, instr.at, index)
                self.text.line(f"{name} = {from_}[{' + '.join(terms) or 0}];")


def operands(body: Body, value: int, states: dict[int, str]) -> Sequence[int]:
    """The values that `value` is computed from; a reduction whose state is at hand needs what its post needs."""
    instr = body.instrs[value]
    if isinstance(instr, LoadIndexed):
        return instr.index
    if isinstance(instr, Apply):
        return instr.args
    if isinstance(instr, (ReduceLoops, ScanLoop)):
        return instr.args[1:] if value in states else instr.args
    return ()


def packs(unit: Unit, arg: int, at: Affine, lane: int | None, width: int) -> bool:
    """Whether every vector of `width` lanes of the access is contiguous and as aligned as its load demands."""
    unit_arg = unit.kernel.args[arg]
    if lane is None or at.coef[lane] != 1 or not unit_arg.aligned or (width == 1 and unit_arg.dtype.itemsize < 16):
        return False
    shape = unit.kernel.shape
    rest = (c for d, c in enumerate(at.coef) if d != lane and shape[d] > 1)
    return at.offset % width == 0 and all(c % width == 0 for c in rest)
