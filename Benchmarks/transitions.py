# SPDX-License-Identifier: MIT
"""How many markers stay on the map over zoom steps and pans, with plain keys and with transitions, and what transitions, sortKey and
origin ids cost. Alone: python3 Benchmarks/transitions.py [BIN] [POINTS] [kept|cost], with the folder of release binaries and the
number of gathered points."""
import json, math, os, random, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "Examples"))
from clusterd_client import Client
from measure import places

NAVAIDS = os.path.join(ROOT, "..", "shared", "data", "navaids.geojson")
WIDTH, HEIGHT = 1280, 800
VIEWS = 40
CALLS = 20_000
# Degrees.
EDGE = 1e-4


class Daemon:
    def __init__(self, binaries):
        self.folder = tempfile.mkdtemp()
        path = os.path.join(self.folder, "s")
        self.process = subprocess.Popen([os.path.join(binaries, "clusterd"), "--socket", path, "--import-dir", "/", "--log-level", "error"])
        while True:
            try:
                self.client = Client(path)
                break
            except OSError:
                time.sleep(0.02)

    def seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def load(self, name, path, **options):
        self.client.call("SourceService/CreateSource", source=name, options=options)
        return self.client.call("SourceService/LoadFile", source=name, path=os.path.realpath(path))


def gathered(count):
    path = os.path.join(tempfile.gettempdir(), f"transitions-{count}.geojson")
    if not os.path.exists(path):
        with open(path, "w") as file:
            for number, (x, y, _) in enumerate(places("gathered", count)):
                file.write(json.dumps({"type": "Feature", "id": number, "properties": {"name": f"place {number}"},
                                       "geometry": {"type": "Point", "coordinates": [x, y]}}) + "\n")
    return path


# MARK: Views

def unit(longitude, latitude):
    sine = math.sin(math.radians(latitude))
    return longitude / 360 + 0.5, 0.5 - 0.25 * math.log((1 + sine) / (1 - sine)) / math.pi


def view(x, y, zoom):
    """The box of a screen around a point of the unit square."""
    side = 512 * 2 ** zoom
    def latitude(part):
        return math.degrees(2 * math.atan(math.exp(math.pi * (1 - 2 * min(max(part, 0), 1)))) - math.pi / 2)
    west, east = ((x + sign * WIDTH / 2 / side - 0.5) * 360 for sign in (-1, 1))
    return [max(-180, west), latitude(y + HEIGHT / 2 / side), min(180, east), latitude(y - HEIGHT / 2 / side)]


def shared(one, other):
    return [max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])]


def inside(feature, box):
    x, y = feature["geometry"]["coordinates"]
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


class Watch:
    """A watched viewport: its markers by key."""

    def __init__(self, client, source, box, zoom, transitions):
        self.client, self.markers = client, {}
        client.last_id += 1
        self.id = client.last_id
        client.send({"id": self.id, "method": "clusterd.v1.ClusterService/WatchClusters",
                     "params": {"source": source, "bbox": box, "zoom": zoom, "transitions": transitions, "maxRateHz": 1000}})
        self.take()

    def take(self):
        item = self.client.receive()["item"]
        for removed in item["remove"]:
            self.markers.pop(removed if isinstance(removed, str) else removed["key"])
        for feature in item["add"] + item.get("update", []):
            self.markers[feature["key"]] = feature

    def move(self, box, zoom):
        before = dict(self.markers)
        began = time.perf_counter()
        self.client.send({"id": self.id, "item": {"bbox": box, "zoom": zoom}})
        self.take()
        return before, time.perf_counter() - began

    def end(self):
        self.client.send({"id": self.id, "cancel": True})
        while True:
            try:
                self.client.receive()
            except Exception:
                return


def centres(features, count):
    source = random.Random(17)
    return [unit(*source.choice(features)) for _ in range(count)]


def positions(client, source, zoom):
    """Where on earth the marker of each key is at a zoom."""
    answer = client.call("ClusterService/GetClusters", source=source, bbox=[-180, -90, 180, 90], zoom=zoom, include=["key"], properties=[])
    return {feature["key"]: feature["geometry"]["coordinates"] for feature in answer["features"]}


def is_clearly_inside(position, box):
    """Not so near an edge that rounding decides."""
    x, y = position
    return box[0] + EDGE < x < box[2] - EDGE and box[1] + EDGE < y < box[3] - EDGE


def kept(client, source, middles, zoom):
    """Of the markers in the part that both views show: the share that was there before and is there after. And of those
    whose marker at the other zoom lies inside the other view, how many there are and how many are kept."""
    results, inner = {}, {"out": [0, 0], "in": [0, 0], "pan": [0, 0]}
    where = {level: positions(client, source, level) for level in (zoom - 1, zoom)}
    for transitions in (False, True):
        shares = {"out": [], "in": [], "pan": []}
        for x, y in middles:
            here, out = view(x, y, zoom), view(x, y, zoom - 1)
            aside = view(x + WIDTH / 4 / (512 * 2 ** zoom), y, zoom)
            watch = Watch(client, source, here, zoom, transitions)
            box, old_zoom = here, zoom
            for name, new_box, new_zoom in (("out", out, zoom - 1), ("in", here, zoom), ("pan", aside, zoom)):
                common = shared(here, new_box)
                before, _ = watch.move(new_box, new_zoom)
                # Zooming in, all that was there should stay; else all that is there should have been.
                first, second = (before, watch.markers) if name == "in" else (watch.markers, before)
                seen = [key for key, feature in first.items() if inside(feature, common)]
                if seen:
                    shares[name].append(sum(key in second for key in seen) / len(seen))
                if transitions:
                    other, level = (new_box, new_zoom) if name == "in" else (box, old_zoom)
                    own = [key for key in seen if is_clearly_inside(where[level][key], other)]
                    inner[name][0] += sum(key in second for key in own)
                    inner[name][1] += len(own)
                box, old_zoom = new_box, new_zoom
            watch.end()
        results[transitions] = {name: 100 * statistics.mean(values) for name, values in shares.items() if values}
    return results, inner


def show_kept(daemon, name, path, features):
    daemon.load(name, path)
    middles = centres(features, VIEWS)
    for zoom in (3, 5, 7):
        results, inner = kept(daemon.client, name, middles, zoom)
        for step, words in (("out", f"zoom {zoom} to {zoom - 1}"), ("in", f"zoom {zoom - 1} to {zoom}"), ("pan", f"pan by a quarter at zoom {zoom}")):
            stayed, count = inner[step]
            print(f"| markers kept, {name}, {words} | {results[True][step]:.1f} %; of the {count} that lie inside the other view too, {stayed} "
                  f"({100 * stayed / max(1, count):.0f} %) | plain keys {results[False][step]:.0f} % | |", flush=True)
            if stayed < count:
                raise SystemExit(f"{count - stayed} markers inside both views were not kept")


# MARK: Costs

def steps(client, source, middles):
    """Milliseconds of a zoom step and its answer, with and without transitions, alternated."""
    times = {False: [], True: []}
    for zoom in (4, 8):
        for x, y in middles:
            for transitions in (False, True):
                watch = Watch(client, source, view(x, y, zoom), zoom, transitions)
                for step in range(6):
                    new = zoom - 1 + step % 2
                    times[transitions].append(1000 * watch.move(view(x, y, new), new)[1])
                watch.end()
    return times


def updates(client, source, count, seed):
    """Milliseconds of an update of one feature that moves by some hundred metres."""
    numbers = random.Random(seed)
    listed = list(places("gathered", 2000))
    times = []
    for _ in range(200):
        place = numbers.randrange(2000)
        x, y, _ = listed[place]
        feature = {"type": "Feature", "id": place, "properties": {"name": "moved"},
                   "geometry": {"type": "Point", "coordinates": [x + numbers.uniform(-0.002, 0.002), y + numbers.uniform(-0.002, 0.002)]}}
        began = time.perf_counter()
        client.call("SourceService/UpdateFeatures", source=source, upsert=[feature])
        times.append(1000 * (time.perf_counter() - began))
    return times


def lookups(daemon, source):
    """Processor microseconds of the daemon for a call by cluster id, many on their way at once."""
    client = daemon.client
    answer = client.call("ClusterService/GetClusters", source=source, bbox=[-180, -85, 180, 85], zoom=9, limit=CALLS, properties=[])
    ids = [feature["id"] for feature in answer["features"] if feature["properties"].get("cluster")]
    rest, best = CALLS, []
    for _ in range(5):
        began, sent = daemon.seconds(), 0
        while sent < rest:
            for number in range(500):
                client.send({"id": 1_000_000 + number, "method": "clusterd.v1.ClusterService/GetClusterExpansionZoom",
                             "params": {"source": source, "clusterId": ids[(sent + number) % len(ids)]}})
            for _ in range(500):
                client.receive()
            sent += 500
        best.append((daemon.seconds() - began) / rest * 1e6)
    return min(best)


def moved_ids(client, source, listed):
    """How many cluster ids of all zooms a feature changes that moves."""
    def ids():
        found = set()
        for zoom in range(17):
            answer = client.call("ClusterService/GetClusters", source=source, bbox=[-180, -85, 180, 85], zoom=zoom, properties=[])
            found |= {(zoom, feature["id"]) for feature in answer["features"] if feature["properties"].get("cluster")}
        return found
    numbers, changed = random.Random(5), []
    before = ids()
    for _ in range(10):
        place = numbers.randrange(len(listed))
        x, y = listed[place]
        client.call("SourceService/UpdateFeatures", source=source, upsert=[{
            "type": "Feature", "id": place, "properties": {},
            "geometry": {"type": "Point", "coordinates": [x + numbers.uniform(-0.002, 0.002), y + numbers.uniform(-0.002, 0.002)]}}])
        after = ids()
        changed.append(len(before - after) + len(after - before))
        before = after
    return statistics.mean(changed)


def show_costs(daemon, count):
    client, path = daemon.client, gathered(count)
    variants = {"plain": {}, "sorted": {"sortKey": ["id"]}, "origin": {"clusterIds": "origin"}}
    build, memory = {name: [] for name in variants}, {}
    for name, options in variants.items():
        memory[name] = daemon.load(name, path, **options)["memoryBytes"] / count
    for number in range(5):
        for name, options in variants.items():
            client.call("SourceService/UpdateOptions", source=name, options={**options, "radius": 41 - number % 2})
            build[name].append(client.call("SourceService/GetSource", source=name)["buildMs"])
    middles = centres([(x, y) for x, y, _ in places("gathered", 5000)], 10)
    times = steps(client, "plain", middles)
    with_them, without = statistics.median(times[True]), statistics.median(times[False])
    worst = max(statistics.median(times[True][i:i + 6]) - statistics.median(times[False][i:i + 6]) for i in range(0, len(times[True]), 6))
    print(f"| zoom step with transitions, {count:,} points | {with_them:.2f} ms | without {without:.2f} ms, at most {worst:.2f} ms more in a view | |")
    for name in ("sorted", "origin"):
        words = {"sorted": 'sortKey ["id"]', "origin": "origin ids"}[name]
        one, plain = statistics.median(build[name]), statistics.median(build["plain"])
        print(f"| build with {words}, {count:,} points | {one:.0f} ms | without {plain:.0f} ms | {one / plain:.2f} |")
        print(f"| memory with {words} | {memory[name]:.1f} bytes a point | without {memory['plain']:.1f} | {memory[name] - memory['plain']:+.1f} |", flush=True)
    rounds = {name: [] for name in variants}
    for seed in range(3):
        for name in variants:
            rounds[name] += updates(client, name, count, seed)
    for name in ("sorted", "origin"):
        one, plain = statistics.median(rounds[name]), statistics.median(rounds["plain"])
        print(f"| update of 1 feature with {name} | {one:.2f} ms | without {plain:.2f} ms | {one / plain:.2f} |", flush=True)
    for name in variants:
        client.call("SourceService/UpdateOptions", source=name, options=variants[name])
    index, origin = lookups(daemon, "plain"), lookups(daemon, "origin")
    print(f"| a call by origin id, processor time | {origin:.1f} µs | by index id {index:.1f} µs | {origin - index:+.1f} µs |", flush=True)
    listed = [(x, y) for x, y, _ in places("gathered", 20_000)]
    daemon.load("few", gathered(20_000), clusterIds="origin")
    daemon.load("few-index", gathered(20_000))
    print(f"| cluster ids that a moved feature changes, 20,000 points, all zooms | {moved_ids(client, 'few', listed):.1f} | "
          f"index ids {moved_ids(client, 'few-index', listed):.0f} | |", flush=True)


def main():
    binaries = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, ".build", "release")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    daemon = Daemon(binaries)
    try:
        print("| what | clusterd | beside it | ratio |\n| --- | --- | --- | --- |")
        if part != "cost":
            show_kept(daemon, "gathered", gathered(min(count, 100_000)), [(x, y) for x, y, _ in places("gathered", min(count, 100_000))])
            if os.path.exists(NAVAIDS):
                with open(NAVAIDS, encoding="utf-8") as file:
                    found = [feature["geometry"]["coordinates"][:2] for feature in json.load(file)["features"]]
                show_kept(daemon, "navaids", NAVAIDS, found)
        if part != "kept":
            show_costs(daemon, count)
    finally:
        daemon.process.terminate()
        daemon.process.wait()


if __name__ == "__main__":
    main()
