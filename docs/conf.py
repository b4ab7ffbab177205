"""Sphinx's configuration of the site: `python -m sphinx -W docs build/site`."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("GPUNUMPY_DEVICE", "cpu")  # the reference is read from the package, where nothing is computed

import gpunumpy  # noqa: E402

with open(ROOT / "pyproject.toml", "rb") as _file:
    _project = tomllib.load(_file)["project"]

project = _project["name"]
author = _project["authors"][0]["name"]
copyright = author
version = release = gpunumpy.__version__

extensions = ["myst_parser", "tools.site.extension"]
exclude_patterns = ["_static"]
source_suffix = {".md": "markdown"}
default_role = "literal"  # of backticks in docstrings
myst_heading_anchors = 4

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_sidebars = {"quickstart": []}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "icon_links": [{"name": "Source", "url": _project["urls"]["Source"], "icon": "fa-brands fa-github"}],
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
