"""Numbers of continuous distributions with parameters."""

from __future__ import annotations

from .method import Drawing


class Continuous(Drawing):
    """Methods of `Generator`."""
