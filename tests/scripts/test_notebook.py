"""`%load_ext gpunumpy`: cells import this package until the extension is unloaded."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as package

gpunumpy: Any = package


class Events:
    """What the extension uses of IPython's events: functions that are called after each cell."""

    def __init__(self) -> None:
        self.after_cells: list[Callable[[Any], None]] = []

    def register(self, event: str, function: Callable[[Any], None]) -> None:
        assert event == "post_run_cell"
        self.after_cells.append(function)

    def unregister(self, event: str, function: Callable[[Any], None]) -> None:
        assert event == "post_run_cell"
        self.after_cells.remove(function)


class Shell:
    """What the extension uses of IPython's shell: transformers of cells, which are run in one namespace."""

    def __init__(self) -> None:
        self.ast_transformers: list[ast.NodeTransformer] = []
        self.events = Events()
        self.user_ns: dict[str, Any] = {"__name__": "__main__", "load": lambda: gpunumpy.load_ipython_extension(self)}

    def run(self, cell: str) -> None:
        tree = ast.parse(cell)
        for transformer in self.ast_transformers:
            tree = transformer.visit(tree)
        exec(compile(ast.fix_missing_locations(tree), "<cell>", "exec"), self.user_ns)
        for function in list(self.events.after_cells):
            function(None)


@pytest.fixture
def shell() -> Iterator[Shell]:
    shell = Shell()
    yield shell
    gpunumpy.unload_ipython_extension(shell)


def test_extension(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("of_a_cell_before", "of_a_cell", "of_a_cell_after"):
        (tmp_path / f"{name}.py").write_text("import numpy\n")
    monkeypatch.syspath_prepend(tmp_path)
    cell = "import numpy, of_a_cell_before\nfound = numpy.__name__, of_a_cell_before.numpy.__name__"
    shell.run(cell)
    assert shell.user_ns["found"] == ("numpy", "numpy")
    del shell.user_ns["numpy"]
    gpunumpy.load_ipython_extension(shell)
    gpunumpy.load_ipython_extension(shell)
    shell.run(cell.replace("_before", ""))
    assert shell.user_ns["found"] == ("gpunumpy.scripts.numpy", "gpunumpy.scripts.numpy")
    gpunumpy.unload_ipython_extension(shell)
    shell.run(cell.replace("_before", "_after"))
    assert shell.user_ns["found"] == ("numpy", "numpy")
    assert not shell.ast_transformers
    assert not [finder for finder in sys.meta_path if type(finder).__module__ == "gpunumpy.scripts.finder"]


def test_numpy_of_before_is_told_of(shell: Shell) -> None:
    shell.run("import numpy as mine")
    with pytest.warns(UserWarning, match="^mine, np: NumPy itself"):
        shell.run("load(); import numpy as np")
    shell.run("import numpy as np, numpy as mine")
    assert shell.user_ns["np"] is shell.user_ns["mine"] is not numpy
    shell.run("load()")
    assert not shell.events.after_cells


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # traitlets' own
def test_a_notebook_is_run_by_jupyter(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat.v4"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = (
        "%load_ext gpunumpy",
        "import gpunumpy\nimport numpy as np\nx = np.linspace(0, 1, 1_000_000)\nisinstance(x, gpunumpy.ndarray)",
        "np.sqrt(x)",
        "gpunumpy.explain(np.sort(x) * 2)",
        "np.explain",
        "x[np.full(1_000_000, 2_000_000)]",
        "with gpunumpy.profile('run.html'):\n    y = np.sqrt(x) + 1\n    y.tolist()",
    )
    here = {"metadata": {"path": str(tmp_path)}}
    notebook = nbformat.new_notebook(cells=[nbformat.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, kernel_name="python3", allow_errors=True, resources=here).execute()
    loaded, checked, array, drawing, error, bad_index, profile = (cell.outputs for cell in notebook.cells)
    assert loaded == []
    assert checked[0].data["text/plain"] == "True"
    assert "<b>ndarray</b> 1,000,000 float64" in array[0].data["text/html"]
    assert array[0].data["text/plain"].startswith("array([0.")
    assert drawing[0].data["image/svg+xml"].startswith("<svg")
    assert "gpunumpy.explain is" in error[0].evalue
    assert bad_index[0].ename == "IndexError"
    assert "In[6]:1" in bad_index[0].evalue
    assert f"written: {tmp_path / 'run.html'}, {tmp_path / 'run.json'}" in profile[0].text
    trace = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    assert {span["args"]["line"] for span in trace if span.get("cat") == "kernel"} == {"In[7]:3"}
