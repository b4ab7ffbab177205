"""Indices out of bounds that kernels and library calls of the CPU device have met."""

from __future__ import annotations

# Each was clamped: the message, and the number of the operation's source location. As on a GPU, an error is raised when
# a result is next read (`HostExecutor.take_error`).
index_errors: list[tuple[str, int]] = []
