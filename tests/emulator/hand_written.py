"""Programs of one launch out of hand-written CUDA text, to test the emulator itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .executor import run_program


@dataclass(frozen=True)
class OneLaunch:
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int


@dataclass(frozen=True)
class Zeroed:
    nbytes: int
    zeroed: bool = True


@dataclass(frozen=True)
class OneKernel:
    text: str
    launches: tuple[OneLaunch, ...]
    scratch: tuple[Zeroed, ...]
    flag: bool
    params: tuple[int, ...]


def run_text(
    text: str,
    *arguments: Any,
    grid: tuple[int, ...] = (1,),
    block: tuple[int, ...] = (32,),
    shared: int = 0,
    scratch: tuple[Zeroed, ...] = (),
    flag: bool = False,
    params: tuple[int, ...] = (),
    **options: Any,
) -> int:
    """Run the first kernel of `text`; the rest as for `run_program`."""
    found = re.search(r"__global__[^;{]*?\b(\w+)\s*\((?!\s*\d)", text)
    assert found, "there is no kernel in the text"
    three = [(*sizes, 1, 1)[:3] for sizes in (grid, block)]
    launch = OneLaunch(found[1], three[0], three[1], shared)
    return run_program(OneKernel(text, (launch,), scratch, flag, params), arguments, **options)
