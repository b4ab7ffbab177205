"""`PhiloxGPU`: the bit generator of a stream made for GPUs, which no other library has."""

from __future__ import annotations

import numpy

from .seeding import NumpyInstances


class PhiloxGPU(numpy.random.Philox, metaclass=NumpyInstances):  # type: ignore[metaclass]
    """Bit generator whose `Generator` draws faster on a GPU, and draws other numbers than NumPy.

    `PhiloxGPU` is NumPy's `Philox`, with its parameters, state and methods (`spawn`, `jumped`, `advance`). Of a
    `Generator` over it, `random`, `integers`, `standard_normal`, `standard_exponential`, and methods that scale or
    transform these (`uniform`, `normal`, `lognormal`, ...) draw arrays another way: a draw takes two words of 64 bits
    from the bit generator as the key and the upper half of the counter of Philox4x32-10 (J. K. Salmon et al., 2011), so
    that each number is a function of its position; normal numbers by the method of G. E. P. Box and M. E. Muller
    (1958). All other methods, and draws without a size, give what `Philox` gives.

    Parameters
    ----------
    seed, counter, key
        See `numpy.random.Philox`.

    Notes
    -----
    The same seed and calls give the same numbers on every device, up to the last bits of logarithms and similar
    functions. Every draw is a stream of its own: one draw of 20 numbers differs from two draws of 10.

    Examples
    --------
    >>> import gpunumpy as np
    >>> rng = np.random.Generator(np.random.PhiloxGPU(7))
    >>> rng.random(4).shape
    (4,)
    """

    __module__ = "gpunumpy.random"
