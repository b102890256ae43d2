#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client of clusterd in Python's standard library alone, for any app to start from.

    python3 clusterd_client.py cities.geojson     imports the file and shows clusters
"""
import json, os, socket, struct, sys, zlib


class ClusterdError(Exception):
    def __init__(self, error):
        super().__init__(f"{error['status']}: {error['message']}")
        self.code, self.status, self.details = error["code"], error["status"], error.get("details")


class Client:
    def __init__(self, path=None):
        path = path or os.environ.get("CLUSTERD_SOCKET") or (
            os.path.join(os.environ["XDG_RUNTIME_DIR"], "clusterd.sock")
            if os.environ.get("XDG_RUNTIME_DIR") else "/run/clusterd/clusterd.sock")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.stream, self.last_id = self.socket.makefile("rb"), 0

    def send(self, message):
        body = json.dumps(message).encode()
        self.socket.sendall(struct.pack(">BI", 0, len(body)) + body)

    def receive(self):
        prefix = self.stream.read(5)
        if len(prefix) < 5:
            raise ConnectionError("clusterd closed the connection")
        compressed, length = struct.unpack(">BI", prefix)
        body = self.stream.read(length)
        message = json.loads(zlib.decompress(body) if compressed else body)
        if "error" in message:
            raise ClusterdError(message["error"])
        return message

    def call(self, method, items=None, timeout_ms=None, **params):
        """Calls a method; `items` are the messages of one that streams from the client."""
        self.last_id += 1
        opening = {"id": self.last_id, "method": f"clusterd.v1.{method}", "params": params, "acceptEncoding": "deflate"}
        self.send({**opening, **({"timeoutMs": timeout_ms} if timeout_ms else {})})
        if items is not None:
            for item in items:
                self.send({"id": self.last_id, "item": item})
            self.send({"id": self.last_id, "end": True})
        return self.receive()["result"]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    client = Client()
    with open(sys.argv[1], encoding="utf-8") as file:
        features = json.load(file)["features"]
    try:
        client.call("SourceService/CreateSource", source="example", options={"radius": 60})
    except ClusterdError as error:
        if error.status != "ALREADY_EXISTS":
            raise
    batches = ({"features": features[i:i + 1000]} for i in range(0, len(features), 1000))
    done = client.call("SourceService/ImportFeatures", items=batches, source="example")
    print(f"{done['accepted']} features imported")
    answer = client.call("ClusterService/GetClusters", source="example", bbox=[-180, -90, 180, 90], zoom=1)
    for feature in answer["features"]:
        (x, y), seen = feature["geometry"]["coordinates"], feature["properties"]
        label = f"{seen['point_count_abbreviated']} points" if seen.get("cluster") else seen.get("name", "a point")
        print(f"{y:8.2f} {x:8.2f}  {label}")


if __name__ == "__main__":
    main()
