"""Notes of functions that the pages have: lines of `docs/differences.md`, and the table of `docs/accuracy.md`."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

_DOCS = Path(__file__).parents[2] / "docs"
_CALL = re.compile(r"(?<!\w)(?:\w+\.)*([A-Za-z]\w+)(?=\(|$)")
# A row of the table of errors: the function, what computes it, its errors in float32 and in float64.
_ROW = re.compile(r"^\| (\w+) \| [^|]+ \| ([\d.]*) \| ([\d.]*) \|", re.MULTILINE)


@cache
def differences() -> dict[str, list[str]]:
    """Return sentences of the page of differences, reStructuredText, by the functions that they name in backticks."""
    notes: dict[str, list[str]] = defaultdict(list)
    _, *items = re.split(r"^- ", (_DOCS / "differences.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for item in items:
        item = re.split(r"\n\n|\n(?=\S)", item)[0]
        for sentence in re.split(r"(?<=[.]) (?=[A-Z`])", " ".join(item.split())):
            for name in dict.fromkeys(
                name for span in re.findall(r"`([^`]+)`", sentence) for name in _CALL.findall(span)
            ):
                notes[name].append(to_rst(sentence))
    return dict(notes)


@cache
def accuracy() -> dict[str, str]:
    """Return the errors of functions, as sentences."""
    text = (_DOCS / "accuracy.md").read_text(encoding="utf-8")
    notes = {}
    for name, single, double in _ROW.findall(text):
        errors = [f"{error} in {dtype}" for error, dtype in ((single, "float32"), (double, "float64")) if error]
        notes[name] = f"Largest error found, in ULP: {', '.join(errors)}."
    return notes


def to_rst(text: str) -> str:
    """Return Markdown of one line as reStructuredText: code, and links as their texts."""
    return re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", re.sub(r"`([^`]+)`", r"``\1``", text))
