# ruff: noqa: F401
"""`gpunumpy.ma`: the namespace of `numpy.ma`, with data and masks on the device.

`masked`, `nomask` and the exceptions are NumPy's own objects. Masked arrays of a dtype that no kernel computes are of
NumPy's class. Names without an implementation here run through NumPy on the host.
"""

from .namespace import find as __getattr__
from .namespace import names as __dir__
