"""Python's garbage collector and the objects that imports make."""

from __future__ import annotations

import gc

from gpunumpy.core.collector import take_for_old


def test_objects_are_taken_for_old_without_a_look() -> None:
    found: list[str] = []

    class Ring:
        def __init__(self) -> None:
            self.ring = self

        def __del__(self) -> None:
            found.append("collected")

    kept = [[k] for k in range(100)]
    Ring()
    take_for_old()
    young = {id(x) for x in gc.get_objects(generation=0)}
    assert not young.intersection(map(id, kept))
    assert not found
    assert not gc.get_freeze_count()
    gc.collect()
    assert found == ["collected"], "what nothing refers to is collected later"


def test_what_a_program_has_frozen_stays_so() -> None:
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        take_for_old()
        assert gc.get_freeze_count() == count > 0
    finally:
        gc.unfreeze()
