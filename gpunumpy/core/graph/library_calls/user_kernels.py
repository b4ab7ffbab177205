"""Records of kernels that users write and that are not fused: those that index their arrays by themselves."""

from __future__ import annotations

from .record import Implementation, Record

_ON_HOST = Implementation("kernels.custom.host_loops:run_loop")

# The options are a `kernels.custom.loop_text.MadeLoop`, and the number of elements if no argument tells it. The
# arguments are the inputs, then what the outputs have before.
RECORDS = (
    Record(
        "elementwise_kernel",
        {"host": _ON_HOST, "cuda": Implementation(program="kernels.custom.cuda_loops:loop_program")},
        reads_strides=True,
    ),
    # With options of the compiler, files to include, or outputs that have values before.
    Record(
        "elementwise_kernel_apart",
        {"host": _ON_HOST, "cuda": Implementation("kernels.custom.cuda_loops:run_loop")},
        reads_strides=True,
    ),
)
