"""How the processes of a program find each other: through process 0, which waits at an address that all know.

Connections are those of `multiprocessing`: both sides show that they know the key of the program. What goes over them
is JSON and bytes of arrays, never a pickle.
"""

from __future__ import annotations

import json
import os
import socket
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

from .environment import Place

# How long processes wait for each other, and for an answer of a port that may be another program's.
WAIT_SECONDS = 120.0
_ANSWER_SECONDS = 2.0
# Process 0 takes the first free one of so many ports. torchrun itself has the first.
_PORTS = 16
_LOOPBACK = ("127.0.0.1", "localhost")
_FAILURES = (OSError, EOFError, AuthenticationError)


def _connection(over: socket.socket) -> Connection:
    over.setblocking(True)
    over.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(over.detach())


def _ports(place: Place) -> range:
    first = place.port + (os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True")
    return range(first, first + _PORTS)


def _listen(place: Place, ports: range) -> socket.socket:
    """Return a socket at the first port that is free."""
    host = place.address if place.address in _LOOPBACK else ""
    for port in ports:
        try:
            return socket.create_server((host, port), backlog=place.size)
        except OSError:
            continue
    raise ConnectionError(f"process 0 has no free port for the others: it tried {ports[0]} to {ports[-1]}")


def _accept(server: socket.socket, place: Place, count: int) -> dict[int, Connection]:
    """Return connections with `count` processes, by their ranks."""
    found: dict[int, Connection] = {}
    end = time.monotonic() + WAIT_SECONDS
    while len(found) < count:
        server.settimeout(max(end - time.monotonic(), 0.001))
        try:
            connection = _connection(server.accept()[0])
        except TimeoutError:
            raise TimeoutError(
                f"{count - len(found)} of {place.size} processes did not come to {place.address}"
            ) from None
        try:
            deliver_challenge(connection, place.key)
            answer_challenge(connection, place.key)
            rank = int(connection.recv_bytes())
        except _FAILURES:
            connection.close()
            continue
        if rank in found:
            raise ConnectionError(f"two processes say that they are process {rank}")
        found[rank] = connection
    return found


def _connect(place: Place, address: str, ports: range) -> Connection:
    """Return a connection with another process, which waits at one of some ports."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        for port in ports:
            try:
                connection = _connection(socket.create_connection((address, port), _ANSWER_SECONDS))
            except OSError:
                continue
            try:
                if connection.poll(_ANSWER_SECONDS):
                    answer_challenge(connection, place.key)
                    deliver_challenge(connection, place.key)
                    connection.send_bytes(str(place.rank).encode())
                    return connection
            except _FAILURES:
                pass
            connection.close()
        time.sleep(0.02)
    raise TimeoutError(f"process {place.rank} found nobody at {address}:{ports[0]} in {WAIT_SECONDS:.0f} seconds")


class Meeting:
    """Connections of process 0 with all others, for what they tell each other once.

    Parameters
    ----------
    place : Place
        This process.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        if place.rank == 0:
            with _listen(place, _ports(place)) as server:
                found = _accept(server, place, place.size - 1)
            self._others = [found[rank] for rank in range(1, place.size)]
        else:
            self._others = [_connect(place, place.address, _ports(place))]

    def exchange(self, value: Any) -> list[Any]:
        """Return what each process has said, in order. All processes call it at once.

        Raises
        ------
        ConnectionError
            If one has ended.
        """
        try:
            if self.place.rank == 0:
                values = [value, *(json.loads(other.recv_bytes()) for other in self._others)]
                for other in self._others:
                    other.send_bytes(json.dumps(values).encode())
                return values
            (first,) = self._others
            first.send_bytes(json.dumps(value).encode())
            return json.loads(first.recv_bytes())
        except (EOFError, OSError) as error:
            raise ConnectionError("another process has ended as the program began") from error

    def connect_all(self) -> dict[int, Connection]:
        """Return a connection with every other process, by their ranks."""
        place = self.place
        host = place.address if place.address in _LOOPBACK else ""
        with socket.create_server((host, 0), backlog=place.size) as server:
            own = host or socket.gethostbyname(socket.gethostname())
            addresses = self.exchange((own, server.getsockname()[1]))
            found = {
                rank: _connect(place, address, range(port, port + 1))
                for rank, (address, port) in enumerate(addresses[: place.rank])
            }
            return found | _accept(server, place, place.size - 1 - place.rank)

    def close(self) -> None:
        """Close the connections."""
        for other in self._others:
            other.close()
