# SPDX-License-Identifier: MIT
"""clusterd's answers a second beside redis-server's GET of a value of the same size, over Unix sockets, by
clusterctl bench in one run; slow readers; and what idle connections cost. Alone: python3 Benchmarks/rate.py
[BIN] [SECONDS], with the folder of release binaries and the seconds of each measurement."""
import json, os, resource, shutil, socket, struct, subprocess, sys, tempfile, time

ROUNDS = 3
IDLE = 4000


class Server:
    """A process in a folder of its own that serves a socket there."""

    def __init__(self, arguments, log):
        self.process = subprocess.Popen(arguments, stdout=log, stderr=log)

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def control(binaries, path, *arguments):
    return subprocess.run([os.path.join(binaries, "clusterctl"), "--socket", path, *arguments],
                          capture_output=True, text=True, check=True).stdout


def wait_for(path):
    for _ in range(500):
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(path) == 0:
                return
        time.sleep(0.02)
    raise SystemExit(f"nothing listens on {path}")


def frame(message):
    text = json.dumps(message).encode()
    return struct.pack(">BI", 0, len(text)) + text


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client


def check(client, number):
    """A call and its answer, so that the daemon has seen the connection."""
    client.sendall(frame({"id": number, "method": "clusterd.v1.ServerService/Check"}))
    return client.recv(4096)


def idle_cost(daemon, path):
    """Bytes of resident memory that a connection costs which has had an answer and is idle now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(IDLE, hard - 100)
    first = connect(path)
    check(first, 1)
    before = daemon.memory()
    clients = [connect(path) for _ in range(count)]
    for number, client in enumerate(clients):
        check(client, number + 1)
    cost = (daemon.memory() - before) / count
    for client in clients:
        client.close()
    return count, cost


def slow_readers(daemon, path, bench):
    """Growth under 20 clients who ask for hundreds of MB and read nothing; others' p99 with and without them."""
    quiet = bench()["latencyMs"]["p99"]
    before = daemon.memory()
    world = {"source": "bench", "bbox": [-180, -90, 180, 90], "zoom": 9}
    clients = [connect(path) for _ in range(20)]
    for client in clients:
        client.setblocking(False)
        asked = b"".join(frame({"id": number + 1, "method": "clusterd.v1.ClusterService/GetClusters",
                                "params": world}) for number in range(20))
        client.send(asked)
    peak = 0
    end = time.time() + 3
    while time.time() < end:
        peak = max(peak, daemon.memory())
        time.sleep(0.05)
    beside = bench()["latencyMs"]["p99"]
    peak = max(peak, daemon.memory())
    for client in clients:
        client.close()
    return (peak - before) / 2**20, quiet, beside


def rows(binaries, seconds=4):
    folder = tempfile.mkdtemp()
    path, redis_path = os.path.join(folder, "c"), os.path.join(folder, "r")
    log = open(os.path.join(folder, "log"), "w")
    servers = [Server([os.path.join(binaries, "clusterd"), "--socket", path, "--log-level", "error"], log)]
    try:
        if shutil.which("redis-server"):
            servers.append(Server(["redis-server", "--port", "0", "--unixsocket", redis_path, "--save", "",
                                   "--appendonly", "no"], log))
            wait_for(redis_path)
        wait_for(path)
        points = os.path.join(folder, "points")
        subprocess.run([os.path.join(binaries, "clusterctl"), "generate", "gathered", "1000000", "-o", points],
                       check=True)
        control(binaries, path, "create", "bench")
        control(binaries, path, "import", "bench", points)
        os.remove(points)
        return list(measured(servers, binaries, path, redis_path, seconds))
    finally:
        for server in servers:
            server.stop()
        log.close()
        shutil.rmtree(folder)


def measured(servers, binaries, path, redis_path, seconds):
    def bench(connections, *more):
        return json.loads(control(binaries, path, "bench", "--json", "-c", str(connections), "-t", str(seconds), *more))

    # The zooms of these viewports give answers of some 12 KB, 60 features each.
    viewports = ("bench", "-z", "3-6", "-n", "60")
    # Many connections are a matter of the rate, a single one of how long an answer takes.
    def share_of_rate(ours, theirs):
        return ours["perSecond"] / theirs["perSecond"]

    def share_of_time(ours, theirs):
        return theirs["latencyMs"]["p50"] / ours["latencyMs"]["p50"]

    for connections, share in ((16, share_of_rate), (1, share_of_time)):
        pairs = []
        for _ in range(ROUNDS):
            ours = bench(connections, *viewports)
            size = str(int(ours["averageBytes"]))
            theirs = bench(connections, "--redis", redis_path, "--value-size", size) if len(servers) > 1 else None
            pairs.append((ours, theirs))
        ours, theirs = sorted(pairs, key=lambda pair: share(*pair) if pair[1] else 0)[ROUNDS // 2]
        what = f"{ours['averageBytes'] / 1000:.1f} KB viewports, {connections} connection{'s' if connections > 1 else ''}"
        p50 = ours["latencyMs"]["p50"] * 1000
        beside = ""
        ratio = None
        if theirs:
            ratio = share(ours, theirs)
            beside = f"redis-server GET {theirs['perSecond']:,.0f}/s, p50 {theirs['latencyMs']['p50'] * 1000:.0f} µs"
        yield f"rate, {what}", f"{ours['perSecond']:,.0f}/s, p50 {p50:.0f} µs", beside, ratio
    count, cost = idle_cost(servers[0], path)
    yield f"an idle connection, of {count:,}", f"{cost / 1024:.1f} KiB", "", None
    growth, quiet, beside = slow_readers(servers[0], path, lambda: bench(4, *viewports))
    yield "memory under 20 clients that never read", f"{growth:.0f} MiB", "", None
    yield "others' p99 beside them", f"{beside:.2f} ms", f"alone {quiet:.2f} ms", quiet / beside


if __name__ == "__main__":
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    binaries = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, ".build", "release")
    for name, value, beside, ratio in rows(binaries, float(sys.argv[2]) if len(sys.argv) > 2 else 4):
        print(f"{name}: {value}" + (f"; {beside}" if beside else "") + (f"; ratio {ratio:.2f}" if ratio else ""), flush=True)
