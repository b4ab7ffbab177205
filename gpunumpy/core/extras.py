"""The command that installs an extra of this package, for messages."""

from __future__ import annotations

import os

_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def install_command(extra: str) -> str:
    """Return the command that installs an extra; where this package is a checkout, the one for that checkout."""
    is_checkout = os.path.isfile(os.path.join(_FOLDER, "pyproject.toml"))
    return f"pip install -e '{_FOLDER}[{extra}]'" if is_checkout else f"pip install 'gpunumpy[{extra}]'"
