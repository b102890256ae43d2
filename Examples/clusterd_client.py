#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows what the Python package does, and has a client of one connection for scripts that need just that.

    python3 clusterd_client.py cities.geojson     imports the file, shows clusters and watches a viewport
"""
import json
import os
import sys

try:
    import clusterd
except ImportError:  # not installed: the one beside this example
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients/python/src"))
    import clusterd
from clusterd import ClusterdError, Connection


class Client(Connection):
    """One connection and one call at a time; `send` and `receive` are for messages of any kind."""

    last_id = 0

    def receive(self):
        message = super().receive()
        if "error" in message:
            error = message["error"]
            raise ClusterdError(clusterd.Status(error["code"]), error["message"], error.get("details"))
        return message

    def call(self, method, items=None, timeout_ms=None, **params):
        """Calls a method; `items` are the messages of one that streams from the client."""
        self.last_id += 1
        timeout = {"timeoutMs": timeout_ms} if timeout_ms else {}
        self.send({"id": self.last_id, "method": f"clusterd.v1.{method}", "params": params, **timeout})
        if items is not None:
            for item in items:
                self.send({"id": self.last_id, "item": item})
            self.send({"id": self.last_id, "end": True})
        return self.receive()["result"]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        features = json.load(file)["features"]
    client = clusterd.connect()
    client.ensure_source("example", {"radius": 60})
    print(f"{client.import_features('example', features)['accepted']} features imported")
    for feature in client.clusters("example", zoom=1).features:
        (x, y), name = feature.coordinates, feature.properties.get("name", "a point")
        print(f"{y:8.2f} {x:8.2f}  {f'{feature.count} points' if feature.is_cluster else name}")
    with client.viewport("example", [-30, 30, 60, 70], 4) as viewport:
        for change in viewport:
            shown = len(viewport.markers)
            print(f"{len(change.added)} markers come and {len(change.removed)} go: {shown} in the viewport")
            if change.is_complete:
                break  # an app goes on


if __name__ == "__main__":
    main()
