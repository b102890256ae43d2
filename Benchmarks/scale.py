#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How load, memory, queries, updates and restart grow with the number of points.

    python3 Benchmarks/scale.py POINTS... [--bin DIR] [--most-memory GIB] [--keep]

POINTS are counts, for example 1000000 10000000 100000000. Each is generated as GeoJSON lines (184 bytes a point), loaded
with a state directory (175 bytes a point), and deleted afterwards unless --keep is given. The rows of these counts in
Benchmarks/results.md are replaced, and Benchmarks/scale.svg is drawn from all rows there.

The daemon is ended if its own memory (RssAnon) passes --most-memory, or if the machine has less than 1.5 GiB left. To drop
the page cache takes root; without it the row of dropped caches is left out.
"""
import argparse, array, json, os, random, re, shutil, signal, statistics, subprocess, tempfile, threading, time

import plot, results
from cancel import Caller
from measure import CACHE, PEER, ROOT, peer_python

MARK = "| scale, "
DROP = "/proc/sys/vm/drop_caches"
SOURCE = {"source": "points"}
NODE = ("const fs=require('fs');let t=Date.now();fs.readFileSync(process.argv[1],'utf8').trim().split('\\n').map(JSON.parse);"
        "console.log((Date.now()-t)/1000)")
NINE_IN_TEN = ["<", ["get", "value"], 900]


class Daemon:
    """A daemon, as a rule with a state directory, and the most memory that it has held."""

    def __init__(self, binaries, folder, most_memory, has_state=True):
        self.socket, self.most_memory = os.path.join(folder, "s"), most_memory
        self.begun = time.monotonic()
        self.process = subprocess.Popen([f"{binaries}/clusterd", "--socket", self.socket, "--import-dir", CACHE,
                                         "--log-level", "error",
                                         *(["--state-dir", os.path.join(folder, "state")] if has_state else [])])
        self.caller = Caller(self.socket)
        self.peak = 0
        self.ended = threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def memory(self, field):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))

    def watch(self):
        while not self.ended.wait(0.05):
            try:
                held = self.memory("RssAnon")
            except (OSError, StopIteration):
                return
            self.peak = max(self.peak, held)
            with open("/proc/meminfo") as file:
                left = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
            if held > self.most_memory or left < 1.5 * 2 ** 30:
                print(f"ended at {held / 2**30:.1f} GiB; the machine has {left / 2**30:.1f} GiB left", flush=True)
                self.process.kill()
                return

    def stop(self, number=signal.SIGTERM):
        self.ended.set()
        self.process.send_signal(number)
        self.process.wait()


def generate(binaries, count):
    path = os.path.join(CACHE, f"scale-{count}.geojsonl")
    if not os.path.exists(path):
        os.makedirs(CACHE, exist_ok=True)
        subprocess.run([f"{binaries}/clusterctl", "generate", "gathered", str(count), "--lines", "-o", path + ".new"], check=True)
        os.rename(path + ".new", path)
    return path


def coordinates(path):
    """A file of longitude and latitude of each point as little-endian doubles."""
    raw = path + ".bin"
    if not os.path.exists(raw):
        with open(path, "rb") as lines, open(raw + ".new", "wb") as file:
            while batch := lines.readlines(1 << 26):
                file.write(array.array("d", (float(value) for line in batch for value in
                                             line[line.index(b"tes\":[") + 6:line.index(b"]}")].split(b","))).tobytes())
        os.rename(raw + ".new", raw)
    return raw


def peer(command, most_memory=None):
    """Seconds that a peer prints; if it fails, how."""
    limit = [] if most_memory is None else ["prlimit", f"--as={int(most_memory)}"]
    ended = subprocess.run([*limit, "timeout", "300", *command], capture_output=True, text=True)
    if ended.returncode == 124:
        return None, "not done in 300 s"
    if ended.returncode:
        reasons = [line for line in ended.stderr.splitlines() if "Error" in line or "terminate" in line] or [f"status {ended.returncode}"]
        return None, f"failed: {reasons[0].strip()}"
    return float(ended.stdout), f"{float(ended.stdout):.2f} s"


def peers(path, most_memory):
    """What peers make of a file, each as (seconds or nil, text): supercluster's index in C++, and node's JSON.parse of all lines."""
    node = (None, "node is not installed")
    if shutil.which("node"):
        node = peer(["node", "-e", NODE, path])
    return peer([peer_python(), "-c", PEER, coordinates(path)], most_memory), node


def places(path, count):
    """Positions of features that lie evenly in a file of lines."""
    chosen, size = random.Random(1), os.path.getsize(path)
    with open(path, "rb") as file:
        for _ in range(count):
            file.seek(chosen.randrange(max(1, size - 4096)))
            file.readline()
            yield json.loads(file.readline())


def views(path, count):
    """Views of 1024 x 768 pixels around features, at all zooms."""
    for place, feature in enumerate(places(path, count)):
        x, y = feature["geometry"]["coordinates"]
        zoom = 3 + place % 12
        width = 360 / 2 ** zoom * 2
        yield {**SOURCE, "bbox": [max(-180, x - width / 2), max(-85, y - width / 3), min(180, x + width / 2), min(85, y + width / 3)],
               "zoom": zoom, "limit": 60}


def seconds(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def quantiles(work, items):
    taken = sorted(seconds(lambda: work(item)) for item in items)
    return statistics.median(taken), taken[min(len(taken) - 1, len(taken) * 99 // 100)]


def view(caller, params):
    caller.call("ClusterService/GetClusters", params)


def update(caller, feature):
    x, y = feature["geometry"]["coordinates"]
    feature["geometry"]["coordinates"] = [min(180, x + 0.001), y]
    caller.call("SourceService/UpdateFeatures", {**SOURCE, "upsert": [feature]})


def drop_cache():
    """Drops the system's page cache; false if that is not permitted."""
    if not os.access(DROP, os.W_OK):
        return False
    os.sync()
    with open(DROP, "w") as file:
        file.write("3")
    return True


def bandwidth(processors=os.cpu_count()):
    """Bytes a second that so many processors read and write together while they copy memory that was touched before."""
    copy = ("import time; a, b = bytes(1 << 28), memoryview(bytearray(1 << 28)); b[:] = a; begun = time.time()\n"
            "for _ in range(4): b[:] = a\nprint(4 * 2 * len(a) / (time.time() - begun))")
    running = [subprocess.Popen(["python3", "-c", copy], stdout=subprocess.PIPE) for _ in range(processors)]
    return sum(float(process.communicate()[0]) for process in running)


def measure(binaries, count, most_memory):
    """Names, values, what stands beside them, and ratios, of one count's rows."""
    path = generate(binaries, count)
    (index_peer, index_text), (_, node_text) = peers(path, 20 * 2 ** 30)
    folder = tempfile.mkdtemp(dir=CACHE)
    daemon = None
    try:
        daemon = Daemon(binaries, folder, most_memory)
        caller = daemon.caller
        caller.call("SourceService/CreateSource", SOURCE)
        world = {**SOURCE, "bbox": [-180, -85, 180, 85], "zoom": 2}
        load = seconds(lambda: (caller.call("SourceService/LoadFile", {**SOURCE, "path": path}), view(caller, world)))
        peak = daemon.peak
        yield "file to first answer; a million points", f"{load:.1f} s; {load * 1e6 / count:.2f} s", f"node's JSON.parse of each line: {node_text}"
        yield "memory of the process, peak; a point", f"{peak / 2**30:.2f} GiB; {peak / count:.0f} B"
        source = caller.call("SourceService/GetSource", SOURCE)
        built = source["buildMs"] / 1000
        yield ("index built; a million points", f"{built:.2f} s; {1e9 * built / count:.0f} ms", f"supercluster in C++: {index_text}",
               f"{index_peer / built:.1f}" if index_peer else "")
        yield "index a point", f"{source['indexBytesPerPoint']:.1f} B"
        yield "memoryBytes; fileBytes", f"{source['memoryBytes'] / 2**30:.2f} GiB; {source['fileBytes'] / 2**30:.2f} GiB"
        result = json.loads(subprocess.run(
            [f"{binaries}/clusterctl", "--socket", daemon.socket, "bench", "points", "-c", "1", "-t", "5", "--json"],
            check=True, capture_output=True, text=True).stdout)
        yield "views over one connection, p50; p99", f"{1e3 * result['latencyMs']['p50']:.0f} µs; {1e3 * result['latencyMs']['p99']:.0f} µs"
        yield "memory held, the process; mapped files", f"{daemon.memory('RssAnon') / 2**30:.2f} GiB; {daemon.memory('RssFile') / 2**30:.2f} GiB"
        sample = list(views(path, 400))
        if drop_cache():
            middle, late = quantiles(lambda params: view(caller, params), sample)
            yield "views by Python after the page cache was dropped, p50; p99", f"{middle * 1e3:.2f} ms; {late * 1e3:.2f} ms"
        middle, late = quantiles(lambda params: view(caller, params), sample)
        yield "the same views again, p50; p99", f"{middle * 1e3:.2f} ms; {late * 1e3:.2f} ms"
        deep = next(params for params in sample if params["zoom"] == 14)
        for state, is_prepared in [("", lambda: True), (", the page cache dropped", drop_cache)]:
            daemon.stop(signal.SIGKILL)
            prepared = is_prepared()
            daemon = Daemon(binaries, folder, most_memory)
            caller = daemon.caller
            times = []
            for params in [world, deep]:
                view(caller, params)
                times.append(f"{time.monotonic() - daemon.begun:.2f} s")
            if prepared:
                yield f"process start to an answer at zoom 2; at zoom 14, after kill -9{state}", "; ".join(times)
        middle, late = quantiles(lambda feature: update(caller, feature), places(path, 200))
        yield "update of one feature, synced, p50; p99", f"{middle * 1e3:.2f} ms; {late * 1e3:.2f} ms"
        # A second index of nearly as many points comes beside the first.
        daemon.most_memory *= 1.5
        passing = seconds(lambda: view(caller, {**world, "filter": NINE_IN_TEN}))
        yield "first answer of a filter that passes nine in ten; peak", f"{passing:.2f} s; {daemon.peak / 2**30:.2f} GiB"
        daemon.stop(signal.SIGKILL)
        daemon = Daemon(binaries, folder, most_memory)
        view(daemon.caller, world)
        yield "process start to first answer after kill -9, 200 updates to replay", f"{time.monotonic() - daemon.begun:.2f} s"
        yield "bandwidth of memory, all processors", f"{bandwidth() / 2**30:.1f} GiB/s"
    finally:
        if daemon:
            daemon.stop(signal.SIGKILL)
        shutil.rmtree(folder)


def picture(lines):
    """Seconds against points, from the rows of all counts."""
    def points(what, column):
        for line in lines:
            found = re.match(rf"\| scale, gathered, ([\d,]+) points: {what}", line)
            # Not the seconds in which a peer was not done.
            value = re.match(r"(?:[^:]*: )?([\d.]+) s\b", line.split("|")[column].strip()) if found else None
            if value:
                yield int(found[1].replace(",", "")), float(value[1])
    series = [(name, colour, sorted(points(what, column))) for name, colour, what, column in (
        ("file to first answer", "#06c", "file to first answer", 2), ("node's JSON.parse alone", "#8ac", "file to first answer", 3),
        ("index built", "#093", "index built", 2), ("supercluster in C++", "#c33", "index built", 3))]
    plot.chart(os.path.join(ROOT, "Benchmarks", "scale.svg"), "Loading with a state directory: seconds against number of points", series,
               plot.counts(5, 8), plot.seconds(-2, 3))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("points", nargs="+", type=int)
    parser.add_argument("--bin", default=os.path.join(ROOT, ".build", "release"))
    parser.add_argument("--most-memory", type=float, default=14, help="GiB")
    parser.add_argument("--keep", action="store_true", help="keep the generated files")
    options = parser.parse_args()
    for count in options.points:
        mark = f"{MARK}gathered, {count:,} points: "
        rows = []
        try:
            for name, value, *beside in measure(options.bin, count, options.most_memory * 2 ** 30):
                beside, ratio = (beside + ["", ""])[:2]
                rows.append(f"{mark}{name} | {value} | {beside} | {ratio} |")
                print(rows[-1], flush=True)
        finally:
            if not options.keep:
                for end in ("", ".bin"):
                    os.remove(os.path.join(CACHE, f"scale-{count}.geojsonl{end}"))
        results.replace(mark, rows)
        picture(results.kept(MARK))


if __name__ == "__main__":
    main()
