"""Integers of distributions with parameters."""

from __future__ import annotations

from .method import Drawing


class Discrete(Drawing):
    """Methods of `Generator`."""
