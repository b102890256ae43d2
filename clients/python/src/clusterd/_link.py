# SPDX-License-Identifier: MIT
"""A connection for asyncio that carries any number of calls."""
from __future__ import annotations

import asyncio
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from . import _frames
from ._address import candidates, connect_error
from ._errors import ClusterdError, deadline_error, lost_error
from ._frames import CallTable, Event, FrameReader

#: How many items of a stream wait before no more is read.
WAITING = 32


class Link:
    """One connection. A task reads it and hands events to calls; it is lost with the first error."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._frames, self._table = FrameReader(), CallTable()
        self._calls: Dict[int, LinkCall] = {}
        self.lost: Optional[ClusterdError] = None
        self._task = asyncio.ensure_future(self._read())

    @classmethod
    async def connect(cls, path: Optional[str], timeout: Optional[float]) -> Link:
        failures: List[Tuple[str, OSError]] = []
        for candidate in candidates(path):
            try:
                opening = asyncio.open_unix_connection(candidate, limit=1 << 20)
                return cls(*await asyncio.wait_for(opening, timeout))
            except asyncio.TimeoutError:
                raise deadline_error() from None
            except OSError as error:
                failures.append((candidate, error))
        raise connect_error(failures)

    def open(self, method: str, params: Mapping[str, Any], timeout: Optional[float], items: bool) -> LinkCall:
        if self.lost is not None:
            raise self.lost
        call = self._table.begin(streams=items)
        try:
            data = _frames.opening(call, method, params, timeout)
        except BaseException:  # the params are not JSON
            self._table.forget(call)
            raise
        found = self._calls[call] = LinkCall(self, call)
        self._writer.write(data)
        return found

    async def write(self, data: bytes) -> None:
        if self.lost is None:
            self._writer.write(data)
            try:
                await self._writer.drain()
            except OSError:
                pass  # the daemon has closed; the reader finds out what it said before

    def cancel(self, call: int) -> None:
        """Cancels the call on the daemon."""
        self._calls.pop(call, None)
        if self.lost is None and self._table.drop(call):
            self._writer.write(_frames.cancel(call))

    async def _read(self) -> None:
        try:
            while True:
                data = await self._reader.read(1 << 18)
                if not data:
                    raise lost_error("the daemon closed it")
                self._frames.feed(data)
                while (message := self._frames.next()) is not None:
                    received = self._table.receive(message)
                    if received is not None:
                        await self._deliver(*received)
        except ClusterdError as error:
            self._lose(error)
        except OSError as error:
            self._lose(lost_error(str(error)))

    async def _deliver(self, call: int, event: Event) -> None:
        found = self._calls.get(call)
        if event[0] != "item":
            self._calls.pop(call, None)
        if found is not None:
            await found.events.put(event)

    def _lose(self, error: ClusterdError) -> None:
        self.lost = error
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.fail(error)
        self._writer.close()

    async def close(self) -> None:
        if self.lost is None:
            self._lose(lost_error("this client closed it"))
        self._task.cancel()
        try:
            await self._writer.wait_closed()
        except (OSError, asyncio.CancelledError):
            pass


class LinkCall:
    """A call under way."""

    def __init__(self, link: Link, call: int) -> None:
        self._link, self._call = link, call
        self.events: "asyncio.Queue[Event]" = asyncio.Queue(WAITING)
        self._failure: Optional[ClusterdError] = None
        self._failed = asyncio.Event()

    def fail(self, error: ClusterdError) -> None:
        self._failure = error
        self._failed.set()

    async def event(self) -> Event:
        """The next event; the connection's failure once all that came before is taken."""
        if self.events.empty() and self._failure is None:
            waits = [asyncio.ensure_future(self.events.get()), asyncio.ensure_future(self._failed.wait())]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                if waits[0].done():
                    return waits[0].result()  # type: ignore[return-value]
            finally:
                for wait in waits:
                    wait.cancel()
        if not self.events.empty():
            return self.events.get_nowait()
        assert self._failure is not None
        return "error", self._failure

    async def send(self, item: Union[Mapping[str, Any], bytes]) -> None:
        await self._link.write(_frames.item(self._call, item))

    async def end(self) -> None:
        await self._link.write(_frames.end(self._call))

    async def ask_cancel(self) -> None:
        """Asks the daemon to end the call with CANCELLED."""
        await self._link.write(_frames.cancel(self._call))

    def cancel(self) -> None:
        self._link.cancel(self._call)
