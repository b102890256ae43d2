#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client of clusterd in Python's standard library alone, for any app to start from.

    python3 clusterd_client.py cities.geojson     imports the file, shows clusters and watches a viewport
"""
import json, os, socket, struct, sys, time, zlib


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
        try:
            self.socket.sendall(struct.pack(">BI", 0, len(body)) + body)
        except BrokenPipeError:
            pass  # it has closed; why, it may have said before: whoever receives reads that first

    def read(self, count):
        data = self.stream.read(count)
        if len(data) < count:
            raise ConnectionError("clusterd closed the connection")
        return data

    def receive(self):
        compressed, length = struct.unpack(">BI", self.read(5))
        body = self.read(length)
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

    def watch(self, bbox, zoom, frame=0.016, **params):
        """Yields (features to show by key, keys to take away): so many at once as the app takes on in half a frame.
        To move the viewport, `send` the generator a pair (bbox, zoom). For a client with no other calls meanwhile."""
        call = self.last_id = self.last_id + 1
        self.send({"id": call, "method": "clusterd.v1.ClusterService/WatchClusters",
                   "params": {"bbox": bbox, "zoom": zoom, **params}})
        cost = 0.0002  # seconds a marker, through a low-pass filter
        while "item" in (message := self.receive()):
            steps = [(key, None) for key in message["item"]["remove"]]
            steps += [(feature["key"], feature) for feature in message["item"]["add"]]
            while steps or message:
                batch, steps, message = steps[:(n := max(1, int(frame / 2 / cost)))], steps[n:], None
                start = time.monotonic()
                move = yield {key: feature for key, feature in batch if feature}, [key for key, feature in batch if not feature]
                if move:
                    self.send({"id": call, "item": {"bbox": move[0], "zoom": move[1]}})
                took = time.monotonic() - start
                cost += 0.2 * (took / max(1, len(batch)) - cost)
                time.sleep(max(0, frame - took) if steps else 0)


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
    viewport, markers = client.watch([-30, 30, 60, 70], 4, source="example"), {}
    for added, removed in viewport:
        for key in removed:
            del markers[key]
        markers.update(added)
        print(f"{len(added)} markers come and {len(removed)} go: {len(markers)} in the viewport")
        break  # an app goes on


if __name__ == "__main__":
    main()
