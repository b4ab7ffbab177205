"""What to write for names that old releases of NumPy had, and for CuPy's that are not here."""

from __future__ import annotations

# By the module of NumPy, or CuPy's of the same name.
SUCCESSORS = {
    "numpy": {
        "bool8": "bool_",
        "cumproduct": "cumprod",
        "fromDlpack": "from_dlpack",
        "in1d": "isin",
        "msort": "sort(x, axis=0)",
        "product": "prod",
        "rsqrt": "1 / sqrt(x), which is one kernel",
        "row_stack": "vstack",
        "trapz": "trapezoid",
    },
    "numpy.random": {
        **dict.fromkeys(("MRG32k3a", "Philox4x3210", "XORWOW"), "Philox, or another of NumPy's bit generators"),
        "get_random_state": "default_rng, or get_state",
        "set_random_state": "default_rng, or set_state",
    },
}
