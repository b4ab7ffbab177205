"""NumPy's tests that fail here, each group with its reason."""

from __future__ import annotations

XFAILS: dict[str, tuple[str, ...]] = {
    "an array that an array of objects holds comes out as a gpunumpy array": (
        "test_generator_mt19937.py::TestRandomDist::test_choice_return_shape",
        "test_random.py::TestRandomDist::test_choice_return_shape",
        "test_randomstate.py::TestRandomDist::test_choice_return_shape",
    ),
    "loads a pickle of an older NumPy through gpunumpy's constructors": (
        "test_generator_mt19937.py::test_generator_ctor_old_style_pickle",
        "test_randomstate.py::test_randomstate_ctor_old_style_pickle",
    ),
    "a pickle of NumPy's Generator holds NumPy's": (
        "test_generator_mt19937.py::test_legacy_pickle[121]",
        "test_generator_mt19937.py::test_legacy_pickle[126]",
    ),
    "the warning tells where gpunumpy's function calls that of NumPy": (
        "test_random.py::TestRandomDist::test_shuffle_untyped_warning[gpunumpy.random]",
        "test_random.py::TestRandomDist::test_shuffle_untyped_warning[random1]",
        "test_random.py::TestRandomDist::test_shuffle_untyped_warning[random2]",
    ),
}
