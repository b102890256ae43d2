# SPDX-License-Identifier: MIT
"""Clients of HTTP/2 that take more than their part: streams whose answers they never let come, and floods of frames."""
import struct, time
from behaviour import MOST_MEMORY, connect, filled, honest
from harness import PATIENCE, Daemon, Fault, as_nobody, check

DATA, HEADERS, RST, SETTINGS, PING, CONTINUATION = 0, 1, 3, 4, 6, 9
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def fields(*pairs):
    """Fields that are not put into the table of the other side."""
    return b"".join(b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in pairs)


def opening(window):
    """The preface, and settings with the window of each stream."""
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, window))


def call(stream, method, message, flags=END_STREAM):
    head = fields((b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/clusterd.v1." + method),
                  (b":authority", b"x"), (b"content-type", b"application/grpc"), (b"te", b"trailers"))
    return (frame(HEADERS, END_HEADERS, stream, head)
            + frame(DATA, flags, stream, struct.pack(">BI", 0, len(message)) + message))


def world(limit):
    """A GetClustersRequest for points of the source s."""
    box = b"".join(struct.pack("<Bd", 8 * field + 1, value) for field, value in enumerate((-180, -85, 180, 85), 1))
    zoom = struct.pack("<Bd", 0x19, 24)
    count = b""
    while limit > 127:
        count, limit = count + bytes([limit & 127 | 128]), limit >> 7
    return b"\x0a\x01s\x12" + bytes([len(box)]) + box + zoom + b"\x20" + count + bytes([limit])


def hold(path, messages, say):
    """Sends each message over a connection of its own, which is never read."""
    held = []
    for message in messages:
        held.append(connect(path))
        held[-1].settimeout(10)
        try:
            held[-1].sendall(message)
        except OSError:
            # The daemon has ended it, or reads no more of it.
            pass
    say("sent")
    time.sleep(1000)


def windows():
    """Answers that wait for a window that never comes, and imports whose messages are never complete."""
    many = [2 * number + 1 for number in range(400)]
    unread = opening(0) + b"".join(call(stream, b"ClusterService/GetClusters", world(5000)) for stream in many)
    # The stream's first message says that 16 MiB follow.
    part = b"\0\0\xff\xff\xff" + b"x" * 16000
    unfinished = opening(65535) + b"".join(
        call(stream, b"SourceService/UpdateFeatures", b"", 0)[:-5] + frame(DATA, 0, stream, part) for stream in many)
    rise = {}
    for what, message in {"unread": unread, "unfinished": unfinished}.items():
        with Daemon(state=False) as daemon:
            filled(daemon, 20000, 500)
            before = daemon.resident()
            other = as_nobody(lambda say: hold(daemon.path, [message] * 8, say))
            other.line()
            honest(daemon)
            client = daemon.client()
            end = time.monotonic() + 8
            while client.call("ServerService/GetStats")["calls"]["inFlight"] and time.monotonic() < end:
                time.sleep(0.1)
            check(daemon.is_alive(), f"{what} ended it")
            rise[what] = daemon.resident("VmHWM") - before
            check(rise[what] <= MOST_MEMORY, f"{what} took {rise[what]} MiB")
            honest(daemon)
            other.end()
    return ", ".join(f"{what} {size} MiB" for what, size in rise.items())


def floods():
    """Frames that cost the daemon more than their sender end the connection that sends them, and no other."""
    reset = b"".join(call(2 * n + 1, b"ClusterService/GetClusters", world(10)) + frame(RST, 0, 2 * n + 1, b"\0\0\0\x08")
                     for n in range(5000))
    floods = {"resets": reset, "pings": b"".join(frame(PING, 0, 0, struct.pack(">Q", n)) for n in range(200000)),
              "settings": frame(SETTINGS, 0, 0) * 200000,
              "continuations": frame(HEADERS, 0, 1, fields((b":method", b"POST")))
              + frame(CONTINUATION, 0, 1, fields((b"a", b"b"))) * 200000}
    with Daemon(state=False) as daemon:
        filled(daemon, 1000)
        before = daemon.resident()
        for what, message in floods.items():
            client = connect(daemon.path)
            client.settimeout(PATIENCE)
            try:
                client.sendall(opening(65535) + message)
                while client.recv(65536):
                    pass
            except (BrokenPipeError, ConnectionResetError):
                pass
            except TimeoutError:
                raise Fault(f"{what} do not end the connection")
            check(daemon.is_alive(), f"{what} ended the daemon")
            honest_alone(daemon)
        rise = daemon.resident("VmHWM") - before
        check(rise <= 64, f"floods took {rise} MiB")
    return f"{rise} MiB"


def honest_alone(daemon):
    client = daemon.client(PATIENCE)
    check(len(client.query("s", limit=10)) == 10, "a small answer")
    client.close()


SCENARIOS = [windows, floods]
