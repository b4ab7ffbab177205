"""How the processes of a program find each other: through process 0, which waits at an address that all know.

Connections are those of `multiprocessing`: both sides show that they know the key of the program. What goes over them
is JSON and bytes of arrays, never a pickle. Every wait has an end: processes that do not come, or say nothing, are a
`TimeoutError`, those that end a `ConnectionError`, and process 0 tells the others why it gives up.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from .environment import Place

Result = TypeVar("Result")

# How long processes wait for each other; for an answer of a port that may be another program's; and for a word of
# whoever has come to this program's port.
WAIT_SECONDS = 120.0
_ANSWER_SECONDS = 2.0
_NAMING_SECONDS = 20.0
_LOOK_SECONDS = 0.02  # between two looks at the others, while a function of this process waits for them
# Process 0 takes the first free one of so many ports. torchrun itself has the first.
_PORTS = 16
_LOOPBACK = ("127.0.0.1", "localhost")
# `answer_challenge` asserts, before Python 3.12, that it was challenged.
_FAILURES = (OSError, EOFError, AuthenticationError, AssertionError)
# What process 0 may tell the others to raise.
_ERRORS = {error.__name__: error for error in (ConnectionError, TimeoutError, ValueError)}


class Meeting:
    """Connections of process 0 with all others, for what they tell each other once.

    Parameters
    ----------
    place : Place
        This process.

    Raises
    ------
    TimeoutError
        If a process does not come.
    ValueError
        If processes say different numbers of processes.
    ConnectionError
        If two processes have one rank, or one ends.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        if place.rank == 0:
            with _listen(place, _ports(place)) as server:
                self._others = _accept(server, place, range(1, place.size))
            self._tell(None, "all are here")
        else:
            self._others = {0: _connect(place, place.address, _ports(place))}
            # Process 0 gives up sooner, and says why.
            self._told(WAIT_SECONDS + _NAMING_SECONDS)

    def exchange(self, value: Any) -> list[Any]:
        """Return what each process has said, in order. All processes call it at once.

        Raises
        ------
        ConnectionError
            If one has ended.
        TimeoutError
            If one says nothing.
        """
        if self.place.rank != 0:
            with suppress(OSError):  # if process 0 has ended, it may have said why
                self._others[0].send_bytes(json.dumps(value).encode())
            return self._told(WAIT_SECONDS)
        try:
            values = [value, *(json.loads(_heard(other, rank)) for rank, other in sorted(self._others.items()))]
        except tuple(_ERRORS.values()) as error:
            self._tell(error, str(error))
            raise
        self._tell(None, values)
        return values

    def together(self, begin: Callable[[], Result]) -> Result:
        """Return what a function returns that waits for the same function in all other processes.

        It runs in a thread of its own, where it goes on waiting if a process ends meanwhile.

        Raises
        ------
        ConnectionError
            If a process has ended, or its function has failed.
        """
        own: Future[Result] = Future()
        Thread(target=_run, args=(own, begin), daemon=True).start()
        try:
            heard = self._hear_meanwhile(own)
            result = own.result()
            if self.place.rank == 0:
                for rank in sorted(self._others.keys() - heard):
                    _heard(self._others[rank], rank)
        except Exception as error:
            known = isinstance(error, tuple(_ERRORS.values()))
            failure = error if known else ConnectionError(f"process {self.place.rank} has failed: {error}")
            if self.place.rank == 0:  # the others close their connections
                self._tell(failure, str(failure))
            raise
        if self.place.rank == 0:
            self._tell(None, "all have begun")
        else:
            with suppress(OSError):
                self._others[0].send_bytes(b"begun")
            self._told(WAIT_SECONDS)
        return result

    def _hear_meanwhile(self, own: Future[Any]) -> set[int]:
        """Listen to the others until a function has ended, and return those that have said that theirs has."""
        heard: set[int] = set()
        while not own.done():
            for rank in [rank for rank, other in self._others.items() if rank not in heard and other.poll()]:
                if self.place.rank:
                    self._told(0)  # which raises: process 0 says nothing else meanwhile
                _heard(self._others[rank], rank)
                heard.add(rank)
            with suppress(TimeoutError):
                own.exception(_LOOK_SECONDS)
        return heard

    def connect_all(self) -> dict[int, Connection]:
        """Return a connection with every other process, by their ranks."""
        place = self.place
        with socket.create_server((_interface(place), 0), backlog=place.size) as server:
            addresses = self.exchange((self._own_address(), server.getsockname()[1]))
            found = {
                rank: _connect(place, address, range(port, port + 1))
                for rank, (address, port) in enumerate(addresses[: place.rank])
            }
            return found | _accept(server, place, range(place.rank + 1, place.size))

    def close(self) -> None:
        """Close the connections."""
        for other in self._others.values():
            other.close()

    def _own_address(self) -> str:
        """Return where the others reach this process: the address that it has on the way to process 0."""
        if self.place.rank == 0:
            return self.place.address
        with _socket_of(self._others[0]) as way:
            return way.getsockname()[0]

    def _tell(self, error: Exception | None, value: Any) -> None:
        _tell(self._others.values(), error, value)

    def _told(self, seconds: float) -> Any:
        """Return what process 0 says, or raise what it says to."""
        kind, value = json.loads(_heard(self._others[0], 0, seconds))
        if kind is not None:
            raise _ERRORS[kind](value)
        return value


def _run(own: Future[Any], begin: Callable[[], Any]) -> None:
    try:
        own.set_result(begin())
    except BaseException as error:
        own.set_exception(error)


def _tell(others: Iterable[Connection], error: Exception | None, value: Any) -> None:
    """Say something to other processes, or why they are to raise an exception."""
    kind = None if error is None else next(name for name, one in _ERRORS.items() if isinstance(error, one))
    for other in others:
        with suppress(OSError):  # who has ended is noticed at the next word
            other.send_bytes(json.dumps([kind, value]).encode())


def _heard(other: Connection, rank: int, seconds: float | None = None) -> bytes:
    """Return the next message of a process."""
    seconds = WAIT_SECONDS if seconds is None else seconds
    try:
        if other.poll(seconds):
            return other.recv_bytes()
    except (EOFError, OSError) as error:
        raise ConnectionError(f"process {rank} has ended as the program began") from error
    raise TimeoutError(f"process {rank} has said nothing for {seconds:.0f} seconds as the program began")


def _interface(place: Place) -> str:
    """Return the address at which this process can be reached: of this machine alone if all are there, else any."""
    return place.address if place.address in _LOOPBACK else ""


def _ports(place: Place) -> range:
    first = place.port + (os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True")
    return range(first, first + _PORTS)


def _listen(place: Place, ports: range) -> socket.socket:
    """Return a socket at the first port that is free."""
    for port in ports:
        try:
            return socket.create_server((_interface(place), port), backlog=place.size)
        except OSError:
            continue
    raise ConnectionError(f"process 0 has no free port for the others: it tried {ports[0]} to {ports[-1]}")


def _accept(server: socket.socket, place: Place, ranks: Collection[int]) -> dict[int, Connection]:
    """Return connections with processes of some ranks. If one does not come or fit, all that came are told."""
    found: dict[int, Connection] = {}
    came: list[Connection] = []
    try:
        with closing(_arrivals(server, place)) as arrivals:
            while missing := sorted({*ranks} - found.keys()):
                if (arrival := next(arrivals, None)) is None:
                    raise TimeoutError(
                        f"{_listed(missing)} of {place.size} did not come to {place.address} in "
                        f"{WAIT_SECONDS:.0f} seconds"
                    )
                rank, size, connection = arrival
                came.append(connection)
                if size != place.size:
                    raise ValueError(
                        f"process {rank} was started as one of {size}, and process {place.rank} as one of {place.size}"
                    )
                if rank in found or rank not in ranks:
                    raise ConnectionError(f"two processes say that they are process {rank}")
                found[rank] = connection
    except tuple(_ERRORS.values()) as error:
        _tell(came, error, str(error))
        for connection in came:
            connection.close()
        raise
    return found


def _listed(ranks: list[int]) -> str:
    return f"process{'es' if len(ranks) > 1 else ''} {', '.join(str(rank) for rank in ranks)}"


def _arrivals(server: socket.socket, place: Place) -> Generator[tuple[int, int, Connection]]:
    """Return the processes of the program that come while it is waited for them: rank, size and a connection.

    Who comes is listened to in a thread of its own, so that a stranger who says nothing keeps nobody waiting.
    """
    named: SimpleQueue[tuple[int, int, Connection]] = SimpleQueue()
    door = Thread(target=_open, args=(server, place, named), daemon=True)
    door.start()
    end = time.monotonic() + WAIT_SECONDS
    try:
        while True:
            yield named.get(timeout=max(end - time.monotonic(), 0.0))
    except Empty:
        return
    finally:
        server.shutdown(socket.SHUT_RDWR)  # ends the thread
        door.join()


def _open(server: socket.socket, place: Place, named: SimpleQueue[tuple[int, int, Connection]]) -> None:
    """Let in whoever comes, until the socket is shut."""
    server.setblocking(True)  # whatever limit the program has for new sockets
    while True:
        try:
            connection = _connection(server.accept()[0])
        except ConnectionError:  # who came has left
            continue
        except OSError:
            return
        Thread(target=_name, args=(connection, place, named), daemon=True).start()


def _name(connection: Connection, place: Place, named: SimpleQueue[tuple[int, int, Connection]]) -> None:
    """Find out who has come."""
    try:
        _limit_reads(connection, _NAMING_SECONDS)
        deliver_challenge(connection, place.key)
        answer_challenge(connection, place.key)
        rank, size = json.loads(connection.recv_bytes())
        _limit_reads(connection, 0)
        named.put((rank, size, connection))
    except _FAILURES:
        connection.close()


def _connect(place: Place, address: str, ports: range) -> Connection:
    """Return a connection with another process, which waits at one of some ports."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        for port in ports:
            try:
                found = socket.create_connection((address, port), _ANSWER_SECONDS)
            except OSError:
                continue
            if found.getsockname() == found.getpeername():  # at a port where nobody waits, the system may join the ends
                found.close()
                continue
            connection = _connection(found)
            try:
                _limit_reads(connection, _ANSWER_SECONDS)
                answer_challenge(connection, place.key)
                deliver_challenge(connection, place.key)
                connection.send_bytes(json.dumps([place.rank, place.size]).encode())
                _limit_reads(connection, 0)
                return connection
            except _FAILURES:
                connection.close()
        time.sleep(0.02)
    raise TimeoutError(f"process {place.rank} found nobody at {address}:{ports[0]} in {WAIT_SECONDS:.0f} seconds")


def _connection(over: socket.socket) -> Connection:
    over.setblocking(True)
    over.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(over.detach())


@contextmanager
def _socket_of(connection: Connection) -> Iterator[socket.socket]:
    """Return the socket of a connection for a while."""
    with socket.socket(fileno=os.dup(connection.fileno())) as over:
        over.setblocking(True)  # whatever limit the program has for new sockets
        yield over


def _limit_reads(connection: Connection, seconds: float) -> None:
    """Have reads fail that get nothing for some seconds; 0 lets them wait."""
    whole = int(seconds)
    limit = struct.pack("ll", whole, int((seconds - whole) * 1e6))
    with _socket_of(connection) as over:
        over.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
