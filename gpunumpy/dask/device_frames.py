"""Arrays on a GPU in workers of `distributed`, which import this module, and with it its folder, as they start.

By a protocol that sends the memory of GPUs (UCX), a frame is the memory of an array. By all others workers of one
machine send handles of memory (see `between_workers`); to all others an array is sent as its pickle, with the elements
as a frame of their own, which needs nothing registered.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
from distributed.sizeof import safe_sizeof
from distributed.spill import SpillBuffer

from ..core.recording.array import ndarray
from ..functions.creation import arrays as creation
from .between_workers import connect


def frames_of(x: ndarray) -> tuple[dict[str, Any], list[ndarray]]:
    """Return the description of an array, and its memory as bytes on the GPU.

    Raises
    ------
    NotImplementedError
        If the array is not on a GPU. Then `distributed` takes its next serializer, pickles.
    """
    if not x.device.has_stream:
        raise NotImplementedError(f"the array is on {x.device}")
    content: Any = creation.ascontiguousarray(x).reshape(-1)  # type: ignore[attr-defined]
    return {"dtype": pickle.dumps(x.dtype), "shape": x.shape}, [content.view(numpy.uint8)]


def from_frames(description: dict[str, Any], frames: list[Any]) -> Any:
    """Return an array over memory of a GPU that was received."""
    content: Any = creation.asarray(frames[0])
    return content.view(pickle.loads(description["dtype"])).reshape(tuple(description["shape"]))


def bytes_on_the_host(key: Any, value: Any) -> int:
    """Return what a result counts of the memory that a worker may have on the host."""
    return 0 if isinstance(value, ndarray) and value.device.has_stream else safe_sizeof(value)


def dask_setup(worker: Any) -> None:
    """Have a worker, as it starts, write results to files for the memory of its host alone, and send arrays directly.

    By itself it would count arrays on its GPU too, and write those to files that the host has no room for.
    """
    connect(worker)
    if isinstance(worker.data, SpillBuffer):  # not what the user has chosen in its place
        worker.data.fast.weight = bytes_on_the_host


cuda_serialize.register(ndarray, frames_of)
cuda_deserialize.register(ndarray, from_frames)
