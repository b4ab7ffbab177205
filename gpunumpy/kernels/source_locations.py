"""Places of the user's program by number, so that a kernel can report one."""

from __future__ import annotations


class SourceLocations:
    """Texts and their numbers, from 1: 0 stands for no error."""

    def __init__(self) -> None:
        self._texts: list[str] = [""]
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return found

    def text(self, number: int) -> str:
        return self._texts[number]
