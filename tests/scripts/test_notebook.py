"""`%load_ext gpunumpy`: cells import this package until the extension is unloaded."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

import gpunumpy as package

gpunumpy: Any = package


class Shell:
    """What the extension uses of IPython's shell: transformers of cells, which are run in one namespace."""

    def __init__(self) -> None:
        self.ast_transformers: list[ast.NodeTransformer] = []
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, cell: str) -> None:
        tree = ast.parse(cell)
        for transformer in self.ast_transformers:
            tree = transformer.visit(tree)
        exec(compile(ast.fix_missing_locations(tree), "<cell>", "exec"), self.names)


def test_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("of_a_cell_before", "of_a_cell", "of_a_cell_after"):
        (tmp_path / f"{name}.py").write_text("import numpy\n")
    monkeypatch.syspath_prepend(tmp_path)
    shell = Shell()
    cell = "import numpy, of_a_cell_before\nfound = numpy.__name__, of_a_cell_before.numpy.__name__"
    shell.run(cell)
    assert shell.names["found"] == ("numpy", "numpy")
    gpunumpy.load_ipython_extension(shell)
    try:
        gpunumpy.load_ipython_extension(shell)
        shell.run(cell.replace("_before", ""))
        assert shell.names["found"] == ("gpunumpy.scripts.numpy", "gpunumpy.scripts.numpy")
    finally:
        gpunumpy.unload_ipython_extension(shell)
    shell.run(cell.replace("_before", "_after"))
    assert shell.names["found"] == ("numpy", "numpy")
    assert not shell.ast_transformers
    assert not [finder for finder in sys.meta_path if type(finder).__module__ == "gpunumpy.scripts.finder"]
