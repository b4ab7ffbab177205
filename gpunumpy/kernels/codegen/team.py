"""The threads that share a row, and what they do together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .unit import Text


@dataclass(frozen=True, slots=True)
class Team:
    """How a block is cut: `size` threads share a row, `rows` rows share the block.

    The threads of a team are neighbours if `near` (the reduced loop is the one along memory), else `rows` apart.
    """

    size: int
    rows: int
    near: bool

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return self.size * self.rows

    def head(self) -> list[str]:
        """Lines that define ``member``, the thread's number in its team, and ``seat``, its team's in the block."""
        member, seat = ("%", "/") if self.near else ("/", "%")
        return [
            f"const int member = threadIdx.x {member} {self.size if self.near else self.rows};",
            f"const int seat = threadIdx.x {seat} {self.size if self.near else self.rows};",
        ]

    def room(self, text: Text, reducers: Sequence[str], count: int = 1) -> None:
        """Declare the shared memory in which teams exchange states, `count` of a thread at once."""
        if not reducers or self.size == 1 or (self.near and self.size <= 32):
            text.line("uint4* const room = 0;")
            return
        count *= self.threads // 32 if self.near else self.threads
        sizes = [f"sizeof({name}::State)" for name in reducers]
        bound = sizes[0]
        for size in sizes[1:]:
            bound = f"larger({bound}, {size})"
        text.line(f"__shared__ uint4 room[({bound} * {count} + 15) / 16];")

    def reduce(self, reducer: str, state: str) -> str:
        """The C expression of the combined states of the team."""
        near = "true" if self.near else "false"
        return (
            f"team_reduce<{reducer}, {self.size}, {self.rows}, {near}>"
            f"({state}, reinterpret_cast<{reducer}::State*>(room))"
        )


def near_team(vectors: int, most: int = 256) -> Team:
    """The team for rows of so many vectors, with neighbours side by side."""
    for limit, size in ((2, 1), (32, 8), (512, 32)):
        if vectors <= limit:
            return Team(size, 256 // size, True)
    return Team(most, 1, True)
