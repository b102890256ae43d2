#!/usr/bin/env python3
"""Applies the lines of a growing file, each a GeoJSON Feature with an id, exactly once: tail.py FILE SOURCE"""
import json, sys, time
import clusterd

path, source = sys.argv[1:]


def changes(position):
    with open(path, "rb") as file:
        file.seek(int(position or 0))
        while True:
            line = file.readline()
            if not line.endswith(b"\n"):  # the rest is still being written
                file.seek(-len(line), 1)
                time.sleep(0.1)
                continue
            yield {"position": str(file.tell()), "upsert": [json.loads(line)]}


for applied in clusterd.Client().apply_changes(source, "tail", changes):
    print(applied["position"], applied["inserted"], applied["updated"], flush=True)
