"""Plans on disk: a later process schedules and generates nothing, and launches the same. The GPU is a pretended one."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import disk_cache
from gpunumpy.core.graph.node import Node
from gpunumpy.core.runtime import evaluate, kept_plans, plain_data, planner
from gpunumpy.core.runtime.loop_cut import LoopCut
from gpunumpy.core.runtime.plan import PlanTemplate
from gpunumpy.demo import load
from gpunumpy.kernels.codegen import interpreter, sized, sized_program
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.cuda import source, tiers
from gpunumpy.kernels.cuda.compile import set_contraction
from gpunumpy.kernels.cuda.executor import CudaExecutor
from gpunumpy.kernels.cuda.launch import Launcher

from ...package.test_first_run import CASES, EXAMPLES
from ...package.test_first_run import PROGRAMS as FOLDER
from ...support import fake_driver
from ...support.new_process import begin_process, end_process

pytest.importorskip("cuda.bindings.nvrtc")

X = numpy.arange(600.0).reshape(20, 30)
COMPILE = compiler._compile


def chain() -> list[Any]:
    a, b = np.asarray(X), np.asarray(X)
    return [np.sin(a * 2) + b, (a - b)[1:, ::2] * 3]


def reductions() -> list[Any]:
    a = np.asarray(X)
    return [(a - a.mean(axis=1, keepdims=True)) / a.std(axis=1, keepdims=True), a.sum(), np.cumsum(a, axis=0)]


def updates() -> list[Any]:
    a, b = np.asarray(X), np.asarray(X)
    a[1:-1, 1:-1] += b[2:, 1:-1] - b[:-2, 1:-1]
    b[::2] = a[1::2] * 2
    b[3] = b[4]
    return [a, b]


def gathers() -> list[Any]:
    a, where = np.asarray(X), np.asarray(numpy.array([3, 1, -1]))
    return [a[where] + 1, np.where(a > 5, a, 0).astype("int32"), a.T.reshape(30, 20) * 2j]


def library_calls() -> list[Any]:
    a = np.asarray(X)
    return [np.sort(a * 2, axis=1), np.sort(a, axis=None)]


# Those that look at no value, as these are whatever the memory of the pretended GPU held, and call no library of CUDA.
WHOLE_PROGRAMS = (
    *("black_scholes", "factorizations", "fluid", "heat", "lattice_boltzmann", "life", "magnetohydrodynamics"),
    *("mandelbrot", "nbody"),
)
PROGRAMS: tuple[Callable[[], list[Any]], ...] = (chain, reductions, updates, gathers, library_calls)


class Watch:
    """What processes do: the passes that run, the texts that are generated, and what is launched."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.scheduled = 0
        self.generated = 0
        self.interpreted = 0
        self.launched: list[tuple[Any, ...]] = []
        launch = Launcher._launch_by_binding

        def counted(what: str, module: Any, name: str) -> None:
            function = getattr(module, name)

            def call(*args: Any, **options: Any) -> Any:
                setattr(self, what, getattr(self, what) + 1)
                return function(*args, **options)

            patch.setattr(module, name, call)

        def launched(launcher: Launcher, values: Any) -> Any:
            entry = launcher._function.handle[1]
            self.launched.append((entry, launcher._prepared, launcher._format, tuple(launcher._params)))
            return launch(launcher, values)

        counted("scheduled", planner, "run_passes")
        counted("generated", sized, "generate")
        counted("interpreted", sized, "interpreted")
        patch.setattr(Launcher, "_launch_by_binding", launched)

    def process(self, program: Callable[[], list[Any]], devices: Sequence[str] = ("cuda:0",)) -> list[Any]:
        """Run a program as a new process would, which uses these devices, and return what was launched."""
        self.scheduled = self.generated = self.interpreted = 0
        self.launched = []
        begin_process(devices)
        for x in program():
            x.computed()
        end_process()
        return self.launched


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    kept_plans.kept_plans.cache_clear()
    return tmp_path


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Watch:
    fake_driver.install(monkeypatch)
    monkeypatch.setattr(evaluate, "CHECK", False)
    monkeypatch.setattr(compiler, "_compile", lambda text, *target: b"image")
    return Watch(monkeypatch)


@pytest.fixture(autouse=True)
def on_the_gpu(watch: Watch) -> Any:
    with np.Device("cuda:0"):
        yield
    kept_plans.kept_plans.cache_clear()


@pytest.mark.parametrize("tier", ["compiled", "interpreted"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_second_process_plans_nothing(
    watch: Watch, program: Callable[[], list[Any]], tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "TIER", tier)
    first = watch.process(program)
    assert watch.scheduled
    assert watch.generated
    assert (watch.interpreted > 0) == (tier == "interpreted")
    assert watch.process(program) == first
    assert (watch.scheduled, watch.generated, watch.interpreted) == (0, 0, 0)


@pytest.mark.parametrize("name", WHOLE_PROGRAMS)
def test_later_processes_of_a_whole_program(watch: Watch, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They plan nothing, and encode nothing for the interpreter.

    The second one may generate a text with symbols where the first had all that it needed for numbers.
    """
    monkeypatch.setattr(tiers, "TIER", "interpreted")
    size, steps, *_ = (CASES | EXAMPLES)[name]
    folder = {"folder": FOLDER} if name in CASES else {}
    found = []
    for _ in range(3):
        evaluate.state_of(np.Device("cuda:0")).cut = LoopCut()
        watch.process(lambda: [load(name, "gpunumpy", **folder).run(size, steps)])
        found.append((watch.scheduled, watch.generated, watch.interpreted))
        assert watch.launched
    assert found[1] in ((0, 0, 0), (0, 1, 0))
    assert found[2] == (0, 0, 0)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_graph_that_comes_up_once_has_nothing_made_for_others(
    watch: Watch, folder: Path, program: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What later runs and later processes need is made when it comes up again."""
    prepared: list[str] = []
    prepare = CudaExecutor.library_call
    monkeypatch.setattr(
        CudaExecutor, "library_call", lambda self, name, *args: prepared.append(name) or prepare(self, name, *args)
    )
    monkeypatch.setattr(tiers, "TIER", "interpreted")
    monkeypatch.setattr(planner, "keep_on_disk", lambda: None)
    watch.process(program)
    texts, calls = watch.generated, len(prepared)
    kept = len(list((folder / "programs").iterdir()))
    watch.launched.clear()
    for x in program():
        x.computed()
    again, scheduled = list(watch.launched), watch.scheduled
    assert watch.generated > texts
    assert len(prepared) == calls, "library calls are prepared once"
    assert len(list((folder / "programs").iterdir())) > kept
    watch.launched.clear()
    for x in program():
        x.computed()
    assert (watch.scheduled, watch.launched) == (scheduled, again)


def test_a_second_process_reads_the_text_of_the_interpreter(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for kernels that are new to it."""
    monkeypatch.setattr(tiers, "TIER", "interpreted")
    tiers.interpreter_text.cache_clear()
    watch.process(chain)
    interpreter.text.cache_clear()
    monkeypatch.setattr(interpreter, "text", lambda: pytest.fail("it is written again"))
    tiers.interpreter_text.cache_clear()
    watch.process(updates)
    assert watch.interpreted


def with_compiler(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[Any]]:
    """Have what is compiled be kept on disk. Return the texts that the compiler is given, and what is read of them."""
    compiled: list[str] = []
    read: list[Any] = []

    def compile(text: str, *target: Any) -> bytes:
        compiled.append(text)
        disk = disk_cache.open_cache(disk_cache.cache_folder())
        assert disk is not None
        disk.keep(compiler._disk_key(text, *target), b"image")
        return b"image"

    monkeypatch.setattr(compiler, "_compile", compile)
    monkeypatch.setattr(tiers, "read_from_disk", lambda text: read.append(text) or source.read_from_disk(text))
    return compiled, read


def test_no_text_is_read_of_what_is_compiled(watch: Watch, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, read = with_compiler(monkeypatch)
    first = watch.process(reductions)
    texts = set(compiled)
    assert texts
    holds_text = [path for path in (folder / "programs").iterdir() if b"__global__" in path.read_bytes()]
    assert len(holds_text) == len(texts), "plans refer to them"
    assert watch.process(reductions) == first
    assert (len(compiled), read, watch.scheduled) == (len(texts), [], 0)


def test_kernels_of_a_kept_plan_that_are_no_more_on_disk(
    watch: Watch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their texts are compiled, or made again with the plan."""
    compiled, read = with_compiler(monkeypatch)
    first = watch.process(reductions)
    texts = set(compiled)
    for has_texts in (True, False):
        compiled.clear()
        for path in (folder / "programs").iterdir():
            content = path.read_bytes()
            if content.startswith(b"image") or (b"__global__" in content and not has_texts):
                path.unlink()
        assert watch.process(reductions) == first
        assert set(compiled) == texts
        assert watch.scheduled == (not has_texts)
    assert {text.digest for text in read} == {source.source_of(text).digest for text in texts}


def test_the_steps_of_a_kept_plan(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who wants to see them has the graph scheduled."""
    steps: list[list[Any]] = []
    monkeypatch.setattr(evaluate, "observer", lambda step, work: (steps[-1].append(step), work()))
    for _ in range(2):
        steps.append([])
        watch.process(updates)
    assert steps[0]
    assert steps[1] == steps[0]


def each(results: Iterable[Any]) -> list[Any]:
    """Compute results one after the other."""
    return [(x, x.computed())[0] for x in results]


def windows(sizes: tuple[int, ...]) -> list[Any]:
    return each((np.asarray(X)[:n] + 1).sum(axis=0) for n in sizes)


def shrinking(sizes: tuple[int, ...]) -> list[Any]:
    a = np.asarray(X)
    for n in sizes:
        a[n:, n:] -= np.outer(a[n:, n - 1], a[n - 1, n:])
        a[n:, n].computed()
    return [a]


def sorts(sizes: tuple[int, ...]) -> list[Any]:
    a = np.asarray(X)
    return each(np.sort(a[:n] * 2, axis=0) + a[1 : n + 1] for n in sizes)


@pytest.mark.parametrize("tier", ["compiled", "interpreted"])
@pytest.mark.parametrize("program", [windows, shrinking, sorts])
def test_plans_of_symbols(
    watch: Watch, program: Callable[[tuple[int, ...]], list[Any]], tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They serve sizes that no process has met, as do the programs of their kernels, and how these are interpreted."""
    monkeypatch.setattr(tiers, "TIER", tier)
    watch.process(lambda: program((7, 9, 11)))
    assert watch.scheduled
    second = watch.process(lambda: program((7, 9, 11, 13)))  # which has no plan of numbers for 7, as the first one had
    assert watch.scheduled == 0
    assert watch.process(lambda: program((7, 9, 11, 13))) == second
    assert (watch.scheduled, watch.generated, watch.interpreted) == (0, 0, 0)
    watch.process(lambda: program((13, 7, 11)))
    assert (watch.scheduled, watch.generated, watch.interpreted) == (0, 0, 0)
    assert evaluate.state_of(np.Device("cuda:0")).planner.counts()[0]


def test_how_kernels_are_interpreted_is_read_where_they_are(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    of_kept = sized_program.interpretation_of_kept
    monkeypatch.setattr(tiers, "interpretation_of_kept", lambda *kept: read.append(kept) or of_kept(*kept))
    for tier, is_read in (("interpreted", False), ("interpreted", True), ("compiled", False)):
        monkeypatch.setattr(tiers, "TIER", tier)
        read.clear()
        watch.process(lambda: shrinking((7, 9, 11)))
        assert bool(read) == is_read


def test_kernels_are_read_where_programs_are_made(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    monkeypatch.setattr(tiers, "TIER", "compiled")
    monkeypatch.setattr(tiers, "read", lambda kept: read.append(kept) or plain_data.read(kept))

    def then_more() -> list[Any]:
        return shrinking((7, 9, 11)) + chain()  # whose kernels might be some of those that were kept

    for _ in range(3):
        watch.process(lambda: shrinking((7, 9, 11)))
    assert not read
    watch.process(then_more)
    assert read
    prepare: Any = evaluate.state_of(np.Device("cuda:0")).executor.prepare
    structures = prepare.__self__._structures
    assert len({structure.key for structure in structures.values()} - {None}) == len(read) == len(set(read))


@pytest.mark.parametrize(
    "program", [chain, reductions, updates, lambda: shrinking((7, 9, 11)), lambda: windows((7, 9))]
)
def test_what_the_last_process_needed_is_prepared_ahead(
    watch: Watch, program: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then its graphs read nothing, and make no templates of what was read."""
    monkeypatch.setattr(tiers, "TIER", "compiled")
    monkeypatch.setattr(compiler, "_compile", COMPILE)
    monkeypatch.setattr(compiler, "compiled", lambda *program: b"image")
    done: list[Any] = []
    find = disk_cache.DiskCache.find
    monkeypatch.setattr(disk_cache.DiskCache, "find", lambda disk, key: done.append(key) or find(disk, key))
    for _ in range(3):
        launched = watch.process(program)
        assert done
        done.clear()

    of_kept = PlanTemplate.of_kept
    monkeypatch.setattr(PlanTemplate, "of_kept", lambda *args: done.append(args) or of_kept(*args))

    def later() -> list[Any]:
        evaluate.read_ahead(np.Device("cuda:0"))
        assert done
        done.clear()
        return program()

    assert watch.process(later) == launched
    assert not done


def after_reading_ahead(program: Callable[[], list[Any]]) -> list[Any]:
    evaluate.read_ahead(np.Device("cuda:0"))
    return program()


@pytest.mark.parametrize("program", [chain, updates, lambda: windows((7, 9))])
def test_what_is_prepared_ahead_is_for_one_gpu(
    watch: Watch, program: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two equal GPUs, which find the same on disk, each launches its own kernels on its own stream."""
    fake_driver.install(monkeypatch, 2)
    monkeypatch.setattr(tiers, "TIER", "compiled")
    devices = ["cuda:0", "cuda:1"]
    launchers: list[Launcher] = []
    launch = Launcher._launch_by_binding
    monkeypatch.setattr(
        Launcher, "_launch_by_binding", lambda launcher, values: launchers.append(launcher) or launch(launcher, values)
    )

    def on_both() -> list[Any]:
        for device in devices:
            evaluate.read_ahead(np.Device(device))
        for device in devices:
            launchers.clear()
            with np.Device(device):
                for x in program():
                    x.computed()
            assert {str(launcher.device) for launcher in launchers} == {device}
        return []

    for _ in range(4):
        watch.process(on_both, devices)


def test_the_list_of_what_was_needed_is_written_where_it_is_another(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bytes] = []
    keep = disk_cache.DiskCache.keep
    monkeypatch.setattr(
        disk_cache.DiskCache, "keep", lambda disk, key, entry: kept.append(key) or keep(disk, key, entry)
    )
    for program, is_written in ((chain, True), (chain, False), (reductions, True), (chain, True)):
        kept.clear()
        watch.process(partial(after_reading_ahead, program))
        assert bool(kept) == is_written


def test_the_steps_of_a_kept_plan_of_symbols(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[list[Any]] = []
    monkeypatch.setattr(evaluate, "observer", lambda step, work: (steps[-1].append(step), work()))
    for _ in range(3):
        steps.append([])
        watch.process(lambda: shrinking((7, 9, 11)))
    assert steps[0]
    assert steps[1] == steps[0]
    assert steps[2] == steps[0]


def test_programs_of_symbols_that_are_no_more_on_disk(
    watch: Watch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their texts are read where no code is, and made again where these are gone too."""
    compiled, read = with_compiler(monkeypatch)
    for _ in range(2):
        first = watch.process(lambda: windows((7, 9, 11)))
    assert sum(b"__global__" in path.read_bytes() for path in (folder / "programs").iterdir()) == len(set(compiled))
    for has_code, has_texts in ((True, True), (False, True), (False, False)):
        compiled.clear()
        read.clear()
        for path in (folder / "programs").iterdir():
            content = path.read_bytes()
            if (content.startswith(b"image") and not has_code) or (b"__global__" in content and not has_texts):
                path.unlink()
        assert watch.process(lambda: windows((7, 9, 11))) == first
        assert watch.scheduled == 0
        assert len(set(compiled)) == len(read)
        assert bool(read) is not has_code
        assert bool(watch.generated) is not has_texts


def test_a_bounded_number_of_variants_is_kept(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_plans, "MAX_KEPT_VARIANTS", 0)
    for _ in range(2):
        watch.process(lambda: windows((7, 9, 11)))
        assert watch.scheduled


def assert_planned_again(watch: Watch) -> None:
    watch.process(chain)
    assert watch.scheduled == 1


def test_files_of_the_package_that_are_others(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    watch.process(chain)
    monkeypatch.setattr(kept_plans, "package_digest", lambda: "another")
    kept_plans.kept_plans.cache_clear()
    assert_planned_again(watch)


def test_the_digest_of_the_package_follows_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    file = tmp_path / "core" / "disk_cache.py"
    file.write_text("1")
    monkeypatch.setattr(disk_cache, "__file__", str(file))
    digest = disk_cache.package_digest.__wrapped__
    digests = [digest()]
    os.utime(file, ns=(0, 0))
    digests.append(digest())
    file.write_text("22")
    os.utime(file, ns=(0, 0))
    digests.append(digest())
    (tmp_path / "other.cuh").touch()
    digests.append(digest())
    assert len(set(digests)) == 4
    assert digest() == digests[-1]


@pytest.mark.parametrize("what", ["tier", "contraction", "checks"])
def test_what_kernels_depend_on(watch: Watch, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    watch.process(chain)
    if what == "tier":
        monkeypatch.setattr(tiers, "TIER", "interpreted")
    elif what == "checks":
        monkeypatch.setattr(evaluate, "CHECK", True)
    set_contraction(what == "contraction")
    try:
        watch.process(chain)
    finally:
        set_contraction(False)
    assert watch.scheduled


@pytest.mark.parametrize("content", [b"", b"not whole", bytes(5000)])
def test_entries_that_are_not_whole(watch: Watch, folder: Path, content: bytes) -> None:
    watch.process(chain)
    for file in (folder / "programs").iterdir():
        file.write_bytes(content)
    assert_planned_again(watch)
    watch.process(chain)
    assert not watch.scheduled


def test_a_folder_of_others(watch: Watch, folder: Path) -> None:
    watch.process(chain)
    (folder / "programs").chmod(0o755)
    disk_cache.open_cache.cache_clear()
    kept_plans.kept_plans.cache_clear()
    with pytest.warns(RuntimeWarning, match="others have access"):
        assert_planned_again(watch)
    disk_cache.open_cache.cache_clear()


class Foreign:
    pass


@pytest.mark.parametrize("thing", [os.system, Foreign(), numpy.zeros(1), Node, io.BytesIO, open, [(1, Foreign)]])
def test_only_plain_data_is_written_and_read(thing: Any) -> None:
    with pytest.raises(plain_data.NotPlain):
        plain_data.written(thing)
    try:
        foreign = pickle.dumps(thing)
    except TypeError:
        return
    with pytest.raises((plain_data.NotPlain, KeyError, AttributeError)):
        plain_data.read(foreign)


ENDS = """
import os, pytest, numpy, gpunumpy as np
from gpunumpy.kernels.cuda import compile as compiler
from tests.support import fake_driver

patch = pytest.MonkeyPatch()
fake_driver.install(patch)
patch.setattr(compiler, "_compile", lambda text, *target: b"image")
with np.Device("cuda:0"):
    (np.asarray(numpy.ones(50)) * 2 + 1).computed()
print(len(os.listdir(os.environ["GPUNUMPY_CACHE_DIR"] + "/programs")))
"""


def test_the_end_of_a_process_keeps_its_plans(folder: Path) -> None:
    root = Path(__file__).parents[3]
    environment = {**os.environ, "GPUNUMPY_TIER": "interpreted", "GPUNUMPY_RESIDENCE": "device"}
    environment["PYTHONPATH"] = str(root)
    done = subprocess.run(
        [sys.executable, "-c", ENDS], env=environment, cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    plan_text_and_list = 3
    assert len(list((folder / "programs").iterdir())) == int(done.stdout) + plan_text_and_list


KEYS = """
import numpy, gpunumpy as np
from gpunumpy.core.graph.node import Node
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.kept_plans import KeptPlans
from gpunumpy.core.schedule.lift import lowered

with np.Device("cpu"):
    if EXTRA:
        (np.asarray(numpy.ones(3, "i4")) // 2 + np.asarray(numpy.ones((2, 3), "c8"))).computed()
    a = np.asarray(numpy.ones((20, 30)))
    a.computed()
    b = np.sort(a[1:, ::2] * 2.5 + a[:-1, ::2], axis=0)
    b[2:] = np.sin(b[:-2]).sum(axis=0)
    for roots in ([b._node], [(b @ b.T)._node]):
        nodes, _ = evaluate.walk(roots)
        structure, _ = lowered(nodes)
        print(KeptPlans("one", "cuda:0").key(structure, [node.signature for node in nodes], 1, True).hex())
"""


def test_keys_are_those_of_every_process(folder: Path) -> None:
    found = []
    for seed in (1, 2):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "GPUNUMPY_RESIDENCE": "device"}
        program = f"EXTRA = {seed - 1}\n{KEYS}"
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        found.append(done.stdout.split())
    assert found[0] == found[1]
    assert len(set(found[0])) == 2
