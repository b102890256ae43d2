# SPDX-License-Identifier: MIT
"""Windows, top lists and histograms of views, as calls over the Unix socket, beside the same questions as filters (which
cluster again) and as PostgreSQL's ORDER BY … LIMIT with an index, in one run: medians and 95th percentiles. Then updates
with two indexed properties beside updates without, and answers of a watch whose window moves.
Alone: python3 Benchmarks/windows.py [BIN] [POINTS], with the folder of release binaries. For PostgreSQL, the folder of its
programs as PG_BIN; without it that line is left out."""
import json, os, random, shutil, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients", "python", "src"))
import clusterd  # noqa: E402

YEAR = 365.25 * 86_400_000
START = 1.7e12
TIMES = 200


def features(count):
    source = random.Random(33)
    towns = [(source.uniform(-170, 170), source.uniform(-55, 65), source.lognormvariate(-2.5, 1)) for _ in range(max(50, count // 500))]
    for number in range(count):
        x, y, size = towns[int(len(towns) * source.random() ** 2)]
        longitude = max(-180.0, min(180.0, x + source.gauss(0, size)))
        latitude = max(-85.0, min(85.0, y + source.gauss(0, size)))
        yield (number, round(longitude, 6), round(latitude, 6), round(START + source.random() * YEAR),
               round(2.718281828 ** (source.random() * 16)))


def write(count, path):
    with open(path, "w") as file:
        for number, x, y, moment, size in features(count):
            file.write(f'{{"type":"Feature","id":{number},"geometry":{{"type":"Point","coordinates":[{x},{y}]}},'
                       f'"properties":{{"t":{moment},"size":{size}}}}}\n')


def clock(label, times, rows, body):
    taken = []
    for turn in range(times):
        start = time.perf_counter()
        body(turn)
        taken.append((time.perf_counter() - start) * 1000)
    taken.sort()
    rows.append((label, statistics.median(taken), taken[int(len(taken) * 0.95)]))
    print(f"{label:62} median {rows[-1][1]:8.3f} ms   p95 {rows[-1][2]:8.3f} ms", flush=True)


def boxes(zoom, places):
    """Views of 1024 × 768 pixels around features."""
    pixel = 360 / (512 * 2 ** zoom)
    return [[max(-180, x - 512 * pixel), max(-85, y - 384 * pixel), min(180, x + 512 * pixel), min(85, y + 384 * pixel)]
            for x, y in places]


def window(source):
    start = START + source.random() * 0.9 * YEAR
    return {"time": [start, start + YEAR / 10]}


def queries(client, count, rows):
    source = random.Random(5)
    world = [-180, -85, 180, 85]
    places = [(x, y) for number, x, y, _, _ in features(min(count, 5000)) if number % 5 == 0]
    for zoom in (3, 6, 9):
        some = boxes(zoom, source.sample(places, TIMES))
        shown = [len(client.call("ClusterService/GetClusters", {"source": "p", "bbox": box, "zoom": zoom})["features"]) for box in some[:20]]
        name = f"zoom {zoom}, {round(statistics.mean(shown))} features"
        clock(f"view, {name}", TIMES, rows, lambda turn: client.call(
            "ClusterService/GetClusters", {"source": "p", "bbox": some[turn], "zoom": zoom}))
        clock(f"view in a window, {name}", TIMES, rows, lambda turn: client.call(
            "ClusterService/GetClusters", {"source": "p", "bbox": some[turn], "zoom": zoom, "window": window(source)}))
        clock(f"20 top features, {name}", TIMES, rows, lambda turn: client.call(
            "ClusterService/TopFeatures", {"source": "p", "bbox": some[turn], "by": "size"}))
        clock(f"histogram of 64 bins, {name}", TIMES, rows, lambda turn: client.call(
            "ClusterService/GetHistogram", {"source": "p", "bbox": some[turn], "property": "time", "bins": 64}))
    clock("20 top features of the world", TIMES, rows, lambda turn: client.call(
        "ClusterService/TopFeatures", {"source": "p", "bbox": world, "by": "size"}))
    clock("histogram of 64 bins of the world", TIMES, rows, lambda turn: client.call(
        "ClusterService/GetHistogram", {"source": "p", "bbox": world, "property": "time", "bins": 64}))
    clock("histogram of the world in a window of another property", 10, rows, lambda turn: client.call(
        "ClusterService/GetHistogram", {"source": "p", "bbox": world, "property": "size", "bins": 64, "window": window(source)}))

    def filtered(turn):
        low, high = window(source)["time"]
        client.call("ClusterService/GetClusters", {
            "source": "p", "bbox": world, "zoom": 3,
            "filter": ["all", [">=", ["get", "t"], low], ["<", ["get", "t"], high]]})
    clock("the same window as a filter: the world at zoom 3", 3, rows, filtered)


def postgres(count, rows):
    programs = os.environ.get("PG_BIN")
    if not programs:
        return print("PG_BIN is not set: PostgreSQL is left out")
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o777)
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    data = os.path.join(folder, "data")
    try:
        subprocess.run(user + [f"{programs}/initdb", "-D", data, "-A", "trust"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(user + [f"{programs}/pg_ctl", "-D", data, "-w", "-o", f"-k {folder} -c listen_addresses='' -c shared_buffers=1GB", "start"],
                       check=True, stdout=subprocess.DEVNULL)
        def sql(text, rows=None):
            return subprocess.run(user + [f"{programs}/psql", "-h", folder, "-d", "postgres", "-qAt", "-c", text], input=rows,
                                  check=True, capture_output=True, text=True).stdout
        sql("CREATE TABLE p (id int, x float8, y float8, t float8, size float8)")
        table = "\n".join("\t".join(map(str, row)) for row in features(count)) + "\n"
        sql("COPY p FROM STDIN", table)
        sql("CREATE INDEX ON p (size)")
        sql("CREATE INDEX ON p USING gist (point(x, y))")
        sql("VACUUM ANALYZE p")
        places = [(x, y) for number, x, y, _, _ in features(5000) if number % 50 == 0]
        for zoom in (3, 6, 9):
            taken = []
            for west, south, east, north in boxes(zoom, places[:50]):
                plan = sql(f"EXPLAIN (ANALYZE, TIMING OFF) SELECT id FROM p WHERE point(x, y) <@ box(point({west},{south}),point({east},{north})) "
                           "ORDER BY size DESC LIMIT 20")
                taken.append(float(plan.rsplit("Execution Time: ", 1)[1].split()[0]))
            taken.sort()
            rows.append((f"PostgreSQL, 20 top rows, zoom {zoom}", statistics.median(taken), taken[int(len(taken) * 0.95)]))
            print(f"{rows[-1][0]:62} median {rows[-1][1]:8.3f} ms   p95 {rows[-1][2]:8.3f} ms", flush=True)
    finally:
        subprocess.run(user + [f"{programs}/pg_ctl", "-D", data, "-m", "immediate", "stop"], stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


def updates(client, rows):
    source = random.Random(9)

    def change(name):
        def one(turn):
            some = [{"type": "Feature", "id": source.randrange(100_000), "properties": {"t": START + turn, "size": turn},
                     "geometry": {"type": "Point", "coordinates": [source.uniform(-170, 170), source.uniform(-60, 70)]}} for _ in range(100)]
            client.call("SourceService/UpdateFeatures", {"source": name, "upsert": some})
        return one
    for _ in range(2):
        clock("100 updates, two indexed properties", 60, rows, change("p"))
        clock("100 updates, none", 60, rows, change("plain"))


def main():
    binaries = sys.argv[1] if len(sys.argv) > 1 else ".build/release"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    folder = tempfile.mkdtemp(prefix="w")
    path, text = os.path.join(folder, "s"), os.path.join(folder, "p.ndjson")
    daemon = None
    rows = []
    try:
        write(count, text)
        daemon = subprocess.Popen([os.path.join(binaries, "clusterd"), "--socket", path, "--log-level", "error"])
        while not os.path.exists(path):
            time.sleep(0.02)
        control = [os.path.join(binaries, "clusterctl"), "--socket", path, "import"]
        subprocess.run(control + ["plain", text], check=True)
        subprocess.run(control + ["p", text, "--indexed-property", 'time=["get","t"]', "--indexed-property", 'size=["get","size"]'], check=True)
        with clusterd.Client(path) as client:
            for name in ("plain", "p"):
                described = client.call("SourceService/GetSource", {"source": name})
                print(name, "memoryBytes per point", described["memoryBytes"] / count, "buildMs", described["buildMs"])
            queries(client, count, rows)
            updates(client, rows)
        postgres(count, rows)
    finally:
        if daemon:
            daemon.terminate()
            daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
