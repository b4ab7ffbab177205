"""``python -m gpunumpy.distributed -n 2 script.py``: run a script in several processes, one for each GPU."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType

from ..core.runtime.device import devices

_USAGE = """python -m gpunumpy.distributed [-n N] script.py [arguments of the script]
       python -m gpunumpy.distributed [-n N] -m module [arguments of the module]"""
_DESCRIPTION = """Run a script in several processes of this machine, which gpunumpy.distributed.init() connects. The
exit status is that of the first process that fails, and the others are then ended."""
_PASSED = (signal.SIGINT, signal.SIGTERM)
_LOOK_SECONDS = 0.02
_PATIENCE = 5.0  # seconds that processes have to end when they are told


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a script in several processes.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line's words; by default those of the process.

    Returns
    -------
    int
        The exit status: 0 if that of all processes is.
    """
    parser = argparse.ArgumentParser(prog="python -m gpunumpy.distributed", usage=_USAGE, description=_DESCRIPTION)
    parser.add_argument("-n", type=int, metavar="N", help="the number of processes; by default that of the GPUs, or 1")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="the script, and its arguments")
    chosen = parser.parse_args(arguments)
    count = max(1, len(devices()) - 1) if chosen.n is None else chosen.n
    if not chosen.words:
        parser.error("a script or a module is needed")
    if count < 1:
        parser.error(f"-n {count}: at least one process is needed")
    return run([sys.executable, *(["-m"] if chosen.module else []), *chosen.words], count)


def run(command: Sequence[str], count: int) -> int:
    """Run a command in several processes, with the variables that torchrun sets, and return the exit status."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    shared = {
        "WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "GPUNUMPY_DISTRIBUTED_KEY": secrets.token_hex(16),
    }
    processes: list[subprocess.Popen[bytes]] = []
    signals: list[int] = []
    told = [0] * count  # how many of the signals each process was sent

    def pass_on(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        tell()

    def tell() -> None:
        for rank, process in enumerate(processes):
            while told[rank] < len(signals):
                # Python hears no signal while it waits for a GPU, which may wait for another for ever.
                number = signal.SIGKILL if told[rank] else signals[0]
                told[rank] += 1
                process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in _PASSED}
    try:
        for rank in range(count):
            own = {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            # In a session of its own, a process gets the terminal's Ctrl-C once: from here.
            processes.append(subprocess.Popen(command, env={**os.environ, **shared, **own}, start_new_session=True))
            tell()  # a signal that came while the process was being started
        return _status(processes)
    finally:
        _end(processes)
        for number, handler in before.items():
            signal.signal(number, handler)


def _status(processes: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait until all processes have ended, or one has failed, and return the exit status."""
    while True:
        codes = [process.poll() for process in processes]
        failed = next((code for code in codes if code), 0)
        if failed or None not in codes:
            return failed if failed >= 0 else 128 - failed
        time.sleep(_LOOK_SECONDS)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the processes that are left: they are told, and then killed."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    end = time.monotonic() + _PATIENCE
    for process in processes:
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
