"""Elementwise kernels as callbacks: device functions that a library calls for every element that it reads or writes.

A callback serves one kernel, so that sizes are constants in it. It gets one pointer from the library. The kernel's
other arguments are 8-byte words in memory (``info``), in order, encoded as they are for a kernel's launch.
"""

from __future__ import annotations

from math import prod

from ...core.dtypes import C_TYPE, KIND
from ...core.schedule.kernel import Affine, Kernel, Load, Store
from .collapse import collapse
from .emit import Emitter, Tile
from .unit import Text, Unit

# The C type of a generated kernel's element -> the type as which the library passes it by value.
_LIBRARY_TYPE = {"f32": "float", "f64": "double", "c64": "float2", "c128": "double2"}


def first_input(kernel: Kernel) -> int:
    """Return the number of the first input argument: a load callback gets it as the library's pointer."""
    return next(n for n, arg in enumerate(kernel.args) if arg.kind == "in")


def load_callback(kernel: Kernel, name: str) -> str:
    """Return the text of the function `name`, which returns what the kernel computes for an element of its output."""
    library_arg = first_input(kernel)
    unit, store = _collapsed(kernel)
    element = C_TYPE[kernel.args[store.arg].dtype]
    text, emitter = _begin_body(unit, store.at)
    emitter.compute_once([store.value])
    text.line(f"return op::bit_cast<{_LIBRARY_TYPE[element]}>({emitter.known[store.value]});")
    head = f"{_LIBRARY_TYPE[element]} {name}(void* data, unsigned long long offset, void* info, void*)"
    return _function_text(unit, head, text, library_arg, (store.arg,))


def store_callback(kernel: Kernel, input_arg: int, name: str) -> str:
    """Return the text of the function `name`, which takes an element of argument `input_arg` and stores the result."""
    unit, store = _collapsed(kernel)
    body = unit.kernel.body
    loads = {n: i for n, i in enumerate(body.instructions) if isinstance(i, Load) and i.arg == input_arg}
    element = C_TYPE[kernel.args[input_arg].dtype]
    text, emitter = _begin_body(unit, next(iter(loads.values())).at)
    text.line(f"const {element} element = op::bit_cast<{element}>(passed);")
    emitter.known.update(dict.fromkeys(loads, "element"))
    emitter.compute_once([store.value])
    text.line(f"*{unit.element(store.arg, store.at, emitter.tile.index)} = {emitter.known[store.value]};")
    head = f"void {name}(void* data, unsigned long long offset, {_LIBRARY_TYPE[element]} passed, void* info, void*)"
    return _function_text(unit, head, text, store.arg, (input_arg,))


def _collapsed(kernel: Kernel) -> tuple[Unit, Store]:
    """Return the unit of the collapsed kernel, and its only store."""
    unit = Unit(collapse(kernel))
    (store,) = unit.kernel.body.stores
    return unit, store


def _begin_body(unit: Unit, at: Affine) -> tuple[Text, Emitter]:
    """Return a text that defines the loop indices at which `at` is ``offset``, and an emitter for what follows.

    `at` visits every offset from 0 to the number of loop points once.
    """
    text = Text()
    count = prod(unit.kernel.shape)
    offset_type = "unsigned" if count < 2**32 else "unsigned long long"
    text.line(f"const {offset_type} at = ({offset_type})offset;")
    index = []
    for d, (n, stride) in enumerate(zip(unit.kernel.shape, at.coef, strict=True)):
        loop_index = f"at / {stride}u" if stride > 1 else "at"
        loop_index = f"({loop_index}) % {n}u" if stride * n < count else loop_index
        text.line(f"const Int i{d} = Int({loop_index});")
        index.append(f"i{d}")
    return text, Emitter(unit, text, unit.kernel.body, Tile(tuple(index)))


def _function_text(unit: Unit, head: str, text: Text, library_arg: int, omitted: tuple[int, ...]) -> str:
    """Return the function with the helpers that it calls.

    Its first lines define the kernel's arguments: `library_arg` is the library's pointer, the `omitted` arguments are
    not used, and all others are read from ``info``.
    """
    lines = []
    word = 0
    for n, arg in enumerate(unit.kernel.args):
        if n in omitted:
            continue
        if arg.kind == "scalar":
            names = [f"a{n}r", f"a{n}i"] if KIND[arg.dtype] == "c" else [f"a{n}"]
            c_type = unit.argument_type(arg.dtype)
            lines += [
                f"  const {c_type} {name} = *({c_type}*)((char*)info + {8 * (word + k)});"
                for k, name in enumerate(names)
            ]
            word += len(names)
        else:
            pointer = f"{'const ' if arg.kind == 'in' else ''}{C_TYPE[arg.dtype]}*"
            address = "data" if n == library_arg else f"((void**)info)[{word}]"
            lines.append(f"  {pointer} const a{n} = ({pointer}){address};")
            word += n != library_arg
    lines += [*unit.constants(), *text.lines]
    return "\n".join([unit.preamble(), f"__device__ {head} {{", *lines, "}\n"])
