"""What computes a function of SciPy's on a GPU, of this package or of `cupyx.scipy`, and with which arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import reduce, wraps
from typing import Any, NamedTuple

from .. import fft, linalg
from ..core.extras import install_command
from .cupy_library import cupy, cupyx

# Functions of this package's own that are SciPy's too, by the modules of both.
_OWN = {
    "fft": (
        fft,
        (
            *("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2"),
            *("fftn", "ifftn", "rfftn", "irfftn", "fftshift", "ifftshift"),
        ),
    ),
    "linalg": (linalg, ("det", "inv", "norm", "solve", "svdvals")),
}
_OF_ALL_AXES = frozenset(("fftn", "ifftn", "rfftn", "irfftn"))
# Parameters that choose no result: memory to use again, threads, checks that an array is finite.
_WITHOUT_EFFECT = frozenset(("check_finite", "overwrite_a", "overwrite_b", "overwrite_x", "workers"))
# Functions, and parameters, of `cupyx.scipy` that mean something else than SciPy's: the states of its filters are the
# last inputs and outputs.
_UNLIKE = {"signal": ("lfilter_zi", "lfiltic", "sosfilt_zi")}
_UNLIKE_PARAMETERS = {"signal": ("zi",)}
_Parameter = inspect.Parameter
_POSITIONAL = (_Parameter.POSITIONAL_ONLY, _Parameter.POSITIONAL_OR_KEYWORD)


class Counterpart(NamedTuple):
    """A function of `cupyx.scipy`, or a class.

    Attributes
    ----------
    function : callable
        The function.
    same_positions : int
        How many arguments may be passed by position, since the first parameters of both functions are the same; the
        very first one is, whatever its name.
    further_positions : tuple of str
        SciPy's parameters after these that may be passed by position.
    defaults : dict of str to object, or None
        The defaults of SciPy's parameters; None if one of the functions does not tell its parameters.
    known : frozenset of str, or None
        The parameters of the function; None if it takes any.
    without_effect : frozenset of str
        Parameters of SciPy's function that may be left out, whatever they are.
    """

    function: Callable[..., Any]
    same_positions: int = 0
    further_positions: tuple[str, ...] = ()
    defaults: dict[str, Any] | None = None
    known: frozenset[str] | None = None
    without_effect: frozenset[str] = frozenset()

    def arguments(
        self, args: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Return arguments for SciPy's function as arguments for this one; None if it has not the parameters."""
        count = len(args)
        if self.defaults is None or (not options and count <= self.same_positions):
            return args, options
        if count > self.same_positions:
            further = args[self.same_positions :]
            if len(further) > len(self.further_positions):
                return None
            options = {**dict(zip(self.further_positions, further)), **options}
            args = args[: self.same_positions]
        if self.known is None or options.keys() <= self.known:
            return args, options
        missing = options.keys() - self.known - self.without_effect
        if any(self.defaults.get(name, self) is not options[name] for name in missing):
            return None
        return args, {name: x for name, x in options.items() if name in self.known}


def own_of(function: Any, path: str, name: str) -> Counterpart | None:
    """Return the function of this package's that computes one of SciPy's; None if there is none."""
    module, names = _OWN.get(path, (None, ()))
    if name not in names:
        return None
    own = getattr(module, name)
    counterpart = _counterpart(_with_last_axes(own) if name in _OF_ALL_AXES else own, function)
    return counterpart._replace(without_effect=_WITHOUT_EFFECT)


def _with_last_axes(transform: Callable[..., Any]) -> Callable[..., Any]:
    """Return a transform of all axes, or of as many at the end as sizes are given, which NumPy wants to be named."""

    @wraps(transform)
    def run(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))
        return transform(x, s, axes, norm)

    return run


def counterpart_of(function: Any, path: str, name: str) -> Counterpart | None:
    """Return what `cupyx.scipy` has for a function or a class of SciPy's; None if it has nothing."""
    if name in _UNLIKE.get(path, ()):
        return None
    try:
        found: Any = reduce(getattr, name.split("."), cupyx(path))
    except AttributeError:
        return None
    return _counterpart(found, function, _UNLIKE_PARAMETERS.get(path, ()))


def _counterpart(found: Any, function: Any, unlike: tuple[str, ...] = ()) -> Counterpart:
    """Return a function as the counterpart of one of SciPy's; some of its parameters mean something else."""
    try:
        own, other = (list(inspect.signature(x).parameters.values()) for x in (found, function))
    except (TypeError, ValueError):  # ufuncs do not tell
        return Counterpart(found)
    own = [parameter for parameter in own if parameter.name not in unlike]
    if any(parameter.kind is _Parameter.VAR_POSITIONAL for parameter in (*own, *other)):
        return Counterpart(found)
    positions = [parameter.name for parameter in other if parameter.kind in _POSITIONAL]
    own_positions = [parameter.name for parameter in own if parameter.kind in _POSITIONAL]
    pairs = enumerate(zip(positions, own_positions))
    same = next((k for k, (a, b) in pairs if k and a != b), min(len(positions), len(own_positions)))
    takes_any = any(parameter.kind is _Parameter.VAR_KEYWORD for parameter in own)
    return Counterpart(
        found,
        same,
        tuple(positions[same:]),
        {parameter.name: parameter.default for parameter in other},
        None if takes_any else frozenset(parameter.name for parameter in own),
    )


def why_none() -> str:
    """Return the reason why there is no counterpart, for a message."""
    if cupy() is None:
        return f"it runs on the device with CuPy ({install_command('cu13-cupy')})"
    return "cupyx.scipy does not have it"
