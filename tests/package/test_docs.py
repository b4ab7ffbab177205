"""The pages for readers: what they name exists, the map fits on one page, and lines are short."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Where a path on a page may begin, besides the page's own folder.
BASES = (ROOT, ROOT / "gpunumpy")
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in (
        *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
        *sorted(DOCS.rglob("*.md")),
    )
}
MAP = DOCS / "architecture.md"
MAX_MAP_LINES = 120
MAX_COLUMNS = 120

# A path, and the function, class, method or table in it after a colon.
_PATH = re.compile(r"(?P<path>[\w.*-]*(?:/[\w.*-]*)+|[\w.*-]+\.(?:py|pyi|cuh|cpp|h|md|toml|txt))(?::(?P<name>[\w.]+))?")


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page outside blocks of code, counted from 1."""
    in_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, line


def references(page: Path) -> Iterator[tuple[str, str]]:
    """What a page names in backticks that looks like a file or a folder, and what of it; and what it links to."""
    text = "\n".join(line for _, line in prose(page))
    for span in re.findall(r"`([^`]+)`", text):
        found = _PATH.fullmatch(span)
        if found and not span.startswith("/"):
            yield found["path"], found["name"] or ""
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" not in target:
            yield target.partition("#")[0], ""


def places(page: Path, path: str) -> list[Path]:
    """The files and folders that a path on a page means."""
    return [found for base in (page.parent, *BASES) for found in base.glob(path.rstrip("/"))] if path else [page]


@cache
def defined(path: Path) -> frozenset[str]:
    """The names that a module defines: functions, classes with their methods, and variables."""
    names: set[str] = set()

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    collect(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.update(prefix + target.id for target in targets if isinstance(target, ast.Name))

    collect(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return frozenset(names)


every_case = pytest.mark.sampled(sys.maxsize)  # in the short suite too


@every_case
@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_exists(page: str) -> None:
    missing = []
    for path, name in references(PAGES[page]):
        found = places(PAGES[page], path)
        if not found:
            missing.append(path)
        elif name and not any(one.suffix == ".py" and name in defined(one) for one in found):
            missing.append(f"{path}:{name}")
    assert not missing, f"{page} names what is not there: {sorted(set(missing))}"


@every_case
@pytest.mark.parametrize("page", PAGES)
def test_lines_are_short(page: str) -> None:
    """Outside tables and blocks of code; the targets of links do not count."""
    long = {
        number: len(line)
        for number, line in prose(PAGES[page])
        if not line.startswith("|") and len(re.sub(r"\]\([^)]*\)", "]", line)) > MAX_COLUMNS
    }
    assert not long, f"{page} has lines of more than {MAX_COLUMNS} columns: {long}"


def test_the_map_is_one_page() -> None:
    lines = MAP.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MAX_MAP_LINES
    assert max(map(len, lines)) <= MAX_COLUMNS


def test_the_map_names_every_layer() -> None:
    folders = {
        path.parent.relative_to(ROOT / "gpunumpy").as_posix() for path in (ROOT / "gpunumpy").glob("*/__init__.py")
    }
    picture = MAP.read_text(encoding="utf-8").split("```")[1]
    assert not {folder for folder in folders if f"{folder}/" not in picture}


def test_every_page_of_decisions_is_listed() -> None:
    listed = {path for path, _ in references(DOCS / "design" / "README.md")}
    assert {path.name for path in (DOCS / "design").glob("*.md")} - {"README.md"} <= listed


def test_every_page_is_in_the_tree() -> None:
    """Of the site: in a toctree of the page above it."""
    listed = {DOCS / "index.md"}
    for page in DOCS.rglob("*.md"):
        for tree in re.findall(r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for line in tree.splitlines():
                listed |= set() if not line or line.startswith(":") else {*page.parent.glob(f"{line}.md")}
    missing = {str(page.relative_to(DOCS)) for page in {*DOCS.rglob("*.md")} - listed}
    assert not missing, f"no toctree lists {missing}: docs/guide.md has one"


def test_missing_names_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "`core/dtypes.py:check` `core/nosuch.py` `a / b` `x.T` `/tmp/x` [b](nosuch.md)\n```\n`no/code`\n```\n"
    )
    assert list(references(page)) == [("core/dtypes.py", "check"), ("core/nosuch.py", ""), ("nosuch.md", "")]
    assert [len(places(page, path)) for path, _ in references(page)] == [1, 0, 0]
    assert "check" in defined(ROOT / "gpunumpy/core/dtypes.py")
