"""The locks of the package have one order: no two threads wait for each other, each with a lock that the other needs.

A process replaces the locks that the package makes by ones that note which locks a thread holds as it takes another.
Locks made at one place are one lock here, so two of them (the queues of two devices) must never be held together.
"""

from __future__ import annotations

import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import gpunumpy as np

PROGRAM = """
import sys, threading, warnings

held = threading.local()
taken_while_held = set()


class NotedLock:
    def __init__(self, lock, place):
        self.lock, self.place = lock, place
        # Nobody else can hold this lock, nor wait for one of these, before they are released.
        self.held_as_made = list(held.__dict__.get("locks", []))

    def acquire(self, blocking=True, timeout=-1):
        mine = held.__dict__.setdefault("locks", [])
        if blocking and self not in mine:
            taken_while_held.update((other.place, self.place) for other in mine if other not in self.held_as_made)
        taken = self.lock.acquire(blocking, timeout)
        if taken:
            mine.append(self)
            if not mine[:-1]:
                self.held_as_made.clear()
        return taken

    def release(self):
        locks = held.locks
        del locks[max(k for k, lock in enumerate(locks) if lock is self)]
        self.lock.release()

    def __enter__(self):
        self.acquire()

    def __exit__(self, *error):
        self.release()


class NotedReentrantLock(NotedLock):
    pass


def noted(make, kind):
    def make_lock():
        frame = sys._getframe(1)
        module = frame.f_globals["__name__"]
        return kind(make(), f"{module}:{frame.f_lineno}") if module.startswith("gpunumpy") else make()

    return make_lock


threading.Lock = noted(threading.Lock, NotedLock)
threading.RLock = noted(threading.RLock, NotedReentrantLock)

import numpy
import gpunumpy as np
from concurrent.futures import ThreadPoolExecutor

sys.setswitchinterval(1e-5)
warnings.simplefilter("ignore")
shared = np.arange(4096.0).reshape(64, 64) * 1
rng = np.random.default_rng(1)
legacy = np.random.RandomState(2)


def program(k):
    a = np.arange(600.0).reshape(20, 30) + k
    for step in range(12):
        a += rng.random(a.shape)
        a[1:-1] = (a[2:] + a[:-2]) / 2
        np.add.at(shared, ([k, k + 1], step), 1)
        np.putmask(shared, shared > 1e9, 0)
        np.put(shared, [k], step)
        shared[shared < 0] = 1.0
        shared[k, :] *= 0.5
        np.add(shared, 1, out=shared, where=shared > 3)
        shared.T.flat[k] = step
        shared[k].sort()
        rng.shuffle(shared[:, k])
        legacy.shuffle(a)
        np.copyto(a, legacy.standard_normal(a.shape), where=a > 5)
        a **= 2
        a @= np.eye(30) / 2
        if step % 3 == k % 3:
            float(shared.sum() + np.fft.fft(a[0]).real.max())
            np.linalg.solve(np.eye(3) + 1, a[:3, :3]).get()
            if a.device == "cpu":
                numpy.from_dlpack(a)[0] = k
        if step % 5 == k % 5:
            np.unique(a.astype(int)), np.nonzero(a > 0), a[a > 1].get(), np.sort(a, axis=None)
            with np.errstate(divide="raise", invalid="print", call=print):
                a + 1
                a.clip(0, 5, out=a)
                np.nan_to_num(a, copy=False)
        if k == 0:
            np.free_all_blocks(), np.memory_info(), np.synchronize(), np.explain(a + 1)
        if k == 1 and not step:
            with np.profile(file=sys.stderr):
                (a * 2).get()
        if k == 2:
            try:
                np.array(numpy.empty(1 << 26))
            except MemoryError:
                pass
        a = np.array(a.get(), copy=True) % 1.5


np.set_memory_limit(1 << 28)
with ThreadPoolExecutor(8) as pool:
    for future in [pool.submit(program, k) for k in range(8)]:
        future.result(timeout=240)
for first, second in sorted(taken_while_held):
    print("locks", first, second)
"""


# The modules that make locks. A thread that holds a lock takes only locks of modules further down, or of the same.
ORDER = (
    "dask.cluster",  # while the process of a worker begins; nobody waits for it, but looks again later
    "random",  # of a stream, held for a whole draw
    "core.graph.queue",  # of a device, held to change arrays and to compute: of one device at a time, but for a fork
    "functions.ufuncs.errstate",
    "nvlib.cufft",
    "core.runtime.memory",
    "kernels.cuda.beside",
    "kernels.cuda.launch",
    "core.late_imports",
    "core.runtime.progress",  # of bars
)


def module_of(place: str) -> str:
    """The module that makes a lock, as the order names it; NumPy's own bit generators make one of each stream's."""
    module = place.partition(":")[0].removeprefix("gpunumpy.")
    return "random" if module.startswith("random.") else module


def test_the_locks_have_one_order() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=280, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    pairs = [line.split()[1:] for line in run.stdout.splitlines() if line.startswith("locks ")]
    assert len(pairs) > 2, run.stdout  # the program took locks inside others
    order: TopologicalSorter[str] = TopologicalSorter()
    for held, taken in pairs:
        assert held != taken, f"two locks of {held} were held together"
        assert ORDER.index(module_of(held)) <= ORDER.index(module_of(taken)), f"{taken} while {held} was held"
        order.add(taken, held)
    order.prepare()  # raises CycleError, with the locks, if they are taken in both orders


def test_every_module_with_a_lock_is_in_the_order() -> None:
    package = Path(np.__file__).parent
    makes_lock = re.compile(r"= ReentrantLock\(|threading\.R?Lock\(|import.*\bR?Lock\b")
    paths = [path for path in package.rglob("*.py") if makes_lock.search(path.read_text())]
    found = {module_of(".".join(path.relative_to(package).with_suffix("").parts)) for path in paths}
    assert found - {"core.locks"} == set(ORDER)
