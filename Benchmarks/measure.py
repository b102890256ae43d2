# SPDX-License-Identifier: MIT
"""Makes the data, runs clusterd and its peers on them, and writes a table and a picture. See Benchmarks/run."""
import json, os, random, shutil, signal, socket, statistics, struct, subprocess, sys, tempfile, time

import cancel, plot, rate

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, ".build", "release")
RESULTS = os.path.join(ROOT, "Benchmarks", "results.md")
# What the rows that are measured last begin with.
LAST_ROWS = "| work after the cancel of"
BENCH = os.path.join(ROOT, "Benchmarks", ".build", "release", "ClusterBenchmarks")
CACHE = os.environ.get("CLUSTERD_BENCHMARK_DATA", os.path.join(tempfile.gettempdir(), "clusterd-benchmarks"))
SIZES = [100_000, 1_000_000] + ([10_000_000] if "--large" in sys.argv else [])


def places(kind, count):
    """Uniform points, or points gathered in 2,000 round places of very unequal size."""
    r = random.Random(1)
    towns = [(r.uniform(-170, 170), r.uniform(-55, 70), 0.02 + 2 * r.random() ** 4) for _ in range(2000)]
    chosen = r.choices(range(2000), [1 / (i + 3) for i in range(2000)], k=count) if kind == "gathered" else None
    for i in range(count):
        if kind == "uniform":
            x, y = r.uniform(-180, 180), r.uniform(-80, 80)
        else:
            a, b, s = towns[chosen[i]]
            x, y = max(-180, min(180, a + r.gauss(0, s))), max(-84.0, min(84.0, b + r.gauss(0, s)))
        yield round(x, 7), round(y, 7), r


def make(kind, count):
    os.makedirs(CACHE, exist_ok=True)
    raw, text = (os.path.join(CACHE, f"{kind}-{count}.{end}") for end in ("bin", "geojson"))
    if not os.path.exists(text):
        categories = ["school", "cafe", "hospital", "fuel", "hotel", "museum"]
        with open(raw + ".new", "wb") as binary, open(text + ".new", "w") as file:
            file.write('{"type":"FeatureCollection","features":[\n')
            for i, (x, y, r) in enumerate(places(kind, count)):
                binary.write(struct.pack("<dd", x, y))
                file.write(("" if i == 0 else ",\n") + json.dumps({"type": "Feature", "id": i, "geometry": {
                    "type": "Point", "coordinates": [x, y]}, "properties": {"name": f"place {i}",
                    "category": categories[r.randrange(6)], "value": r.randrange(1000),
                    "score": round(r.random() * 10, 3)}}, separators=(",", ":")))
            file.write("\n]}")
        os.rename(raw + ".new", raw)
        os.rename(text + ".new", text)
    return raw, text


def peer_python():
    """A virtual environment with supercluster in C++ behind Python, from PyPI."""
    venv = os.path.join(CACHE, "venv")
    python = os.path.join(venv, "bin", "python")
    if subprocess.run([python, "-c", "import pysupercluster"], capture_output=True).returncode if os.path.exists(python) else True:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "setuptools<70", "wheel", "numpy"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-use-pep517",
                        "pysupercluster"], check=True)
    return python


PEER = """
import sys, time, numpy, pysupercluster
d = numpy.fromfile(sys.argv[1], dtype='f8').reshape(-1, 2)
t = time.time(); pysupercluster.SuperCluster(d, min_zoom=0, max_zoom=16, radius=40, extent=512); print(time.time() - t)
"""
NODE = "const fs=require('fs');let t=Date.now();JSON.parse(fs.readFileSync(process.argv[1],'utf8'));console.log((Date.now()-t)/1000)"


class Daemon:
    def __init__(self, *arguments):
        self.folder = tempfile.mkdtemp()
        self.socket = os.path.join(self.folder, "s")
        self.process = subprocess.Popen([os.path.join(BIN, "clusterd"), "--socket", self.socket, "--import-dir", CACHE,
                                         "--log-level", "error", *arguments])
        while subprocess.run([os.path.join(BIN, "clusterctl"), "--socket", self.socket, "health"],
                             capture_output=True).returncode:
            time.sleep(0.02)

    def control(self, *arguments):
        start = time.time()
        output = subprocess.run([os.path.join(BIN, "clusterctl"), "--socket", self.socket, *arguments],
                                capture_output=True, text=True, check=True).stdout
        return time.time() - start, output

    def memory(self, field="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait()
        shutil.rmtree(self.folder)


def first_answer(state):
    """Seconds from a daemon's start on a state directory to its first answer; the daemon is killed then."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "s")
    query = json.dumps({"id": 1, "method": "clusterd.v1.ClusterService/GetClusters", "params": {
        "source": "kept", "bbox": [-20, 30, 50, 65], "zoom": 4}}).encode()
    start = time.time()
    process = subprocess.Popen([os.path.join(BIN, "clusterd"), "--socket", path, "--state-dir", state,
                                "--log-level", "error"])
    with socket.socket(socket.AF_UNIX) as connection:
        while True:
            try:
                connection.connect(path)
                break
            except OSError:
                time.sleep(0.0005)
        connection.sendall(b"\0" + struct.pack(">I", len(query)) + query)
        length = struct.unpack(">BI", connection.recv(5, socket.MSG_WAITALL))[1]
        answer = connection.recv(length, socket.MSG_WAITALL)
    taken = time.time() - start
    process.kill()
    process.wait()
    shutil.rmtree(folder)
    assert "features" in json.loads(answer)["result"]
    return taken


def restart(text, label, rows, load):
    """What keeping a source costs, and how soon it answers after a kill."""
    state = tempfile.mkdtemp()
    daemon = Daemon("--state-dir", state)
    daemon.control("create", "kept")
    kept, _ = daemon.control("load", "kept", text)
    daemon.stop(signal.SIGKILL)
    answers = [first_answer(state) for _ in range(7)]
    size = sum(os.path.getsize(os.path.join(state, "sources/kept", name))
               for name in os.listdir(os.path.join(state, "sources/kept"))) / 2**20
    shutil.rmtree(state)
    rows.append((f"process start to first answer after kill -9, {label}", f"{1000 * statistics.median(answers):.0f} ms",
                 f"loading the file {load:.2f} s", load / statistics.median(answers)))
    rows.append((f"load kept on disk, synced, {label}", f"{kept:.2f} s", f"kept in memory {load:.2f} s", kept / load))
    rows.append((f"on disk, {label}", f"{size:.0f} MiB", f"the file {os.path.getsize(text) / 2**20:.0f} MiB", None))


def watch(daemon, source, label, rows):
    """What many watched viewports of a source that changes cost, and how old what they show is."""
    for updates in (4, 100):
        told = json.loads(daemon.control("bench", source, "--watch", "1000", "--updates", str(updates),
                                         "--duration", "10", "--json")[1])
        seconds, arrival = told["seconds"], told["arrivalMs"]
        name = f"1,000 viewports, {updates} updates/s, {label}"
        rows.append((f"{name}: an update answered to shown, p50; p99", f"{arrival['p50']:.1f} ms; {arrival['p99']:.1f} ms", "", None))
        rows.append((f"{name}: changes sent", f"{told['changes'] / seconds:,.0f}/s", "", None))
        rows.append((f"{name}: the daemon", f"{100 * told['processorSeconds'] / seconds:.0f}% of a core, "
                     f"{told['memoryBytes'] / 2**20:.0f} MiB", "", None))


AGGREGATES = [x for pair in (("sum", '["+",["get","value"]]'), ("best", '["max",["get","score"]]'),
                             ("worst", '["min",["get","score"]]'),
                             ("cafes", '["+",["case",["==",["get","category"],"cafe"],1,0]]'))
              for x in ("--cluster-property", "=".join(pair))]


def measure(kind, count, python, rows, curve):
    raw, text = make(kind, count)
    peer = float(subprocess.run([python, "-c", PEER, raw], capture_output=True, text=True, check=True).stdout)
    bench = {}
    for line in subprocess.run([BENCH, raw], capture_output=True, text=True, check=True).stdout.splitlines():
        name, value, unit = line.split("\t")
        bench[name] = (float(value), unit)
    build = bench["build"][0] / 1000
    curve.append((kind, count, peer, build))
    label = f"{kind}, {count:,} points"
    rows.append((f"index built, {label}", f"{build * 1000:.0f} ms", f"supercluster in C++ {peer:.2f} s", peer / build))
    if count != 1_000_000:
        return
    for name, (value, unit) in bench.items():
        if name != "build":
            beside = (f"a rebuild by supercluster in C++ {peer:.2f} s", 1000 * peer / value) if name.startswith("update of") else ("", None)
            rows.append((f"{name}, {label}", f"{value:.2f} {unit}", *beside))
    size = os.path.getsize(text) / 2**20
    daemon = Daemon()
    idle = daemon.memory()
    daemon.control("create", "loaded")
    load, _ = daemon.control("load", "loaded", text)
    held, peak = daemon.memory() - idle, daemon.memory("VmHWM") - idle
    parse = None
    if shutil.which("node"):
        parse = float(subprocess.run(["node", "--max-old-space-size=8000", "-e", NODE, text], capture_output=True,
                                     text=True, check=True).stdout)
    rows.append((f"file to first answer (load), {label}", f"{load:.2f} s",
                 f"node's JSON.parse alone {parse:.2f} s" if parse else "", parse and parse / load))
    restart(text, label, rows, load)
    rows.append((f"memory held, {label}", f"{held:.0f} MiB", f"the file {size:.0f} MiB", size / held))
    rows.append((f"peak while loading, {label}", f"{peak:.0f} MiB", "", None))
    daemon.control("delete", "loaded")
    imported, _ = daemon.control("import", "imported", text)
    rows.append((f"clusterctl import, {label}", f"{imported:.2f} s", "", None))
    plain = json.loads(daemon.control("source", "imported", "--json")[1])["buildMs"]
    watch(daemon, "imported", label, rows)
    daemon.control("delete", "imported")
    daemon.control("import", "aggregated", text, *AGGREGATES)
    with_four = json.loads(daemon.control("source", "aggregated", "--json")[1])["buildMs"]
    rows.append((f"build with four aggregates, {label}", f"{with_four:.0f} ms", f"without {plain:.0f} ms", with_four / plain))
    daemon.stop()


def picture(curve):
    """Time against number of points."""
    series = [(f"{name}, {kind}", colour, [(row[1], row[column]) for row in curve if row[0] == kind])
              for kind, column, colour, name in (("gathered", 2, "#c33", "supercluster in C++"), ("uniform", 2, "#e98", "supercluster in C++"),
                                                 ("gathered", 3, "#06c", "clusterd"), ("uniform", 3, "#6bd", "clusterd"))]
    plot.chart(os.path.join(ROOT, "Benchmarks", "build.svg"), "Building the index: seconds against number of points", series,
               plot.counts(5, 7), plot.seconds(-2, 2))


def kept(last):
    """The rows behind those of an earlier run: other scripts measured them (publish.py, formats.py, http_rate.py, transitions.py, scale.py)."""
    with open(RESULTS) as file:
        lines = file.read().splitlines()
    return lines[1 + max((number for number, line in enumerate(lines) if line.startswith(last)), default=len(lines) - 1):]


def main():
    python, rows, curve = peer_python(), [], []
    for kind in ("gathered", "uniform"):
        for count in SIZES:
            measure(kind, count, python, rows, curve)
    rows += rate.rows(BIN)
    rows += cancel.rows(BIN, make("gathered", 1_000_000)[1])
    table = ["| what | clusterd | beside it | ratio |", "| --- | --- | --- | --- |"]
    table += [f"| {a} | {b} | {c} | {d:.1f} |" if d else f"| {a} | {b} | {c} | |" for a, b, c, d in rows]
    table += kept(LAST_ROWS)
    with open(RESULTS, "w") as file:
        file.write("\n".join(table) + "\n")
    picture(curve)
    print("\n".join(table))


if __name__ == "__main__":
    main()
