#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Answers in columns: their weight, and what Python needs to have them as a DataFrame.

    Benchmarks/columns.py PROGRAM [POINTS]     the daemon; 100,000 points by default

Needs pyarrow and pandas, here or in .build/test-python.
"""
import http.client, json, os, random, socket, statistics, subprocess, sys, tempfile, time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [f"{ROOT}/clients/python/src"]
sys.path.append(f"{ROOT}/.build/test-python")
import clusterd
import pandas as pd
import pyarrow as pa
import pyarrow.ipc

ARROW, GEOJSON = "application/vnd.apache.arrow.stream", "application/geo+json"
RUNS = 15


def features(count):
    random.seed(1)
    for number in range(count):
        yield {"type": "Feature", "id": number,
               "geometry": {"type": "Point", "coordinates": [round(random.uniform(-180, 180), 5), round(random.uniform(-60, 70), 5)]},
               "properties": {"name": f"place {number}", "kind": random.choice(["school", "shop", "park"]),
                              "height": round(random.uniform(0, 60), 1), "year": random.randint(1900, 2026)}}


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def get(path, target, accept, encoding="identity"):
    connection = Unix(path)
    connection.request("GET", target, headers={"Accept": accept, "Accept-Encoding": encoding})
    data = connection.getresponse().read()
    connection.close()
    return data


def median(call):
    """Milliseconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    with tempfile.TemporaryDirectory(prefix="c") as folder:
        path = f"{folder}/s"
        daemon = subprocess.Popen([program, "--socket", path], stderr=subprocess.DEVNULL)
        try:
            while not os.path.exists(path):
                time.sleep(0.01)
            client = clusterd.connect(path)
            client.create_source("places", {"maxZoom": 16, "radius": 1e3, "minZoom": 0, "extent": 512})
            client.import_features("places", features(count))
            measure(client, path, count)
        finally:
            daemon.terminate()
            daemon.wait()


def measure(client, path, count):
    clusters = max(client.clusters("places", zoom=0).features, key=lambda one: one.count)
    cluster, total = clusters.properties["cluster_id"], clusters.count
    targets = {
        "clusters": "/sources/places/clusters?zoom=6", "points": "/sources/places/clusters?zoom=17",
        "leaves": f"/sources/places/clusters/{cluster}/leaves?limit=0", "features": "/sources/places/features"}
    for name, target in targets.items():
        sizes = [len(get(path, target, *how)) for how in ((GEOJSON,), (ARROW,), (ARROW, "gzip"))]
        print(f"{name}: {sizes[0]:,} bytes of JSON; in columns {sizes[1] / sizes[0]:.1%}, gzipped {sizes[2] / sizes[0]:.1%}")
    target = targets["leaves"]
    data = get(path, target, ARROW)
    transfer = median(lambda: get(path, target, ARROW))
    arrow = median(lambda: pa.ipc.open_stream(data).read_all().to_pandas())
    print(f"{total:,} leaves: transfer {transfer:.1f} ms; pyarrow's own read_all().to_pandas() {arrow:.1f} ms")
    for form in ("arrow", "pandas", "geopandas", "polars"):
        try:
            whole = median(lambda: client.leaves("places", cluster, 0, as_=form))
        except ImportError:
            continue
        print(f"  as_={form!r}: {whole:.1f} ms, {whole - transfer:.1f} ms beyond the transfer")
    start = time.perf_counter()
    answer = client.leaves("places", cluster, 0)
    middle = time.perf_counter()
    pd.json_normalize([one["properties"] for one in answer["features"]])
    print(f"  as dictionaries: {1000 * (middle - start):.0f} ms, and as a DataFrame of them {1000 * (time.perf_counter() - middle):.0f} ms more")


main()
