#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how long tables take until their clusters can be queried: python3 benchmark.py [ROWS]

Needs pyarrow and a running daemon ($CLUSTERD_SOCKET). Prints seconds and rows per second for an Arrow table with
coordinates and for a GeoParquet file, the best of three.
"""
import json
import os
import random
import struct
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet

import clusterd
from clusterd import _arrow


def table(rows):
    generator = random.Random(1)
    longitudes = [generator.uniform(-180, 180) for _ in range(rows)]
    latitudes = [generator.uniform(-85, 85) for _ in range(rows)]
    names = [f"place {row}" for row in range(rows)]
    columns = {"id": list(range(rows)), "longitude": longitudes, "latitude": latitudes, "name": names}
    return pa.table({**columns, "population": [generator.randrange(10**6) for _ in range(rows)]})


def geoparquet(plain, path):
    positions = zip(plain["longitude"].to_pylist(), plain["latitude"].to_pylist())
    points = pa.array([b"\1\1\0\0\0" + struct.pack("<dd", *position) for position in positions], pa.binary())
    geo = {"version": "1.0.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}
    described = plain.drop_columns(["longitude", "latitude"]).append_column("geometry", points)
    pa.parquet.write_table(described.replace_schema_metadata({"geo": json.dumps(geo)}), path)


def measure(name, rows, body):
    best = min(timed(body) for _ in range(3))
    print(f"{name:24} {best:6.2f} s {rows / best:12,.0f} rows/s")


def timed(body):
    start = time.perf_counter()
    body()
    return time.perf_counter() - start


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    plain = table(rows)
    with tempfile.TemporaryDirectory() as folder, clusterd.connect() as client:
        path = os.path.join(folder, "benchmark.parquet")
        geoparquet(plain, path)
        measure("encoding alone", rows, lambda: sum(map(len, _arrow.items(plain, *[None] * 5))))
        measure("Arrow table", rows, lambda: client.from_arrow("benchmark", plain))
        measure("GeoParquet file", rows, lambda: client.from_parquet(path))
        client.delete_source("benchmark")


main()
