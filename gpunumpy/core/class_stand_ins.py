"""Classes that stand for those of other libraries, and what a subclass of one is."""

from __future__ import annotations

import types
from typing import Any, ClassVar


class StandInMeta(type):
    """Metaclass of classes each of which stands for a class of another library, and has it as an attribute.

    A subclass of one in a program is a subclass of that library's class.

    Attributes
    ----------
    ORIGINAL : str
        The name of that attribute.
    """

    ORIGINAL: ClassVar[str]

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        """Return a class that stands for another one if it has that as an attribute, or a subclass of the other one."""
        if mcls.ORIGINAL in namespace:
            return super().__new__(mcls, name, bases, namespace)
        originals = tuple(getattr(base, mcls.ORIGINAL) if isinstance(base, mcls) else base for base in bases)
        return types.new_class(name, originals, exec_body=lambda body: body.update(namespace))
