"""The code on pages for readers: sections of Markdown, and the Python in them."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_SECTION = re.compile(r"^## ", re.MULTILINE)
_CODE = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


class Section(NamedTuple):
    """A section of a page: its title, "" before the first one, and its code, block after block."""

    page: str
    title: str
    code: str

    @property
    def imports(self) -> set[str]:
        """The packages that the code imports."""
        nodes = list(ast.walk(ast.parse(self.code)))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        return {name.partition(".")[0] for name in names}


def sections(page: Path) -> list[Section]:
    """The sections of a page that have code."""
    found = []
    for part in _SECTION.split("\n" + page.read_text(encoding="utf-8")):
        blocks = [textwrap.dedent(block) for block in _CODE.findall(part)]
        if blocks:
            found.append(Section(str(page.relative_to(ROOT)), part.partition("\n")[0], "\n".join(blocks)))
    return found
