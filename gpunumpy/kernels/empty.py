"""The library call "empty": its result is allocated and not written, so nothing runs."""

from __future__ import annotations

from typing import Any

from ..core.runtime.plan import Runner, nothing


def on_host(options: tuple[Any, ...], out: Any) -> None:
    """Leave `out` as it is."""


def on_cuda(*_: Any) -> Runner:
    """Return what runs nothing."""
    return nothing
