"""Plans that have symbols from the first sizes on, as otherwise only those for further sizes have."""

from __future__ import annotations

from typing import Any

import pytest

from gpunumpy.core.schedule.variants import Variants


def with_symbols_at_once(patch: pytest.MonkeyPatch) -> None:
    """Have nothing made for the first numbers of a pattern alone."""
    for_numbers = Variants._for_numbers

    def with_symbols(self: Variants[Any], numbers: Any, places: Any, values: Any) -> Any:
        return self._with_symbols(places, values) if values else for_numbers(self, numbers, places, values)

    patch.setattr(Variants, "_for_numbers", with_symbols)
