"""The record of a library call: what the engine knows of it, and where each executor's functions for it are.

Functions of executors stand above the engine, so a record names them, as "module:attribute" below the package; they are
imported when an executor first runs the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from ...dtypes import DType
from ..layout import Shape
from ..signature import Signature

# The shape and the dtype of every output.
Results: TypeAlias = tuple[tuple[Shape, DType], ...]


class Batch(NamedTuple):
    """The options of a call that is several equal ones: how many, and the options of each.

    Its outputs are theirs, one after the other, and its arguments are those of the first one, then of the next.
    """

    calls: int
    options: Any


class FloatingErrors(NamedTuple):
    """How floating-point errors of a call are reported.

    Attributes
    ----------
    name
        NumPy's name for what reports them.
    op
        The elementwise op that the call folds with, whose poles are divisions by zero; empty if there is none.
    """

    name: str
    op: str = ""


class Epilogue(NamedTuple):
    """An elementwise operation on the result of a call.

    Attributes
    ----------
    operation
        The signature of the operation.
    place
        Which of its arguments is the result of the call.
    other
        The signature of the other argument, if there are two.
    in_memory
        Whether the other argument is in memory anyway.
    """

    operation: Signature
    place: int
    other: Signature | None = None
    in_memory: bool = False


@dataclass(frozen=True, slots=True)
class Implementation:
    """The functions of one executor for a library call, by name; empty where there is none.

    Attributes
    ----------
    run
        Runs the call, or prepares it: the executor says with which arguments.
    program
        Makes the program of kernels that is the call, instead of `run`.
    batch
        As `run`, for a `Batch`. The CPU device needs none: it runs the calls one after the other.
    fused
        As `run`, for a call with elementwise kernels in it.
    fuses
        Tells whether the call takes some kernels in, and is faster so.
    """

    run: str = ""
    program: str = ""
    batch: str = ""
    fused: str = ""
    fuses: str = ""


def by_program(name: str, host: str, cuda: str) -> dict[str, Implementation]:
    """A function of the name of the call in a module of each executor; CUDA's makes a program of kernels."""
    return {"host": Implementation(f"kernels.{host}:{name}"), "cuda": Implementation(program=f"kernels.{cuda}:{name}")}


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one library call.

    Attributes
    ----------
    name
        By which it is recorded.
    implementations
        Its functions, by the names of executors.
    results
        Shapes and dtypes of the outputs of a call, from its options and the signatures of its arguments. None if they
        do not follow from these: whoever records the call says how many numbers to draw, or elements to pick.
    reads_strides
        Whether arguments may lie in memory with any strides: a part of what is in memory anyway needs no copy.
    is_small
        Tells of the signatures of a call and its arguments whether equal calls are worth a batch.
    with_epilogue
        The options of the call that does an operation on its result too, or None. If the operation has another
        argument, it is one more of the call.
    floating_errors
        How floating-point errors are reported, from the options and the dtype of the result; None if they are not.
    """

    name: str
    implementations: Mapping[str, Implementation] = field(default_factory=dict)
    results: Callable[[Any, Sequence[Signature]], Results] | None = None
    reads_strides: bool = False
    is_small: Callable[[Signature, Sequence[Signature]], bool] | None = None
    with_epilogue: Callable[[Signature, Epilogue], Any] | None = None
    floating_errors: Callable[[Any, DType], FloatingErrors | None] = lambda options, dtype: None

    def implementation(self, executor: str) -> Implementation:
        """The functions of an executor.

        Raises
        ------
        NotImplementedError
            If it has none for this call.
        """
        found = self.implementations.get(executor)
        if found is None:
            raise NotImplementedError(f"the library call {self.name!r} has no implementation for {executor!r}")
        return found
