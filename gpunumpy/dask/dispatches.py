"""What Dask looks up by the type of a chunk.

Where Dask calls a function of NumPy's for all other types (`take`, `tensordot`, `einsum`, `divide`), nothing is
registered: NumPy's functions call this package's for its arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from dask import config
from dask.array import backends, chunk_types, dispatch, utils
from dask.array.percentile import _percentile
from dask.sizeof import sizeof
from dask.tokenize import normalize_token

from ..core.recording.array import ndarray
from ..core.runtime.device import Device
from ..functions.creation import arrays as creation
from ..scipy.modules import submodule
from .backend import GpunumpyBackend, to_numpy
from .completion import finish
from .placement import to_device

# Dask asks whether a chunk is CuPy's here, and has no table that another type could be entered in.
_scipy_linalg_of_dask = utils.scipy_linalg_safe


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Join chunks on the device that has most of their bytes, of equals the first.

    So a chunk that gets its neighbours' rows stays where it is.
    """
    bytes_on: dict[Device, int] = {}
    for x in arrays:
        if isinstance(x, ndarray):
            bytes_on[x.device] = bytes_on.get(x.device, 0) + x.nbytes
    device = max(bytes_on, key=lambda one: bytes_on[one])
    return numpy.concatenate([to_device(x, device) for x in arrays], axis=axis)


def bytes_of(x: ndarray) -> int:
    """Return the bytes of the elements, of which there is one where a stride is 0. The array is computed by then."""
    finish(x)
    count = 1
    for length, stride in zip(x.shape, x.strides):
        count *= length if stride else min(length, 1)
    return count * x.itemsize


def token_of(x: ndarray) -> Any:
    """Return what names an array by its elements."""
    return "gpunumpy", str(x.device), normalize_token(to_numpy(x))


def scipy_linalg(name: str, *arguments: Any, **options: Any) -> Any:
    """Call a function of `scipy.linalg`, this package's if the first argument is one of its arrays."""
    if isinstance(arguments[0], ndarray):
        return getattr(submodule("linalg"), name)(*arguments, **options)
    return _scipy_linalg_of_dask(name, *arguments, **options)


def register() -> None:
    """Register the backend, and what Dask looks up by the type of a chunk."""
    backends.array_creation_dispatch.register_backend("gpunumpy", GpunumpyBackend())
    chunk_types.register_chunk_type(ndarray)
    utils.scipy_linalg_safe = scipy_linalg
    # What `distributed` takes else ("p2p") asks chunks for the buffers of NumPy's. What the user has set stays.
    config.update_defaults({"array": {"rechunk": {"method": "tasks"}}})
    dispatch.concatenate_lookup.register(ndarray, concatenate)
    dispatch.empty_lookup.register(ndarray, creation.empty)
    dispatch.percentile_lookup.register(ndarray, _percentile)
    dispatch.numel_lookup.register(ndarray, backends._numel_arraylike)
    dispatch.nannumel_lookup.register(ndarray, backends._nannumel)
    dispatch.to_numpy_dispatch.register(ndarray, to_numpy)
    sizeof.register(ndarray, bytes_of)
    normalize_token.register(ndarray, token_of)
