# SPDX-License-Identifier: MIT
"""Frames and envelopes: bytes to messages and back. No socket, no clock."""
from __future__ import annotations

import json
import struct
import zlib
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from ._errors import error_from_wire, protocol_error

#: The most bytes of an answer, as sent and as inflated.
MAXIMUM_ANSWER_BYTES = 64 << 20
#: The most bytes of a message to the daemon.
MAXIMUM_MESSAGE_BYTES = 16 << 20

_PREFIX = struct.Struct(">BI")
Buffer = Union[bytes, bytearray, memoryview]


def frame(*parts: Buffer) -> bytes:
    """A frame whose body is the parts, one after another."""
    return b"".join((_PREFIX.pack(0, sum(map(len, parts))), *parts))


def to_json(value: Any) -> bytes:
    """JSON without white space. Raises ValueError for a number that is not finite."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def opening(call: int, method: str, params: Mapping[str, Any], timeout: Optional[float]) -> bytes:
    """The frame that opens a call. `timeout` is in seconds."""
    name = method if "." in method else f"clusterd.v1.{method}"
    message: Dict[str, Any] = {"id": call, "method": name, "params": params}
    if timeout is not None:
        message["timeoutMs"] = max(1, min(round(timeout * 1000), 1 << 31))
    return frame(to_json(message))


def item(call: int, value: Union[Mapping[str, Any], Buffer]) -> bytes:
    """The frame of a client's item: a mapping, or JSON text as bytes."""
    text = to_json(value) if isinstance(value, Mapping) else value
    return frame(b'{"id":%d,"item":' % call, text, b"}")


def end(call: int) -> bytes:
    return frame(b'{"id":%d,"end":true}' % call)


def cancel(call: int) -> bytes:
    return frame(b'{"id":%d,"cancel":true}' % call)


class FrameReader:
    """Takes messages out of a stream of bytes, however it is cut."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: Buffer) -> None:
        self._held += data

    def next(self) -> Optional[Dict[str, Any]]:
        """The next message, or None while it is incomplete. Raises INTERNAL for what is not a message."""
        if self._held and self._held[0] > 1:
            raise protocol_error(f"a frame's flag is {self._held[0]}")
        if len(self._held) < _PREFIX.size:
            return None
        flag, length = _PREFIX.unpack_from(self._held)
        if length > MAXIMUM_ANSWER_BYTES:
            raise protocol_error(f"a frame of {length} bytes")
        stop = _PREFIX.size + length
        if len(self._held) < stop:
            return None
        body = bytes(self._held[_PREFIX.size : stop])
        del self._held[:stop]
        return _message(_inflate(body) if flag else body)


def _inflate(body: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(body, MAXIMUM_ANSWER_BYTES + 1)
    except zlib.error as error:
        raise protocol_error(f"a compressed frame does not inflate: {error}") from None
    if len(text) > MAXIMUM_ANSWER_BYTES:
        raise protocol_error(f"a frame inflates to more than {MAXIMUM_ANSWER_BYTES} bytes")
    if not stream.eof or stream.unused_data:
        raise protocol_error("a compressed frame is cut or has bytes behind its end")
    return text


def _message(text: bytes) -> Dict[str, Any]:
    try:
        message = json.loads(text.decode(), parse_constant=_not_finite)
    except (ValueError, RecursionError) as error:
        raise protocol_error(f"a frame is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise protocol_error("a frame is not a JSON object")
    return message


def _not_finite(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


#: What a message says: "result", "item", "end" or "error", and its payload.
Event = Tuple[str, Any]


class CallTable:
    """The open calls of one connection. Pure: messages go in, events for calls come out."""

    def __init__(self) -> None:
        self._last = 0
        #: Whether the client still reads the answer, by id.
        self._open: Dict[int, bool] = {}
        self._streams: Dict[int, bool] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, streams: bool) -> int:
        """A new call's id. `streams`: whether the daemon may send items."""
        self._last += 1
        self._open[self._last] = True
        self._streams[self._last] = streams
        return self._last

    def forget(self, call: int) -> None:
        """A call was not sent."""
        del self._open[call], self._streams[call]

    def drop(self, call: int) -> bool:
        """The client has cancelled a call; what still comes for it is ignored. False if it is over already."""
        is_open = self._open.get(call, False)
        if is_open:
            self._open[call] = False
        return is_open

    def receive(self, message: Mapping[str, Any]) -> Optional[Tuple[int, Event]]:
        """The call that a message is for and what it says; None for a call that was cancelled, and for a notice.

        Raises the error of a message that belongs to no call: the connection cannot be used any longer.
        """
        call = message.get("id")
        if "error" in message and call is None:
            raise error_from_wire(message["error"])
        if "goaway" in message and call is None:
            return None  # the daemon shuts down: it answers what it has taken, and closes
        if type(call) is not int or call not in self._open:
            raise protocol_error(f"an answer to call {call!r}, which is not open")
        kind = next((name for name in ("error", "result", "item", "end") if name in message), None)
        if kind is None:
            raise protocol_error("a message that is no result, item, end or error")
        is_read = self._open[call]
        if kind != "item":
            del self._open[call], self._streams[call]
        elif not self._streams[call]:
            raise protocol_error(f"an item for call {call}, which has no stream")
        if not is_read:
            return None
        payload = message[kind]
        return call, (kind, error_from_wire(payload) if kind == "error" else payload)
