"""Records of kernels that users write and that are not fused: those that index their arrays by themselves."""

from __future__ import annotations

from typing import Any

from .record import Implementation, Record

_ON_HOST = Implementation("kernels.custom.host_loops:run_loop")

# The options are a `kernels.custom.loop_text.MadeLoop`, the number of elements if no argument tells it, and how many
# outputs have values before. The arguments are the inputs, then these values.


def _outputs_with_values(options: tuple[Any, int, int]) -> int:
    return options[2]


RECORDS = (
    Record(
        "elementwise_kernel",
        {"host": _ON_HOST, "cuda": Implementation(program="kernels.custom.cuda_loops:loop_program")},
        reads_strides=True,
        begun_outputs=_outputs_with_values,
    ),
    # With options of the compiler, or files to include.
    Record(
        "elementwise_kernel_apart",
        {"host": _ON_HOST, "cuda": Implementation("kernels.custom.cuda_loops:run_loop")},
        reads_strides=True,
        begun_outputs=_outputs_with_values,
    ),
)
