"""The examples of several processes check their own results."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import ROOT, launched, require_two_gpus

EXAMPLES = sorted((ROOT / "examples" / "distributed").glob("*.py"))


@pytest.mark.parametrize("count", [1, 2, pytest.param(4, marks=pytest.mark.full)])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, count: int) -> None:
    done = launched(str(path), "16", count=count)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{count} processes, 16")


@pytest.mark.gpu
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_on_gpus(path: Path) -> None:
    require_two_gpus()
    done = launched(str(path), "256", GPUNUMPY_DEVICE="cuda")
    assert done.returncode == 0, done.stderr


def test_examples_are_short() -> None:
    assert len(EXAMPLES) == 2
    assert all(len(path.read_text().splitlines()) < 80 for path in EXAMPLES)
