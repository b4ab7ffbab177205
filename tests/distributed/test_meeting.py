"""Who comes to process 0, who does not, and who should not: no wait is without an end, and each error says of whom."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Barrier, Event
from typing import Any

import pytest

from gpunumpy.core.errors import DeviceError
from gpunumpy.distributed import meeting
from gpunumpy.distributed.environment import Place
from gpunumpy.distributed.meeting import Meeting

Comes = Callable[..., "Future[Meeting]"]


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    """Where process 0 waits: it can be reached before it looks."""
    server = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setattr(meeting, "_listen", lambda place, ports: server)
    return server.getsockname()[1]


@pytest.fixture
def comes(port: int) -> Iterator[Comes]:
    """Have a process come, in a thread."""
    with ThreadPoolExecutor(4) as pool:
        yield lambda rank, size: pool.submit(Meeting, Place(rank, size, rank, "127.0.0.1", port, b"key"))


def exchanged(*meetings: Meeting) -> list[Future[list[Any]]]:
    """What processes say to each other: each its number."""
    with ThreadPoolExecutor(len(meetings)) as pool:
        return [pool.submit(one.exchange, one.place.rank) for one in meetings]


def test_a_stranger_who_says_nothing_keeps_nobody_waiting(port: int, comes: Comes) -> None:
    with socket.create_connection(("127.0.0.1", port)):
        meetings = [one.result() for one in [comes(0, 2), comes(1, 2)]]
        assert [one.result() for one in exchanged(*meetings)] == [[0, 1]] * 2


def test_a_stranger_who_says_nothing_is_sent_away(port: int, comes: Comes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "_NAMING_SECONDS", 0.01)
    first = comes(0, 2)
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        while stranger.recv(1024):
            pass
    monkeypatch.undo()
    second = Meeting(Place(1, 2, 1, "127.0.0.1", port, b"key"))
    assert [one.result() for one in exchanged(first.result(), second)] == [[0, 1]] * 2


@pytest.mark.parametrize("word", [b"", b"\0\0", b"\0\0\0\3who"])
def test_a_port_of_another_program(word: bytes, port: int, comes: Comes, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says nothing, half a word, or something else: process 1 goes on to the next port."""
    monkeypatch.setattr(meeting, "_ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as other, ThreadPoolExecutor(1) as pool:
        kept = pool.submit(lambda: (taken := other.accept()[0]).sendall(word) or taken)
        monkeypatch.setattr(meeting, "_ports", lambda place: [other.getsockname()[1], port])
        meetings = [one.result() for one in [comes(0, 2), comes(1, 2)]]
        kept.result().close()
    assert [one.result() for one in exchanged(*meetings)] == [[0, 1]] * 2


def test_a_process_that_does_not_come(comes: Comes, monkeypatch: pytest.MonkeyPatch) -> None:
    """All who came are told which one it is."""

    class Impatient(SimpleQueue[Any]):
        """A queue at which the time is over after one has come."""

        came = False

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if self.came:
                raise Empty
            self.came = True
            return super().get()

    monkeypatch.setattr(meeting, "SimpleQueue", Impatient)
    for process in [comes(0, 4), comes(2, 4)]:
        with pytest.raises(TimeoutError, match="processes 1, 3 of 4 did not come"):
            process.result()


def test_two_processes_of_one_rank(comes: Comes) -> None:
    for process in [comes(0, 3), comes(1, 3), comes(1, 3)]:
        with pytest.raises(ConnectionError, match="two processes say that they are process 1"):
            process.result()


@pytest.mark.parametrize("rank", [1, 2])
def test_processes_of_other_sizes(comes: Comes, rank: int) -> None:
    for process in [comes(0, 2), comes(rank, 3)]:
        with pytest.raises(ValueError, match=f"process {rank} was started as one of 3, and process 0 as one of 2"):
            process.result()


def test_addresses_are_those_on_the_way_to_process_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what the name of the machine stands for, which may be an address that no other machine reaches."""
    server = socket.create_server(("", 0))
    monkeypatch.setattr(meeting, "_listen", lambda place, ports: server)
    places = [Place(rank, 2, rank, "127.0.0.2", server.getsockname()[1], b"key") for rank in range(2)]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(Meeting, places)
        assert [first._own_address(), second._own_address()] == ["127.0.0.2", "127.0.0.1"]
        pairs = [*pool.map(Meeting.connect_all, (first, second))]
        pairs[0][1].send_bytes(b"word")
        assert pairs[1][0].recv_bytes() == b"word"


def test_a_process_that_ends_after_it_has_come(comes: Comes) -> None:
    first, second, third = [one.result() for one in [comes(0, 3), comes(1, 3), comes(2, 3)]]
    second.close()
    for said in exchanged(first, third):
        with pytest.raises(ConnectionError, match="process 1 has ended"):
            said.result()


def test_process_0_ends(comes: Comes) -> None:
    first, second = [one.result() for one in [comes(0, 2), comes(1, 2)]]
    first.close()
    with pytest.raises(ConnectionError, match="process 0 has ended"):
        second.exchange(1)


def test_a_process_that_says_nothing(comes: Comes, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = [one.result() for one in [comes(0, 3), comes(1, 3), comes(2, 3)]]
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(third.exchange, 2)
        monkeypatch.setattr(meeting, "WAIT_SECONDS", 0.01)
        for say in (lambda: first.exchange(0), waits.result):
            with pytest.raises(TimeoutError, match=r"process [01] has said nothing"):
                say()
    second.close()


def begun_together(meetings: list[Meeting], begin: Callable[[int], Any]) -> list[Future[Any]]:
    """What the function of each process returns, or the error instead; the meeting is left then, as `init` does."""

    def begin_one(one: Meeting) -> Any:
        try:
            return one.together(lambda: begin(one.place.rank))
        finally:
            one.close()

    with ThreadPoolExecutor(len(meetings)) as pool:
        return [pool.submit(begin_one, one) for one in meetings]


def test_processes_that_begin_together(comes: Comes) -> None:
    meetings = [one.result() for one in [comes(rank, 3) for rank in range(3)]]
    all_are_here = Barrier(3)
    found = begun_together(meetings, lambda rank: (all_are_here.wait(60), rank)[1])
    assert [one.result() for one in found] == [0, 1, 2]


@pytest.mark.parametrize("failed", [0, 1, 2])
def test_a_process_fails_as_all_begin(comes: Comes, failed: int) -> None:
    """The others wait for it as NCCL does, without an end, and hear of it."""
    meetings = [one.result() for one in [comes(rank, 3) for rank in range(3)]]
    waits = Event()

    def begin(rank: int) -> None:
        if rank == failed:
            raise DeviceError("no GPU")
        waits.wait()

    found = begun_together(meetings, begin)
    waits.set()
    with pytest.raises(DeviceError, match="no GPU"):
        found[failed].result()
    for rank in {0, 1, 2} - {failed}:
        with pytest.raises(ConnectionError, match=f"process {failed} has"):
            found[rank].result()


def test_a_process_ends_as_all_begin(comes: Comes) -> None:
    meetings = [one.result() for one in [comes(rank, 3) for rank in range(3)]]
    waits = Event()
    meetings.pop().close()
    found = begun_together(meetings, lambda rank: waits.wait())
    waits.set()
    for one in found:
        with pytest.raises(ConnectionError, match="process 2 has ended"):
            one.result()
