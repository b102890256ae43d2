# SPDX-License-Identifier: MIT
"""What HTTP/2 clients may do wrong or on purpose, frame by frame. Each case says what the daemon has to do; others are
served meanwhile.

Usage: http2_hostility.py HOST PORT [CASE ...]
"""
import socket, struct, sys
from hpack import Decoder, Encoder

HOST, PORT = sys.argv[1], int(sys.argv[2])
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
NO_ERROR, PROTOCOL, INTERNAL, FLOW_CONTROL, _, STREAM_CLOSED, FRAME_SIZE, REFUSED, CANCEL, COMPRESSION, _, CALM = range(12)
CHECK = "/clusterd.v1.ServerService/Check"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class Client:
    """A client that sends whatever it is told."""

    def __init__(self, settings=b"", preface=PREFACE):
        self.socket = socket.create_connection((HOST, PORT), timeout=20)
        self.encoder, self.decoder, self.buffer, self.next = Encoder(), Decoder(), b"", 1
        self.send(preface + frame(SETTINGS, 0, 0, settings))

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def head(self, path=CHECK, extra=(), kind="application/grpc"):
        fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", f"{HOST}:{PORT}"),
                  ("content-type", kind), ("te", "trailers"), *extra]
        return self.encoder.encode(fields)

    def open(self, path=CHECK, body=b"\0\0\0\0\0", end=True, extra=(), kind="application/grpc"):
        stream, self.next = self.next, self.next + 2
        data = frame(HEADERS, END_HEADERS, stream, self.head(path, extra, kind))
        if body is not None:
            data += frame(DATA, END_STREAM if end else 0, stream, body)
        self.send(data)
        return stream

    def read(self):
        """The next frame: kind, flags, stream, payload. None at the end."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.buffer += data
        count = int.from_bytes(self.buffer[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", self.buffer[3:9])
        payload, self.buffer = self.buffer[9:9 + count], self.buffer[9 + count:]
        return kind, flags, stream & 0x7FFFFFFF, payload

    def until(self, wanted):
        """Reads frames until `wanted` is true of one. Returns that frame, or None if the connection ends first."""
        while (got := self.read()) is not None:
            kind, flags, stream, payload = got
            if kind == HEADERS:
                got = (kind, flags, stream, dict(self.decoder.decode(payload)))
            if wanted(got):
                return got
        return None

    def ending(self, stream):
        """How a stream ends: a dictionary of trailers, or the code of its reset."""
        fields = {}
        while (got := self.until(lambda f: f[2] == stream)) is not None:
            kind, flags, _, payload = got
            if kind == RST:
                return int.from_bytes(payload, "big")
            if kind == HEADERS:
                fields.update(payload)
            if flags & END_STREAM:
                return fields
        return None

    def end(self):
        """How the connection ends: the code of GOAWAY, or None if it is only closed."""
        got = self.until(lambda f: f[0] == GOAWAY)
        return None if got is None else int.from_bytes(got[3][4:8], "big")


def check_serves(client, what):
    ending = client.ending(client.open())
    assert isinstance(ending, dict) and ending.get("grpc-status") == "0", f"{what}: the connection serves no more: {ending}"


def case_more_streams_than_allowed():
    client = Client()
    limit = None
    while limit is None:
        kind, _, _, payload = client.read()
        if kind == SETTINGS and payload:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[at:at + 6])
                if name == 3:
                    limit = value
    client.send(frame(SETTINGS, ACK, 0))
    streams = [client.open("/clusterd.v1.SourceService/ImportFeatures", body=None) for _ in range(limit + 1)]
    got = client.until(lambda f: f[0] in (RST, GOAWAY))
    assert got[0] == RST and got[2] == streams[-1], f"stream {limit + 1} was not refused: {got}"
    assert int.from_bytes(got[3], "big") == REFUSED
    client.send(frame(RST, 0, streams[0], struct.pack(">I", CANCEL)))
    check_serves(client, "after a refused stream")


def case_large_head():
    client = Client()
    block = client.head(extra=[(f"x-{n}", "y" * 2000) for n in range(10)])
    client.send(frame(HEADERS, END_STREAM, 1, block[:9000]) + frame(CONTINUATION, END_HEADERS, 1, block[9000:]))
    client.next = 3
    ending = client.ending(1)
    assert ending[":status"] == "431" and ending["grpc-status"] == "8", ending
    check_serves(client, "after a large head")


def case_header_bomb():
    client = Client()
    # A field of 4,000 bytes is put into the table once and named 200 times.
    block = client.head(extra=[("x-bomb", "y" * 3900)]) + b"\xbe" * 200
    client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, block))
    got = client.until(lambda f: f[0] in (HEADERS, GOAWAY, RST))
    assert got is None or got[0] in (GOAWAY, RST) or got[3][":status"] == "431", got


def flood(make, what):
    client = Client()
    for number in range(3000):
        client.send(make(client, number))
    code = client.end()
    assert code in (CALM, INTERNAL, PROTOCOL, None), f"{what}: ended with {code}"


def case_rapid_reset():
    def make(client, _):
        stream = client.next
        client.next += 2
        return (frame(HEADERS, END_HEADERS, stream, client.head()) + frame(RST, 0, stream, struct.pack(">I", CANCEL)))
    flood(make, "rapid reset")


def case_ping_flood():
    flood(lambda client, number: frame(PING, 0, 0, struct.pack(">Q", number)), "pings")


def case_settings_flood():
    flood(lambda client, number: frame(SETTINGS, 0, 0), "settings")


def case_priority_flood():
    flood(lambda client, number: frame(PRIORITY, 0, 2 * number + 1, struct.pack(">IB", 0, 1)), "priorities")


def case_empty_data_flood():
    client = Client()
    stream = client.open("/clusterd.v1.SourceService/ImportFeatures", body=None)
    for _ in range(3000):
        client.send(frame(DATA, 0, stream))
    assert client.end() in (CALM, INTERNAL, PROTOCOL, None)


def case_continuations_without_end():
    client = Client()
    client.send(frame(HEADERS, 0, 1, client.head()))
    for _ in range(20000):
        client.send(frame(CONTINUATION, 0, 1, b"\0\x01a\x01b"))
    while client.read() is not None:
        pass


def case_window_overflow():
    client = Client()
    client.send(frame(WINDOW, 0, 0, struct.pack(">I", 0x7FFFFFFF)))
    assert client.end() == FLOW_CONTROL


def case_large_frame():
    client = Client()
    stream = client.open(body=None)
    client.send(frame(DATA, 0, stream, b"x" * 16385))
    assert client.end() == FRAME_SIZE


def case_no_preface():
    client = Client(preface=b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
    assert client.end() in (PROTOCOL, None)


def case_odd_frames():
    for kind, stream, payload in [(DATA, 0, b"x"), (HEADERS, 0, b""), (RST, 1, b"\0\0\0\1"), (SETTINGS, 1, b""),
                                  (SETTINGS, 0, b"abc"), (PING, 0, b"abc"), (CONTINUATION, 1, b""), (WINDOW, 0, b"\0\0\0\0"),
                                  (PUSH, 1, b"\0\0\0\2")]:
        client = Client()
        client.send(frame(kind, 0, stream, payload))
        code = client.end()
        assert code not in (NO_ERROR,), f"a frame of type {kind} on stream {stream} ended with {code}"


def case_messages():
    client = Client()
    method = "/clusterd.v1.ClusterService/GetClusters"

    def status(**how):
        ending = client.ending(client.open(how.pop("path", method), **how))
        return ending.get("grpc-status") if isinstance(ending, dict) else ending

    assert status(body=b"\0\x7f\xff\xff\xff") == "8", "a message beyond the limit"
    assert status(body=b"\0\0\0\0\x05abc") == "13", "a message cut short"
    assert status(body=b"\1\0\0\0\0") == "13", "a compressed message without an encoding"
    assert status(body=b"\1\0\0\0\0", extra=[("grpc-encoding", "snappy")]) == "12", "an unknown encoding"
    assert status(body=b"\7\0\0\0\0") == "13", "an unknown flag"
    assert status(body=b"\0\0\0\0\x03\xff\xff\xff") == "3", "no protobuf"
    assert status(body=b"\0\0\0\0\x03\xa2\x06\0") == "3", "an unknown field"
    assert status(body=b"") == "13", "no message"
    assert status(body=b"\0\0\0\0\0" * 2, path=CHECK) == "3", "two messages"
    assert status(extra=[("grpc-timeout", "1x")]) == "3", "a malformed timeout"
    assert status(extra=[("grpc-timeout", "123456789m")]) == "3", "a timeout of nine digits"
    assert status(path="/no.such/Method") == "12", "an unknown method"
    ending = client.ending(client.open(kind="application/grpc+json"))
    assert ending[":status"] == "415", ending
    check_serves(client, "after bad messages")


def case_unread_answers():
    # A window of nothing for streams: all answers wait, and memory stays bounded by the number of streams.
    client = Client(settings=struct.pack(">HI", 4, 0))
    for _ in range(500):
        client.open()
    other = Client()
    check_serves(other, "beside a client that reads nothing")


if __name__ == "__main__":
    names = sys.argv[3:] or [name[5:] for name in globals() if name.startswith("case_")]
    for name in names:
        globals()[f"case_{name}"]()
        check_serves(Client(), f"after {name}")
        print(f"{name}: ok", flush=True)
