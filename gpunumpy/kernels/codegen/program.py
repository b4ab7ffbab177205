"""What code generation makes: text to compile, and how to launch it. `docs/design.md` has the calling convention."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of an entry: the sizes of its grid and its blocks, and its bytes of dynamic shared memory."""

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Scratch:
    """Device memory that a program needs while it runs; a `zeroed` one is all zero on entry and left all zero."""

    nbytes: int
    zeroed: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """Generated CUDA C++ with its launches, in order. `flag` says that entries take the out-of-bounds flag."""

    text: str
    launches: tuple[Launch, ...]
    scratch: tuple[Scratch, ...]
    flag: bool
    params: tuple[int, ...]
