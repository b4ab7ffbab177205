"""`Record`: all that the engine knows of one library call, with the names of each executor's functions for it.

These functions are in layers above this one, so a record holds their names, as "module:attribute" relative to the
package. They are imported when an executor first runs the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

from ...dtypes import DType
from ...late_dataclasses import dataclass
from ..layout import Shape
from ..signature import Signature

# The shape and dtype of every output of a library call.
Results: TypeAlias = tuple[tuple[Shape, DType], ...]


# Which axis of each argument is cut; None for an argument that is taken whole.
CutAxes: TypeAlias = tuple[int | None, ...]


class Batch(NamedTuple):
    """Options of a batch: the number of equal calls, and the options of each.

    The outputs, and likewise the arguments, are those of the first call, then those of the second, and so on.
    """

    calls: int
    options: Any


class FloatingErrors(NamedTuple):
    """How the floating-point errors of a call are reported.

    Attributes
    ----------
    name
        The name that NumPy's message gives to the operation: "encountered in `name`".
    op
        The elementwise op that the call folds with, or "" if it does not fold. An infinite result of finite arguments
        is reported as a division by zero if this op has a pole, else as an overflow.
    """

    name: str
    op: str = ""


class Epilogue(NamedTuple):
    """An elementwise operation on the output of a call, which the call may perform itself.

    Attributes
    ----------
    operation
        The signature of the operation.
    argument_number
        The position of the call's output among the arguments of the operation.
    other
        The signature of the other argument, if the operation has two.
    in_memory
        Whether the other argument is in memory even without this epilogue.
    """

    operation: Signature
    argument_number: int
    other: Signature | None = None
    in_memory: bool = False


@dataclass(frozen=True, slots=True)
class Implementation:
    """Names of one executor's functions for a library call, "" for a function that does not exist.

    Attributes
    ----------
    run
        Run the call, or prepare it. The executor defines the arguments.
    program
        Make a program of kernels that computes the call. Replaces `run`.
    sized_program
        As `program`, of sizes that may be symbolic; None where `program` or `run` is to prepare the call.
    batch
        As `run`, for a `Batch`. The CPU executor does not need it: it runs the calls of a batch one by one.
    run_fused
        As `run`, for a call with elementwise kernels fused into it.
    should_fuse
        Decide whether given kernels can be fused into the call, and make it faster.
    """

    run: str = ""
    program: str = ""
    sized_program: str = ""
    batch: str = ""
    run_fused: str = ""
    should_fuse: str = ""


def by_program(name: str, host: str, cuda: str, kind: str = "program") -> dict[str, Implementation]:
    """Return implementations by functions called `name`: `run` in the host module, `kind` in the CUDA module."""
    return {
        "host": Implementation(f"kernels.{host}:{name}"),
        "cuda": Implementation(**{kind: f"kernels.{cuda}:{name}"}),
    }


@dataclass(frozen=True, slots=True)
class Record:
    """What the engine knows of one library call.

    Attributes
    ----------
    name
        The name that the call is recorded by.
    implementations
        The functions that run the call, by the name of the executor.
    results
        Return the shapes and dtypes of the outputs, from the options and the signatures of the arguments. None if they
        depend on more, such as a count of numbers to draw: then the caller of `library_call` gives them.
    reads_strides
        Whether the arguments may have any strides. If not, a strided view is copied first.
    is_worth_batching
        Decide, from the signatures of a call and of its arguments, whether equal calls are worth a batch.
    with_epilogue
        Return the options of the call that also performs an epilogue, or None if no call does. The other argument of
        the epilogue, if it has one, becomes the last argument of that call.
    floating_errors
        Return how floating-point errors are reported, from the options and the dtype of the output; None if they are
        not reported.
    slabs
        Return for each axis of the output, from the options and the signatures of the arguments, of which slabs of
        arguments the same call makes slabs of the output along that axis; None for an axis along which it does not. Of
        several outputs the axes are those of the first; each slab has the whole of an output that has fewer of them.
    passes
        Return the options of calls, each with the result of the one before, that compute the same one axis at a time.
    sums
        Return the slabs of arguments over which calls add up to the call; None if they do not.
    writes
        Whether the call writes its outputs, which are left as they were allocated if not.
    writes_once
        Whether a GPU writes an output without dimensions once and does not read it, so that it may be in memory of the
        host.
    begun_outputs
        Return, from the options, how many of the last arguments are values that as many outputs have before. The call
        does not get them: it finds them in the memory of its outputs, and writes over them.
    """

    name: str
    implementations: Mapping[str, Implementation] = field(default_factory=dict)
    results: Callable[[Any, Sequence[Signature]], Results] | None = None
    reads_strides: bool = False
    is_worth_batching: Callable[[Signature, Sequence[Signature]], bool] | None = None
    with_epilogue: Callable[[Signature, Epilogue], Any] | None = None
    floating_errors: Callable[[Any, DType], FloatingErrors | None] = lambda options, dtype: None
    slabs: Callable[[Any, Sequence[Signature]], Sequence[CutAxes | None]] = lambda options, args: ()
    passes: Callable[[Any], Sequence[Any]] = lambda options: (options,)
    sums: Callable[[Any, Sequence[Signature]], CutAxes | None] = lambda options, args: None
    writes: bool = True
    writes_once: bool = False
    begun_outputs: Callable[[Any], int] = lambda options: 0

    def implementation(self, executor: str) -> Implementation:
        """Return the functions of an executor.

        Raises
        ------
        NotImplementedError
            If the executor has none for this call.
        """
        found = self.implementations.get(executor)
        if found is None:
            raise NotImplementedError(f"the library call {self.name!r} has no implementation for {executor!r}")
        return found
