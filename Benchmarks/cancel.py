# SPDX-License-Identifier: MIT
"""How long the daemon's processors go on working for a call that its client has cancelled. Alone: python3
Benchmarks/cancel.py FILE [BIN], with a GeoJSON file of a million points and the folder of release binaries."""
import json, os, select, socket, struct, subprocess, sys, tempfile, time

WORLD = {"bbox": [-180, -90, 180, 90]}


class Caller:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(500):
            if self.socket.connect_ex(path) == 0:
                break
            time.sleep(0.02)
        self.last_id = 0

    def send(self, message):
        text = json.dumps({"id": self.last_id, **message}).encode()
        self.socket.sendall(struct.pack(">BI", 0, len(text)) + text)

    def read(self):
        length = struct.unpack(">BI", self.socket.recv(5, socket.MSG_WAITALL))[1]
        return json.loads(self.socket.recv(length, socket.MSG_WAITALL))

    def begin(self, method, params):
        self.last_id += 1
        self.send({"method": f"clusterd.v1.{method}", "params": params})

    def call(self, method, params):
        self.begin(method, params)
        return self.read()["result"]


def work(process):
    """Seconds that the process's threads have run, ended ones included, to the nanosecond (clock_getcpuclockid(3))."""
    return time.clock_gettime((~process.pid << 3) | 2)


def settle(process):
    """Waits until the process no longer works, such as on what follows a load in the background."""
    before = None
    while before is None or work(process) - before > 0.001:
        before = work(process)
        time.sleep(0.1)


def after_cancel(process, caller, method, params, delay):
    """Seconds of work after a cancel that comes when the call has taken `delay` seconds of it; None if the call ends before."""
    settle(process)
    begun = work(process)
    caller.begin(method, params)
    while work(process) - begun < delay:
        if select.select([caller.socket], [], [], 0.0005)[0] and "item" not in caller.read():
            return None
    begun = work(process)
    caller.send({"cancel": True})
    while "item" in (message := caller.read()):
        pass
    is_cancelled = message.get("error", {}).get("status") == "CANCELLED"
    settle(process)
    return work(process) - begun if is_cancelled else None


def whole(process, caller, method, params):
    """Seconds of work of a call that nobody cancels."""
    settle(process)
    begun = work(process)
    caller.begin(method, params)
    while "item" in caller.read():
        pass
    return work(process) - begun


def steps(tries, step):
    return [step * (number + 0.5) for number in range(tries)]


def calls(process, caller, text, folder):
    """Each call: its name, method and params, and after how many seconds of work it is cancelled."""
    largest = max(caller.call("ClusterService/GetClusters", {"source": "points", "zoom": 0, **WORLD})["features"],
                  key=lambda feature: feature["properties"].get("point_count", 0))["id"]
    publishing = "SourceService/PublishTiles", {
        "source": "points", "path": f"{folder}/cancelled.pmtiles", "maxZoom": 14, "overwrite": True}
    yield "LoadFile", "SourceService/LoadFile", {"source": "empty", "path": text}, steps(12, 0.08)
    yield "a filter's first answer", "ClusterService/GetClusters", {
        "source": "points", "zoom": 3, "filter": [">", ["get", "value"], 100], **WORLD}, steps(30, 0.025)
    yield "UpdateOptions", "SourceService/UpdateOptions", {"source": "points", "options": {
        "radius": 60, "clusterProperties": {"sum": ["+", ["get", "value"]]}}}, steps(30, 0.025)
    yield "UpdateOptions with a median, quantiles and distinct values", "SourceService/UpdateOptions", {
        "source": "points", "options": {"clusterProperties": {
            "middle": ["median", ["get", "value"]], "tenths": ["quantiles", [0.1, 0.9], ["get", "score"]],
            "names": ["distinct", ["get", "name"]]}}}, steps(24, 0.05)
    # Its end is looked at more closely: directories, synchronizing and removing the file come last.
    total = whole(process, caller, *publishing)
    yield "PublishTiles", *publishing, steps(5, total / 5) + [total * (0.94 + 0.06 * part) for part in steps(8, 1 / 8)]
    yield "GetFeatures", "SourceService/GetFeatures", {"source": "points"}, steps(8, 0.03)
    yield "a listing of the world", "ClusterService/GetClusters", {"source": "points", "zoom": 12, **WORLD}, steps(8, 0.02)
    yield "the largest cluster's hull", "ClusterService/GetConvexHull", {"source": "points", "clusterId": largest}, steps(8, 0.003)


def rows(binaries, text):
    folder = tempfile.mkdtemp()
    path, exports = os.path.join(folder, "s"), os.path.join(folder, "archives")
    os.mkdir(exports)
    process = subprocess.Popen([os.path.join(binaries, "clusterd"), "--socket", path, "--log-level", "error",
                                "--import-dir", os.path.dirname(os.path.abspath(text)), "--export-dir", exports])
    try:
        caller = Caller(path)
        for source in ("points", "empty"):
            caller.call("SourceService/CreateSource", {"source": source})
        caller.call("SourceService/LoadFile", {"source": "points", "path": text})
        for name, method, params, delays in calls(process, caller, text, exports):
            taken = []
            for finished in os.listdir(exports):
                os.remove(os.path.join(exports, finished))
            for delay in delays:
                seconds = after_cancel(process, caller, method, params, delay)
                if seconds is not None:
                    taken.append(seconds)
                    assert not os.listdir(exports), "a cancelled call has left something behind"
                for finished in os.listdir(exports):
                    os.remove(os.path.join(exports, finished))
            if taken:
                yield (f"work after the cancel of {name}, worst of {len(taken)}", f"{1000 * max(taken):.0f} ms", "", None)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name, value, _, _ in rows(sys.argv[2] if len(sys.argv) > 2 else os.path.join(root, ".build", "release"), sys.argv[1]):
        print(f"{name}: {value}", flush=True)
