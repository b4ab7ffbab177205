"""Pages and pictures as Chromium shows them, where it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import IO, Any, cast

import numpy
import pytest
from PIL import Image

_COMMAND = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(_COMMAND is None, reason="Chromium is not installed")
_LOADED = "location.href !== 'about:blank' && document.readyState === 'complete'"
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000")


def _browse(page: Path, folder: Path, *flags: str) -> str:
    assert _COMMAND is not None
    command = [_COMMAND, *_FLAGS, f"--user-data-dir={folder / 'browser'}", *flags, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def dom(page: Path, folder: Path) -> str:
    """Return the text of a page once its scripts have run."""
    return _browse(page, folder, "--dump-dom")


def screenshot(page: Path, folder: Path, size: tuple[int, int] = (1200, 800)) -> numpy.ndarray:
    """Return a picture of a page: rows of pixels, each of red, green and blue."""
    path = folder / "screenshot.png"
    _browse(page, folder, f"--window-size={size[0]},{size[1]}", f"--screenshot={path}")
    with Image.open(path) as picture:
        return numpy.asarray(picture.convert("RGB"))


def evaluate(url: str, folder: Path, script: str) -> Any:
    """Return what a script gives in a page, as JSON has it; a promise is waited for. Raises its error."""
    assert _COMMAND is not None
    command = [_COMMAND, *_FLAGS[:3], f"--user-data-dir={folder / 'browser'}", "--remote-debugging-pipe"]
    from_us, to_browser = os.pipe()
    from_browser, to_us = os.pipe()
    # The browser reads at 3 and writes at 4: a shell puts the pipes there.
    shell = ["sh", "-c", f'exec "$@" 3</proc/self/fd/{from_us} 4>/proc/self/fd/{to_us} >/dev/null 2>&1', "sh", *command]
    browser = subprocess.Popen(shell, pass_fds=(from_us, to_us))
    os.close(from_us)
    os.close(to_us)
    with open(to_browser, "wb", buffering=0) as written, open(from_browser, "rb") as read:
        tools = _DevTools(written, read)
        try:
            target = tools.call("Target.createTarget", url=url)["targetId"]
            tools.session = tools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            while tools.call("Runtime.evaluate", expression=_LOADED)["result"].get("value") is not True:
                time.sleep(0.05)
            found = tools.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        finally:
            browser.kill()
            browser.wait()
    if "exceptionDetails" in found:
        raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
    return found["result"].get("value")


class _DevTools:
    """Calls of the Chrome DevTools protocol: JSON, each ended by a zero byte."""

    def __init__(self, written: IO[bytes], read: IO[bytes]) -> None:
        self._written, self._read = written, read
        self._count, self._unread = 0, b""
        self.session = ""

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Call a method, and return its result."""
        self._count += 1
        message: dict[str, object] = {"id": self._count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self._written.write(json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._count:
            pass
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return cast("dict[str, Any]", answer["result"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            self._unread += os.read(self._read.fileno(), 1 << 16) or _ended()
        text, _, self._unread = self._unread.partition(b"\0")
        return cast("dict[str, Any]", json.loads(text))


def _ended() -> bytes:
    raise RuntimeError("the browser has ended")
