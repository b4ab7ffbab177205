"""The reference of the site: every public name is in it once, with the package's own words and what differs."""

from __future__ import annotations

import re
from collections import Counter
from types import ModuleType

import numpy
import pytest

import gpunumpy
from tools.site import figure, notes, reference, tables
from tools.site.peers import CUPY_NAMES, NAMESPACES, PEERS, follow, read

from ..support.pages import ROOT

PAGES = "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "reference").glob("*.md")))
ENTRIES = {title: reference.chapter(title) for title in reference.CHAPTERS}


def entry(chapter: str, name: str) -> reference.Entry:
    return next(one for one in ENTRIES[chapter] if one.name == name)


def test_every_chapter_is_on_a_page() -> None:
    assert sorted(re.findall(r"public-names:: (\S+)", PAGES)) == sorted(reference.CHAPTERS)


def test_every_public_name_is_an_entry_once() -> None:
    counts = Counter(f"{one.module}.{one.name}" for entries in ENTRIES.values() for one in entries)
    assert not [name for name, count in counts.items() if count > 1]
    public = {name for name in gpunumpy.__all__ if not isinstance(getattr(gpunumpy, name), ModuleType)}
    assert {name for name in public if f"gpunumpy.{name}" not in counts} == set()


def test_entries_have_the_words_of_the_package() -> None:
    roll = entry("manipulation", "roll")
    assert (roll.kind, roll.signature) == ("function", "(a, shift, axis=None)")
    assert roll.summary == "Move elements along axes; those that leave at one end enter at the other."
    assert "numpy.roll.html" in roll.notes[0]
    assert "Parameters" in entry("sorting", "sort").text
    assert entry("products", "matmul").kind == "function"
    shape = next(one for one in entry("ndarray", "ndarray").members if one.name == "ndarray.shape")
    assert (shape.kind, shape.summary) == ("attribute", "The size of every dimension.")
    assert entry("ufuncs", "abs").notes[0].startswith("See `numpy.absolute <")
    assert any("0.762 in float32" in note for note in entry("ufuncs", "power").notes)
    assert any("limits from below" in note for note in entry("elementwise", "clip").notes)


def test_of_numpy_one_sentence_is_shown() -> None:
    count = entry("host", "busday_count")
    assert count.summary.startswith("Counts the number of valid days between ")
    assert not count.text
    assert "NumPy computes it, on the host." in count.notes
    generator = entry("random", "Generator")
    assert len(generator.summary) < 200
    assert any(member.name == "Generator.normal" and member.signature for member in generator.members)


def test_a_call_in_a_docstring_of_numpys_is_no_summary() -> None:
    """Aliases, and methods of scalars, have the text of another name."""
    entries = [one for entries in ENTRIES.values() for one in entries]
    entries += [member for one in entries for member in one.members]
    assert not [one.name for one in entries if re.match(r"[\w.]+\(", one.summary)]
    assert entry("ufuncs", "acos").summary == "Trigonometric inverse cosine, element-wise."
    (found,) = (one for one in entries if one.name == "ndarray.is_integer")
    assert found.kind == "method"
    assert found.signature in ("()", "(...)")  # NumPy 2.3 does not tell


def test_functions_have_a_summary() -> None:
    without = [
        f"{one.module}.{one.name}"
        for title, entries in ENTRIES.items()
        if title not in ("testing", "typing", "lib.format")
        for one in entries
        if not one.summary and one.kind not in ("data", "exception")
    ]
    assert not without
    methods = {member.name for one in ENTRIES["ndarray"] for member in one.members}
    assert {f"ndarray.{name}" for name in dir(gpunumpy.ones(1)) if not name.startswith("_")} <= methods


def test_parameters_of_one_alone_are_named() -> None:
    def ours(a, axis=None, device=None): ...

    def theirs(self, axis=None, order=None, *, like=None): ...

    found = list(reference.parameter_notes(ours, theirs, is_method=True))
    assert found == ["Not in NumPy: ``device``.", "Not here: ``order``, ``like``."]
    assert list(reference.parameter_notes(ours, lambda *args: None, is_method=False)) == []


def test_an_unknown_chapter_is_refused() -> None:
    with pytest.raises(ValueError, match="'nosuch' is no chapter"):
        reference.chapter("nosuch")


def test_notes_are_restructured_text() -> None:
    assert notes.to_rst("`a` is [b](c.md), `d`") == "``a`` is b, ``d``"


def test_the_figure_is_of_the_table() -> None:
    assert figure.FIGURE.read_text(encoding="utf-8") == figure.figure(), "python -m tools.site.figure draws it anew"
    assert all(figure.position(time) >= figure.position(0.1) for time in (0.1, 0.2))


def test_table_of_coverage() -> None:
    header, rows = read(PEERS)
    rows = [row for row in rows if follow(numpy, [*row[0].split(".")[1:], row[1]]) is not None]  # as old as NumPy is
    assert [text.partition(" ")[0] for text in header[2:]] == ["CuPy", "JAX", "PyTorch", "dpnp"]
    assert {row[0] for row in rows} == set(NAMESPACES)
    assert [name for space, name, *_ in rows if not reference.place(space, name)] == []
    assert reference.place("numpy", "savetxt") == "host"
    assert reference.place("numpy.linalg", "solve") == "yes"
    assert len(tables.coverage()) == len(NAMESPACES) + 3
    assert sum(line.startswith("| `") for line in tables.all_names()) >= len(rows)


def test_table_of_names_of_cupy() -> None:
    lines = tables.names_of_cupy()
    first = next(line for line in lines if line.startswith("| `cupy` |"))
    here, missing = first.split("|")[2:4]
    assert "`ElementwiseKernel`" in here
    assert "`make_aligned_dtype`" in missing
    assert sum(line.count("`") for line in lines) // 2 == len(read(CUPY_NAMES)[1]) + len(
        {r[0] for r in read(CUPY_NAMES)[1]}
    )
