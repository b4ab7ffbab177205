"""Pages of HTML that need no other file: a text with marks, such as ``{{title}}``, which values take the place of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

_MARK = re.compile(r"\{\{(\w+)\}\}")


def fill(name: str, values: Mapping[str, str]) -> str:
    """Return the page of a file in this folder, with the values, which are HTML, in place of its marks."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return _MARK.sub(lambda mark: values[mark[1]], text)
