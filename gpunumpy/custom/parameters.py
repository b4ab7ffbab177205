"""Lists of parameters such as ``"T x, raw float32 y"``, and what the types in them are for given arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from ..core import dtypes
from ..core.dtypes import DType
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import ndarray
from ..core.recording.record import as_array, as_dtype, as_node
from ..core.runtime import evaluate
from ..core.runtime.device import default_device
from ..kernels.custom.text import Variable

_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_RESERVED = frozenset({"i", "n"})


class Parameter(NamedTuple):
    """A parameter of a kernel.

    Attributes
    ----------
    name : str
        Its name in the operation.
    type_name : str
        One letter that stands for a type, or the name of a dtype.
    dtype : DType or None
        The dtype; None for a letter.
    is_raw : bool
        Whether the operation indexes it by itself.
    """

    name: str
    type_name: str
    dtype: DType | None
    is_raw: bool


def parsed(text: str) -> tuple[Parameter, ...]:
    """Return the parameters in a list of them.

    Raises
    ------
    ValueError
        If the list is not one of parameters.
    """
    return tuple([_parsed(part) for part in text.split(",") if part.strip()])


def _parsed(text: str) -> Parameter:
    *words, type_name, name = ("", *text.split()) if len(text.split()) < 2 else text.split()
    if not type_name or not _WORD.match(name):
        raise ValueError(
            f"{text.strip()!r} is no parameter: it has a type and a name, such as 'T x' or 'raw float32 x'"
        )
    unknown = [word for word in words if word not in ("raw", "const")]
    if unknown:
        raise ValueError(
            f"{text.strip()!r} is no parameter: {unknown[0]!r} before its type is neither raw nor const; "
            "commas part parameters, as in 'T x, T y'"
        )
    if name in _RESERVED or name.startswith("_"):
        raise ValueError(
            f"a parameter may not be called {name!r}: i, n and names with _ before them are the kernel's own"
        )
    dtype = None if len(type_name) == 1 else dtypes.check(type_name)
    return Parameter(name, type_name, dtype, "raw" in words)


class Types(NamedTuple):
    """The dtypes of inputs and outputs, and of the letters."""

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    letters: tuple[tuple[str, DType], ...]


def types_for(
    kernel: str,
    inputs: Sequence[Parameter],
    outputs: Sequence[Parameter],
    given: Sequence[DType | None],
    made: Sequence[DType | None],
) -> Types:
    """Return the dtypes of a kernel's parameters: letters have those of the outputs, or else of the inputs.

    Parameters
    ----------
    kernel
        The name of the kernel, for messages.
    inputs, outputs
        The parameters.
    given, made
        The dtypes of the arguments: `given` for the inputs; `made` for the outputs, if they are given too. None is that
        of a scalar, which takes any type.

    Raises
    ------
    TypeError
        If an array has another dtype than its parameter, or no array tells what a letter stands for.
    """
    letters: dict[str, DType] = {}
    for parameter, argument in [*zip(outputs, made, strict=False), *zip(inputs, given, strict=True)]:
        if argument is not None:
            wanted = parameter.dtype or letters.setdefault(parameter.type_name, argument)
            if argument != wanted:
                told = f"{parameter.type_name} is {wanted} here" if parameter.dtype is None else f"has to be {wanted}"
                raise TypeError(
                    f"{kernel}: {parameter.name} is {argument}, and {told}; convert it with astype({str(wanted)!r})"
                )
    unknown = {p.type_name for p in (*inputs, *outputs) if p.dtype is None} - set(letters)
    if unknown:
        raise TypeError(
            f"{kernel}: no array tells the type {', '.join(sorted(unknown))}; write a dtype in its place, such as "
            "float64, or give the outputs"
        )
    found = [tuple([p.dtype or letters[p.type_name] for p in part]) for part in (inputs, outputs)]
    return Types(found[0], found[1], tuple(sorted(letters.items())))


def check_names(inputs: Sequence[Parameter], outputs: Sequence[Parameter]) -> None:
    """Raise ValueError if two parameters have one name."""
    seen: set[str] = set()
    for parameter in (*inputs, *outputs):
        if parameter.name in seen:
            raise ValueError(f"two parameters are called {parameter.name!r}")
        seen.add(parameter.name)


def check_count(kernel: str, inputs: Sequence[Parameter], outputs: Sequence[Parameter], given: int) -> None:
    """Raise TypeError unless so many arguments are all inputs, or all inputs and outputs."""
    every = (*inputs, *outputs)
    if given not in (len(inputs), len(every)):
        alone, together = (", ".join([p.name for p in part]) for part in (inputs, every))
        raise TypeError(f"{kernel} takes the arguments ({alone}), or ({together}) with outputs; the call has {given}")


def check_outputs(kernel: str, outputs: Sequence[Parameter], made: Sequence[Any]) -> None:
    """Raise TypeError for an output that is no array."""
    for parameter, x in zip(outputs, made, strict=False):
        if not isinstance(x, ndarray):
            kind = f"{type(x).__module__}.{type(x).__name__}"
            raise TypeError(f"{kernel}: the output {parameter.name} has to be an array of gpunumpy, not {kind}")


def variables(parameters: Sequence[Parameter], found: Sequence[DType]) -> tuple[Variable, ...]:
    """Return parameters with the dtypes that were found for them."""
    return tuple([Variable(p.name, dtype) for p, dtype in zip(parameters, found, strict=True)])


def values_of(
    kernel: str, inputs: Sequence[Parameter], outputs: Sequence[Parameter], args: Sequence[Any]
) -> tuple[Node, ...]:
    """Return the values of arguments, the inputs and then maybe the outputs; a scalar has the type of its parameter.

    An input may be an array of NumPy's, as it may be in other functions.

    Raises
    ------
    TypeError
        If the arguments are too many or too few, an output is no array, or a scalar's type is open.
    """
    try:  # arrays alone, as most calls have
        return tuple([x._node if x._base is None else x.value() for x in args])
    except AttributeError:
        pass
    check_count(kernel, inputs, outputs, len(args))
    check_outputs(kernel, outputs, args[len(inputs) :])
    arrays = [x for x in args if isinstance(x, ndarray)]
    queue = arrays[0].queue if arrays else evaluate.queue_of(default_device())
    args = [as_array(x, queue.device) if isinstance(x, numpy.ndarray) else x for x in args]
    given, made = args[: len(inputs)], args[len(inputs) :]
    dtypes = [[x.dtype if isinstance(x, ndarray) else None for x in part] for part in (given, made)]
    types = types_for(kernel, inputs, outputs, *dtypes)
    pairs = zip(inputs, types.inputs, strict=True)
    found = [
        x.value() if isinstance(x, ndarray) else _number(kernel, parameter.name, x, dtype, queue)
        for x, (parameter, dtype) in zip(given, pairs, strict=True)
    ]
    return (*found, *[x.value() for x in made])


def _number(kernel: str, name: str, x: Any, dtype: DType, queue: Queue) -> Node:
    """Return the value of an input that is no array, as its type.

    Raises
    ------
    TypeError
        If it is no number, or a complex one for a real type.
    """
    if x is None or isinstance(x, (str, bytes)):
        raise TypeError(f"{kernel}: {name} is {x!r}; allowed: arrays and numbers")
    node = as_node(x, queue)
    if node.signature.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"{kernel}: {name} is complex, and has to be {dtype}")
    return as_dtype(node, dtype)


def queue_of(kernel: str, values: Sequence[Node]) -> Queue:
    """Return the queue of some values, or that of the default device if all are scalars.

    Raises
    ------
    ValueError
        If they are on two devices.
    """
    queues = {x.signature.queue for x in values if x.signature.queue is not None}
    if len(queues) > 1:
        first, second = sorted(str(queue.device) for queue in queues)
        raise ValueError(f"{kernel}: arguments are on two devices, {first} and {second}; move one with to_device()")
    return queues.pop() if queues else evaluate.queue_of(default_device())
