"""The bit generator of a faster stream, which is no other library's."""

from __future__ import annotations

import numpy

from ..core.numpy_release import signature
from .seeding import Numpys


class PhiloxGPU(numpy.random.Philox, metaclass=Numpys):  # type: ignore[metaclass]
    """PhiloxGPU(seed=None, counter=None, key=None)

    A bit generator whose `Generator` draws faster on a GPU, and numbers of its own instead of NumPy's.

    It is NumPy's `Philox`, with its parameters, state and methods (`spawn`, `jumped`, `advance`). Of a `Generator`
    over it, `random`, `integers`, `standard_normal`, `standard_exponential`, and what is scaled from these (`uniform`,
    `normal`, `lognormal`, ...), make arrays in another way: a draw takes two words of 64 bits, and
    makes its numbers from them by Philox4x32-10, each as a function of its position; normal ones by the method of Box
    and Muller. All others, and those without a size, are what `Philox` gives.

    Parameters
    ----------
    seed, counter, key
        As of `numpy.random.Philox`.

    Notes
    -----
    The same seed and calls give the same numbers on every device, but for the last bits of logarithms and their like.
    One draw of 20 numbers is not two of 10: every draw is a stream of its own.

    Examples
    --------
    >>> import gpunumpy as np
    >>> rng = np.random.Generator(np.random.PhiloxGPU(7))
    >>> rng.random(4).shape
    (4,)
    """

    __module__ = "gpunumpy.random"
    __signature__ = signature(numpy.random.Philox)
