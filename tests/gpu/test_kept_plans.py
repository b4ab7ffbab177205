"""On a real GPU: a process that reads its plans from disk computes the same bits, and plans nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

PROGRAM = """
import hashlib, numpy, gpunumpy as np
from gpunumpy.core.runtime import planner

count, run_passes = 0, planner.run_passes


def counted(*args, **options):
    global count
    count += 1
    return run_passes(*args, **options)


planner.run_passes = counted
digest = hashlib.sha256()
a = np.asarray(numpy.linspace(0.1, 2, 60_000).reshape(200, 300))
u, v = a.copy(), a * 1
for step in range(60):
    u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] - 2 * u[1:-1, 1:-1] + u[:-2, 1:-1])
    v = np.tanh(v @ v.T @ v / 1e5) + u.mean(axis=0)
for x in (u, v, np.sort(a * v, axis=1), np.cumsum(u.std(axis=1)), a[np.argsort(v[:, 0])], (v > u).sum()):
    digest.update(np.asnumpy(x).tobytes())
print(digest.hexdigest(), count)
"""


@pytest.mark.parametrize("tier", ["compiled", "auto"])
def test_a_second_process_has_the_same_bits(tmp_path: Path, tier: str) -> None:
    # Plans that are verified are not kept.
    environment = {**os.environ, "GPUNUMPY_CACHE_DIR": str(tmp_path), "GPUNUMPY_CHECK": "0"}
    environment |= {"GPUNUMPY_TIER": tier, "GPUNUMPY_DEVICE": "cuda"}
    found = []
    for _ in range(2):
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    (first, planned), (second, again) = found
    assert first == second
    assert int(planned) > 0
    assert int(again) == 0
