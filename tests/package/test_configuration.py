"""What `show_config` and ``python -m gpunumpy info`` say of the core, of the device and of the versions."""

from __future__ import annotations

import platform
import subprocess
import sys

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.information import info


def line_of_core(core: str) -> str:
    code = "from gpunumpy.configuration import show_config; print(show_config(mode='dicts')['gpunumpy']['core'])"
    if core == "not built":
        code = "import sys; sys.modules['gpunumpy.core._native._core'] = None; " + code
    environment = {"GPUNUMPY_CORE": "" if core == "not built" else core}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_show_config_prints_without_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert np.show_config() is None
    text = capsys.readouterr().out
    facts = np.show_config(mode="dicts")
    assert facts is not None
    for part, named in facts.items():
        assert f"{part}:" in text
        assert all(f"{name}:" in text and str(fact) in text for name, fact in named.items())


def test_show_config_says_what_runs() -> None:
    facts = np.show_config("dicts")
    assert facts is not None
    assert facts["NumPy"]["version"] == numpy.__version__
    assert facts["Python"]["version"] == platform.python_version()
    assert facts["device"]["name"] == str(np.default_device())
    assert facts["gpunumpy"]["version"] == np.__version__
    assert (facts["gpunumpy"]["core"] == "compiled") == _native.IS_COMPILED


def test_the_residence_of_small_arrays_is_told() -> None:
    before = np.set_residence("device")
    try:
        assert np.show_config("dicts")["gpunumpy"]["small arrays"] == "on the device"  # type: ignore[index]
        np.set_residence("auto")
        assert np.show_config("dicts")["gpunumpy"]["small arrays"] == "on the host"  # type: ignore[index]
    finally:
        np.set_residence(before)


@pytest.mark.parametrize("mode", ["yaml", "", None])
def test_another_mode_is_refused_as_numpy_refuses_it(mode: str) -> None:
    for library in (numpy, np):
        with pytest.raises(AttributeError, match="Invalid `mode`, use one of: stdout, dicts"):
            library.show_config(mode=mode)


def test_the_core_in_python_is_told_and_why() -> None:
    assert line_of_core("python") == "Python, as GPUNUMPY_CORE asks for"
    lost = line_of_core("not built")
    assert "slower" in lost
    assert "C++ compiler" in lost
    assert "Python's headers" in lost


def test_info_says_the_same_of_the_core() -> None:
    facts = np.show_config("dicts")
    assert facts is not None
    told = {line[:32].strip(): line[32:] for line in info()}
    assert told["core"] == facts["gpunumpy"]["core"]
    is_enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert told["GIL"] == facts["Python"]["GIL"]
    assert told["GIL"].startswith("enabled" if is_enabled else "disabled")
