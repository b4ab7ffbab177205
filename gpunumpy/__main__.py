"""The command line: ``python -m gpunumpy script.py`` runs a script; `info`, `demo` and `bench` are commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from ._version import __version__
from .core.errors import DeviceError
from .core.extras import install_command
from .core.late_imports import import_late
from .scripts.run import run_command, run_module, run_script
from .scripts.selection import Selection

_USAGE = """python -m gpunumpy [options] script.py [arguments of the script]
       python -m gpunumpy [options] -m module [arguments of the module]
       python -m gpunumpy [options] -c command [arguments of the command]
       python -m gpunumpy info
       python -m gpunumpy demo [name] [--help]
       python -m gpunumpy bench [page.html]"""
_DESCRIPTION = """Run a script on an NVIDIA GPU, unchanged: in your own files, which no installed package is, "import
numpy" imports gpunumpy, and "import scipy" gpunumpy.scipy. "info" tells what is here and what to install; "demo" runs
an example beside NumPy; "bench" times this machine beside NumPy. A script of such a name is run as "./info"."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a script or one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line's words; by default those of the process.

    Returns
    -------
    int
        The exit status.
    """
    # A formatter that asks the terminal for its width imports `shutil`, and with it modules of compression.
    formatter: Any = partial(argparse.HelpFormatter, width=78)
    parser = argparse.ArgumentParser(
        prog="python -m gpunumpy", usage=_USAGE, description=_DESCRIPTION, formatter_class=formatter
    )
    parser.add_argument("--version", action="version", version=__version__)
    module_help = "replace NumPy in this module and what is in it, installed or not, and in no other (may be repeated)"
    module: Any = {"action": "append", "type": _module, "default": [], "metavar": "MODULE"}
    parser.add_argument("--only", help=module_help, **module)
    module_help = "leave NumPy in this module and what is in it (may be repeated)"
    parser.add_argument("--exclude", help=module_help, **module)
    report_help = "at the end, print what ran on the device, what on the host and why, and the time of each line"
    parser.add_argument("--report", action="store_true", help=report_help)
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="run a module")
    parser.add_argument("-c", dest="text", nargs=argparse.REMAINDER, help="run the text of a program")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="a script, - for the standard input, or a command")
    chosen = parser.parse_args(arguments)
    run, words = next(
        (run, words)
        for run, words in ((run_module, chosen.module), (run_command, chosen.text), (run_script, chosen.words))
        if words is not None
    )
    if not words:
        parser.error(f"the following arguments are required: a script, a module, or a command ({', '.join(_COMMANDS)})")
    if run is run_script and words[0] in _COMMANDS:
        if chosen.only or chosen.exclude or chosen.report:
            parser.error(f"{words[0]} takes none of the options of scripts")
        return _COMMANDS[words[0]](words[1:])
    with import_late(".scripts.report", __package__).Report() if chosen.report else nullcontext():
        run(words[0], words[1:], Selection(tuple(chosen.only), tuple(chosen.exclude)))
    return 0


def _module(name: str) -> str:
    if name.endswith(".py") or not all(part.isidentifier() for part in name.split(".")):
        raise argparse.ArgumentTypeError(f"{name!r} is not the name of a module, such as package.module")
    return name


def _info(words: Sequence[str]) -> int:
    _command("info", "Print the devices, the driver, the libraries, and what to install.").parse_args(words)
    print("\n".join(import_late(".information", __package__).info()))
    return 0


def _demo(words: Sequence[str]) -> int:
    demo: Any = import_late(".demo", __package__)
    parser = _command("demo", "Run an example beside NumPy and write a picture.")
    parser.add_argument(
        "name", nargs="?", default="heat", choices=demo.names(), help="the example (default: %(default)s)"
    )
    parser.add_argument("--size", type=_positive_integer, help="how large (default: the example's own)")
    parser.add_argument("--steps", type=_positive_integer, help="how many steps (default: the example's own)")
    parser.add_argument("--device", help="where to run it: cuda, cuda:1, cpu (default: a GPU if one is usable)")
    parser.add_argument("--output", type=demo.Path, help="the picture's file (default: NAME.png)")
    chosen = parser.parse_args(words)
    try:
        demo.demo(chosen.name, chosen.size, chosen.steps, chosen.device, chosen.output)
    except ModuleNotFoundError as error:
        return _fail(
            f"the example {chosen.name} needs a package that is missing ({error}): {install_command('examples')}"
        )
    except (DeviceError, OSError, ValueError) as error:
        return _fail(str(error))
    return 0


def _bench(words: Sequence[str]) -> int:
    bench: Any = import_late(".bench", __package__)
    parser = _command("bench", "Time a few programs here beside NumPy, and CuPy, torch and JAX if installed: a minute.")
    parser.add_argument("page", nargs="?", type=bench.Path, help="a file of HTML to draw the times in")
    try:
        failures = bench.bench(parser.parse_args(words).page)
    except (DeviceError, OSError) as error:
        return _fail(str(error))
    return _fail("; ".join(failures)) if failures else 0


_COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"info": _info, "demo": _demo, "bench": _bench}


def _command(name: str, description: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"python -m gpunumpy {name}", description=description)


def _positive_integer(word: str) -> int:
    """Return a word of the command line as an integer. Raise argparse's error unless it is positive."""
    value = int(word)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{word} is not a positive number")
    return value


def _fail(message: str) -> int:
    """Print an error message, and return the exit status of failure."""
    print(f"gpunumpy: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
