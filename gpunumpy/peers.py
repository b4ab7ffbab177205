"""The libraries that `bench` times: namespaces under NumPy's names, how to make an array and to wait for one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy


class LeftOut(Exception):
    """A library is not here, or does not run on the device; the message says why."""


@dataclass(frozen=True)
class Library:
    """A library on one device.

    Attributes
    ----------
    np
        Its namespace, with NumPy's name for everything that a program of `bench` calls.
    array
        Makes its array of NumPy's.
    wait
        Returns once a value is computed.
    """

    name: str
    version: str
    np: Any
    array: Callable[[numpy.ndarray], Any]
    wait: Callable[[Any], Any]


NUMPY = Library("NumPy", numpy.__version__, numpy, numpy.asarray, lambda value: None)


class _Namespace:
    """A library's namespace with a few names replaced."""

    def __init__(self, module: Any, names: Mapping[str, Any]) -> None:
        self._module = module
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _random(default_rng: Callable[[int], Any]) -> dict[str, Any]:
    return {"random": SimpleNamespace(default_rng=default_rng)}


def _gpunumpy(kind: str) -> Library:
    np: Any = import_module(".", __package__)
    return Library("gpunumpy", np.__version__, np, np.asarray, lambda value: np.synchronize())


def _cupy(kind: str) -> Library:
    if kind == "cpu":
        raise LeftOut("it has no CPU device")
    cupy: Any = import_module("cupy")
    if not cupy.cuda.is_available():
        raise LeftOut("it finds no GPU")
    # Its generators take long to seed, which a program does once.
    np = _Namespace(cupy, _random(cache(cupy.random.default_rng)))
    wait = cupy.cuda.Device().synchronize
    return Library("CuPy", cupy.__version__, np, cupy.asarray, lambda value: wait())


def _torch(kind: str) -> Library:
    torch: Any = import_module("torch")
    if kind == "cuda" and not torch.cuda.is_available():
        raise LeftOut("it finds no GPU")

    def standard_normal(shape: tuple[int, ...]) -> Any:
        return torch.randn(shape, dtype=torch.float64, device=kind)

    names = {
        **_random(lambda seed: SimpleNamespace(standard_normal=standard_normal)),
        "sort": lambda x: torch.sort(x).values,
    }

    def wait(value: Any) -> None:
        if kind == "cuda":
            torch.cuda.synchronize()

    def array(x: numpy.ndarray) -> Any:
        return torch.asarray(x, device=kind)

    return Library("torch", torch.__version__, _Namespace(torch, names), array, wait)


def _jax(kind: str) -> Library:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the other libraries need memory too
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)  # float64 is float32 without it
    try:
        jax.config.update("jax_default_device", jax.devices(kind)[0])
    except RuntimeError:
        raise LeftOut("it finds no GPU") from None

    def default_rng(seed: int) -> Any:
        key = jax.random.key(seed)
        return SimpleNamespace(standard_normal=lambda shape: jax.random.normal(key, shape, "float64"))

    np = _Namespace(jax.numpy, _random(default_rng))
    return Library("JAX", jax.__version__, np, jax.numpy.asarray, jax.block_until_ready)


# By the name of the module; a function takes the kind of device to run on.
_LIBRARIES = {"gpunumpy": _gpunumpy, "cupy": _cupy, "torch": _torch, "jax": _jax}


def libraries(kind: str) -> tuple[list[Library], list[str]]:
    """Return the libraries beside NumPy that run on a kind of device, and a sentence for each one that is left out.

    Parameters
    ----------
    kind : {"cuda", "cpu"}
        The kind of device.
    """
    found, left_out = [], []
    for module, library in _LIBRARIES.items():
        try:
            found.append(library(kind))
        except LeftOut as error:
            left_out.append(f"{module} is left out: {error}")
        except ImportError as error:
            reason = "it is not installed" if error.name == module else str(error)
            left_out.append(f"{module} is left out: {reason}")
    return found, left_out
