"""SciPy for arrays of this package: `cupyx.scipy` computes on a GPU, SciPy everywhere else.

Submodules, functions and classes have SciPy's names and signatures, and are made when they are first asked for.
"""

from types import ModuleType as _ModuleType

from . import modules as _modules


def __getattr__(name: str) -> _ModuleType:
    """Return a submodule."""
    module = _modules.submodule(name)
    globals()[name] = module
    return module


def __dir__() -> list[str]:
    """Return the names of the submodules."""
    return list(_modules.NAMES)
