"""Notes of functions that the pages have: lines of `docs/differences.md`, and the table of `docs/accuracy.md`."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

_DOCS = Path(__file__).parents[2] / "docs"
_CALL = re.compile(r"(?<!\w)(?:\w+\.)*([A-Za-z]\w+)(?=\(|$)")


@cache
def differences() -> dict[str, list[str]]:
    """Return sentences of the page of differences, reStructuredText, by the functions that they name in backticks."""
    notes: dict[str, list[str]] = defaultdict(list)
    _, *items = re.split(r"^- ", (_DOCS / "differences.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for item in items:
        item = re.split(r"\n\n|\n(?=\S)", item)[0]
        for sentence in re.split(r"(?<=[.]) (?=[A-Z`])", " ".join(item.split())):
            for name in dict.fromkeys(name for span in re.findall(r"`([^`]+)`", sentence) for name in _CALL.findall(span)):
                notes[name].append(to_rst(sentence))
    return dict(notes)


@cache
def accuracy() -> dict[str, str]:
    """Return the errors of functions, as sentences."""
    rows = re.findall(
        r"^\| (\w+) \| [^|]+ \| ([\d.]*) \| ([\d.]*) \|", (_DOCS / "accuracy.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    return {
        name: f"Largest error found, in ULP: {', '.join(f'{error} in {dtype}' for error, dtype in zip(errors, ('float32', 'float64')) if error)}."
        for name, *errors in rows
    }


def to_rst(text: str) -> str:
    """Return Markdown of one line as reStructuredText: code, and links as their texts."""
    return re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", re.sub(r"`([^`]+)`", r"``\1``", text))
