"""What to write for names that old releases of NumPy had, and for CuPy's that are not here."""

from __future__ import annotations

# By the module of NumPy, or CuPy's of the same name.
SUCCESSORS = {
    "numpy": {
        "GeneralizedUFunc": "vectorize with a signature",
        "allow_synchronize": "explain or profile, which tell where values are asked for",
        "asscalar": "x.item()",
        "bool8": "bool_",
        "cumproduct": "cumprod",
        "cupyx": "what gpunumpy itself has of cupyx, as scatter_add, and gpunumpy.scipy for cupyx.scipy",
        "fromDlpack": "from_dlpack",
        "get_runtime_info": "show_config",
        "in1d": "isin",
        "make_aligned_dtype": "dtype(..., align=True)",
        "msort": "sort(x, axis=0)",
        "product": "prod",
        "rsqrt": "1 / sqrt(x), which is one kernel",
        "row_stack": "vstack",
        "trapz": "trapezoid",
        "typeDict": "sctypeDict",
    },
    "numpy.random": {
        **dict.fromkeys(("MRG32k3a", "Philox4x3210", "XORWOW"), "Philox, or another of NumPy's bit generators"),
        "get_random_state": "default_rng, or get_state",
        "reset_states": "seed",
        "set_random_state": "default_rng, or set_state",
    },
}
