"""Elementwise kernels as device functions that a library calls for every element that it reads or writes.

Such a function serves one kernel alone, so sizes are constants in it. What it needs beside the library's own pointer
are 8-byte words in memory: the kernel's other arguments in order, as they travel to a kernel.
"""

from __future__ import annotations

from math import prod

from ...core.dtypes import C_TYPE, KIND
from ...core.schedule.kernel import Affine, Kernel, Load, Store
from .collapse import collapse
from .emit import Emitter, Tile
from .unit import Text, Unit

# What the library calls the elements that it passes by value.
_ELEMENTS = {"f32": "float", "f64": "double", "c64": "float2", "c128": "double2"}


def first_input(kernel: Kernel) -> int:
    """The argument that the library's own pointer stands for where it reads."""
    return next(n for n, arg in enumerate(kernel.args) if arg.kind == "in")


def load_callback(kernel: Kernel, name: str) -> str:
    """The text of the function `name`, whose value is the kernel's at an element of its output."""
    own = first_input(kernel)
    unit, store = _unit(kernel)
    element = C_TYPE[kernel.args[store.arg].dtype]
    text, emitter = _body(unit, store.at)
    emitter.once([store.value])
    text.line(f"return op::bit_cast<{_ELEMENTS[element]}>({emitter.known[store.value]});")
    head = f"{_ELEMENTS[element]} {name}(void* data, unsigned long long offset, void* info, void*)"
    return _function(unit, head, text, own, (store.arg,))


def store_callback(kernel: Kernel, given: int, name: str) -> str:
    """The text of the function `name`, which computes from an element of argument `given` what the kernel stores."""
    unit, store = _unit(kernel)
    body = unit.kernel.body
    loads = {n: i for n, i in enumerate(body.instrs) if isinstance(i, Load) and i.arg == given}
    element = C_TYPE[kernel.args[given].dtype]
    text, emitter = _body(unit, next(iter(loads.values())).at)
    text.line(f"const {element} element = op::bit_cast<{element}>(passed);")
    emitter.known.update(dict.fromkeys(loads, "element"))
    emitter.once([store.value])
    text.line(f"*{unit.element(store.arg, store.at, emitter.tile.index)} = {emitter.known[store.value]};")
    head = f"void {name}(void* data, unsigned long long offset, {_ELEMENTS[element]} passed, void* info, void*)"
    return _function(unit, head, text, store.arg, (given,))


def _unit(kernel: Kernel) -> tuple[Unit, Store]:
    unit = Unit(collapse(kernel, ordered=False))
    (store,) = unit.kernel.body.stores
    return unit, store


def _body(unit: Unit, walk: Affine) -> tuple[Text, Emitter]:
    """A text that begins with the loop indices at element `offset` of a walk over all elements."""
    text = Text()
    count = prod(unit.kernel.shape)
    narrow = "unsigned" if count < 2**32 else "unsigned long long"
    text.line(f"const {narrow} at = ({narrow})offset;")
    index = []
    for d, (n, step) in enumerate(zip(unit.kernel.shape, walk.coef, strict=True)):
        place = f"at / {step}u" if step > 1 else "at"
        place = f"({place}) % {n}u" if step * n < count else place
        text.line(f"const Int i{d} = Int({place});")
        index.append(f"i{d}")
    return text, Emitter(unit, text, unit.kernel.body, Tile(tuple(index)))


def _function(unit: Unit, head: str, text: Text, own: int, left_out: tuple[int, ...]) -> str:
    """The whole text: what the function needs of the table, and its arguments by the names that its lines use."""
    lines = []
    word = 0
    for n, arg in enumerate(unit.kernel.args):
        if n in left_out:
            continue
        if arg.kind == "scalar":
            names = [f"a{n}r", f"a{n}i"] if KIND[arg.dtype] == "c" else [f"a{n}"]
            wire = unit.wire(arg.dtype)
            lines += [f"  const {wire} {name} = (({wire}*)info)[{word + k}];" for k, name in enumerate(names)]
            word += len(names)
        else:
            pointer = f"{'const ' if arg.kind == 'in' else ''}{C_TYPE[arg.dtype]}*"
            from_ = "data" if n == own else f"((void**)info)[{word}]"
            lines.append(f"  {pointer} const a{n} = ({pointer}){from_};")
            word += n != own
    lines += [*unit.constants(), *text.lines]
    return "\n".join([unit.preamble(), f"__device__ {head} {{", *lines, "}\n"])
