"""Collective operations in several processes: the checks of program.py, over sockets and over NCCL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
import gpunumpy.distributed as dist
from gpunumpy.distributed.reductions import OPERATIONS, reduce_on_host

from .conftest import PROGRAM, launched, require_two_gpus, results
from .program import CHECKS

# The number of processes, where small arrays are, and what carries them.
RUNS: dict[str, tuple[int, dict[str, str]]] = {
    "2 on the CPU": (2, {"GPUNUMPY_RESIDENCE": "auto"}),
    "3 on the CPU": (3, {"GPUNUMPY_RESIDENCE": "device"}),
    "4 on the CPU, the core in Python": (4, {"GPUNUMPY_CORE": "python"}),
    "2 GPUs by NCCL": (2, {"GPUNUMPY_DEVICE": "cuda", "GPUNUMPY_RESIDENCE": "auto"}),
    "2 GPUs by NCCL, all on the device": (2, {"GPUNUMPY_DEVICE": "cuda", "GPUNUMPY_RESIDENCE": "device"}),
    "2 on a GPU over sockets": (2, {"GPUNUMPY_DEVICE": "cuda", "TESTED_BACKEND": "host"}),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.gpu] * ("GPU" in name)) for name in RUNS])
def test_operations(name: str, tmp_path: Path) -> None:
    """One test for all checks of a run: its processes start once, also where tests are divided among workers."""
    count, variables = RUNS[name]
    if "NCCL" in name:
        require_two_gpus()
    done = launched(str(PROGRAM), str(tmp_path), count=count, **variables)
    assert done.returncode == 0, done.stderr
    found = [(rank, *pair) for rank, one in enumerate(results(tmp_path, count)) for pair in one.items()]
    assert {check for _, check, _ in found} == {*CHECKS}
    failed = [f"process {rank}, {check}: {text}" for rank, check, text in found if text]
    assert not failed, "\n".join(failed)


@pytest.fixture
def alone(device: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    before = np.default_device()
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    dist.init(device=device)
    yield
    dist.finalize()
    np.default_device(before)


def test_alone(alone: None) -> None:
    x = np.arange(3.0) + 1
    assert (dist.rank(), dist.size(), dist.local_rank()) == (0, 1, 0)
    for result, expected in (
        (dist.all_reduce(x), [1, 2, 3]),
        (dist.all_reduce(x, "avg"), [1, 2, 3]),
        (dist.all_gather(x), [[1, 2, 3]]),
        (dist.reduce_scatter(x[None]), [1, 2, 3]),
        (dist.all_to_all(x[None]), [[1, 2, 3]]),
        (dist.all_to_all_in_pieces([x[:1, None], x[1:, None]], np.empty((1, 3))), [[1, 2, 3]]),
        (dist.broadcast(x), [1, 2, 3]),
        (dist.sendrecv(x, 0, 0), [1, 2, 3]),
    ):
        assert numpy.array_equal(result.get(), expected)
        assert result is not x
    out = np.empty(3)
    assert dist.all_reduce(x, out=out) is out
    dist.barrier()
    with pytest.raises(ValueError, match="itself"):
        dist.send(x, 0)
    with pytest.raises(RuntimeError, match="called before"):
        dist.init()


def test_reductions_on_the_host_are_silent() -> None:
    parts = [numpy.full(2, 60_000, "float16"), numpy.array([-numpy.inf, numpy.inf], "float16")]
    with numpy.errstate(all="raise"):
        for op in OPERATIONS:
            assert reduce_on_host([parts[0], *parts], op).dtype == numpy.float16


def test_before_init() -> None:
    for call in (dist.rank, dist.size, dist.barrier, dist.finalize, lambda: dist.all_reduce(np.arange(3))):
        with pytest.raises(RuntimeError, match=r"call gpunumpy.distributed.init\(\) first"):
            call()
    assert not dist.is_initialized()
