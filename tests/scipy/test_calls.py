"""Functions of SciPy's on arrays of this package, beside the same calls on NumPy arrays."""

from __future__ import annotations

import pytest

import gpunumpy

from .beside import agree
from .cases import TABLES


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize(("module", "name"), [(module, name) for module, table in TABLES.items() for name in table])
def test_a_call(module: str, name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    agree(TABLES[module][name])
