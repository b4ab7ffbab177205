"""Dask arrays of this package's arrays: ``dask.config.set({"array.backend": "gpunumpy"})``, or import this module.

It imports Dask, and nothing else of this package imports it. With `distributed`, `LocalCluster` starts a worker a GPU.
"""

from typing import Any as _Any

from ..core.extras import install_command as _install_command
from ..core.late_imports import import_late as _import_late

try:
    from .backend import GpunumpyBackend
    from .completion import compute_at_end_of_tasks as _compute_at_end_of_tasks
    from .dispatches import register as _register
    from .placement import spread, to_device
except ModuleNotFoundError as _error:
    if str(_error.name).partition(".")[0] != "dask":
        raise
    raise ModuleNotFoundError(f"gpunumpy.dask needs Dask: {_install_command('dask')}", name=_error.name) from None

__all__ = ["GpunumpyBackend", "LocalCluster", "spread", "to_device"]

_register()
_compute_at_end_of_tasks()


def __getattr__(name: str) -> _Any:
    """Return `LocalCluster`: `distributed` is imported as it is first asked for."""
    if name == "LocalCluster":
        return _import_late(".cluster", __name__).LocalCluster
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
