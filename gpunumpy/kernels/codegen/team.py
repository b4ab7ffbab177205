"""Teams: the threads that share a row, and the C text by which they exchange states."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.late_dataclasses import dataclass
from .unit import Text


@dataclass(frozen=True, slots=True)
class Team:
    """A division of a block: `size` threads share a row, `rows` rows share the block.

    The threads of a team have consecutive numbers if `adjacent` (the reduced loop is contiguous in memory), else
    numbers that differ by `rows`.
    """

    size: int
    rows: int
    adjacent: bool

    @property
    def threads(self) -> int:
        """The number of threads of a block."""
        return self.size * self.rows

    def index_lines(self) -> list[str]:
        """Return C lines that define ``member``, the thread's number in its team, and ``team``, the team's number."""
        member, team = ("%", "/") if self.adjacent else ("/", "%")
        return [
            f"const int member = threadIdx.x {member} {self.size if self.adjacent else self.rows};",
            f"const int team = threadIdx.x {team} {self.size if self.adjacent else self.rows};",
        ]

    def declare_exchange(self, text: Text, reducers: Sequence[str], count: int = 1) -> None:
        """Declare ``exchange``, shared memory in which threads exchange `count` states at once; null if not needed."""
        if not reducers or self.size == 1 or (self.adjacent and self.size <= 32):
            text.line("uint4* const exchange = 0;")
            return
        count *= self.threads // 32 if self.adjacent else self.threads
        sizes = [f"sizeof({name}::State)" for name in reducers]
        bound = sizes[0]
        for size in sizes[1:]:
            bound = f"larger({bound}, {size})"
        text.line(f"__shared__ uint4 exchange[({bound} * {count} + 15) / 16];")

    def reduce(self, reducer: str, state: str) -> str:
        """Return the C expression of the team's states combined."""
        adjacent = "true" if self.adjacent else "false"
        return (
            f"team_reduce<{reducer}, {self.size}, {self.rows}, {adjacent}>"
            f"({state}, reinterpret_cast<{reducer}::State*>(exchange))"
        )


def adjacent_team(vectors: int, max_size: int = 256) -> Team:
    """Return the team of adjacent threads for rows of `vectors` vectors."""
    for limit, size in ((4, 1), (32, 8), (512, 32)):
        if vectors <= limit:
            return Team(size, 256 // size, True)
    return Team(max_size, 1, True)
