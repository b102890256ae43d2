#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows per second of each form in which points come: the same points, loaded by the daemon and imported by clusterctl.

    python3 Benchmarks/formats.py [POINTS] [--runs N] [--bin DIR]

Forms take turns in every run, in the opposite order every second time, and the median of each is shown. The rows of forms
in Benchmarks/results.md are replaced.
"""
import argparse, csv, gzip, json, os, shutil, statistics, subprocess, tempfile, time

import results
from cancel import Caller

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK = "| rows a second"


def files(binaries, count, folder):
    """The same points in every form."""
    lines = os.path.join(folder, "points.ndjson")
    subprocess.run([f"{binaries}/clusterctl", "generate", "gathered", str(count), "--lines", "-o", lines], check=True)
    forms = {"GeoJSON lines": lines}
    collection, table, tabs, packed = (os.path.join(folder, f"points.{end}") for end in ("geojson", "csv", "tsv", "csv.gz"))
    with open(lines, encoding="utf-8") as file, open(collection, "w", encoding="utf-8") as one, \
            open(table, "w", newline="", encoding="utf-8") as two, open(tabs, "w", newline="", encoding="utf-8") as three:
        one.write('{"type":"FeatureCollection","features":[\n')
        names = ["id", "longitude", "latitude", "name", "category", "value", "score"]
        rows = [csv.writer(two), csv.writer(three, delimiter="\t")]
        for row in rows:
            row.writerow(names)
        for place, line in enumerate(file):
            one.write((",\n" if place else "") + line.rstrip("\n"))
            feature = json.loads(line)
            for row in rows:
                row.writerow([feature["id"], *feature["geometry"]["coordinates"], *feature["properties"].values()])
        one.write("\n]}\n")
    with open(table, "rb") as plain, gzip.open(packed, "wb", 6) as zipped:
        shutil.copyfileobj(plain, zipped, 1 << 20)
    return {"GeoJSON collection": collection, **forms, "CSV": table, "TSV": tabs, "CSV, gzipped": packed}


def seconds(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def measure(binaries, count, runs):
    folder = tempfile.mkdtemp()
    socket = os.path.join(folder, "s")
    daemon = subprocess.Popen([f"{binaries}/clusterd", "--socket", socket, "--log-level", "error", "--import-dir", folder])
    try:
        forms = files(binaries, count, folder)
        caller = Caller(socket)
        caller.call("SourceService/CreateSource", {"source": "points"})
        loads, imports = ({name: [] for name in forms} for _ in range(2))
        for run in range(runs):
            for name, path in list(forms.items())[:: -1 if run % 2 else 1]:
                def load():
                    assert caller.call("SourceService/LoadFile", {"source": "points", "path": path})["accepted"] == count
                loads[name].append(seconds(load))
                command = [f"{binaries}/clusterctl", "--socket", socket, "import", "points", path]
                imports[name].append(seconds(lambda: subprocess.run(command, check=True, capture_output=True)))
        load, sent = ({name: count / statistics.median(taken) for name, taken in one.items()} for one in (loads, imports))
        peer = "GeoJSON collection"
        for name, path in forms.items():
            yield results.row(
                f"{MARK[2:]}, {name}, {count:,} points, {os.path.getsize(path) >> 20} MiB: load; import by clusterctl",
                f"{load[name]:,.0f}; {sent[name]:,.0f}", f"{peer} {load[peer]:,.0f}; {sent[peer]:,.0f}", load[name] / load[peer])
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("points", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--bin", default=os.path.join(ROOT, ".build", "release"))
    options = parser.parse_args()
    results.replace(MARK, list(measure(options.bin, options.points, options.runs)))


if __name__ == "__main__":
    main()
