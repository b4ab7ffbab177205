# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from . import hierarchy as hierarchy
from . import vq as vq

__all__ = ["hierarchy", "vq"]
