"""Which process of a program this is, by the variables that launchers set."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ..core.late_dataclasses import dataclass

# What each launcher calls the number of a process, that of all processes, and the number among those of its machine.
LAUNCHERS = {
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK"),  # and ours
    "Open MPI": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    "MPICH": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    "Slurm": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"),
}
# What differs between programs that run at once on a machine: the words that their processes know each other by.
_OF_PROGRAM = (
    *("GPUNUMPY_DISTRIBUTED_KEY", "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
    *("PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"),
)
DEFAULT_PORT = 29500
_FIRST_NODE = re.compile(r"([^,\[]+)(?:\[(\d+)[^\]]*\])?([^,]*)")


@dataclass(frozen=True)
class Place:
    """One process among all.

    Attributes
    ----------
    rank, size : int
        Its number, and that of all.
    local_rank : int
        Its number among those of its machine.
    address, port : str, int
        Where process 0 waits for the others.
    key : bytes
        What the processes of the program know, and those of others do not.
    """

    rank: int
    size: int
    local_rank: int
    address: str
    port: int
    key: bytes


def place_of_process(
    rank: int | None = None,
    size: int | None = None,
    address: str | None = None,
    variables: Mapping[str, str] = os.environ,
) -> Place:
    """Return the place of this process: what is given, or what its launcher says; alone if there is none.

    Raises
    ------
    ValueError
        If only one of `rank` and `size` is given, or they do not fit together.
    """
    if (rank is None) != (size is None):
        raise ValueError(f"rank and size are given together, not rank={rank} and size={size}")
    local_rank = rank
    if rank is None or size is None:
        names = next((names for names in LAUNCHERS.values() if variables.keys() >= set(names[:2])), None)
        rank, size = (0, 1) if names is None else (int(variables[names[0]]), int(variables[names[1]]))
        local_rank = rank if names is None or names[2] not in variables else int(variables[names[2]])
    assert local_rank is not None
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} of {size} processes: ranks are 0 to size - 1")
    host, _, port = (address or "").rpartition(":") if ":" in (address or "") else (address or "", "", "")
    key = ":".join(variables[name] for name in _OF_PROGRAM if name in variables)
    return Place(
        rank,
        size,
        local_rank,
        host or variables.get("MASTER_ADDR") or _first_node(variables.get("SLURM_STEP_NODELIST", "")),
        int(port or variables.get("MASTER_PORT") or DEFAULT_PORT),
        f"gpunumpy.distributed {key}".encode(),
    )


def _first_node(nodes: str) -> str:
    """Return the first machine of a list as Slurm writes it, ``node[01-04,07]``; this machine of an empty one."""
    found = _FIRST_NODE.match(nodes)
    return "127.0.0.1" if found is None else "".join(part or "" for part in found.groups())
