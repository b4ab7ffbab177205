"""The code on the pages runs: each section by itself, where the libraries are that it imports."""

from __future__ import annotations

from importlib import import_module

import pytest

from gpunumpy.core.runtime.device import Device

from ..support.pages import ROOT, Section, sections

# The page whose test runs code on GPUs too: tests/custom/test_page.py.
OTHER_TEST = ROOT / "docs" / "kernels-of-your-own.md"
# What a test environment may lack.
OPTIONAL = {"dask", "distributed", "jax", "torch"}

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SECTIONS = [section for page in PAGES if page != OTHER_TEST for section in sections(page)]


@pytest.mark.sampled(len(SECTIONS))
@pytest.mark.filterwarnings("ignore:::(jax|torch)")
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: f"{section.page}: {section.title}")
def test_code_runs(section: Section) -> None:
    needed = OPTIONAL & section.imports | ({"distributed"} if "LocalCluster" in section.code else set())
    for library in needed:
        pytest.importorskip(library)
    if "dask" in section.imports:
        import_module("gpunumpy.dask")  # an installation may be older than the entry point
    with Device("cpu"):
        exec(compile(section.code, section.page, "exec"), {"__name__": "page"})


def test_code_is_found() -> None:
    assert {"docs/quickstart.md", "docs/numpy-users.md", "docs/cupy-users.md"} <= {one.page for one in SECTIONS}
    torch = [one.title for one in SECTIONS if "torch" in one.imports]
    assert torch == ["PyTorch in the middle", "Writing to shared memory"]
