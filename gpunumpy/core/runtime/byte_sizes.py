"""Numbers of bytes as people write them: 4096, "16GB", "1.5 GiB"."""

from __future__ import annotations

import re
from operator import index

_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", 1):
    _UNITS[f"{_letter}b"] = 1000**_power
    _UNITS[f"{_letter}ib"] = 1024**_power

_SHOWN_UNITS = ("B", "kB", "MB", "GB", "TB")
_TEXT = r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]*)\s*"  # compiled when it is needed


def parsed_bytes(given: int | str | None, what: str = "a memory limit") -> int | None:
    """Return the number of bytes that a number or a text stands for; None as it is.

    Parameters
    ----------
    what : str
        What the number is, for messages.

    Raises
    ------
    ValueError
        If the number is negative, or the text has no number or an unknown unit.
    TypeError
        If it is something else.
    """
    if given is None:
        return None
    if isinstance(given, str):
        match = re.fullmatch(_TEXT, given)
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            units = "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB"
            raise ValueError(f"{what} is a number and a unit ({units}), such as '16GB', not {given!r}")
        return int(match[1]) * unit if match[1].isdecimal() else round(float(match[1]) * unit)
    try:
        nbytes = index(given)
    except TypeError:
        raise TypeError(f"{what} is a number of bytes, a text such as '16GB' or None, not {given!r}") from None
    if nbytes < 0:
        raise ValueError(f"{what} is a number of bytes or None, not {nbytes}")
    return nbytes


def bytes_text(count: float) -> str:
    """Return a number of bytes as text with a unit."""
    unit = 0
    while count >= 999.5 and unit < len(_SHOWN_UNITS) - 1:
        count /= 1000
        unit += 1
    return f"{count:.3g} {_SHOWN_UNITS[unit]}"
