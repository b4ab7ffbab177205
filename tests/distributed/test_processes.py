"""How processes are started, find each other and end."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

import pytest

import gpunumpy.distributed as dist
from gpunumpy.distributed import __main__ as launcher
from gpunumpy.distributed import meeting
from gpunumpy.distributed.__main__ import main
from gpunumpy.distributed.environment import place_of_process

from .conftest import environment, launched

Script = Callable[[str], str]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, (0, 1, 0, "127.0.0.1", 29500)),
        (
            {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "MASTER_ADDR": "a", "MASTER_PORT": "5"},
            (3, 4, 1, "a", 5),
        ),
        (
            {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1"},
            (1, 2, 1, "127.0.0.1", 29500),
        ),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, (1, 2, 1, "127.0.0.1", 29500)),
        (
            {
                "SLURM_PROCID": "5",
                "SLURM_STEP_NUM_TASKS": "8",
                "SLURM_LOCALID": "1",
                "SLURM_STEP_NODELIST": "gpu[03-04]",
            },
            (5, 8, 1, "gpu03", 29500),
        ),
        # What a script has that `sbatch` runs alone.
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, (0, 1, 0, "127.0.0.1", 29500)),
        ({"RANK": "0", "WORLD_SIZE": "1", "SLURM_STEP_NODELIST": "login,gpu7"}, (0, 1, 0, "login", 29500)),
    ],
)
def test_places(variables: Mapping[str, str], expected: tuple[int, int, int, str, int]) -> None:
    place = place_of_process(variables=variables)
    assert (place.rank, place.size, place.local_rank, place.address, place.port) == expected


def test_given_places() -> None:
    place = place_of_process(1, 2, "node:77", variables={"RANK": "5", "WORLD_SIZE": "9"})
    assert (place.rank, place.size, place.local_rank, place.address, place.port) == (1, 2, 1, "node", 77)
    with pytest.raises(ValueError, match="given together"):
        place_of_process(1, variables={})
    with pytest.raises(ValueError, match="ranks are 0 to"):
        place_of_process(2, 2, variables={})


def test_programs_know_their_own() -> None:
    """Two programs that wait at one port take each other's processes for strangers."""
    keys = {place_of_process(variables={"SLURM_JOB_ID": job}).key for job in "12"}
    assert len(keys) == 2


def test_launcher(script: Script) -> None:
    path = script("import sys\ndist.init()\nprint(f'{dist.rank()} of {dist.size()} {sys.argv[1:]}\\n', end='')")
    done = launched(path, "-x", "y", count=3)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{rank} of 3 ['-x', 'y']" for rank in range(3)]


def test_launcher_runs_modules() -> None:
    done = launched("-m", "platform", count=2)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2


def test_exit_status(script: Script) -> None:
    """That of the process that fails; the other, which would wait for ever, is ended."""
    path = script("import sys, time\nsys.exit(7) if __import__('os').environ['RANK'] == '1' else time.sleep(300)")
    assert launched(path).returncode == 7
    path = script("import os, time\nos.kill(os.getpid(), 9) if os.environ['RANK'] == '0' else time.sleep(300)")
    assert launched(path).returncode == 128 + 9


def test_launcher_needs_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["-n", "0", "x.py"]):
        with pytest.raises(SystemExit):
            main(words)
    assert "needed" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_passed_on(script: Script, number: signal.Signals) -> None:
    path = script(
        "import os, signal, sys, time\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(3))\n"
        "os.write(1, b'ready\\n')\ntime.sleep(300)"
    )
    command = [sys.executable, "-m", "gpunumpy.distributed", "-n", "2", path]
    with subprocess.Popen(command, env=environment(GPUNUMPY_DEVICE="cpu"), stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert [run.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
        run.send_signal(number)
        assert run.wait(60) == 3


def test_a_second_signal_kills(script: Script) -> None:
    """For processes that do not hear the first, as those that wait for a GPU."""
    path = script(
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, lambda *_: os.write(1, b'heard\\n'))\n"
        "os.write(1, b'ready\\n')\nwhile True:\n    time.sleep(300)"
    )
    command = [sys.executable, "-m", "gpunumpy.distributed", "-n", "2", path]
    with subprocess.Popen(command, env=environment(GPUNUMPY_DEVICE="cpu"), stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        for word in ("ready\n", "heard\n"):
            assert [run.stdout.readline() for _ in range(2)] == [word] * 2
            run.send_signal(signal.SIGINT)
        assert run.wait(60) == 128 + 9


def test_a_process_that_ends(script: Script) -> None:
    path = script(
        "import sys\ndist.init()\nif dist.rank():\n    sys.exit(0)\n"
        "try:\n    dist.all_reduce(np.arange(3))\nexcept ConnectionError as error:\n    print(error)"
    )
    done = launched(path)
    assert (done.returncode, done.stdout) == (0, "process 1 has ended\n"), done.stderr


def test_processes_that_do_not_fit(script: Script) -> None:
    """Both are told, and go on: what did not fit is not left for the next operation."""
    path = script(
        "dist.init()\n"
        "for one, other in (\n"
        "    (lambda: dist.all_reduce(np.zeros(3)), lambda: dist.all_reduce(np.zeros(4))),\n"
        "    (lambda: dist.all_reduce(np.zeros(3)), lambda: dist.all_reduce(np.zeros(3, 'float32'))),\n"
        "    (lambda: dist.all_reduce(np.zeros(3)), lambda: dist.all_reduce(np.zeros(3), 'max')),\n"
        "    (lambda: dist.all_reduce(np.zeros(3)), lambda: dist.all_gather(np.zeros(3))),\n"
        "    (lambda: dist.sendrecv(np.zeros(3), 1, 1), lambda: dist.sendrecv(np.zeros((3, 1)), 0, 0)),\n"
        "):\n"
        "    try:\n        one() if dist.rank() == 0 else other()\n"
        "    except ValueError as error:\n        print(f'{\"process\" in str(error)}\\n', end='')\n"
        "print(f'{int(dist.all_reduce(np.asarray(2)))}\\n', end='')"
    )
    done = launched(path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["4"] * 2 + ["True"] * 10


def test_processes_of_other_backends(script: Script) -> None:
    path = script(
        "import os\ntry:\n    dist.init(backend='host' if os.environ['RANK'] == '0' else 'nccl')\n"
        "except ValueError as error:\n    print(f'{\"different\" in str(error)}\\n', end='')"
    )
    done = launched(path)
    assert (done.returncode, done.stdout) == (0, "True\n" * 2), done.stderr


def test_others_who_do_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "WAIT_SECONDS", 0.05)
    for rank in range(2):
        with pytest.raises(TimeoutError):
            dist.init(rank=rank, size=2, address="127.0.0.1:0", device="cpu")
    assert not dist.is_initialized()
    with pytest.raises(ValueError, match="backend"):
        dist.init(backend="pigeons", device="cpu")


def test_a_connection_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Linux makes of a port of this machine where nobody waits, if it takes the same one for this side."""

    def join_the_ends(address: tuple[str, int], seconds: float) -> socket.socket:
        ends = socket.socket()
        ends.bind((address[0], 0))
        ends.connect(ends.getsockname())
        return ends

    monkeypatch.setattr(meeting, "WAIT_SECONDS", 0.05)
    asked: list[object] = []
    monkeypatch.setattr(meeting, "answer_challenge", lambda connection, key: asked.append(connection))
    monkeypatch.setattr(socket, "create_connection", join_the_ends)
    with pytest.raises(TimeoutError, match="found nobody"):
        dist.init(rank=1, size=2, address="127.0.0.1:1", device="cpu")
    assert not asked


def test_a_signal_while_a_process_is_being_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is passed on to that process too, once."""
    sent: list[tuple[int, int]] = []

    class Process:
        def __init__(self, command: Sequence[str], env: Mapping[str, str], **_: bool) -> None:
            self.rank = int(env["RANK"])
            if self.rank == 1:
                signal.raise_signal(signal.SIGTERM)

        def send_signal(self, number: int) -> None:
            sent.append((self.rank, number))

        def poll(self) -> int:
            return 3

        def wait(self, seconds: float) -> int:
            return 3

    monkeypatch.setattr(subprocess, "Popen", Process)
    assert launcher.run(["a"], 3) == 3
    assert sent == [(rank, signal.SIGTERM) for rank in range(3)]


def test_a_process_that_ends_as_the_program_begins(script: Script) -> None:
    path = script(
        "from gpunumpy.distributed import transports\nimport os, sys\n"
        "def fail(meeting, device):\n    sys.exit(0)\n"
        "if os.environ['RANK'] == '0':\n    transports.TRANSPORTS['host'] = fail\n"
        "try:\n    dist.init()\nexcept ConnectionError as error:\n    print(error)"
    )
    done = launched(path)
    assert (done.returncode, done.stdout) == (0, "process 0 has ended as the program began\n"), done.stderr


def test_strangers_are_sent_away(script: Script) -> None:
    """Process 0 goes on waiting after somebody else has come to its port; a port that is taken is passed over."""
    path = script(
        "import itertools, os, socket, time\n"
        "first = int(os.environ['MASTER_PORT'])\n"
        "if os.environ['RANK'] == '0':\n"
        "    taken = socket.create_server(('127.0.0.1', first))\n"
        "else:\n"
        "    # Its port is the first that no other program of this machine has, or has had a minute ago.\n"
        "    for port in itertools.cycle(range(first + 1, first + 16)):\n"
        "        try:\n"
        "            with socket.create_connection(('127.0.0.1', port)) as stranger:\n"
        "                stranger.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')\n"
        "            break\n"
        "        except OSError:\n"
        "            time.sleep(0.001)\n"
        "dist.init()\n"
        "print(f'{int(dist.all_reduce(np.asarray(2)))}\\n', end='')"
    )
    done = launched(path)
    assert (done.returncode, done.stdout) == (0, "4\n4\n"), done.stderr
