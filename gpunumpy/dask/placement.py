"""On which device a chunk is, where one process has several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy

from ..core.recording.array import ndarray
from ..core.runtime.device import Device, devices
from ..functions.creation import arrays as creation
from .completion import compute_result


def to_device(block: Any, device: Device | str | int) -> ndarray:
    """Return a chunk on a device, for ``x.map_blocks(to_device, "cuda:1")``.

    Parameters
    ----------
    block : array_like
        The chunk: an array of this package, which a GPU sends to another directly, or of NumPy.
    device : Device, str or int
        The device.

    Returns
    -------
    ndarray
        The chunk itself if it is there.
    """
    if isinstance(block, ndarray) and block.device is not Device(device):
        # Alone: a copy computes what is pending on the device, where other threads are in the middle of their tasks.
        block = compute_result(creation.asarray(block, order="C"))
    return creation.asarray(block, device=device)


def spread(x: da.Array, over: Sequence[Device | str | int] | None = None) -> da.Array:
    """Return a Dask array with its chunks on several devices in turn.

    Chunks are counted in C order: of n devices, the i-th chunk goes to device i modulo n. Tasks then run where their
    chunks are. Chunks on two devices meet in no operation but by a `to_device` between, as in ``rechunk`` or sums.

    Parameters
    ----------
    x : dask.array.Array
        The array, with chunks of this package or of NumPy.
    over : sequence of Device, str or int, optional
        The devices; by default all GPUs, or the CPU where there is none.

    Returns
    -------
    dask.array.Array
        The array with its chunks there.

    Examples
    --------
    >>> import dask.array as da
    >>> from gpunumpy.dask import spread
    >>> x = spread(da.ones((8, 8), chunks=(2, 8)))
    >>> float(x.sum().compute())
    64.0
    """
    chosen = [Device(device) for device in over] if over is not None else devices()[:-1] or devices()
    names = [str(device) for device in chosen]
    return x.map_blocks(_to_device_in_turn, names, x.numblocks, dtype=x.dtype, meta=creation.asarray(x._meta))


def _to_device_in_turn(block: Any, names: list[str], counts: tuple[int, ...], block_id: Any = ()) -> ndarray:
    """Return a chunk on the device whose turn it is."""
    number = int(numpy.ravel_multi_index(block_id, counts)) if counts else 0
    return to_device(block, names[number % len(names)])
