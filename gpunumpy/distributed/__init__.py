"""Programs of one process a GPU: collective operations on arrays, by NCCL between GPUs, by sockets without them.

``python -m gpunumpy.distributed -n 2 script.py`` starts a script so, as torchrun, mpirun and Slurm do. Operations on
GPUs are queued in order with all other work, and nothing waits on the host.
"""

from .collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_in_pieces,
    barrier,
    broadcast,
    recv,
    reduce_scatter,
    send,
    sendrecv,
)
from .group import finalize, init, is_initialized, local_rank, rank, size

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_in_pieces",
    "barrier",
    "broadcast",
    "finalize",
    "init",
    "is_initialized",
    "local_rank",
    "rank",
    "recv",
    "reduce_scatter",
    "send",
    "sendrecv",
    "size",
]
