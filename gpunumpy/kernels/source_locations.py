"""Source locations of the user's program by number, so that a kernel can report one."""

from __future__ import annotations


class SourceLocations:
    """A table of the texts of source locations. Numbers start at 1, as 0 means no error."""

    def __init__(self) -> None:
        self._texts: list[str] = [""]
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a source location, a new one if it has none."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return number

    def text(self, number: int) -> str:
        """Return the source location with this number."""
        return self._texts[number]
