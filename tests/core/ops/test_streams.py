"""Steps of congruential generators that are made at once."""

from __future__ import annotations

import pytest

from gpunumpy.core.ops.streams import CONGRUENTIAL, jump, multiples


@pytest.mark.parametrize("name", CONGRUENTIAL)
@pytest.mark.parametrize("steps", [1, 512 << 24])
def test_multiples_are_jumps(name: str, steps: int) -> None:
    multiplier = CONGRUENTIAL[name][0]
    assert multiples(multiplier, steps, 70) == [jump(multiplier, k * steps) for k in range(70)]
