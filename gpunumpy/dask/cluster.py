"""`LocalCluster`: a worker for each GPU of this machine."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import distributed

from ..core.runtime.device import devices
from . import device_frames

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_PAUSE_S = 0.002  # between two looks at whether a process has begun
_spawning = threading.Lock()  # held while this process has the environment of a worker's process


def _gpus() -> list[str]:
    """Return the GPUs of this process as CUDA_VISIBLE_DEVICES names them."""
    count = len(devices()) - 1
    visible = os.environ.get(_VISIBLE)
    return [str(index) for index in range(count)] if visible is None else visible.split(",")[:count]


class WorkerOfGpu(distributed.Nanny):
    """Starts the process of a worker, and starts it again if it dies, on the GPU of the worker's number.

    The process has to find the GPU in its environment from the beginning. It imports the program's script anew before
    `distributed` gives it an environment of its own, and if that makes an array, the driver has found all GPUs.
    """

    pre_spawn_env: dict[str, str]

    def __init__(
        self, *arguments: Any, name: int, gpus: list[str], env: dict[str, str] | None = None, **options: Any
    ) -> None:
        environment = {_VISIBLE: gpus[name % len(gpus)]}
        super().__init__(*arguments, name=name, env={**(env or {}), **environment}, **options)
        self.pre_spawn_env.update(environment)

    async def instantiate(self) -> Any:
        """Start the process, one worker after the other: it inherits the environment of this process."""
        while not _spawning.acquire(blocking=False):
            await asyncio.sleep(_PAUSE_S)
        before = os.environ.get(_VISIBLE)
        starting = asyncio.ensure_future(super().instantiate())
        try:
            while not starting.done() and (self.process is None or self.process.pid is None):
                await asyncio.sleep(_PAUSE_S)
        except BaseException:
            starting.cancel()
            raise
        finally:
            os.environ.pop(_VISIBLE, None)
            if before is not None:
                os.environ[_VISIBLE] = before
            _spawning.release()
        return await starting


class LocalCluster(distributed.LocalCluster):
    """Dask workers on this machine, one process a GPU.

    Each process sees one GPU. What has no room on the GPU moves to the host, and what is above `memory_limit` there to
    files. On a machine without a GPU this is `distributed.LocalCluster`, whose workers have imported this package.

    Parameters
    ----------
    n_workers : int, optional
        The number of workers; by default one for each GPU. More workers than GPUs share them in turn.
    threads_per_worker : int, optional
        The threads of a worker; by default 1 where there is a GPU.
    **options : Any
        See `distributed.LocalCluster`.

    Examples
    --------
    >>> from gpunumpy.dask import LocalCluster
    >>> cluster = LocalCluster()  # doctest: +SKIP
    >>> client = cluster.get_client()  # doctest: +SKIP
    """

    def __init__(self, n_workers: int | None = None, threads_per_worker: int | None = None, **options: Any) -> None:
        gpus = _gpus()
        if gpus:
            n_workers = len(gpus) if n_workers is None else n_workers
            threads_per_worker = 1 if threads_per_worker is None else threads_per_worker
            options |= {"worker_class": WorkerOfGpu, "gpus": gpus}
        options["preload"] = [device_frames.__name__, *options.get("preload", ())]
        super().__init__(n_workers=n_workers, threads_per_worker=threads_per_worker, **options)
