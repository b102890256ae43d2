# SPDX-License-Identifier: MIT
"""A blocking connection, and a pool of them."""
from __future__ import annotations

import os
import select
import socket
import threading
import time
from typing import Any, Dict, List, Optional, Tuple

from ._address import candidates, connect_error
from ._errors import deadline_error, lost_error
from ._frames import CallTable, Event, FrameReader, frame, to_json


class Deadline:
    """The moment by which something must be done; None is never."""

    def __init__(self, timeout: Optional[float], grace: float = 0) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout + grace

    def remaining(self) -> Optional[float]:
        """Seconds left. Raises DEADLINE_EXCEEDED if there are none."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise deadline_error()
        return left


NEVER = Deadline(None)


class Connection:
    """One connection to the daemon, for one call at a time.

    One thread receives; any thread may send. After an error other than a call's own it is closed.
    """

    def __init__(self, path: Optional[str] = None, timeout: Optional[float] = None) -> None:
        self.socket = connect(path, timeout)
        self._reader = FrameReader()
        self._sending = threading.Lock()
        self.calls = CallTable()
        self.is_closed = False
        self._aborted = False

    def send(self, message: Dict[str, Any]) -> None:
        """Sends a message as it is."""
        self.write(frame(to_json(message)), NEVER)

    def write(self, data: bytes, deadline: Deadline) -> None:
        """Sends whole frames. A daemon that has closed says why before: that error comes with the answer."""
        with self._sending:
            try:
                self.socket.settimeout(deadline.remaining())
                self.socket.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            except socket.timeout:
                self.close()
                raise deadline_error() from None
            except OSError as error:
                self.close()
                raise lost_error(str(error)) from None

    def receive(self, deadline: Deadline = NEVER) -> Dict[str, Any]:
        """The next message. Raises INTERNAL or UNAVAILABLE if the stream breaks; the connection is closed then."""
        try:
            while (message := self._reader.next()) is None:
                self._fill(deadline)
        except BaseException:
            self.close()
            raise
        return message

    def event(self, call: int, deadline: Deadline) -> Event:
        """The next event of the call."""
        try:
            while True:
                received = self.calls.receive(self.receive(deadline))
                if received is not None and received[0] == call:
                    return received[1]
        except BaseException:
            self.close()
            raise

    def poll(self, seconds: float) -> bool:
        """Waits until something has come, or so many seconds."""
        if self.is_closed:
            return True
        waiter = select.poll()
        waiter.register(self.socket, select.POLLIN)
        return bool(waiter.poll(max(0.0, seconds) * 1000))

    def _fill(self, deadline: Deadline) -> None:
        if self.is_closed:
            raise lost_error("this client closed it")
        try:
            if (left := deadline.remaining()) is not None and not self.poll(left):
                raise deadline_error()
            self.socket.settimeout(None)
            data = self.socket.recv(1 << 18)
        except OSError as error:
            if hasattr(error, "status"):
                raise
            raise lost_error(str(error)) from None
        if not data:
            raise lost_error("this client closed it" if self._aborted else "the daemon closed it")
        self._reader.feed(data)

    def close(self) -> None:
        """Closes the connection; the daemon cancels its calls."""
        self.is_closed = True
        self.socket.close()

    def abort(self) -> None:
        """Ends the connection for the thread that uses it: its call fails with UNAVAILABLE."""
        self._aborted = True
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def connect(path: Optional[str], timeout: Optional[float]) -> socket.socket:
    failures: List[Tuple[str, OSError]] = []
    for candidate in candidates(path):
        attempt = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            attempt.settimeout(timeout)
            attempt.connect(candidate)
            return attempt
        except OSError as error:
            attempt.close()
            failures.append((candidate, error))
    raise connect_error(failures)


class Pool:
    """Connections that are kept for later calls. Safe for threads, and for a process after a fork."""

    def __init__(self, path: Optional[str], size: int, connect_timeout: Optional[float]) -> None:
        self.path, self._size, self.connect_timeout = path, size, connect_timeout
        self._lock = threading.Lock()
        self._idle: List[Connection] = []
        self._used: List[Connection] = []
        self._process = os.getpid()

    def take(self) -> Connection:
        """A connection that no other call uses: one kept, or a new one."""
        self._forget_after_fork()
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = Connection(self.path, self.connect_timeout)
            elif connection.poll(0):  # between calls nothing comes, unless the daemon has closed
                connection.close()
                continue
            with self._lock:
                self._used.append(connection)
            return connection

    def give(self, connection: Connection) -> None:
        """Takes a connection back; one that is closed or has a call left is not kept."""
        with self._lock:
            if connection in self._used:
                self._used.remove(connection)
                is_usable = not connection.is_closed and len(connection.calls) == 0
                if is_usable and len(self._idle) < self._size:
                    self._idle.append(connection)
                    return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, used, self._idle, self._used = self._idle, self._used, [], []
        for connection in idle:
            connection.close()
        for connection in used:
            connection.abort()

    def _forget_after_fork(self) -> None:
        if self._process != os.getpid():
            for connection in self._idle + self._used:
                connection.close()  # this process's copies only
            self._process, self._lock, self._idle, self._used = os.getpid(), threading.Lock(), [], []
