"""Parts of arrays that other libraries keep in chunks (h5py, zarr), read when they are needed."""

from __future__ import annotations

from collections.abc import Coroutine
from importlib import import_module
from threading import current_thread
from typing import Any

import numpy

# The thread of zarr's event loop, in which zarr asks for the values that it is given to write.
_ZARR_THREAD = "zarr_io"


def read_part(array: Any, key: tuple[slice, ...]) -> numpy.ndarray:
    """Return a part of an array in chunks.

    zarr reads in its event loop, which a read from inside of it would wait for: such a read takes a loop of its own.
    """
    if current_thread().name == _ZARR_THREAD and hasattr(array, "async_array"):
        return numpy.asarray(_in_another_loop(array.async_array.getitem(key)))
    return numpy.asarray(array[key])


def _in_another_loop(reading: Coroutine[Any, Any, Any]) -> Any:
    asyncio, futures = import_module("asyncio"), import_module("concurrent.futures")
    with futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, reading).result()
