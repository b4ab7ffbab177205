"""The user's line, as errors and profiles tell it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpunumpy.core.source_location import source_location

CELL = "/tmp/ipykernel_1/2.py"
IPYTHON = SimpleNamespace(compile=SimpleNamespace(format_code_name={CELL: ("Cell", "In[7]")}.get))


def located(file: str, **names: Any) -> str:
    """What a package's function finds that the second line of a file calls."""
    inner = {"__name__": "gpunumpy.inner", "source_location": source_location}
    exec("def function(): return source_location()", inner)
    names |= {"__name__": "__main__", "function": inner["function"]}
    exec(compile("\nfound = function()", file, "exec"), names)
    return str(names["found"])


@pytest.mark.parametrize(
    ("file", "shell", "expected"),
    [
        (CELL, IPYTHON, "In[7]:2"),
        ("script.py", IPYTHON, "script.py:2"),
        (CELL, None, f"{CELL}:2"),
        (CELL, SimpleNamespace(), f"{CELL}:2"),
    ],
)
def test_cells_of_notebooks_have_their_numbers(file: str, shell: Any, expected: str) -> None:
    assert located(file, get_ipython=lambda: shell) == expected


def test_files() -> None:
    assert located("script.py") == "script.py:2"
