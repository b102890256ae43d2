#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What 150 clients that read slowly or not at all cost the others of their user, over each transport.

    Benchmarks/slow_readers.py [--program PATH] [--seconds N] [--readers N] [--size KB] [TRANSPORT...]

For each transport (frames, http, gzip: HTTP whose honest clients accept gzip, websocket) and kind of slow reader (silent, 1 byte a
second, 64 KiB a second) it prints the p99 of an honest client's answers of 20 KB, 400 KB and 5 MB, which has read one before, beside
the slow readers, as a multiple of the p99 alone, the rate that a client gets that reads 64 KiB a second, the daemon's memory beyond
that before, and the bytes that waited for clients.
"""
import argparse, json, multiprocessing, os, selectors, socket, struct, subprocess, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = {"20 KB": 20, "400 KB": 400, "5 MB": 5000}
PACES = {"silent": 0, "1 B/s": 1, "64 KiB/s": 64 << 10}
HALVES = [[-180, -90, 0, 90], [0, -90, 180, 90]]
HONEST = 4
PATIENCE = 60


def frame(message):
    text = json.dumps(message).encode()
    return struct.pack(">BI", 0, len(text)) + text


class Frames:
    """One client. `ask` returns bytes to send; `length` reads how long the answer at the front is, or None."""

    def __init__(self, place):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(place.path)

    def begin(self, features):
        pass

    def view(self):
        """What a map shows before it asks for more."""
        return self.ask(100, 1)

    def ask(self, features, number):
        query = {"source": "s", "bbox": HALVES[number % 2], "zoom": 20, "limit": features}
        return frame({"id": number + 1, "method": "clusterd.v1.ClusterService/GetClusters", "params": query})

    def length(self, data):
        return 5 + struct.unpack(">I", data[1:5])[0] if len(data) >= 5 else None


class Http(Frames):
    fields = ""

    def __init__(self, place):
        self.socket = socket.create_connection(("127.0.0.1", place.port), PATIENCE)

    def ask(self, features, number):
        box = ",".join(map(str, HALVES[number % 2]))
        return f"GET /sources/s/clusters?bbox={box}&zoom=20&limit={features} HTTP/1.1\r\nHost: localhost\r\n{self.fields}\r\n".encode()

    def length(self, data):
        end = data.find(b"\r\n\r\n")
        if end < 0:
            return None
        fields = bytes(data[:end]).lower()
        return end + 4 + int(fields.split(b"content-length: ")[1].split(b"\r\n")[0])


class Gzip(Http):
    fields = "Accept-Encoding: gzip\r\n"


class WebSocket(Http):
    def begin(self, features):
        """Opens the watch and takes its first item."""
        self.socket.sendall(
            (f"GET /sources/s/watch?bbox=1,1,1.001,1.001&zoom=20&limit={features}&maxRateHz=1000 HTTP/1.1\r\n"
             "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode())
        data = b""
        while b"\r\n\r\n" not in data or self.length(data.split(b"\r\n\r\n", 1)[1]) is None:
            data += self.socket.recv(1 << 16)

    def view(self):
        return self.move([0, -10, 20, 10])

    def ask(self, features, number):
        return self.move(HALVES[number % 2])

    def move(self, box):
        text = json.dumps({"bbox": box, "zoom": 20}).encode()
        return struct.pack(">BB4s", 0x81, 0x80 | len(text), b"\0\0\0\0") + text

    def length(self, data):
        if len(data) < 10:
            return None
        short = data[1] & 127
        return {126: 4 + struct.unpack(">H", data[2:4])[0], 127: 10 + struct.unpack(">Q", data[2:10])[0]}.get(short, 2 + short)


TRANSPORTS = {"frames": Frames, "http": Http, "gzip": Gzip, "websocket": WebSocket}


class Place:
    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "s")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.daemon = subprocess.Popen([program, "--socket", self.path, "--http", f"127.0.0.1:{self.port}"],
                                       stderr=subprocess.DEVNULL)
        while True:
            try:
                client = Frames(self)
                break
            except OSError:
                time.sleep(0.02)
        self.client = client
        self.call("SourceService/CreateSource", {"source": "s"})
        method = "clusterd.v1.SourceService/ImportFeatures"
        client.socket.sendall(frame({"id": 1, "method": method, "params": {"source": "s"}}))
        for first in range(0, 20000, 1000):
            features = [{"type": "Feature", "id": i, "properties": {"t": "x" * 850}, "geometry": {
                "type": "Point", "coordinates": [(i * 7919 % 35900) / 100 - 179.5, (i * 104729 % 16900) / 100 - 84.5]}}
                for i in range(first, first + 1000)]
            client.socket.sendall(frame({"id": 1, "item": {"features": features}}))
        client.socket.sendall(frame({"id": 1, "end": True}))
        read(client, bytearray())

    def call(self, method, params):
        self.client.socket.sendall(frame({"id": 1, "method": f"clusterd.v1.{method}", "params": params}))
        return json.loads(read(self.client, bytearray())[5:])["result"]

    def memory(self):
        with open(f"/proc/{self.daemon.pid}/status") as file:
            return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmRSS"))

    def queued(self):
        return self.call("ServerService/GetStats", {})["bytes"]["queued"] >> 20

    def end(self):
        self.daemon.terminate()
        self.daemon.wait()


def read(client, data):
    """The next answer; `data` keeps what follows it."""
    buffer = bytearray(1 << 20)
    while True:
        length = client.length(data)
        if length is not None and len(data) >= length:
            answer = bytes(data[:length])
            del data[:length]
            return answer
        count = client.socket.recv_into(buffer)
        if count == 0:
            raise EOFError
        data += memoryview(buffer)[:count]


def honest(transport, place, features, seconds, times):
    """One client's calls, one after the other; its times in milliseconds."""
    client, data, number = TRANSPORTS[transport](place), bytearray(), 0
    client.begin(features)
    client.socket.sendall(client.view())
    read(client, data)
    end = time.monotonic() + seconds
    while time.monotonic() < end or number < 5:
        start = time.monotonic()
        try:
            client.socket.sendall(client.ask(features, number))
            read(client, data)
        except (OSError, EOFError):
            times.append(PATIENCE * 1000)
            return
        times.append((time.monotonic() - start) * 1000)
        number += 1
        time.sleep(0.01)
    client.socket.close()


def p99(transport, place, features, seconds):
    times = []
    threads = [threading.Thread(target=honest, args=(transport, place, features, seconds, times)) for _ in range(HONEST)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times)[int(len(times) * 0.99)] if times else float("nan")


def slow(transport, place, count, features, pace, ready):
    """Clients that ask for one answer after the other and read them at a pace, in bytes a second."""
    clients, opened = [], 0

    def open_one():
        client = TRANSPORTS[transport](place)
        client.begin(features)
        client.number, client.data, client.left, client.due = 0, bytearray(), 0, time.monotonic()
        client.socket.sendall(client.ask(features, 0))
        client.socket.setblocking(False)
        return client

    for _ in range(count):
        clients.append(open_one())
    ready.set()
    while True:
        start = time.monotonic()
        for index, client in enumerate(clients):
            if pace == 0 or start < client.due:
                continue
            step = max(1, pace // 10)
            client.due = start + step / pace
            try:
                part = client.socket.recv(step)
                if not part:
                    raise EOFError
            except BlockingIOError:
                continue
            except (OSError, EOFError):
                try:
                    clients[index] = open_one()
                except (OSError, EOFError):
                    pass
                continue
            if pace == 1:
                continue
            client.data += part
            length = client.length(client.data)
            if length is not None and len(client.data) >= length:
                del client.data[:length]
                client.number += 1
                client.socket.sendall(client.ask(features, client.number))
        time.sleep(max(0, 0.02 - (time.monotonic() - start)))


def paced(transport, place, seconds, result):
    """What a client gets that reads 64 KiB a second, as a part of that."""
    client, got, number = TRANSPORTS[transport](place), 0, 0
    client.begin(400)
    data, start = bytearray(), time.monotonic()
    client.socket.sendall(client.ask(400, 0))
    client.socket.setblocking(False)
    while (passed := time.monotonic() - start) < seconds:
        allowed = int(passed * (64 << 10)) - got
        try:
            part = client.socket.recv(max(1, allowed)) if allowed > 0 else b""
        except BlockingIOError:
            part = b""
        except OSError:
            break
        got += len(part)
        data += part
        length = client.length(data)
        if length is not None and len(data) >= length:
            del data[:length]
            number += 1
            client.socket.sendall(client.ask(400, number))
        time.sleep(0.02)
    result.append(got / (seconds * (64 << 10)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", default=os.path.join(ROOT, ".build/release/clusterd"))
    parser.add_argument("--seconds", type=float, default=4, help="of each measurement")
    parser.add_argument("--readers", type=int, default=150)
    parser.add_argument("--size", type=int, default=400, help="of the slow readers' answers, in KB")
    parser.add_argument("transport", nargs="*", default=list(TRANSPORTS))
    arguments = parser.parse_args()
    print(f"{arguments.readers} slow readers of {arguments.size} KB; p99 beside them, and how many times that alone")
    print("transport  readers  " + "".join(f"{size:>18}" for size in SIZES) + "  64 KiB/s   memory   queued", flush=True)
    for transport in arguments.transport:
        for kind, pace in PACES.items():
            place = Place(os.path.abspath(arguments.program))
            alone = {size: p99(transport, place, features, arguments.seconds) for size, features in SIZES.items()}
            before, ready, most, rate, stop = place.memory(), multiprocessing.Event(), [0, 0], [], threading.Event()
            kept = "http" if transport == "gzip" else transport
            readers = multiprocessing.Process(
                target=slow, args=(kept, place, arguments.readers, arguments.size, pace, ready), daemon=True)
            readers.start()
            ready.wait(PATIENCE)

            def watch():
                while not stop.wait(0.1):
                    most[:] = max(most[0], place.memory()), max(most[1], place.queued())

            watcher = threading.Thread(target=watch)
            watcher.start()
            prober = threading.Thread(
                target=paced, args=(transport, place, arguments.seconds * len(SIZES), rate))
            prober.start()
            beside = {size: p99(transport, place, features, arguments.seconds) for size, features in SIZES.items()}
            prober.join()
            stop.set()
            watcher.join()
            readers.kill()
            readers.join()
            place.end()
            cells = "".join(f"{beside[size]:9.1f} ms {beside[size] / alone[size]:4.1f}×" for size in SIZES)
            print(f"{transport:10} {kind:8} {cells}   {(rate or [0])[0]:6.2f}  {most[0] - before:4} MiB  {most[1]:4} MiB", flush=True)


main()
