# SPDX-License-Identifier: MIT
"""clusterd's tiles over HTTP beside nginx serving static files of the same bytes, by wrk in one run with alternated rounds:
three tile sizes, and answers of 304. Both have two threads or processes, on the first half of the processors, and wrk has the
other half: where the system puts them would decide otherwise. Rates are medians, and so is the ratio of each round. Then what a thousand WebSocket viewports cost beside a thousand of the protocol's socket, each
time in a new daemon, and what the interface takes while nobody uses it.
Alone: python3 Benchmarks/http_rate.py [BIN] [SECONDS], with the folder of release binaries and the seconds of each round.
Needs nginx and wrk (apt-get install nginx-light wrk)."""
import http.client, json, os, random, re, resource, shutil, socket, statistics, struct, subprocess, sys, tempfile, threading, time

from rate import Server

ROUNDS = 5
WATCH_ROUNDS = 3
PROCESSORS = sorted(os.sched_getaffinity(0))
HALF = max(1, len(PROCESSORS) // 2)
SERVERS, CLIENTS = PROCESSORS[:HALF], PROCESSORS[-HALF:]
CONNECTIONS = 32
VIEWPORTS = 1000
CHANGES = 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def points(count):
    """Points around a few places, with properties as real ones have."""
    source = random.Random(16)
    for number in range(count):
        yield {"type": "Feature", "id": number, "properties": {"name": f"place {number}", "rank": number % 100},
               "geometry": {"type": "Point", "coordinates": [round(source.gauss(10, 0.9), 5), round(source.gauss(50, 0.9), 5)]}}


class Daemon(Server):
    def __init__(self, binaries, folder, is_served=True):
        self.port = free_port()
        self.socket = os.path.join(folder, "s")
        for path in (self.socket, self.socket + ".http"):
            if os.path.exists(path):
                os.unlink(path)
        configuration = os.path.join(folder, "c.json")
        with open(configuration, "w") as file:
            json.dump({"http": {"right": "manage"}, "limits": {"loopThreads": 2}}, file)
        super().__init__(
            [os.path.join(binaries, "clusterd"), "--socket", self.socket, "--config", configuration]
            + (["--http", str(self.port), "--http", f"unix:{self.socket}.http"] if is_served else []), subprocess.DEVNULL)
        if is_served:
            wait(self.port)
        else:
            while not os.path.exists(self.socket):
                time.sleep(0.02)

    def load(self):
        body = "\n".join(json.dumps(point) for point in points(100_000)).encode()
        self.request("POST", "/clusterd.v1.SourceService/CreateSource", '{"source":"s","options":{"maxZoom":8}}',
                     {"Content-Type": "application/json"})
        status, _, text = self.request("PUT", "/sources/s/features", body, {"Content-Type": "application/x-ndjson"})
        assert status == 200, text

    def request(self, method, target, body=None, fields=None):
        client = http.client.HTTPConnection("127.0.0.1", self.port)
        client.request(method, target, body, fields or {})
        answer = client.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def seconds(self):
        """Processor time in the program and in the system."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return [int(field) / os.sysconf("SC_CLK_TCK") for field in fields[11:13]]


def wait(port):
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise SystemExit(f"nothing listens on {port}")


def nginx(folder):
    port = free_port()
    paths = " ".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(os.path.join(folder, "nginx.conf"), "w") as file:
        file.write(f"""daemon off; worker_processes 2; pid {folder}/pid; error_log stderr crit;
events {{ worker_connections 1024; }}
http {{ access_log off; {paths} sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=100;
types {{ application/vnd.mapbox-vector-tile mvt; }}
server {{ listen 127.0.0.1:{port}; root {folder}/files; }} }}
""")
    process = subprocess.Popen(["nginx", "-c", os.path.join(folder, "nginx.conf"), "-p", folder, "-e", "stderr"],
                               stderr=subprocess.DEVNULL)
    wait(port)
    return process, port


def threads(process):
    """The processor time of a program and its children so far, in seconds, and their threads."""
    pids = [process.pid] + [int(pid) for pid in subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()]
    found, spent = [], 0
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found.append(int(thread))
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                spent += int(file.read().split()[0]) / 1e9
    return spent, found


def pin(process, processors):
    for thread in threads(process)[1]:
        os.sched_setaffinity(thread, processors)


def rate(process, port, target, seconds, fields=()):
    """Requests a second, and the server's processor time for each in microseconds."""
    arguments = ["taskset", "-c", ",".join(map(str, CLIENTS)), "wrk", "-t", "2", "-c", str(CONNECTIONS), "-d", f"{seconds}s", f"http://127.0.0.1:{port}{target}"]
    for field in fields:
        arguments += ["-H", field]
    began = threads(process)[0]
    text = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    spent = threads(process)[0] - began
    if re.search(r"Socket errors|Non-2xx", text) and not fields:
        raise SystemExit(text)
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)), spent / requests * 1e6


def show_rates(words, size, daemon, nginx, port, target, file, seconds, daemon_fields=(), other_fields=()):
    """The rates of both, alternated: the medians, and the median of the rounds' ratios."""
    ours, theirs = [], []
    for number in range(ROUNDS):
        # Each is first in every other round.
        for is_ours in (True, False) if number % 2 else (False, True):
            if is_ours:
                ours.append(rate(daemon.process, daemon.port, target, seconds, daemon_fields))
            else:
                theirs.append(rate(nginx, port, file, seconds, other_fields))
    ratios = sorted(one[0] / other[0] for one, other in zip(ours, theirs))
    (own, own_time), (other, other_time) = ([statistics.median(part) for part in zip(*rounds)] for rounds in (ours, theirs))
    print(f"| {words} | {size} | {own:.0f} | {other:.0f} | {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | "
          f"{own_time:.1f} | {other_time:.1f} |", flush=True)


def read_exactly(client, count):
    data = b""
    while len(data) < count:
        more = client.recv(count - len(data))
        if not more:
            raise SystemExit("closed")
        data += more
    return data


class WebSocket:
    """A watch over HTTP."""

    def __init__(self, daemon, box):
        self.client = self.connect(daemon)
        query = f"bbox={','.join(map(str, box))}&zoom=7"
        self.client.sendall((f"GET /sources/s/watch?{query} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.client.recv(1)
        assert head.startswith(b"HTTP/1.1 101"), head

    def connect(self, daemon):
        return socket.create_connection(("127.0.0.1", daemon.port))

    def item(self):
        _, length = read_exactly(self.client, 2)
        if length == 126:
            length, = struct.unpack(">H", read_exactly(self.client, 2))
        elif length == 127:
            length, = struct.unpack(">Q", read_exactly(self.client, 8))
        return read_exactly(self.client, length)


class UnixWebSocket(WebSocket):
    """The same over a Unix socket, as a proxy on the same machine may do."""

    def connect(self, daemon):
        client = socket.socket(socket.AF_UNIX)
        client.connect(daemon.socket + ".http")
        return client


class Socket:
    """A watch over the protocol's socket."""

    def __init__(self, daemon, box):
        self.client = socket.socket(socket.AF_UNIX)
        self.client.connect(daemon.socket)
        call = {"id": 1, "method": "clusterd.v1.ClusterService/WatchClusters", "params": {"source": "s", "bbox": box, "zoom": 7}}
        text = json.dumps(call).encode()
        self.client.sendall(struct.pack(">BI", 0, len(text)) + text)

    def item(self):
        _, length = struct.unpack(">BI", read_exactly(self.client, 5))
        return read_exactly(self.client, length)


def watches(binaries, folder, kind):
    """Processor seconds of a daemon for a thousand viewports that all see each of some changes, and memory per viewport."""
    daemon = Daemon(binaries, folder)
    try:
        daemon.load()
        time.sleep(1)
        return watch(daemon, kind)
    finally:
        daemon.stop()


def watch(daemon, kind):
    before_memory = daemon.memory()
    source = random.Random(1)
    viewports = []
    for _ in range(VIEWPORTS):
        x, y = source.uniform(9, 10), source.uniform(49, 50)
        viewports.append(kind(daemon, [x, y, x + 1, y + 1]))
    for viewport in viewports:
        viewport.item()
    memory = daemon.memory() - before_memory
    began = daemon.seconds()
    for change in range(CHANGES):
        feature = {"type": "Feature", "id": 10_000_000 + change % 2, "properties": {},
                   "geometry": {"type": "Point", "coordinates": [10.0 + change * 1e-3, 50.0]}}
        status, _, _ = daemon.request("POST", "/clusterd.v1.SourceService/UpdateFeatures",
                                      json.dumps({"source": "s", "upsert": [feature]}), {"Content-Type": "application/json"})
        assert status == 200
        for viewport in viewports:
            viewport.item()
    cost = [now - before for now, before in zip(daemon.seconds(), began)]
    for viewport in viewports:
        viewport.client.close()
    return *cost, memory / VIEWPORTS


def idle_memory(binaries, folder, is_served):
    daemon = Daemon(binaries, folder, is_served)
    try:
        time.sleep(1)
        return daemon.memory()
    finally:
        daemon.stop()


def main():
    binaries = sys.argv[1] if len(sys.argv) > 1 else ".build/release"
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder = tempfile.mkdtemp()
    os.mkdir(os.path.join(folder, "files"))
    os.chmod(folder, 0o755)
    daemon = Daemon(binaries, folder)
    process, other = nginx(folder)
    try:
        daemon.load()
        pin(daemon.process, SERVERS)
        pin(process, SERVERS)
        print("| tile | bytes | clusterd/s | nginx/s | ratio | clusterd, µs of processor | nginx, µs |\n"
              "| --- | ---: | ---: | ---: | --- | ---: | ---: |")
        for tile in ("7/67/43", "11/1081/694", "9/270/173"):
            target = f"/sources/s/tiles/{tile}.mvt"
            status, fields, content = daemon.request("GET", target)
            if status != 200:
                continue
            name = tile.replace("/", "-") + ".mvt"
            with open(os.path.join(folder, "files", name), "wb") as file:
                file.write(content)
            show_rates(tile, len(content), daemon, process, other, target, f"/{name}", seconds)
        tags = [("If-None-Match: " + fields["ETag"],)]
        client = http.client.HTTPConnection("127.0.0.1", other)
        client.request("GET", f"/{name}")
        tags.append(("If-None-Match: " + client.getresponse().getheader("ETag"),))
        show_rates("304", 0, daemon, process, other, target, f"/{name}", seconds, *tags)
        daemon.stop()
        print(f"\n{VIEWPORTS} viewports, {CHANGES} changes that all of them see; a new daemon's processor time and memory a viewport:\n")
        kinds = {"socket": Socket, "WebSocket over TCP": WebSocket, "WebSocket over a Unix socket": UnixWebSocket}
        results = {name: [] for name in kinds}
        for _ in range(WATCH_ROUNDS):
            for name, kind in kinds.items():
                results[name].append(watches(binaries, folder, kind))
        for name, values in results.items():
            user, system, memory = (sorted(value[part] for value in values)[WATCH_ROUNDS // 2] for part in range(3))
            print(f"- {name}: {user:.2f} s in the program and {system:.2f} s in the system, {memory / 1024:.1f} KiB")
        with_http, without = (
            sorted(idle_memory(binaries, folder, is_served) for _ in range(WATCH_ROUNDS))[WATCH_ROUNDS // 2] for is_served in (True, False))
        print(f"\nMemory of a daemon without sources: {with_http / 1024:.0f} KiB with --http, {without / 1024:.0f} KiB without")
    finally:
        daemon.stop()
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
