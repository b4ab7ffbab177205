"""Sphinx's part of the site: the directives `public-names`, entries of the reference, `site-table` and `drawing`."""

from __future__ import annotations

import posixpath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.docutils import SphinxDirective

from gpunumpy.core.runtime.explain import explained

from .reference import Entry, chapter
from .tables import TABLES

_NUMPYDOC = Config(
    napoleon_use_rtype=False, napoleon_use_param=False, napoleon_custom_sections=[("Attributes", "params_style")]
)
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
    """Entries of all public names of a chapter of the reference; on a page of reStructuredText."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the entries."""
        lines = [line for entry in chapter(self.arguments[0]) for line in lines_of(entry)]
        return self.parse_text_to_nodes("\n".join(lines))


class SiteTable(SphinxDirective):
    """One of the tables of `tables.py`; on a page of Markdown."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the table."""
        return self.parse_text_to_nodes("\n".join(TABLES[self.arguments[0]]()))


class Drawing(SphinxDirective):
    """What `explain` draws of the array that the last line of a program makes; on a page of Markdown."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the node of the drawing."""
        *program, array = self.content
        names: dict[str, Any] = {}
        exec("\n".join(program), names)
        return [nodes.raw("", explained(eval(array, names))._repr_svg_(), format="html")]


def show_titles(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Give links whose text is a file's name the title of the page that they lead to."""
    for link in doctree.findall(nodes.reference):
        if link.get("internal") and link.astext().endswith(".md") and "refuri" in link:
            page = posixpath.normpath(posixpath.join(posixpath.dirname(name), link["refuri"].partition(".html")[0]))
            link.clear()
            link += nodes.inline("", app.env.titles[page].astext())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and the titles of links."""
    app.add_directive("public-names", PublicNames)
    app.add_directive("site-table", SiteTable)
    app.add_directive("drawing", Drawing)
    app.connect("doctree-resolved", show_titles)
    return {"parallel_read_safe": True}
