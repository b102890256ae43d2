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
import argparse, json, math, os, random, re, shutil, signal, statistics, subprocess, tempfile, threading, time

from cancel import Caller
from measure import CACHE, RESULTS, ROOT

MARK = "| scale, "
DROP = "/proc/sys/vm/drop_caches"
SOURCE = {"source": "points"}
NINE_IN_TEN = ["<", ["get", "value"], 900]


class Daemon:
    """A daemon with a state directory, and the most memory that it has held."""

    def __init__(self, binaries, folder, most_memory):
        self.socket, self.most_memory = os.path.join(folder, "s"), most_memory
        self.begun = time.monotonic()
        self.process = subprocess.Popen([f"{binaries}/clusterd", "--socket", self.socket, "--import-dir", CACHE,
                                         "--log-level", "error", "--state-dir", os.path.join(folder, "state")])
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


def bandwidth():
    """Bytes a second that all processors copy together."""
    copy = "import time; a = bytes(1 << 28); begun = time.time()\nfor _ in range(4): bytearray(a)\nprint(4 * 2 * len(a) / (time.time() - begun))"
    running = [subprocess.Popen(["python3", "-c", copy], stdout=subprocess.PIPE) for _ in range(os.cpu_count())]
    return sum(float(process.communicate()[0]) for process in running)


def measure(binaries, count, most_memory):
    """Names and values of one count's rows."""
    path = generate(binaries, count)
    folder = tempfile.mkdtemp(dir=CACHE)
    daemon = None
    try:
        daemon = Daemon(binaries, folder, most_memory)
        caller = daemon.caller
        caller.call("SourceService/CreateSource", SOURCE)
        world = {**SOURCE, "bbox": [-180, -85, 180, 85], "zoom": 2}
        load = seconds(lambda: (caller.call("SourceService/LoadFile", {**SOURCE, "path": path}), view(caller, world)))
        peak = daemon.peak
        yield "file to first answer; a million points", f"{load:.1f} s; {load * 1e6 / count:.2f} s"
        yield "memory of the process, peak; a point", f"{peak / 2**30:.2f} GiB; {peak / count:.0f} B"
        source = caller.call("SourceService/GetSource", SOURCE)
        yield "index built; a million points", f"{source['buildMs'] / 1000:.2f} s; {source['buildMs'] * 1e6 / count:.0f} ms"
        yield "index a point", f"{source['indexBytesPerPoint']:.1f} B"
        yield "memoryBytes; fileBytes", f"{source['memoryBytes'] / 2**30:.2f} GiB; {source['fileBytes'] / 2**30:.2f} GiB"
        result = json.loads(subprocess.run(
            [f"{binaries}/clusterctl", "--socket", daemon.socket, "bench", "points", "-c", "1", "-t", "5", "--json"],
            check=True, capture_output=True, text=True).stdout)
        yield "views over one connection, p50; p99", f"{1e3 * result['latencyMs']['p50']:.0f} µs; {1e3 * result['latencyMs']['p99']:.0f} µs"
        yield "memory held, the process; mapped files", f"{daemon.memory('RssAnon') / 2**30:.2f} GiB; {daemon.memory('RssFile') / 2**30:.2f} GiB"
        sample = list(views(path, 400))
        if os.access(DROP, os.W_OK):
            os.sync()
            with open(DROP, "w") as file:
                file.write("3")
            middle, late = quantiles(lambda params: view(caller, params), sample)
            yield "views by Python after the page cache was dropped, p50; p99", f"{middle * 1e3:.2f} ms; {late * 1e3:.2f} ms"
        middle, late = quantiles(lambda params: view(caller, params), sample)
        yield "the same views again, p50; p99", f"{middle * 1e3:.2f} ms; {late * 1e3:.2f} ms"
        middle, late = quantiles(lambda feature: update(caller, feature), places(path, 200))
        yield "update of one feature, synced, p50; p99", f"{middle * 1e3:.2f} ms; {late * 1e3:.2f} ms"
        passing = seconds(lambda: view(caller, {**world, "filter": NINE_IN_TEN}))
        yield "first answer of a filter that passes nine in ten; peak", f"{passing:.2f} s; {daemon.peak / 2**30:.2f} GiB"
        daemon.stop(signal.SIGKILL)
        daemon = Daemon(binaries, folder, most_memory)
        view(daemon.caller, world)
        yield "process start to first answer after kill -9", f"{time.monotonic() - daemon.begun:.2f} s"
        yield "bandwidth of memory, all processors", f"{bandwidth() / 2**30:.1f} GiB/s"
    finally:
        if daemon:
            daemon.stop(signal.SIGKILL)
        shutil.rmtree(folder)


def picture(lines):
    """Seconds for a million points against points, from the rows of all counts."""
    series = [("file to first answer", "#06c"), ("index built", "#c33")]
    points = {name: [] for name, _ in series}
    for line in lines:
        for name, _ in series:
            found = re.match(rf"\| scale, gathered, ([\d,]+) points: {name}[^|]*\| ([\d.]+) s;", line)
            if found:
                points[name].append((int(found[1].replace(",", "")), float(found[2])))
    def x(count): return 70 + 500 * (math.log10(count) - 5) / 3
    def y(taken): return 330 - 270 * (math.log10(taken) + 2) / 5
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="640" height="400" font-family="sans-serif" font-size="12">',
           '<rect width="640" height="400" fill="white"/>',
           '<text x="70" y="30" font-size="15">Loading with a state directory: seconds against number of points</text>']
    for power in range(-2, 4):
        out.append(f'<path d="M70 {y(10**power):.0f}H570" stroke="#ddd"/><text x="20" y="{y(10**power)+4:.0f}">{10**power:g} s</text>')
    for power in range(5, 9):
        out.append(f'<text x="{x(10**power)-24:.0f}" y="350">{10**power:,}</text>')
    for place, (name, colour) in enumerate(series):
        line = [(x(count), y(taken)) for count, taken in sorted(points[name])]
        if line:
            out.append(f'<path d="M{" L".join(f"{a:.1f} {b:.1f}" for a, b in line)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>' for a, b in line]
        out.append(f'<text x="{70 + 250 * place}" y="376" fill="{colour}">{name}</text>')
    with open(os.path.join(ROOT, "Benchmarks", "scale.svg"), "w") as file:
        file.write("\n".join(out) + "\n</svg>\n")


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
            for name, value in measure(options.bin, count, options.most_memory * 2 ** 30):
                rows.append(f"{mark}{name} | {value} |  | |")
                print(rows[-1], flush=True)
        finally:
            if not options.keep:
                os.remove(os.path.join(CACHE, f"scale-{count}.geojsonl"))
        with open(RESULTS, encoding="utf-8") as file:
            others = [line.rstrip("\n") for line in file if not line.startswith(mark)]
        with open(RESULTS, "w", encoding="utf-8") as file:
            file.write("\n".join(others + rows) + "\n")
        picture(others + rows)


if __name__ == "__main__":
    main()
