"""Random numbers: NumPy's, on the host."""

from __future__ import annotations

from .fallback import namespace

_host = namespace("numpy.random")
__getattr__ = _host.__getattr__
__dir__ = _host.__dir__
