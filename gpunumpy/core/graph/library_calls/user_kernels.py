"""Records of kernels that users write and that are not fused: those that index their arrays by themselves."""

from __future__ import annotations

from .record import Implementation, Record

# The option is a `kernels.custom.loop_text.Loop`. The arguments are the inputs, then what the outputs have before.
RECORDS = (
    Record(
        "elementwise_kernel",
        {
            "host": Implementation("kernels.custom.host_loops:run_loop"),
            "cuda": Implementation("kernels.custom.cuda_loops:run_loop"),
        },
        reads_strides=True,
    ),
)
