"""Orders of elements by chance."""

from __future__ import annotations

from .method import Drawing


class Permuting(Drawing):
    """Methods of `Generator`."""
