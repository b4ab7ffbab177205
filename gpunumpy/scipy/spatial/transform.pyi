# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

class RigidTransform(Any):
    def __init__(self, matrix: Any, normalize: Any = True, copy: Any = True) -> None: ...

class Rotation(Any):
    def __init__(self, quat: Any, normalize: Any = True, copy: Any = True, scalar_first: Any = False) -> None: ...

class RotationSpline(Any):
    def __init__(self, times: Any, rotations: Any) -> None: ...

class Slerp(Any):
    def __init__(self, times: Any, rotations: Any) -> None: ...

__all__ = ["RigidTransform", "Rotation", "RotationSpline", "Slerp"]
