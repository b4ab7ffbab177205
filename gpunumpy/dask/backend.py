"""The entry point ``dask.array.backends``: what Dask asks for where ``array.backend`` is "gpunumpy"."""

from __future__ import annotations

from typing import Any

import dask.array as da
from dask import config
from dask.array.backends import ArrayBackendEntrypoint

from ..arrays import methods
from ..core.recording.array import ndarray
from ..functions.creation import arrays as creation
from ..random.legacy.random_state import RandomState
from .random import PCG64

# What tells Dask the type of chunks. Its content is in the names of tasks, which must be the same for the same calls.
_META = creation.zeros(())


def to_gpunumpy(block: Any, **options: Any) -> Any:
    """Return a chunk of NumPy's or of another library as an array of this package."""
    return creation.asarray(block, **options)


def to_numpy(block: ndarray, **_: Any) -> Any:
    """Return a chunk of this package as a NumPy array."""
    return methods.asnumpy(block)


def _with_meta(name: str, /, *arguments: Any, meta: Any = None, **options: Any) -> da.Array:
    """Call a function of Dask's that makes chunks like `meta`, by default an array of this package."""
    with config.set({"array.backend": "numpy"}):
        return getattr(da, name)(*arguments, meta=_META if meta is None else meta, **options)


class GpunumpyBackend(ArrayBackendEntrypoint):
    """Makes Dask arrays of this package's arrays."""

    @classmethod
    def to_backend_dispatch(cls) -> Any:
        """Return the function that moves a chunk here."""
        return to_gpunumpy

    @classmethod
    def to_backend(cls, data: da.Array, **options: Any) -> da.Array:
        """Return a Dask array with the chunks of another one as arrays of this package."""
        if isinstance(data._meta, ndarray):
            return data
        return data.map_blocks(to_gpunumpy, meta=to_gpunumpy(data._meta), **options)

    @property
    def RandomState(self) -> Any:
        """The class that draws the chunks of ``da.random.RandomState``."""
        return RandomState

    @property
    def default_bit_generator(self) -> Any:
        """The class of the bit generators of ``da.random.default_rng``: NumPy's default, so the numbers are too."""
        return PCG64

    @staticmethod
    def ones(*arguments: Any, **options: Any) -> da.Array:
        """Return ones. See `dask.array.ones`."""
        return _with_meta("ones", *arguments, **options)

    @staticmethod
    def zeros(*arguments: Any, **options: Any) -> da.Array:
        """Return zeros. See `dask.array.zeros`."""
        return _with_meta("zeros", *arguments, **options)

    @staticmethod
    def empty(*arguments: Any, **options: Any) -> da.Array:
        """Return memory of any content. See `dask.array.empty`."""
        return _with_meta("empty", *arguments, **options)

    @staticmethod
    def full(*arguments: Any, **options: Any) -> da.Array:
        """Return an array of one value. See `dask.array.full`."""
        return _with_meta("full", *arguments, **options)

    @staticmethod
    def arange(*arguments: Any, like: Any = None, **options: Any) -> da.Array:
        """Return evenly spaced values. See `dask.array.arange`."""
        with config.set({"array.backend": "numpy"}):
            return da.arange(*arguments, like=_META if like is None else like, **options)
