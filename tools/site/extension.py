"""Sphinx's part of the reference: the directive `public-names`, which shows the entries of a chapter."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.docutils import SphinxDirective

from .reference import Entry, chapter

_NUMPYDOC = Config(napoleon_use_rtype=False, napoleon_use_ivar=True)
_INDENT = " " * 3


def lines_of(entry: Entry) -> list[str]:
    """Return an entry of the reference as reStructuredText."""
    lines = [f".. py:{entry.kind}:: {entry.name}{entry.signature}", f"{_INDENT}:module: {entry.module}", ""]
    paragraphs = [entry.summary, str(NumpyDocstring(entry.text, _NUMPYDOC)), " ".join(entry.notes)]
    for paragraph in filter(None, paragraphs):
        lines += [_INDENT + line if line else "" for line in paragraph.splitlines()] + [""]
    for member in entry.members:
        lines += [_INDENT + line if line else "" for line in lines_of(member)]
    return lines


class PublicNames(SphinxDirective):
    """Entries of all public names of a chapter of the reference."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the entries."""
        lines = [line for entry in chapter(self.arguments[0]) for line in lines_of(entry)]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True}
