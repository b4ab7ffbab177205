"""The result of code generation: text to compile, and its launches. `docs/design.md` has the calling convention."""

from __future__ import annotations

from typing import NamedTuple


class Launch(NamedTuple):
    """One launch of an entry: its grid in blocks, its block in threads, and its bytes of dynamic shared memory.

    `is_packed` says that all its arguments are one parameter of the entry, a struct. `waits` says that the entry first
    waits for the kernels before it (dependent.cuh), so that it may be started while they run.
    """

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0
    is_packed: bool = False
    waits: bool = False


class Scratch(NamedTuple):
    """Device memory that a program needs while it runs. A `zeroed` scratch is all zero on entry and on return."""

    nbytes: int
    zeroed: bool = False


class Source(NamedTuple):
    """CUDA C++. Equal ones have equal digests.

    Attributes
    ----------
    digest
        What stands for the text.
    text
        The text; None where it is left on disk, as the program is compiled.
    """

    digest: bytes
    text: str | None

    def __eq__(self, other: object) -> bool:
        """Return whether the other is the same text."""
        return isinstance(other, Source) and self.digest == other.digest

    def __ne__(self, other: object) -> bool:
        """Return whether the other is another text."""
        return not self == other

    def __hash__(self) -> int:
        """Return the hash of the digest."""
        return hash(self.digest)


class Program(NamedTuple):
    """CUDA C++ text with its launches, in order.

    `flag` says that every entry takes a pointer to the out-of-bounds flag. `params` are the values of the ``long long``
    parameters that follow. `arguments` has a letter of the module `struct` for each argument, if not all are pointers.
    """

    text: str
    launches: tuple[Launch, ...]
    scratch: tuple[Scratch, ...]
    flag: bool
    params: tuple[int, ...]
    arguments: str = ""
