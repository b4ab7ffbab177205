"""Ops that a program makes at run time. Nothing registers them: the name in a graph carries the op."""

from __future__ import annotations

from .reductions import Reduction


class MadeOp(str):
    """The name of an elementwise op made at run time, with its C++.

    The name is that of a function of the arguments, and has a digest of the texts in it, so that ops of equal names are
    equal.

    Attributes
    ----------
    texts : tuple of str
        C++ that defines the function, in parts. Ops may share parts.
    is_long : bool
        Whether it is about fifty instructions or more.
    """

    texts: tuple[str, ...]
    is_long: bool

    def __new__(cls, name: str, texts: tuple[str, ...], is_long: bool) -> MadeOp:
        """Return the op of a name."""
        op = super().__new__(cls, name)
        op.texts, op.is_long = texts, is_long
        return op

    def __reduce__(self) -> tuple[type[MadeOp], tuple[str, tuple[str, ...], bool]]:
        """Pickle the op with its texts."""
        return MadeOp, (str(self), self.texts, self.is_long)


class MadeReduction(str):
    """The name of a reduction made at run time, with its C++; names are as those of `MadeOp`.

    Attributes
    ----------
    texts : tuple of str
        C++ that defines what the templates of the row call.
    row : Reduction
        What a row of the table would be.
    """

    texts: tuple[str, ...]
    row: Reduction

    def __new__(cls, name: str, texts: tuple[str, ...], row: Reduction) -> MadeReduction:
        """Return the reduction of a name."""
        op = super().__new__(cls, name)
        op.texts, op.row = texts, row
        return op

    def __reduce__(self) -> tuple[type[MadeReduction], tuple[str, tuple[str, ...], Reduction]]:
        """Pickle the reduction with its texts."""
        return MadeReduction, (str(self), self.texts, self.row)
