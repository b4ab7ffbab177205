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
    assert gc.get_freeze_count() < 2000, "Python 3.12 freezes some of its own"
    gc.collect()
    assert found == ["collected"], "what nothing refers to is collected later"


def test_no_look_at_all_objects_is_near() -> None:
    """The collector counts what it did since it looked at all objects last."""
    gc.collect(1)
    assert gc.get_count()[2]
    take_for_old()
    assert gc.get_count()[1:] == (0, 0)


def test_what_a_program_has_frozen_stays_so() -> None:
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        take_for_old()
        assert gc.get_freeze_count() == count > 0
    finally:
        gc.unfreeze()
